"""settle and rebuild: how far claims are, worked out anew from what people hold and have said."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, func, select, union, update
from sqlmodel import col

from core.review.annotating import Standing, standing_of
from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import QueueState
from core.review.records import Project, Signal
from storage import queue
from storage.adjudications import adjudication_of, every_adjudication
from storage.annotations import current_annotations, every_current_annotation
from storage.claims import SIGNAL_COLUMNS, signal_from
from storage.review_tables import AssignmentRow, ClaimRow, ClaimSignal, QueueRow, VoteRow
from storage.tables import Run, TraceSlice, TraceVersion, Verdict
from storage.traces import is_newest


def settle(connection: Connection, project: Project, claim_key: int) -> QueueState:
    """Bring the queue's row of one claim up to what people hold and have said; its state."""
    readings = connection.execute(
        select(col(AssignmentRow.state)).where(
            col(AssignmentRow.project_id) == project.project_id,
            col(AssignmentRow.claim_key) == claim_key,
            col(AssignmentRow.slot) < ADJUDICATION_SLOT,
        )
    ).scalars()
    standing = standing_of(
        project.settings,
        current_annotations(connection, project.project_id, claim_key),
        adjudication_of(connection, project.project_id, claim_key),
        [state == "open" for state in readings],
    )
    queue.set_standing(
        connection,
        project.project_id,
        claim_key,
        missing=standing.missing,
        state=standing.state,
    )
    return standing.state


def rebuild(connection: Connection, project: Project) -> None:
    """Queue a project's claims anew; what people hold and have said keeps its place in it."""
    queue.empty(connection, project.project_id)
    signals = _latest(connection, _eligible(project))
    begun = union(
        select(col(AssignmentRow.claim_key)).where(
            col(AssignmentRow.project_id) == project.project_id
        ),
        select(col(VoteRow.claim_key)).where(col(VoteRow.project_id) == project.project_id),
    ).subquery()
    touched = _latest(
        connection,
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(select(begun.c.claim_key)))
        .group_by(col(ClaimSignal.claim_key)),
    )
    queue.fill(connection, project, {**signals, **touched})
    _settle_all(connection, project, touched)


def _settle_all(connection: Connection, project: Project, claim_keys: Collection[int]) -> None:
    """What ``settle`` does, for many claims in a handful of statements."""
    annotations = every_current_annotation(connection, project.project_id)
    decided = every_adjudication(connection, project.project_id)
    readings: dict[int, list[bool]] = {}
    for row in connection.execute(
        select(col(AssignmentRow.claim_key), col(AssignmentRow.state)).where(
            col(AssignmentRow.project_id) == project.project_id,
            col(AssignmentRow.slot) < ADJUDICATION_SLOT,
        )
    ):
        readings.setdefault(row.claim_key, []).append(row.state == "open")
    standings: dict[Standing, list[int]] = {}
    for key in claim_keys:
        standing = standing_of(
            project.settings, annotations.get(key, ()), decided.get(key), readings.get(key, ())
        )
        standings.setdefault(standing, []).append(key)
    for standing, keys in standings.items():
        for start in range(0, len(keys), queue.ROWS_AT_ONCE):
            connection.execute(
                update(QueueRow)
                .where(
                    col(QueueRow.project_id) == project.project_id,
                    col(QueueRow.claim_key).in_(keys[start : start + queue.ROWS_AT_ONCE]),
                )
                .values(missing=standing.missing, state=standing.state.value)
            )


def _eligible(project: Project) -> Select[Any]:
    """The latest signals of the claims that the latest verdict on a trace's newest version found."""
    verdict = select(func.max(col(Verdict.verdict_id))).group_by(col(Verdict.position))
    found = (
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(Verdict, col(Verdict.position) == col(ClaimRow.position))
        .join(
            ClaimSignal,
            (col(ClaimSignal.claim_key) == col(ClaimRow.claim_key))
            & (col(ClaimSignal.run_id) == col(Verdict.run_id)),
        )
        .where(col(Verdict.verdict_id).in_(verdict), is_newest())
    )
    if project.settings.slice is not None:
        found = found.join(
            TraceSlice, col(TraceSlice.position) == col(TraceVersion.position)
        ).where(col(TraceSlice.slice) == project.settings.slice)
    return (
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(found))
        .group_by(col(ClaimSignal.claim_key))
    )


def _latest(connection: Connection, signal_ids: Select[Any]) -> dict[int, Signal]:
    # Without the features: they make up most of a row, and no queue asks for them.
    columns = SIGNAL_COLUMNS[:-1]
    rows = connection.execute(
        select(col(ClaimSignal.claim_key), *columns, col(Run.run_key))
        .join(Run, col(Run.run_id) == col(ClaimSignal.run_id))
        .where(col(ClaimSignal.signal_id).in_(signal_ids))
        .order_by(col(ClaimSignal.claim_key))
    )
    return {row.claim_key: signal_from(row._mapping) for row in rows}
