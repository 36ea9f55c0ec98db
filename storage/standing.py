"""settle and rebuild: how far claims are, worked out anew from what people hold and have said."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, select, union
from sqlmodel import col

from core.review.assignment import TIE_SLOT, queue_state
from core.review.items import QueueState
from core.review.records import Project, Signal
from storage import queue
from storage.adjudications import adjudication_of
from storage.claims import SIGNAL_COLUMNS, signal_from
from storage.review_tables import AssignmentRow, ClaimRow, ClaimSignal, VoteRow
from storage.tables import Run, TraceSlice, TraceVersion, Verdict
from storage.traces import is_newest
from storage.votes import current_votes


def settle(connection: Connection, project: Project, claim_key: int) -> QueueState:
    """Bring the queue's row of one claim up to what people hold and have said; its state."""
    readings = connection.execute(
        select(col(AssignmentRow.slot), col(AssignmentRow.state)).where(
            col(AssignmentRow.project_id) == project.project_id,
            col(AssignmentRow.claim_key) == claim_key,
            col(AssignmentRow.slot) < TIE_SLOT,
        )
    ).all()
    reads = project.settings.reads_per_claim
    state = queue_state(
        current_votes(connection, project.project_id, claim_key),
        adjudication_of(connection, project.project_id, claim_key),
        reads=reads,
        taken=len(readings),
        open_readings=sum(row.state == "open" for row in readings),
    )
    done = state in (QueueState.TIED, QueueState.SETTLED)
    queue.set_standing(
        connection,
        project.project_id,
        claim_key,
        missing=0 if done else max(0, reads - len(readings)),
        state=state,
    )
    return state


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
    for claim_key in touched:
        settle(connection, project, claim_key)


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
