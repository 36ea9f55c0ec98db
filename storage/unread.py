"""Traces with claims that somebody has yet to judge: what the machine says of them stays hidden."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, false, or_, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.review.items import QueueState
from core.review.records import Person, Role
from storage.review_tables import (
    AssignmentRow,
    ClaimRow,
    Decline,
    ProjectRow,
    QueueRow,
    VoteRow,
)
from storage.tables import TraceVersion


def yet_to_judge(person: Person, trace: Any = TraceVersion) -> ColumnElement[bool]:
    """Whether the person may still be given a claim of any version of the trace in that row.

    Such claims wait in a project that wants the decision first, and the person has neither read them
    nor passed them on for good.
    """
    states = _states(person.roles)
    if not states:
        return false()
    other = aliased(TraceVersion)
    mine = (
        select(1)
        .where(
            col(VoteRow.project_id) == col(QueueRow.project_id),
            col(VoteRow.claim_key) == col(QueueRow.claim_key),
            col(VoteRow.person_id) == person.person_id,
        )
        .correlate(QueueRow)
        .exists()
    )
    passed_on = (
        select(1)
        .where(
            col(Decline.claim_key) == col(QueueRow.claim_key),
            col(Decline.project_id) == col(QueueRow.project_id),
            col(Decline.person_id) == person.person_id,
        )
        .correlate(QueueRow)
        .exists()
    )
    taken_up_again = (
        select(1)
        .where(
            col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
            col(AssignmentRow.project_id) == col(QueueRow.project_id),
            col(AssignmentRow.person_id) == person.person_id,
        )
        .correlate(QueueRow)
        .exists()
    )
    return (
        select(1)
        .select_from(other)
        .join(ClaimRow, col(ClaimRow.position) == col(other.position))
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .join(ProjectRow, col(ProjectRow.project_id) == col(QueueRow.project_id))
        .where(
            col(other.trace_key) == col(trace.trace_key),
            col(QueueRow.state).in_(states),
            col(ProjectRow.decide_first),
            ~mine,
            or_(~passed_on, taken_up_again),
        )
        .correlate(trace)
        .exists()
    )


def _states(roles: Collection[Role]) -> list[str]:
    """The states of claims that somebody with these roles may be given."""
    reading = [QueueState.WAITING, QueueState.READING] if Role.REVIEWER in roles else []
    deciding = [QueueState.DISAGREEMENT] if Role.ADJUDICATOR in roles else []
    return [state.value for state in (*reading, *deciding)]
