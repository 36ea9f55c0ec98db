"""Checking a database: the trail's links, its rows, its seals, and what was anchored elsewhere.

An anchor is the trail's head and count, written somewhere else. Whoever holds the key could shorten the
trail and its seals together; what was anchored before then is longer than what is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select, text
from sqlmodel import col

from core.errors import ComponentUnavailable, InputError, UnreadableFile
from storage import assignments, audit, queue, records
from storage.audit import trail_id
from storage.engine import Database
from storage.keys import key_folder
from storage.migrate import NEWEST, REFUSED, refusal, revision
from storage.seals import check_seals
from storage.tables import AuditEvent, TrailSeal, VerdictState

ANCHORS = "anchors.jsonl"
ACKNOWLEDGED = "problems.acknowledged"  # an event
ANCHORING = ("trail.anchored", "packet.exported")  # events after which an anchor lies elsewhere


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


def read_anchors(*more: Path) -> tuple[Anchor, ...]:
    """The anchors in the key folder and in each of ``more``, which must be there."""
    found = []
    for path in (key_folder() / ANCHORS, *more):
        if not path.exists() and path not in more:
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [Anchor(**json.loads(line)) for line in lines if line.strip()]
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
    """How many anchors tell of this trail, wherever its database lies, and what they contradict.

    A trail in whose place another one was tells of that too. What is said of an anchor stays the same
    as the trail grows: somebody may have acknowledged it.
    """
    about = [one for one in anchors if now.trail == one.trail]
    before = [one for one in anchors if now.trail != one.trail and now.database == one.database]
    problems = [
        f"the anchor of {one.at}: another trail was in this database, {one.events} events long"
        for one in before
    ]
    problems += [
        f"the anchor of {one.at}: its {one.events} events and {one.seals} seals ended otherwise than "
        f"what is here ({one.head.removeprefix('sha256:')[:12]}): cut, written anew, or gone on from a copy"
        for one in about
        if heads.get(one.events, "") != one.head or seals.get(one.seals, "") != one.seal
    ]
    return len(about), tuple(problems)


def check_database(database: Database, anchor_files: Sequence[Path] = ()) -> records.AuditReport:
    """Check everything that can be checked of a database, writing nothing.

    A value that this program never writes is a problem too. Raises InputError when it holds no trail.
    """
    try:
        return _checked(database, anchor_files)
    except (AttributeError, TypeError, ValueError, LookupError) as error:
        problem = f"a row holds what this program never writes ({type(error).__name__}: {error})"
        return records.AuditReport(events=0, traces=0, verdicts=0, problems=(problem,))


def _checked(database: Database, anchor_files: Sequence[Path]) -> records.AuditReport:
    anchors = read_anchors(*anchor_files)
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
            return replace(
                report,
                notes=("no seals: an earlier program wrote this database",),
                problems=(*report.problems, *report.doubtful),
            )
        seals = check_seals(connection, heads)
        macs = {
            row.seal_id: row.mac
            for row in connection.execute(select(col(TrailSeal.seal_id), col(TrailSeal.mac)))
        }
        now = anchor_of(connection, database.name)
        schema = [*_schema(connection)]
        in_hand = [*assignments.differences(connection), *queue.differences(connection)]
        anchored = connection.execute(
            select(func.max(col(AuditEvent.at))).where(col(AuditEvent.action).in_(ANCHORING))
        ).scalar()
        accepted = acknowledged(connection)
    count, contradicted = check_anchors(anchors, now, heads, macs)
    doubtful = [*report.doubtful, *contradicted]
    notes = [f"acknowledged: {one}" for one in doubtful if one in accepted]
    if seals.other_keys:
        notes.append(f"{seals.other_keys} seals are of a key that was retired here: not checked")
    if not count and anchored is None:
        notes.append("no anchor tells of this trail: `audit anchor` writes one")
    missing = []
    if not count and anchored is not None:
        missing = [
            f"this trail was anchored ({anchored:%Y-%m-%d %H:%M}), and no anchor of it is here: "
            "`--anchor FILE` names where they are kept"
        ]
    doubtful = [one for one in doubtful if one not in accepted]
    return replace(
        report,
        seals=seals.seals,
        anchors=count,
        notes=tuple(notes),
        doubtful=tuple(doubtful),
        problems=(*report.problems, *seals.problems, *schema, *in_hand, *missing, *doubtful),
    )


def acknowledged(connection: Connection) -> frozenset[str]:
    """What a lead has looked into and answered for; a seal covers that event, or it is a problem itself."""
    found: set[str] = set()
    for detail in connection.execute(
        select(col(AuditEvent.detail)).where(col(AuditEvent.action) == ACKNOWLEDGED)
    ).scalars():
        with suppress(ValueError, KeyError, TypeError):
            found |= set(json.loads(detail)["problems"])
    return frozenset(found)


def _schema(connection: Connection) -> Iterator[str]:
    """Whether the schema is the program's: triggers that refuse, and nothing that acts besides."""
    said, dialect = revision(connection), connection.dialect.name
    if said != NEWEST:
        if VerdictState.__tablename__ in inspect(connection).get_table_names():
            yield f"alembic_version: says {said}, and the tables are those of {NEWEST}"
        return
    told = (
        "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
        if dialect == "sqlite"
        else "SELECT tgname, trim(prosrc) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
        "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgqual IS NULL"
    )
    there = {(name, kept) for name, kept in connection.execute(text(told))}
    wanted = {refusal(*each, dialect) for each in REFUSED}
    if missing := sorted(wanted - there):
        yield (
            f"{len(missing)} triggers that refuse changes are gone or refuse less, {missing[0][0]} "
            "among them: somebody replaced them to change what is kept"
        )
    if dialect == "sqlite" and (more := sorted(there - wanted)):
        yield f"{len(more)} triggers or views are not the program's, {more[0][0]} among them"
