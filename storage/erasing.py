"""Erasing traces that nobody has judged, and the names of people; the trail says so and stays whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    String,
    Table,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlmodel import SQLModel, col

from core.review.records import Person
from storage import records
from storage.audit import ERASED, PERSON_ERASED, SHOWN_AS, append_event, event_hash, row_hash
from storage.columns import PlainText, in_pieces
from storage.tables import (
    AdjudicationRow,
    AnnotationRow,
    AssignmentRow,
    AuditEvent,
    ClaimBlock,
    ClaimRow,
    ClaimSignal,
    Decline,
    PersonRow,
    PreLabelRow,
    RepairChoice,
    RepairRow,
    RoundClaimRow,
    Run,
    TraceMark,
    TraceSlice,
    TraceVersion,
    Verdict,
    VerdictCause,
    VerdictOpening,
    VerdictState,
)

TRACES_AN_EVENT = 25  # their rows' hashes make an event of at most a few megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """How many traces went, and the ids of those that stay, because people have judged them."""

    traces: int
    kept: tuple[str, ...]


def of_file(connection: Connection, file: str) -> list[int]:
    """Every trace version that came from that file."""
    rows = connection.execute(
        select(col(TraceVersion.position))
        .where(col(TraceVersion.file) == file)
        .order_by(col(TraceVersion.position))
    )
    return [position for position in rows.scalars() if position is not None]


def erase(
    connection: Connection,
    positions: Sequence[int],
    *,
    reason: str,
    actor: str,
    at: datetime,
) -> Erased:
    """Erase those trace versions with verdicts, claims and repairs; judged ones stay.

    The event keeps the hash of every row that goes: with them the seals can still be checked.
    """
    gone = 0
    kept: list[str] = []
    for some in in_pieces(positions, TRACES_AN_EVENT):
        judged = dict(_judged(connection, some))
        kept += judged.values()
        free = [position for position in some if position not in judged]
        if not free:
            continue
        traces = connection.execute(
            select(col(TraceVersion.content_hash)).where(col(TraceVersion.position).in_(free))
        ).scalars()
        verdicts = connection.execute(
            select(col(TraceVersion.content_hash), col(Run.run_key))
            .join_from(Verdict, TraceVersion, col(TraceVersion.position) == col(Verdict.position))
            .join(Run, col(Run.run_id) == col(Verdict.run_id))
            .where(col(Verdict.position).in_(free))
        )
        detail = {
            "reason": reason,
            "traces": list(traces),
            "verdicts": [[content, run] for content, run in verdicts],
            "erased": {name: rows for name, rows in _rows(connection, free) if rows},
        }
        connection.execute(delete(TraceVersion).where(col(TraceVersion.position).in_(free)))
        append_event(connection, at, actor, ERASED, f"{len(free)} traces", detail)
        gone += len(free)
    return Erased(traces=gone, kept=tuple(kept))


def erase_person(
    connection: Connection, person: Person, *, reason: str, actor: str, at: datetime
) -> tuple[int, int]:
    """Put a number in the place of a person's name and address, in rows and events alike.

    How many were rewritten, and how many texts hold the letters still, since somebody wrote them there.
    An event keeps the hashes before and after: the trail and its seals can be checked as ever. Whoever
    guesses the name can confirm it by them.
    """
    stub = f"person {person.person_id} (erased)"
    words = dict.fromkeys(_names_of(connection, person), stub)
    rewritten: dict[str, list[list[object]]] = {}
    letters = 0
    for table in SQLModel.metadata.sorted_tables:
        texts = [one for one in table.columns if isinstance(one.type, String | PlainText)]
        person_table = table.name == PersonRow.__tablename__  # sealed as it is now
        named = [one for one in texts if person_table or one.name in _NAMED or one is _PRE_LABEL]
        if named:
            with _unguarded(connection, table.name):
                changed = list(_rewritten(connection, table, named, words))
            if changed and not person_table:
                rewritten[table.name] = changed
        if texts:
            holding = or_(*(one.contains(word, autoescape=True) for one in texts for word in words))
            counted = select(func.count()).select_from(table).where(holding)
            letters += connection.execute(counted).scalar_one()
    told = {"reason": reason, "rewritten": rewritten}
    append_event(connection, at, actor, PERSON_ERASED, f"person {person.person_id}", told)
    return sum(map(len, rewritten.values())), letters


def _names_of(connection: Connection, person: Person) -> set[str]:
    """Name, address, and every name that pages ever called the person by; none that is another's now."""
    shown = connection.execute(
        select(col(AuditEvent.detail)).where(
            col(AuditEvent.action) == SHOWN_AS,
            col(AuditEvent.entity) == f"person {person.person_id}",
        )
    ).scalars()
    names = {name for each in shown for name in json.loads(each).values()}
    others = connection.execute(
        select(col(PersonRow.name), col(PersonRow.shown_as)).where(
            col(PersonRow.person_id) != person.person_id
        )
    )
    names -= {name for row in others for name in row}
    return names | {each for each in (person.name, person.email) if each}


# The columns in which this program itself names people, alone or as a value of a JSON document.
_NAMED = frozenset(("actor", "asked_by", "author", "by", "detail", "lineage", "reviewer", "signer"))

_PRE_LABEL = PreLabelRow.__table__.c.document  # type: ignore[attr-defined]  # names who read it


def _rewritten(
    connection: Connection, table: Table, named: Sequence[Column[Any]], words: Mapping[str, str]
) -> Iterator[list[object]]:
    """Of each row in which a word stood: its key, its hash before, and its hash now."""
    key, *_ = table.primary_key.columns
    holding = or_(
        *(one == word for one in named for word in words),
        *(one.contains(json.dumps(word), autoescape=True) for one in named for word in words),
    )
    for row in connection.execute(select(table).where(holding).order_by(key)).all():
        values = {one.name: _without(row._mapping[one], words) for one in named}
        if all(row._mapping[name] == value for name, value in values.items()):
            continue
        own = key == row._mapping[key]
        connection.execute(update(table).where(own).values(values))
        now = connection.execute(select(table).where(own)).one()
        if table.name == AuditEvent.__tablename__:
            # As it stands and not as it says: one that somebody changed before stays noticed.
            one, other = (event_hash(records.AuditEvent(**each._mapping)) for each in (row, now))
            yield [row.sequence, one, other]
        else:
            yield [row._mapping[key], row_hash(row._mapping), row_hash(now._mapping)]


def _without(value: Any, words: Mapping[str, str]) -> Any:
    """The value, of JSON in a text each value of it, with other words in place of these.

    Keys, labels and roles are this program's own: somebody may be called "reason", or "reviewer".
    """
    if isinstance(value, dict):
        kept = ("label", "source_id", "role", *(("from", "to") if "role" in value else ()))
        return {name: one if name in kept else _without(one, words) for name, one in value.items()}
    if isinstance(value, list):
        return [_without(one, words) for one in value]
    if not isinstance(value, str) or value in words:
        return words.get(value, value) if isinstance(value, str) else value
    if value.startswith(("{", "[")):
        try:
            return json.dumps(_without(json.loads(value), words), sort_keys=True)
        except ValueError:
            return value
    return value


@contextmanager
def _unguarded(connection: Connection, table: str) -> Iterator[None]:
    """Let the transaction change rows of a table that refuses it."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield
        connection.exec_driver_sql(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        return
    triggers = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :t"),
        {"t": table},
    ).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


def _judged(connection: Connection, positions: Sequence[int]) -> Iterable[tuple[int, str]]:
    """Those of the positions that somebody has judged or has in hand, with their trace's id."""
    said = [
        exists().where(column == col(ClaimRow.claim_key))
        for column in (
            col(AnnotationRow.claim_key),
            col(Decline.claim_key),
            col(AdjudicationRow.claim_key),
            col(AssignmentRow.claim_key),
            col(RoundClaimRow.claim_key),
        )
    ]
    rows = connection.execute(
        select(col(TraceVersion.position), col(TraceVersion.trace_id))
        .join(ClaimRow, col(ClaimRow.position) == col(TraceVersion.position))
        .where(col(TraceVersion.position).in_(positions), or_(*said))
        .distinct()
    )
    return [(row.position, row.trace_id) for row in rows]


def _rows(
    connection: Connection, positions: Sequence[int]
) -> Iterator[tuple[str, list[list[object]]]]:
    """Of each sealed table, the key and hash of the rows that go with these trace versions."""
    claims = select(col(ClaimRow.claim_key)).where(col(ClaimRow.position).in_(positions))
    signals = select(col(ClaimSignal.signal_id)).where(col(ClaimSignal.claim_key).in_(claims))
    repairs = select(col(RepairRow.repair_id)).where(col(RepairRow.position).in_(positions))
    verdicts = select(col(Verdict.verdict_id)).where(col(Verdict.position).in_(positions))
    of_trace = (TraceVersion, TraceSlice, Verdict, RepairRow, ClaimRow, VerdictOpening, TraceMark)
    of: tuple[tuple[type[SQLModel], str, Any], ...] = (
        *((model, "position", positions) for model in of_trace),
        *((model, "verdict_id", verdicts) for model in (VerdictState, VerdictCause)),
        (ClaimSignal, "claim_key", claims),
        (ClaimBlock, "signal_id", signals),
        (PreLabelRow, "claim_key", claims),
        (RepairChoice, "repair_id", repairs),
    )
    for model, column, values in of:
        table: Table = model.__table__  # type: ignore[attr-defined]
        key, *_ = table.primary_key.columns
        rows = connection.execute(
            select(table).where(table.c[column].in_(values)).order_by(key)
        ).yield_per(100)
        yield table.name, [[row._mapping[key], row_hash(row._mapping)] for row in rows]
