"""Checking a database: the trail's links, its rows, its seals, and what was anchored elsewhere.

An anchor is the trail's head and count, written somewhere else. Whoever holds the key could shorten the
trail and its seals together; what was anchored before then is longer than what is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select, text
from sqlmodel import col

from core.errors import ComponentUnavailable, InputError, UnreadableFile
from storage import audit, records
from storage.audit import trail_id
from storage.engine import Database
from storage.keys import key_folder
from storage.migrate import NEWEST, REFUSED, refusal, revision
from storage.seals import check_seals
from storage.tables import AuditEvent, TrailSeal

ANCHORS = "anchors.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What a trail was at a moment: its number of events, the last one's hash, its last seal."""

    trail: str
    database: str
    at: str
    events: int
    head: str
    seals: int
    seal: str


def anchor_of(connection: Connection, database: str) -> Anchor:
    """The anchor of what is there now."""
    newest = select(func.max(col(AuditEvent.sequence))).scalar_subquery()
    event = connection.execute(
        select(col(AuditEvent.sequence), col(AuditEvent.hash)).where(
            col(AuditEvent.sequence) == newest
        )
    ).first()
    last = None
    if inspect(connection).has_table("trail_seal"):
        latest = select(func.max(col(TrailSeal.seal_id))).scalar_subquery()
        last = connection.execute(
            select(col(TrailSeal.seal_id), col(TrailSeal.mac)).where(
                col(TrailSeal.seal_id) == latest
            )
        ).first()
    return Anchor(
        trail=trail_id(connection),
        database=database,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        events=event.sequence if event else 0,
        head=event.hash if event else "",
        seals=last.seal_id if last else 0,
        seal=last.mac if last else "",
    )


def write_anchor(anchor: Anchor, *more: Path) -> None:
    """Add the anchor to the key folder's file, and to each of ``more``."""
    for path in (key_folder() / ANCHORS, *more):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(asdict(anchor)) + "\n")
                file.flush()
                os.fsync(handle)
        except OSError as error:
            raise ComponentUnavailable(f"anchor {path}: {error.strerror}") from None


def read_anchors(database: str, *more: Path) -> tuple[Anchor, ...]:
    """The anchors of that database in the key folder, and all in each of ``more``.

    A copy elsewhere goes on from where it was made: the key folder's anchors of the original are
    not about it. A file that is named must be there.
    """
    found = []
    for path in (key_folder() / ANCHORS, *more):
        if not path.exists() and path not in more:
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            all_of_it = [Anchor(**json.loads(line)) for line in lines if line.strip()]
            found += [one for one in all_of_it if path in more or one.database == database]
        except (OSError, ValueError, TypeError) as error:
            raise UnreadableFile(
                f"no anchors can be read ({type(error).__name__})", file=str(path)
            ) from None
    return tuple(found)


def check_anchors(
    anchors: Iterable[Anchor],
    now: Anchor,
    heads: Mapping[int, str],
    seals: Mapping[int, str],
) -> tuple[int, tuple[str, ...]]:
    """How many anchors tell of this trail or this database, and what they contradict."""
    about = [one for one in anchors if now.trail == one.trail or now.database == one.database]
    problems = []
    for one in about:
        when = f"the anchor of {one.at}"
        if one.trail != now.trail:
            problems.append(f"{when}: another trail was in this database, {one.events} events long")
        elif one.events > now.events or one.seals > now.seals:
            problems.append(
                f"{when}: tells of {one.events} events and {one.seals} seals, "
                f"{now.events} and {now.seals} are there"
            )
        elif heads.get(one.events, "") != one.head or seals.get(one.seals, "") != one.seal:
            problems.append(f"{when}: event {one.events} was another one then")
    return len(about), tuple(problems)


def check_database(database: Database, anchor_files: Sequence[Path] = ()) -> records.AuditReport:
    """Check everything that can be checked of a database, writing nothing.

    Raises InputError when it holds no trail.
    """
    anchors = read_anchors(database.name, *anchor_files)
    with database.reading() as connection:
        there = set(inspect(connection).get_table_names())
        if AuditEvent.__tablename__ not in there:
            raise InputError("holds no trail: no database of this program", file=database.name)
        report = audit.check_trail(connection)
        heads = {
            row.sequence: row.hash
            for row in connection.execute(select(col(AuditEvent.sequence), col(AuditEvent.hash)))
        }
        if TrailSeal.__tablename__ not in there:
            return replace(report, notes=("no seals: an earlier program wrote this database",))
        seals = check_seals(connection, heads)
        macs = {
            row.seal_id: row.mac
            for row in connection.execute(select(col(TrailSeal.seal_id), col(TrailSeal.mac)))
        }
        now = anchor_of(connection, database.name)
        dropped = _dropped(connection)
    count, contradicted = check_anchors(anchors, now, heads, macs)
    notes = []
    if seals.other_keys:
        notes.append(f"{seals.other_keys} seals are of a key that was retired here: not checked")
    if not count:
        notes.append("no anchor tells of this trail: `audit anchor` writes one")
    return replace(
        report,
        seals=seals.seals,
        anchors=count,
        notes=tuple(notes),
        problems=(*report.problems, *seals.problems, *contradicted, *dropped),
    )


def _dropped(connection: Connection) -> list[str]:
    """Whether triggers of the newest schema are not as it makes them; of an older one none is told."""
    if revision(connection) != NEWEST:
        return []
    dialect = connection.dialect.name
    told = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        if dialect == "sqlite"
        else "SELECT tgname, trim(prosrc) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
        "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgqual IS NULL"
    )
    there = {(name, kept) for name, kept in connection.execute(text(told))}
    missing = sorted({refusal(*each, dialect) for each in REFUSED} - there)
    if not missing:
        return []
    return [
        f"{len(missing)} triggers that refuse changes are gone or refuse less, {missing[0][0]} among "
        "them: somebody replaced them to change what is kept"
    ]
