"""Held claims: what a person does with a claim in their hands short of deciding it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlmodel import col

from core.review import annotating, leases
from core.review.assignment import (
    ADJUDICATION_SLOT,
    check_judgement,
    check_key,
    check_page,
    check_reason,
)
from core.review.items import Assignment, Draft
from core.review.records import (
    Judgement,
    Person,
    Project,
    Role,
)
from storage import assignments, drafts
from storage.audit import add_row
from storage.columns import plain_text
from storage.people import allow
from storage.projects import project_at
from storage.review_items import is_decided
from storage.review_tables import AssignmentRow, Decline
from storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldClaims:
    """What reading and deciding a claim share: one transaction a write."""

    store: SqlStore

    def show(self, project_id: int, user: Person, assignment_id: int) -> str:
        """A new nonce for what is being put on screen now; earlier ones are void."""
        with self.store.database.writing() as connection:
            assignment = self._mine(connection, project_id, user, assignment_id)
            return assignments.mint(connection, assignment, now=self.store.now())

    def decline(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        reason: str,
        nonce: str | None = None,
    ) -> None:
        """Take the claim out of the person's hands, for good; raises InputError without a reason."""
        stated = plain_text(check_reason(reason, "giving a claim back"))
        now = self.store.now()
        with self.store.database.writing() as connection:
            assignment = self._mine(connection, project_id, user, assignment_id)
            annotating.check_decline(assignment, decided=is_decided(connection, assignment, user))
            check_page(assignment, nonce)
            add_row(
                connection,
                Decline,
                {
                    "project_id": project_id,
                    "claim_key": assignment.claim_key,
                    "slot": assignment.slot,
                    "person_id": user.person_id,
                    "reason": stated,
                    "at": now,
                },
                at=now,
                actor=user.name,
                action="claim.declined",
                entity=f"claim {assignment.claim_key}",
                detail={"project": project_id, "slot": assignment.slot},
            )
            assignments.give_back(
                connection,
                project_at(connection, project_id),
                assignment,
                now=now,
                actor=user.name,
                reason="declined",
            )

    def release(self, project_id: int, user: Person, assignment_id: int, reason: str) -> None:
        """Take a claim out of somebody else's hands; raises NotAllowed, NotFound, Conflict."""
        stated = check_reason(reason, "releasing a claim")
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, user, Role.LEAD, "release somebody else's claim")
            assignment = assignments.assignment_at(connection, project_id, assignment_id)
            annotating.check_release(assignment)
            assignments.give_back(
                connection,
                project_at(connection, project_id),
                assignment,
                now=now,
                actor=user.name,
                reason=stated,
            )

    def save_draft(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        draft: Draft,
        nonce: str | None = None,
    ) -> None:
        """Keep what was entered so far; raises NotFound, and Conflict once it is decided."""
        with self.store.database.writing() as connection:
            assignment = self._mine(connection, project_id, user, assignment_id)
            annotating.check_draft(assignment)
            check_page(assignment, nonce)
            drafts.put_draft(connection, assignment, draft, now=self.store.now())

    def load_draft(self, project_id: int, user: Person, assignment_id: int) -> Draft | None:
        """What was entered so far; None when nothing was, or it is somebody else's."""
        with self.store.database.reading() as connection:
            assignment = assignments.own(connection, project_id, assignment_id, user)
            return drafts.draft_of(connection, assignment.assignment_id)

    def _on_screen(
        self,
        connection: Connection,
        project_id: int,
        user: Person,
        assignment_id: int,
        nonce: str,
        *,
        role: Role,
        doing: str,
        check: Callable[[Assignment], None],
        now: datetime,
    ) -> tuple[Project, Assignment, float]:
        """The assignment that is decided now, as it is on screen, and for how many seconds.

        Raises NotAllowed, NotFound, Conflict and TooSoon.
        """
        allow(connection, user, role, doing)
        project = project_at(connection, project_id)
        assignment = assignments.own(connection, project_id, assignment_id, user)
        check(assignment)
        return project, assignment, check_key(assignment, nonce, now, project.settings)

    def _mine(
        self, connection: Connection, project_id: int, user: Person, assignment_id: int
    ) -> Assignment:
        """The person's own assignment, if they have the role that it needs."""
        assignment = assignments.own(connection, project_id, assignment_id, user)
        allow(connection, user, leases.role_needed(assignment), "work on this claim")
        return assignment

    def _checked(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        judgement: Judgement,
        confidence: int | None,
    ) -> Judgement:
        # A trace may be long, and never changes: read before the write lock is taken.
        with self.store.database.reading() as connection:
            assignment = assignments.own(connection, project_id, assignment_id, user)
            known = (
                frozenset[str]()
                if judgement.source_id is None
                else assignments.source_ids(connection, assignment.claim_key)
            )
        plain = None if judgement.source_id is None else plain_text(judgement.source_id)
        checked = Judgement(
            support=judgement.support, source_id=plain, conflation=judgement.conflation
        )
        check_judgement(checked, confidence, known)
        return checked


def latest_pass(connection: Connection, project_id: int, person_id: int) -> Row[Any] | None:
    """The claim that the person gave back last and has not taken up again; None without one."""
    again = (
        select(1)
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.claim_key) == col(Decline.claim_key),
            col(AssignmentRow.person_id) == person_id,
        )
        .correlate(Decline)
        .exists()
    )
    return connection.execute(
        select(Decline.__table__)  # type: ignore[attr-defined]
        .where(
            col(Decline.project_id) == project_id,
            col(Decline.person_id) == person_id,
            col(Decline.slot) < ADJUDICATION_SLOT,
            ~again,
        )
        .order_by(col(Decline.decline_id).desc())
        .limit(1)
    ).first()
