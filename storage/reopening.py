"""Reopening an adjudication: it stays as written, no longer counts, and the claim is decided anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select
from sqlmodel import col

from core.errors import Conflict, NotAllowed
from core.records import VerdictLabel
from core.review.assignment import ADJUDICATION_SLOT
from core.review.records import Cause, Person, Project, Role
from storage.adjudications import adjudication_of, stands
from storage.audit import add_row
from storage.people import person_at
from storage.review_tables import (
    AdjudicationRow,
    AssignmentRow,
    ClaimRow,
    Draft,
    PersonRow,
)
from storage.standing import settle
from storage.tables import TraceVersion
from storage.triage_tables import AdjudicationReopening

LISTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An adjudication that stands, as a list shows it."""

    claim_key: int
    claim_id: str
    text: str
    trace_id: str
    support: VerdictLabel
    cause: Cause
    decided_by: str
    at: datetime


def decided(connection: Connection, project: Project, viewer: Person) -> tuple[Decided, ...]:
    """The adjudications that stand and the viewer may reopen, the latest first.

    A lead sees all of them, an adjudicator their own: they know what they decided.
    """
    person = person_at(connection, viewer.person_id)
    statement = (
        select(
            col(AdjudicationRow.claim_key),
            col(AdjudicationRow.support),
            col(AdjudicationRow.cause),
            col(AdjudicationRow.at),
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            col(PersonRow.name),
        )
        .join(ClaimRow, col(ClaimRow.claim_key) == col(AdjudicationRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(PersonRow, col(PersonRow.person_id) == col(AdjudicationRow.person_id))
        .where(
            col(AdjudicationRow.project_id) == project.project_id,
            stands(),
        )
        .order_by(col(AdjudicationRow.adjudication_id).desc())
        .limit(LISTED)
    )
    if Role.LEAD not in person.roles:
        statement = statement.where(col(AdjudicationRow.person_id) == person.person_id)
    return tuple(
        Decided(
            claim_key=row.claim_key,
            claim_id=row.claim_id,
            text=row.text,
            trace_id=row.trace_id,
            support=VerdictLabel(row.support),
            cause=Cause(row.cause),
            decided_by=row.name,
            at=row.at,
        )
        for row in connection.execute(statement)
    )


def reopen(
    connection: Connection,
    project: Project,
    claim_key: int,
    *,
    reason: str,
    by: Person,
    at: datetime,
) -> None:
    """Take the claim's adjudication up again; its two readings differ as before.

    Whoever decided it may, and a lead. Raises NotAllowed, and Conflict where none stands.
    """
    person = person_at(connection, by.person_id)
    standing = adjudication_of(connection, project.project_id, claim_key)
    if standing is None:
        raise Conflict("no adjudication of this claim stands: it may have been reopened already")
    its_own = standing.reviewer == person.name and Role.ADJUDICATOR in person.roles
    if Role.AUDITOR in person.roles or not (Role.LEAD in person.roles or its_own):
        raise NotAllowed("an adjudication is reopened by a lead, or by who decided it")
    add_row(
        connection,
        AdjudicationReopening,
        {
            "project_id": project.project_id,
            "claim_key": claim_key,
            "adjudication_id": standing.adjudication_id,
            "person_id": person.person_id,
            "reason": reason,
            "at": at,
        },
        at=at,
        actor=person.name,
        action="adjudication.reopened",
        entity=f"claim {claim_key}",
        detail={
            "project": project.project_id,
            "from": standing.adjudication_id,
            "to": None,
            "reason": reason,
        },
    )
    third = select(col(AssignmentRow.assignment_id)).where(
        col(AssignmentRow.project_id) == project.project_id,
        col(AssignmentRow.claim_key) == claim_key,
        col(AssignmentRow.slot) == ADJUDICATION_SLOT,
    )
    connection.execute(delete(Draft).where(col(Draft.assignment_id).in_(third)))
    connection.execute(delete(AssignmentRow).where(col(AssignmentRow.assignment_id).in_(third)))
    settle(connection, project, claim_key)
