"""Annotating: a reviewer reads a claim, sees the verifier after deciding, and may decide anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from core.errors import Conflict
from core.review import annotating, leases
from core.review.assignment import NOTHING_ON_SCREEN, STALE_PAGE, check_page
from core.review.items import Assignment, Draft, ReviewItem
from core.review.records import Annotation, Exposure, Judgement, Person, Project, Role, Signal
from storage import assignments, drafts, exposure_log
from storage.adjudications import adjudication_of
from storage.annotations import annotations_of, latest_annotations, put_annotation
from storage.audit import append_event
from storage.claims import latest_signal
from storage.guidelines import keep_first
from storage.held_claims import HeldClaims, latest_pass
from storage.people import allow
from storage.projects import project_at
from storage.review_items import is_decided, review_item
from storage.standing import settle

InWords = Callable[
    [Connection, Assignment, annotating.Answer, Annotation | None, float], annotating.NewAnnotation
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingClaims(HeldClaims):
    """Claims on their way from the queue to an annotation."""

    def next_item(self, project_id: int, user: Person) -> ReviewItem | None:
        """The claim in the person's hands, or else the next one, now in their hands."""
        now = self.store.now()
        with self.store.database.reading() as connection:
            allow(connection, user, Role.REVIEWER, "review claims")
            project = project_at(connection, project_id)
            assignment = assignments.open_annotation(connection, project_id, user.person_id)
            if assignment is not None and not leases.half_over(assignment, project.settings, now):
                return review_item(connection, assignment, user)
        with self.store.database.writing() as connection:
            allow(connection, user, Role.REVIEWER, "review claims")
            project = project_at(connection, project_id)
            assignments.expire(connection, project, user, now=now)
            assignment = assignments.open_annotation(connection, project_id, user.person_id)
            if assignment is not None:
                assignments.renew(connection, project, assignment, now=now)
            else:
                assignment = assignments.take(connection, project, user, now=now)
            if assignment is None:
                return None
            assignment = assignments.assignment_at(connection, project_id, assignment.assignment_id)
            return review_item(connection, assignment, user)

    def annotate(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        nonce: str,
        judgement: Judgement,
        *,
        confidence: int | None,
        rationale: str,
        exposures: Sequence[Exposure],
    ) -> Annotation:
        """Write a reading; raises Conflict, TooSoon, NotFound, NotAllowed, InputError."""
        return self._put_annotation(
            project_id,
            user,
            assignment_id,
            nonce,
            judgement,
            confidence,
            rationale,
            exposures,
            check=annotating.check_first,
            put_in_words=_first_annotation,
        )

    def reveal(self, project_id: int, user: Person, assignment_id: int) -> Signal | None:
        """What the machine says of the claim; written down as seen.

        Raises NotAllowed before the decision, where the project wants the decision first.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            project = project_at(connection, project_id)
            assignment = self._mine(connection, project_id, user, assignment_id)
            annotating.check_reveal(
                project.settings, decided=is_decided(connection, assignment, user)
            )
            if assignment.revealed_at is None:
                assignments.mark_revealed(connection, assignment, now=now)
                append_event(
                    connection,
                    at=now,
                    actor=user.name,
                    action="model.revealed",
                    entity=f"claim {assignment.claim_key}",
                    detail={
                        "project": project_id,
                        "person": user.person_id,
                        "slot": assignment.slot,
                    },
                )
            return latest_signal(connection, assignment.claim_key)

    def revise(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        nonce: str,
        judgement: Judgement,
        *,
        confidence: int | None,
        rationale: str | None,
        exposures: Sequence[Exposure],
    ) -> Annotation:
        """Write what a reviewer says after the machine's view; raises as ``vote`` does."""
        return self._put_annotation(
            project_id,
            user,
            assignment_id,
            nonce,
            judgement,
            confidence,
            rationale,
            exposures,
            check=annotating.check_second,
            put_in_words=_annotation_after_reveal,
        )

    def _put_annotation(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        nonce: str,
        judgement: Judgement,
        confidence: int | None,
        rationale: str | None,
        exposures: Sequence[Exposure],
        *,
        check: Callable[[Assignment], None],
        put_in_words: InWords,
    ) -> Annotation:
        judgement = self._checked(project_id, user, assignment_id, judgement, confidence)
        now = self.store.now()
        with self.store.database.writing() as connection:
            project, assignment, seconds = self._on_screen(
                connection, project_id, user, assignment_id, nonce,
                role=Role.REVIEWER, doing="vote", check=check, now=now,
            )  # fmt: skip
            self._still_open(connection, assignment)
            mine = annotations_of(
                connection, project_id, assignment.claim_key, person_id=user.person_id
            )
            before = mine[-1] if mine else None
            answer = annotating.Answer(
                judgement=judgement,
                confidence=confidence,
                rationale=rationale,
                exposures=exposures,
                nonce=nonce,
                guideline_version=keep_first(connection, now),
            )
            annotation = put_annotation(
                connection,
                assignment,
                put_in_words(connection, assignment, answer, before, seconds),
                at=now,
                actor=user.name,
                action="vote.revised" if before else "vote.cast",
            )
            assignments.close(connection, assignment)
            settle(connection, project, assignment.claim_key)
        return annotation

    def undo(
        self,
        project_id: int,
        user: Person,
        on_screen: int | None = None,
        nonce: str | None = None,
    ) -> ReviewItem | None:
        """The claim that the person annotated or passed on last, in their hands again; None without one.

        What they said comes back as its draft, with their note.

        Raises Conflict once somebody has adjudicated it, or holds what was passed on, and for a page
        that is out of date: its nonce is not the latest of the assignment ``on_screen``, or
        NOTHING_ON_SCREEN while there is a claim.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, user, Role.REVIEWER, "take a vote back")
            if on_screen is not None:
                check_page(assignments.own(connection, project_id, on_screen, user), nonce)
            elif nonce == NOTHING_ON_SCREEN and assignments.open_annotation(
                connection, project_id, user.person_id
            ):
                raise Conflict(STALE_PAGE)
            project = project_at(connection, project_id)
            said_last = latest_annotations(connection, project_id, user.person_id)
            passed = latest_pass(connection, project_id, user.person_id)
            if passed is not None and (not said_last or passed.at >= said_last[0].at):
                return self._undo_pass(connection, project, user, passed, now=now)
            for row in said_last:
                assignment = assignments.assignment_of(
                    connection, project_id, row.claim_key, user.person_id
                )
                if assignment is None or assignment.open:
                    continue
                self._still_open(connection, assignment)
                assignments.reopen(connection, project, assignment, now=now)
                # As of when it was said: nothing has been typed since.
                said = annotations_of(
                    connection, project_id, row.claim_key, person_id=user.person_id
                )[-1]
                drafts.put_draft(connection, assignment, _draft_of(said), now=said.at)
                append_event(
                    connection,
                    at=now,
                    actor=user.name,
                    action="vote.reopened",
                    entity=f"claim {assignment.claim_key}",
                    detail={"project": project_id, "slot": assignment.slot, "from": row.vote_id},
                )
                settle(connection, project, assignment.claim_key)
                assignment = assignments.assignment_at(
                    connection, project_id, assignment.assignment_id
                )
                return review_item(connection, assignment, user)
        return None

    def _undo_pass(
        self,
        connection: Connection,
        project: Project,
        user: Person,
        passed: Row[Any],
        *,
        now: datetime,
    ) -> ReviewItem:
        assignment = assignments.take_again(connection, project, user, passed.claim_key, now=now)
        append_event(
            connection,
            at=now,
            actor=user.name,
            action="claim.pass_undone",
            entity=f"claim {assignment.claim_key}",
            detail={
                "project": project.project_id,
                "slot": assignment.slot,
                "from": passed.decline_id,
            },
        )
        return review_item(connection, assignment, user)

    def _still_open(self, connection: Connection, assignment: Assignment) -> None:
        annotating.check_not_adjudicated(
            adjudication_of(connection, assignment.project_id, assignment.claim_key)
        )


def _draft_of(annotation: Annotation) -> Draft:
    return Draft(
        support=annotation.judgement.support,
        source_id=annotation.judgement.source_id,
        source_answered=True,
        conflation=annotation.judgement.conflation,
        confidence=annotation.confidence,
        rationale=annotation.rationale,
    )


def _first_annotation(
    connection: Connection,
    assignment: Assignment,
    answer: annotating.Answer,
    before: Annotation | None,
    seconds: float,
) -> annotating.NewAnnotation:
    return annotating.first_annotation(
        assignment,
        answer,
        before,
        latest_signal(connection, assignment.claim_key),
        seen_elsewhere=exposure_log.exposures_of(
            connection, assignment.person_id, assignment.claim_key
        ),
        seconds=seconds,
    )


def _annotation_after_reveal(
    connection: Connection,
    assignment: Assignment,
    answer: annotating.Answer,
    before: Annotation | None,
    seconds: float,
) -> annotating.NewAnnotation:
    assert before is not None  # check_second: it was decided
    return annotating.annotation_after_reveal(assignment, answer, before)
