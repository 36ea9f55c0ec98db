"""Adjudicating: a third person decides where two readings differ."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from core.review import annotating
from core.review.items import DisagreementItem, QueueState
from core.review.records import Adjudication, Cause, Judgement, Person, Project, Role
from storage import assignments
from storage.adjudications import put_adjudication
from storage.annotations import current_annotations
from storage.guidelines import keep_first
from storage.held_claims import HeldClaims
from storage.people import allow
from storage.projects import project_at
from storage.review_items import disagreement_item
from storage.standing import settle


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicating(HeldClaims):
    """Disagreements on their way to a decision."""

    def next_disagreement(self, project_id: int, user: Person) -> DisagreementItem | None:
        """The disagreement in the person's hands, or else the next one, now in their hands."""
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, user, Role.ADJUDICATOR, "adjudicate")
            project = project_at(connection, project_id)
            assignments.expire(connection, project, user, now=now)
            assignment = assignments.open_adjudication(connection, project_id, user.person_id)
            if assignment is not None and not _disagree(connection, project, assignment.claim_key):
                assignments.give_back(
                    connection,
                    project,
                    assignment,
                    now=now,
                    actor=user.name,
                    reason=annotating.AGREE_NOW,
                )
                assignment = None
            if assignment is not None:
                assignments.renew(connection, project, assignment, now=now)
            else:
                assignment = assignments.take_disagreement(connection, project, user, now=now)
            if assignment is None:
                return None
            assignment = assignments.assignment_at(connection, project_id, assignment.assignment_id)
            return disagreement_item(connection, assignment, user)

    def adjudicate(
        self,
        project_id: int,
        user: Person,
        item: DisagreementItem,
        nonce: str,
        judgement: Judgement,
        *,
        cause: Cause,
        guideline_needs_fix: bool,
        rule: str | None,
        rationale: str,
    ) -> Adjudication:
        """Write what a third person decides; Conflict when a reading changed since it was shown."""
        judgement = self._checked(project_id, user, item.assignment_id, judgement, None)
        now = self.store.now()
        with self.store.database.writing() as connection:
            project, assignment, _ = self._on_screen(
                connection, project_id, user, item.assignment_id, nonce,
                role=Role.ADJUDICATOR, doing="adjudicate", check=annotating.check_adjudicable, now=now,
            )  # fmt: skip
            shown = tuple(reading.vote_id for reading in item.annotations)
            annotating.check_shown(
                shown,
                current_annotations(connection, project_id, assignment.claim_key),
                settle(connection, project, assignment.claim_key),
            )
            done = put_adjudication(
                connection,
                assignment,
                judgement,
                cause=cause,
                guideline_needs_fix=guideline_needs_fix,
                rule=rule,
                rationale=rationale,
                shown=shown,
                guideline_version=keep_first(connection, now),
                nonce=nonce,
                at=now,
                actor=user.name,
            )
            assignments.close(connection, assignment)
            settle(connection, project, assignment.claim_key)
        return done


def _disagree(connection: Connection, project: Project, claim_key: int) -> bool:
    return settle(connection, project, claim_key) is QueueState.DISAGREEMENT
