"""The audit trail: appended inside the transaction that it tells of, and checked link by link.

Everything that is kept has an event, so whether somebody may write at all is asked here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, func, insert, select
from sqlmodel import SQLModel, col

from core.review.records import Role
from core.review.roles import require_writer
from storage import records, tables
from storage.columns import plain_text
from storage.tables import AuditEvent, PersonRow, RoleGrant, Run, TraceVersion, Verdict

# What somebody who only reads leaves behind: that they looked, that they took a copy away, and how
# their own keyboard is set.
READING = frozenset({"verdict.opened", "packet.exported", "keys.bound", "trail.anchored"})
# Under these names the program itself writes: nobody is called so.
PROGRAM_NAMES = frozenset({"local", "first start", "fitting", "this machine"})


def check_writer(connection: Connection, actor: str, action: str) -> None:
    """Raise NotAllowed for a person who is an auditor or has no role now.

    A name that is nobody's here is the program's own: pages and the terminal write as a person.
    """
    person_id = connection.execute(
        select(col(PersonRow.person_id)).where(col(PersonRow.name) == plain_text(actor))
    ).scalar()
    if person_id is None:
        return
    roles = roles_of(connection, person_id)
    if action in READING and Role.AUDITOR in roles:
        return
    require_writer(actor, roles, f"write here ({action})")


def roles_of(connection: Connection, person_id: int) -> frozenset[Role]:
    """The roles that the person has at this moment."""
    return roles_by_person(connection, person_id).get(person_id, frozenset())


def roles_by_person(
    connection: Connection, person_id: int | None = None
) -> dict[int, frozenset[Role]]:
    """Person → roles at this moment, of everybody or of one."""
    statement = select(
        col(RoleGrant.person_id), col(RoleGrant.role), col(RoleGrant.granted)
    ).order_by(col(RoleGrant.grant_id))
    if person_id is not None:
        statement = statement.where(col(RoleGrant.person_id) == person_id)
    found: dict[int, set[Role]] = {}
    for row in connection.execute(statement):
        roles = found.setdefault(row.person_id, set())
        (roles.add if row.granted else roles.discard)(Role(row.role))
    return {person: frozenset(roles) for person, roles in found.items()}


BEGINNING = "sha256:" + "0" * 64
CLOCK_BACK = "clock.went_back"  # an event before the first one of an earlier time
ERASED = "traces.erased"  # an event that tells of rows that went, with the hash of each
PERSON_ERASED = (
    "person.erased"  # of rows and events without a name that stood in them: hashes of both
)

SHOWN_AS = "person.shown_as"
# Every row of these tables has an event that holds its hash: write them with add_row.
TOLD: tuple[type[SQLModel], ...] = (
    tables.RoleGrant,
    tables.GuidelineRow,
    tables.Decline,
    tables.AnnotationRow,
    tables.AnnotationWithdrawal,
    tables.AdjudicationRow,
    tables.TraceSplit,
    tables.CalibratorRow,
    tables.Promotion,
    tables.PacketLock,
    tables.AdjudicationReopening,
    tables.KeyBinding,
    tables.WordList,
    tables.AgreementRoundRow,
    tables.RoundClaimRow,
    tables.RoundAnnotator,
    tables.RoundLabelRow,
    tables.RoundClosingRow,
)


CLOCK_TOLERANCE = timedelta(minutes=5)  # clocks are set right by less


def sha256_of(text: str) -> str:
    """``sha256:…`` of the text in UTF-8."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def append_event(
    connection: Connection,
    at: datetime,
    actor: str,
    action: str,
    entity: str,
    detail: Mapping[str, object],
) -> None:
    """Add one link; the caller holds the write lock, so that two links cannot share a parent.

    Raises NotAllowed for an actor who may not write; what the transaction wrote goes with it.
    """
    append_events(connection, at, actor, action, [(entity, detail)])


def append_events(
    connection: Connection,
    at: datetime,
    actor: str,
    action: str,
    told: Sequence[tuple[str, Mapping[str, object]]],
) -> None:
    """Add a link for each (entity, detail), as ``append_event`` does for one."""
    if not told:
        return
    check_writer(connection, actor, action)
    last = connection.execute(
        select(col(AuditEvent.sequence), col(AuditEvent.hash), col(AuditEvent.at))
        .order_by(col(AuditEvent.sequence).desc())
        .limit(1)
    ).first()
    if last is not None and at < last.at - CLOCK_TOLERANCE and action != CLOCK_BACK:
        said = {"from": last.at.isoformat(), "to": at.isoformat()}
        append_event(connection, at, "this machine", CLOCK_BACK, "clock", said)
        append_events(connection, at, actor, action, told)
        return
    before, previous = (last.sequence, last.hash) if last else (0, BEGINNING)
    rows = []
    for sequence, (entity, detail) in enumerate(told, before + 1):
        event = records.AuditEvent(
            sequence=sequence,
            at=at,
            actor=plain_text(actor),
            action=action,
            entity=plain_text(entity),
            detail=json.dumps(detail, sort_keys=True),
            previous_hash=previous,
            hash="",
        )
        previous = event_hash(event)
        rows.append(asdict(event) | {"hash": previous})
    connection.execute(insert(AuditEvent), rows)


def latest_event(connection: Connection, action: str) -> Row[*tuple[datetime, str, str]] | None:
    """When, by whom and with which detail that was done last; None where it never was."""
    return connection.execute(
        select(col(AuditEvent.at), col(AuditEvent.actor), col(AuditEvent.detail))
        .where(col(AuditEvent.action) == action)
        .order_by(col(AuditEvent.sequence).desc())
        .limit(1)
    ).first()


def trail_id(connection: Connection) -> str:
    """Sixteen hexadecimal digits of the trail's first hash, no other trail's; "" for an empty one."""
    first = connection.execute(
        select(col(AuditEvent.hash)).order_by(col(AuditEvent.sequence)).limit(1)
    ).scalar()
    return "" if first is None else first.removeprefix("sha256:")[:16]


def add_row(
    connection: Connection,
    table: type[SQLModel],
    values: Mapping[str, object],
    *,
    at: datetime,
    actor: str,
    action: str,
    entity: str,
    detail: Mapping[str, object] | None = None,
) -> Any:
    """Insert one row of a table in ``TOLD`` with the event that tells of it; the row's key."""
    (key,) = add_rows(
        connection, table, [values], at=at, actor=actor, action=action, entity=entity, detail=detail
    )
    return key


def add_rows(
    connection: Connection,
    table: type[SQLModel],
    rows: Sequence[Mapping[str, object]],
    *,
    at: datetime,
    actor: str,
    action: str,
    entity: str,
    detail: Mapping[str, object] | None = None,
) -> list[Any]:
    """Insert rows of a table in ``TOLD`` with one event that holds the hash of each; their keys.

    ``detail`` says more about the event; it may be seen by anybody who may see the trail.
    """
    target = _table(table)
    written = _insert(connection, target, rows)
    told = [_row_told(target, row) for row in written]
    append_event(connection, at, actor, action, entity, {**(detail or {}), "rows": told})
    return [row[_key(target)] for row in written]


def add_said(
    connection: Connection,
    table: type[SQLModel],
    rows: Sequence[Mapping[str, object]],
    *,
    at: datetime,
    actor: str,
    action: str,
    detail: Mapping[str, object],
) -> None:
    """Insert what people said of claims, each row with an event of its own about its claim."""
    target = _table(table)
    told = [
        (
            f"claim {row['claim_key']}",
            {"project": row["project_id"], "person": row["person_id"], **detail}
            | {"rows": [_row_told(target, row)]},
        )
        for row in _insert(connection, target, rows)
    ]
    append_events(connection, at, actor, action, told)


def _row_told(target: Table, row: Mapping[Any, Any]) -> list[object]:
    return [target.name, row[_key(target)], row_hash(row)]


def _insert(
    connection: Connection, target: Table, rows: Sequence[Mapping[str, object]]
) -> list[Mapping[Any, Any]]:
    """Insert rows that name the same columns; they come back as the table holds them, by key."""
    if not rows:
        return []
    key = target.c[_key(target)]
    new: ColumnElement[bool]
    if key.name in rows[0]:
        new = key.in_([row[key.name] for row in rows])
    else:  # it counts up, and the caller holds the write lock
        new = key > (connection.execute(select(func.max(key))).scalar() or 0)
    connection.execute(insert(target), rows)
    # Read again: SQLite's RETURNING gives 5 where the table holds 5.0.
    return [row._mapping for row in connection.execute(select(target).where(new).order_by(key))]


def row_hash(row: Mapping[Any, Any]) -> str:
    """The hash of a row's columns and values, as they come back from the database.

    A column that came later counts where something is in it: rows written before hash as they did.
    """
    names = (name for name in sorted(map(str, row)) if name != _LATER or row[name] is not None)
    return sha256_of(json.dumps([[name, _plain(row[name])] for name in names]))


_LATER = "more"  # since 0.20.0, of annotations, adjudications and labels of a round


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, bytes):
        return "sha256:" + hashlib.sha256(value).hexdigest()
    return value


def _table(table: type[SQLModel]) -> Table:
    found: Table = table.__table__  # type: ignore[attr-defined]
    return found


def _key(table: Table) -> str:
    (column,) = table.primary_key.columns
    return str(column.name)


def event_hash(event: records.AuditEvent) -> str:
    """The hash of everything in an event but its hash."""
    return sha256_of(
        json.dumps(
            [
                event.sequence,
                event.at.astimezone(UTC).isoformat(timespec="microseconds"),
                event.actor,
                event.action,
                event.entity,
                event.detail,
                event.previous_hash,
            ]
        )
    )


def events(
    connection: Connection, *, newest_first: bool = False, limit: int | None = None, offset: int = 0
) -> tuple[records.AuditEvent, ...]:
    """A stretch of the trail."""
    sequence = col(AuditEvent.sequence)
    statement = (
        select(_table(AuditEvent))
        .order_by(sequence.desc() if newest_first else sequence)
        .limit(limit)
        .offset(offset)
    )
    return tuple(map(_event, connection.execute(statement)))


def _event(row: Row[*tuple[Any, ...]]) -> records.AuditEvent:
    return records.AuditEvent(**row._mapping)


def erased_rows(connection: Connection) -> Mapping[str, Sequence[tuple[int, str]]]:
    """The rows that were erased as the trail tells: table → (key, hash) of each."""
    found: dict[str, list[tuple[int, str]]] = {}
    details = connection.execute(
        select(col(AuditEvent.detail)).where(col(AuditEvent.action) == ERASED)
    ).scalars()
    for detail in details:
        try:
            for table, rows in json.loads(detail)["erased"].items():
                found.setdefault(table, []).extend((int(key), str(digest)) for key, digest in rows)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # check_trail says that the event cannot be read
    return found


def rewritten_rows(connection: Connection) -> Mapping[tuple[str, object], tuple[str, str]]:
    """Rows and events out of which a person was erased, by table and key: hash before, and now.

    Only what the trail's seals cover counts: an event that somebody adds is noticed as such.
    """
    found: dict[tuple[str, object], tuple[str, str]] = {}
    details = connection.execute(
        select(col(AuditEvent.detail))
        .where(col(AuditEvent.action) == PERSON_ERASED)
        .order_by(col(AuditEvent.sequence))
    ).scalars()
    for detail in details:
        try:
            said = [
                ((table, key), (old, new))
                for table, rows in json.loads(detail)["rewritten"].items()
                for key, old, new in rows
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # what it tells of is noticed as changed
        for place, (old, new) in said:
            first, last = found.get(place, (old, old))
            if old == last:
                found[place] = (first, new)
    return found


def check_trail(connection: Connection) -> records.AuditReport:
    """Check every link, and every stored document against the link that announced it."""
    problems: list[str] = []
    doubtful: list[str] = []
    traces: dict[str, str] = {}
    verdicts: dict[tuple[str, str], str] = {}
    rows: dict[tuple[str, object], str] = {}
    rewritten = rewritten_rows(connection)
    trail = _table(AuditEvent).name
    expected, previous, latest = 1, BEGINNING, None
    for event in _stream(connection):
        if event.sequence != expected:
            problems.append(f"event {expected}: missing; the next one is {event.sequence}")
        elif event.previous_hash != previous:
            problems.append(f"event {event.sequence}: does not follow the event before it")
        found = event_hash(event)
        if found != event.hash and rewritten.get((trail, event.sequence)) != (event.hash, found):
            problems.append(f"event {event.sequence}: was changed after it was written")
        if latest is not None and event.at < latest - CLOCK_TOLERANCE:
            doubtful.append(
                f"event {event.sequence}: the clock went back from {latest:%Y-%m-%d %H:%M} "
                f"to {event.at:%Y-%m-%d %H:%M}"
            )
        problems += _announced(event, traces, verdicts, rows)
        expected, previous, latest = event.sequence + 1, event.hash, event.at
    problems += _check_traces(connection, traces)
    problems += _check_verdicts(connection, verdicts)
    problems += _check_rows(connection, rows, rewritten)
    return records.AuditReport(
        events=expected - 1,
        traces=len(traces),
        verdicts=len(verdicts),
        rows=len(rows),
        erased=len(erased_rows(connection).get(_table(TraceVersion).name, ())),
        rewritten=len(rewritten),
        problems=tuple(problems),
        doubtful=tuple(doubtful),
    )


def _stream(connection: Connection) -> Iterator[records.AuditEvent]:
    statement = select(_table(AuditEvent)).order_by(col(AuditEvent.sequence))
    yield from map(_event, connection.execute(statement).yield_per(500))


def _announced(
    event: records.AuditEvent,
    traces: dict[str, str],
    verdicts: dict[tuple[str, str], str],
    rows: dict[tuple[str, object], str],
) -> list[str]:
    """Note what the event says was stored: content hash -> document hash, table and key -> row hash."""
    try:
        detail = json.loads(event.detail)
        if event.action == "traces.stored":
            traces.update((content, document) for content, document in detail["traces"])
        elif event.action == "verdicts.stored":
            verdicts.update(
                ((content, event.entity), document) for content, document in detail["verdicts"]
            )
        elif event.action == ERASED:
            for content in detail["traces"]:
                traces.pop(content, None)
            for content, run_key in detail["verdicts"]:
                verdicts.pop((content, run_key), None)
        rows.update(((table, key), digest) for table, key, digest in detail.get("rows", ()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"event {event.sequence}: its detail cannot be read ({type(error).__name__})"]
    return []


def _check_traces(connection: Connection, announced: Mapping[str, str]) -> list[str]:
    problems, unseen = [], dict(announced)
    rows = connection.execute(
        select(
            col(TraceVersion.position), col(TraceVersion.content_hash), col(TraceVersion.document)
        ).order_by(col(TraceVersion.position))
    ).yield_per(100)
    for position, content, document in rows:
        wanted = unseen.pop(content, None)
        if wanted is None:
            problems.append(f"trace {position} ({content}): no event tells of it")
        elif sha256_of(document) != wanted:
            problems.append(f"trace {position} ({content}): was changed after it was stored")
    problems += [f"trace {content}: was stored, and is gone" for content in unseen]
    return problems


def _check_verdicts(connection: Connection, announced: Mapping[tuple[str, str], str]) -> list[str]:
    problems, unseen = [], dict(announced)
    rows = connection.execute(
        select(col(TraceVersion.content_hash), col(Run.run_key), col(Verdict.document))
        .join_from(Verdict, TraceVersion, col(TraceVersion.position) == col(Verdict.position))
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .order_by(col(Verdict.verdict_id))
    ).yield_per(100)
    for content, run_key, document in rows:
        wanted = unseen.pop((content, run_key), None)
        if wanted is None:
            problems.append(f"verdict on {content} by {run_key}: no event tells of it")
        elif sha256_of(document) != wanted:
            problems.append(f"verdict on {content} by {run_key}: was changed after it was stored")
    problems += [
        f"verdict on {content} by {run_key}: was stored, and is gone" for content, run_key in unseen
    ]
    return problems


def _check_rows(
    connection: Connection,
    announced: Mapping[tuple[str, object], str],
    rewritten: Mapping[tuple[str, object], tuple[str, str]],
) -> list[str]:
    """Compare each row of a person's word with the event that told of it."""
    problems, unseen = [], dict(announced)
    for model in TOLD:
        table = _table(model)
        key = _key(table)
        for row in connection.execute(select(table).order_by(table.c[key])).yield_per(500):
            value = row._mapping[key]
            wanted = unseen.pop((table.name, value), None)
            if wanted is None:
                problems.append(f"{table.name} {value}: no event tells of it")
            elif (found := row_hash(row._mapping)) != wanted and (
                rewritten.get((table.name, value)) != (wanted, found)
            ):
                problems.append(f"{table.name} {value}: was changed after it was written")
    problems += [f"{name} {key}: was written, and is gone" for name, key in unseen]
    return problems
