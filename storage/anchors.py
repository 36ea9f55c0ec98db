"""Anchors: the trail's head and count, written somewhere else, and compared when the trail is checked.

Whoever holds the key could shorten the trail and its seals together; what was anchored before then
is longer than what is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select
from sqlmodel import col

from core.errors import ComponentUnavailable, UnreadableFile
from storage.audit import trail_id
from storage.keys import key_folder
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
