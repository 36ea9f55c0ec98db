"""Erasing traces: what nobody has judged can go, with everything about it, and the trail says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, or_, select
from sqlmodel import SQLModel, col

from storage.audit import ERASED, append_event, row_hash
from storage.tables import (
    AdjudicationRow,
    AnnotationRow,
    AssignmentRow,
    ClaimRow,
    ClaimSignal,
    Decline,
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
    for some in _pieces(positions, TRACES_AN_EVENT):
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
    repairs = select(col(RepairRow.repair_id)).where(col(RepairRow.position).in_(positions))
    verdicts = select(col(Verdict.verdict_id)).where(col(Verdict.position).in_(positions))
    of_trace = (TraceVersion, TraceSlice, Verdict, RepairRow, ClaimRow, VerdictOpening, TraceMark)
    of: tuple[tuple[type[SQLModel], str, Any], ...] = (
        *((model, "position", positions) for model in of_trace),
        *((model, "verdict_id", verdicts) for model in (VerdictState, VerdictCause)),
        (ClaimSignal, "claim_key", claims),
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


def _pieces(values: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
