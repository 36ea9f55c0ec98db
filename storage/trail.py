"""The audit trail as people read it: filtered, a page at a time, exported; and keys that are retired."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select
from sqlmodel import col

from core.errors import NotFound
from core.records import JsonObject
from core.review.assignment import check_reason
from core.review.readers import require_reader
from core.review.records import Person, Role
from storage import records
from storage.audit import BEGINNING, append_event, event_hash
from storage.checking import ACKNOWLEDGED, ANCHORING, Anchor, anchor_of, write_anchor
from storage.columns import plain_text
from storage.engine import open_database, open_to_check
from storage.people import allow, local_name
from storage.seals import RETIRED, retirement
from storage.store import SqlStore, utc_now
from storage.tables import AuditEvent, ClaimRow, PersonRow, TraceVersion

READING = "read the audit trail"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailFilters:
    """Which events; an empty field asks for nothing. ``until`` is the first instant left out.

    ``entity`` is found in what the event is about, in any case, or is a claim's or trace's id.
    """

    actor: str | None = None
    action: str | None = None
    entity: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailEntry:
    """An event as people read it: what it is about by name, from what to what, and why."""

    event: records.AuditEvent
    about: str
    trace_id: str | None
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailPage:
    """``entries`` from ``offset`` on, the latest first, out of ``total`` that pass the filters."""

    entries: tuple[TrailEntry, ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCheck:
    """Whether every link of the trail follows the one before it, unchanged."""

    events: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The audit trail of a store; for leads and auditors."""

    store: SqlStore

    def find(
        self, filters: TrailFilters, user: Person, *, offset: int = 0, limit: int = 50
    ) -> TrailPage:
        """One page of the events that pass; raises NotAllowed."""
        require_reader(user, READING)
        with self.store.database.reading() as connection:
            conditions = _conditions(connection, filters)
            total = connection.execute(
                select(func.count()).select_from(AuditEvent).where(*conditions)
            ).scalar_one()
            rows = connection.execute(
                select(AuditEvent.__table__)  # type: ignore[attr-defined]
                .where(*conditions)
                .order_by(col(AuditEvent.sequence).desc())
                .offset(offset)
                .limit(limit)
            ).all()
            events = [records.AuditEvent(**row._mapping) for row in rows]
            names = _names(connection, [event.entity for event in events])
        return TrailPage(
            entries=tuple(_entry(event, names) for event in events), total=total, offset=offset
        )

    def actors(self) -> tuple[str, ...]:
        """Everybody who ever did something, by name."""
        return self._distinct(col(AuditEvent.actor))

    def actions(self) -> tuple[str, ...]:
        """Everything that was ever done."""
        return self._distinct(col(AuditEvent.action))

    def lately(self, actions: Collection[str], *, limit: int) -> tuple[records.AuditEvent, ...]:
        """The latest events of these kinds, the latest first; for kinds that everybody may know of."""
        found: list[records.AuditEvent] = []
        with self.store.database.reading() as connection:
            # One kind at a time: each is read off its index, however long the trail is.
            for action in sorted(set(actions)):
                rows = connection.execute(
                    select(AuditEvent.__table__)  # type: ignore[attr-defined]
                    .where(col(AuditEvent.action) == action)
                    .order_by(col(AuditEvent.sequence).desc())
                    .limit(limit)
                )
                found += [records.AuditEvent(**row._mapping) for row in rows]
        return tuple(sorted(found, key=lambda event: -event.sequence)[:limit])

    def length(self) -> int:
        """How many events there are."""
        with self.store.database.reading() as connection:
            return connection.execute(select(func.count()).select_from(AuditEvent)).scalar_one()

    def check_links(self) -> LinkCheck:
        """Check every link of the trail, and none of the documents that it tells of."""
        problems: list[str] = []
        count, previous = 0, BEGINNING
        with self.store.database.reading() as connection:
            for event in _stream(connection, ()):
                count += 1
                if event.sequence != count or event.previous_hash != previous:
                    problems.append(f"event {event.sequence}: does not follow the event before it")
                    count = event.sequence
                if event_hash(event) != event.hash:
                    problems.append(f"event {event.sequence}: was changed after it was written")
                previous = event.hash
        return LinkCheck(events=count, problems=tuple(problems))

    def export(self, filters: TrailFilters, user: Person) -> Iterator[JsonObject]:
        """The events that pass, the oldest first, with their hashes; raises NotAllowed."""
        require_reader(user, READING)
        return self._export(filters)

    def _export(self, filters: TrailFilters) -> Iterator[JsonObject]:
        with self.store.database.reading() as connection:
            yield from map(event_json, _stream(connection, _conditions(connection, filters)))

    def about(
        self, *, claim_keys: Collection[int], content_hashes: Collection[str]
    ) -> Iterator[JsonObject]:
        """The events that tell of these claims and of their traces, the oldest first."""
        wanted = {f"claim {key}" for key in claim_keys} | set(content_hashes)
        with self.store.database.reading() as connection:
            for event in _stream(connection, ()):
                if event.entity in wanted or _stores(event, content_hashes):
                    yield event_json(event)

    def _distinct(self, column: Any) -> tuple[str, ...]:
        # From one value to the next in the index: a long trail has few names and fewer actions.
        found: list[str] = []
        with self.store.database.reading() as connection:
            value = connection.execute(select(func.min(column))).scalar()
            while value is not None:
                found.append(value)
                value = connection.execute(select(func.min(column)).where(column > value)).scalar()
        return tuple(found)


def event_json(event: records.AuditEvent) -> JsonObject:
    """An event with its hashes: ``detail`` is the text that was hashed."""
    return {**asdict(event), "at": event.at.astimezone(UTC).isoformat(timespec="microseconds")}


def _stream(
    connection: Connection, conditions: Collection[ColumnElement[bool]]
) -> Iterator[records.AuditEvent]:
    statement = (
        select(AuditEvent.__table__)  # type: ignore[attr-defined]
        .where(*conditions)
        .order_by(col(AuditEvent.sequence))
    )
    for row in connection.execute(statement).yield_per(1000):
        yield records.AuditEvent(**row._mapping)


def _conditions(connection: Connection, filters: TrailFilters) -> tuple[ColumnElement[bool], ...]:
    found: list[ColumnElement[bool]] = []
    if filters.actor:
        found.append(col(AuditEvent.actor) == filters.actor)
    if filters.action:
        found.append(col(AuditEvent.action) == filters.action)
    if filters.since:
        found.append(col(AuditEvent.at) >= filters.since)
    if filters.until:
        found.append(col(AuditEvent.at) < filters.until)
    if filters.entity.strip():
        wanted = plain_text(filters.entity.strip())
        meant = _entities(connection, wanted)
        found.append(
            col(AuditEvent.entity).in_(meant)
            if meant
            else func.lower(col(AuditEvent.entity)).contains(wanted.lower(), autoescape=True)
        )
    return tuple(found)


def _entities(connection: Connection, wanted: str) -> list[str]:
    """What the trail calls the claim or trace, or the person, of that id or name."""
    rows = connection.execute(
        select(col(ClaimRow.claim_key), col(TraceVersion.content_hash))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where((col(ClaimRow.claim_id) == wanted) | (col(TraceVersion.trace_id) == wanted))
        .limit(500)
    ).all()
    people = connection.execute(
        select(col(PersonRow.person_id)).where(
            (col(PersonRow.name) == wanted) | (col(PersonRow.shown_as) == wanted)
        )
    ).scalars()
    hashes = {row.content_hash for row in rows} if rows and "::" not in wanted else set()
    return sorted(
        {f"claim {row.claim_key}" for row in rows} | hashes | {f"person {key}" for key in people}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    claims: Mapping[str, tuple[str, str]]  # entity → claim id, trace id
    traces: Mapping[str, str]  # content hash → trace id
    people: Mapping[str, str]


def _names(connection: Connection, entities: Collection[str]) -> _Names:
    def numbers(noun: str) -> list[int]:
        return [
            int(number)
            for entity in entities
            for kind, _, number in [entity.partition(" ")]
            if kind == noun and number.isdigit()
        ]

    claims = connection.execute(
        select(col(ClaimRow.claim_key), col(ClaimRow.claim_id), col(TraceVersion.trace_id))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(col(ClaimRow.claim_key).in_(numbers("claim")))
    )
    traces = connection.execute(
        select(col(TraceVersion.content_hash), col(TraceVersion.trace_id)).where(
            col(TraceVersion.content_hash).in_(list(entities))
        )
    )
    people = connection.execute(
        select(col(PersonRow.person_id), col(PersonRow.name)).where(
            col(PersonRow.person_id).in_(numbers("person"))
        )
    )
    return _Names(
        claims={f"claim {row.claim_key}": (row.claim_id, row.trace_id) for row in claims},
        traces={row.content_hash: row.trace_id for row in traces},
        people={f"person {row.person_id}": row.name for row in people},
    )


def _entry(event: records.AuditEvent, names: _Names) -> TrailEntry:
    try:
        detail = json.loads(event.detail)
    except ValueError:
        detail = {}
    said: Mapping[str, object] = detail if isinstance(detail, Mapping) else {}
    about, trace_id = event.entity, None
    if event.entity in names.claims:
        about, trace_id = names.claims[event.entity]
    elif event.entity in names.traces:
        about = trace_id = names.traces[event.entity]
    elif event.entity in names.people:
        about = names.people[event.entity]
    return TrailEntry(
        event=event,
        about=about,
        trace_id=trace_id,
        before=_words(said.get("from")),
        after=_words(said.get("to")),
        reason=_words(said.get("reason")),
    )


def _words(value: object) -> str:
    """A value of an event's detail in plain words."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{str(k).replace('_', ' ')}: {_words(v) or 'none'}" for k, v in value.items()
        )
    if isinstance(value, list):
        return ", ".join(_words(one) for one in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _stores(event: records.AuditEvent, content_hashes: Collection[str]) -> bool:
    """Whether the event tells that one of these traces, or a verdict on it, was stored."""
    if event.action not in ("traces.stored", "verdicts.stored"):
        return False
    try:
        detail = json.loads(event.detail)
        stored = detail.get("traces") or detail.get("verdicts") or ()
        return any(content in content_hashes for content, _ in stored)
    except (ValueError, AttributeError, TypeError):
        return False


def retire_keys(store: SqlStore, reason: str, *, by: Person) -> int:
    """Keep, under the key here, which seals of other keys there are and why they are taken as they are.

    Returns the last of them. Raises NotAllowed, InputError without a reason, NotFound where every seal
    is of the key here. Nobody can check what those seals cover: compare with a copy or an anchor first.
    """
    stated = check_reason(reason, "retiring a key")
    with store.database.writing() as connection:
        allow(connection, by, Role.LEAD, "retire a key")
        said = retirement(connection)
        append_event(
            connection, store.now(), by.name, RETIRED, "trail keys", {**said, "reason": stated}
        )
    return int(str(said["through_seal"]))


def acknowledge(store: SqlStore, problems: Sequence[str], reason: str, *, by: Person) -> None:
    """Keep that the person has looked into these problems, and why they are none.

    Raises NotAllowed, InputError without a reason, NotFound where there is nothing to acknowledge.
    """
    stated = check_reason(reason, "acknowledging a problem")
    with store.database.writing() as connection:
        allow(connection, by, Role.LEAD, "acknowledge a problem")
        if not problems:
            raise NotFound(
                "nothing here can be acknowledged: no clock went back, no anchor differs"
            )
        append_event(
            connection,
            store.now(),
            by.name,
            ACKNOWLEDGED,
            "trail",
            {"problems": list(problems), "reason": stated},
        )


def make_anchor(given: str | None, *more: Path) -> Anchor:
    """Anchor that database; where it may be written, an event tells that it was."""
    database = open_to_check(given)
    server = database.engine.dialect.name != "sqlite"
    if server or os.access(database.name, os.W_OK):
        writable = open_database(given)
        with writable.writing() as connection:
            append_event(
                connection, utc_now(), local_name(), ANCHORING[0], "trail", {"to": len(more) + 1}
            )
        writable.close()
    with database.reading() as connection:
        anchor = anchor_of(connection, database.name)
    database.close()
    write_anchor(anchor, *more)
    return anchor
