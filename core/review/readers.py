"""Who may read other people's annotations: nobody who still has to judge the claim themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import NotAllowed
from core.review.records import Person, ReviewedClaim, ReviewStatus, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """The claims whose annotations somebody may see, and how many are kept back so that they stay blind."""

    claims: tuple[ReviewedClaim, ...]
    kept_back: int


def require_reader(user: Person, doing: str) -> None:
    """Raise NotAllowed unless the person is a lead or an auditor: they may see everybody's word."""
    if not may_read(user):
        held = ", ".join(sorted(user.roles)) or "no role"
        raise NotAllowed(f"to {doing}, {user.name} needs to be lead or auditor (is {held})")


def may_read(user: Person) -> bool:
    """Whether the person is a lead or an auditor."""
    return bool(user.roles & {Role.LEAD, Role.AUDITOR})


def is_blind(person: Person) -> bool:
    """Whether the person judges claims and leads nobody: what the machine says waits until they have.

    Leads see verdicts to lead; what they have in hand is hidden from them as well.
    """
    return bool(person.roles & {Role.REVIEWER, Role.ADJUDICATOR}) and not may_read(person)


def readable_by(
    viewer: Person, claims: Iterable[ReviewedClaim], open_claims: frozenset[int]
) -> Readable:
    """The claims whose annotations ``viewer`` may see: none that they still have to judge themselves.

    ``open_claims`` are the keys of the claims that they hold an annotation or an adjudication of.
    """
    readable, kept_back = [], 0
    for claim in claims:
        voted = any(annotation.reviewer == viewer.name for annotation in claim.annotations)
        # A disagreement may be offered to any adjudicator who has not voted on it.
        may_be_offered = (
            claim.resolution.status is ReviewStatus.UNRESOLVED
            and Role.ADJUDICATOR in viewer.roles
            and not voted
        )
        if claim.claim_key in open_claims or may_be_offered:
            kept_back += 1
        else:
            readable.append(claim)
    return Readable(claims=tuple(readable), kept_back=kept_back)
