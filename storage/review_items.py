"""What a reviewer or adjudicator is shown of the claim in their hands."""

from __future__ import annotations

from sqlalchemy import Connection

from core.records import Span
from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import Assignment, BlindAnnotation, DisagreementItem, ReviewItem
from core.review.records import Person
from core.review.sampling import shown_order
from storage import assignments, drafts, progress, queue
from storage.adjudications import adjudication_of
from storage.annotations import annotations_of, current_annotations


def review_item(connection: Connection, assignment: Assignment, user: Person) -> ReviewItem:
    """The claim of an assignment, for its reviewer; the reason it was chosen only after the decision."""
    place = assignments.place_of(connection, assignment.claim_key)
    done, in_hand = progress.count_mine(connection, assignment.project_id, user.person_id)
    left = progress.count_left(connection, assignment.project_id, user.person_id)
    return ReviewItem(
        assignment_id=assignment.assignment_id,
        claim_key=assignment.claim_key,
        claim_id=place.claim_id,
        text=place.text,
        span=Span(start=place.span_start, end=place.span_end),
        trace_id=place.trace_id,
        content_hash=place.content_hash,
        slot=assignment.slot,
        lease_until=assignment.lease_until,
        draft=drafts.draft_of(connection, assignment.assignment_id),
        position=done + 1,
        total=done + in_hand + left,
        reason=assignment.reason if is_decided(connection, assignment, user) else None,
    )


def disagreement_item(
    connection: Connection, assignment: Assignment, user: Person
) -> DisagreementItem:
    """A disagreement as its adjudicator sees it: the readings without names, in an order of its own."""
    place = assignments.place_of(connection, assignment.claim_key)
    annotations = {
        v.vote_id: v
        for v in current_annotations(connection, assignment.project_id, assignment.claim_key)
    }
    order = shown_order(assignment.assignment_id, tuple(sorted(annotations)))
    return DisagreementItem(
        assignment_id=assignment.assignment_id,
        claim_key=assignment.claim_key,
        claim_id=place.claim_id,
        text=place.text,
        span=Span(start=place.span_start, end=place.span_end),
        trace_id=place.trace_id,
        content_hash=place.content_hash,
        lease_until=assignment.lease_until,
        annotations=tuple(
            BlindAnnotation(
                label=f"Reviewer {number}",
                judgement=annotations[vote_id].judgement,
                confidence=annotations[vote_id].confidence,
                rationale=annotations[vote_id].rationale,
                vote_id=vote_id,
            )
            for number, vote_id in enumerate(order, 1)
        ),
        waiting=queue.count_disagreements(connection, assignment.project_id, user.person_id) + 1,
    )


def is_decided(connection: Connection, assignment: Assignment, user: Person) -> bool:
    """Whether the person has annotated the claim, or somebody adjudicated it where that is their part."""
    if assignment.slot == ADJUDICATION_SLOT:
        return adjudication_of(connection, assignment.project_id, assignment.claim_key) is not None
    return bool(
        annotations_of(
            connection, assignment.project_id, assignment.claim_key, person_id=user.person_id
        )
    )
