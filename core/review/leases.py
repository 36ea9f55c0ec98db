"""What becomes of an assignment: taken, shown, renewed, revealed, done, given back, reopened.

Each function is given the assignment as it was read and gives it as it is to be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.errors import NotFound
from core.review.assignment import ADJUDICATION_SLOT, free_slot, lease_until
from core.review.items import Assignment
from core.review.records import Person, ProjectSettings, QueueReason, Role

GONE = "this claim is no longer in your hands: its lease ran out or it was given back"
PASSED_ON = "your pass stays: somebody else has that claim now"
SOMEBODY_ELSES = "this claim is no longer in your hands: somebody else has it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Which annotation of a claim is taken, and how the claim came up for it."""

    slot: int
    reason: QueueReason
    inclusion_probability: float | None


def slot_for(
    others: Sequence[Slot],
    reason: QueueReason,
    inclusion_probability: float | None,
    settings: ProjectSettings,
) -> Slot | None:
    """What the next person takes of a claim that ``others`` have taken; None when all is taken.

    A claim stays in the audit, or out of it, for all who annotate it.
    """
    slot = free_slot({other.slot for other in others}, settings.reads_per_claim)
    if slot is None:
        return None
    if not others:
        return Slot(slot=slot, reason=reason, inclusion_probability=inclusion_probability)
    return Slot(
        slot=slot,
        reason=QueueReason.SECOND_READ,
        inclusion_probability=others[0].inclusion_probability,
    )


def stream_order(reads: int, *, audit_first: bool) -> tuple[tuple[int, bool], ...]:
    """In which order the queue is looked through: (annotations missing, in the audit) each.

    Begun claims come first, so that claims get done.
    """
    return tuple(
        (missing, audit)
        for missing in range(1, reads + 1)
        for audit in (audit_first, not audit_first)
    )


def role_needed(assignment: Assignment) -> Role:
    """The role with which that assignment is worked on."""
    return Role.ADJUDICATOR if assignment.slot == ADJUDICATION_SLOT else Role.REVIEWER


def check_own(assignment: Assignment, user: Person) -> Assignment:
    """The assignment, if it is that user's; raises NotFound otherwise."""
    if assignment.person_id != user.person_id:
        raise NotFound(SOMEBODY_ELSES)
    return assignment


def half_over(assignment: Assignment, settings: ProjectSettings, now: datetime) -> bool:
    """Whether a lease should be renewed: a page is drawn more often than that is worth a write."""
    return assignment.lease_until - now < timedelta(minutes=settings.lease_minutes) / 2


def renewed(assignment: Assignment, settings: ProjectSettings, now: datetime) -> Assignment:
    """Held for another lease; after a lease that ran out the claim appears anew."""
    if assignment.lease_until < now:
        assignment = replace(assignment, nonce=None, shown_at=None)
    return replace(assignment, lease_until=lease_until(now, settings))


def shown(assignment: Assignment, nonce: str, now: datetime) -> Assignment:
    """On screen with that nonce; the claim appeared with the first one that nobody has used yet."""
    appeared = (
        now if assignment.nonce is None or assignment.shown_at is None else assignment.shown_at
    )
    return replace(assignment, nonce=nonce, shown_at=appeared)


def revealed(assignment: Assignment, now: datetime) -> Assignment:
    """From now on its user has seen the machine's view.

    What is shown for a second decision appears anew, with its floor.
    """
    return replace(assignment, revealed_at=now, nonce=assignment.nonce if assignment.open else None)


def done(assignment: Assignment) -> Assignment:
    """Decided, and its nonce used."""
    return replace(assignment, open=False, nonce=None)


def given_back(assignment: Assignment, *, annotated: bool) -> Assignment | None:
    """What is left of an assignment that ends undecided; None: nothing is.

    A decision that was being reconsidered stands as it was.
    """
    return done(assignment) if annotated else None


def reopened(assignment: Assignment, settings: ProjectSettings, now: datetime) -> Assignment:
    """In its user's hands again; it appears anew."""
    return replace(
        assignment, open=True, nonce=None, shown_at=None, lease_until=lease_until(now, settings)
    )


def moved_at(created_at: datetime, *later: datetime | None) -> datetime:
    """When an assignment moved last: taken, shown, typed on or decided, where that happened."""
    return max(at for at in (created_at, *later) if at is not None)
