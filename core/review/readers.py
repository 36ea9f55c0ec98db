"""Who may read other people's votes: nobody who still has to judge the claim themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import NotAllowed
from core.review.records import Person, ReviewedClaim, ReviewStatus, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """The claims whose votes somebody may see, and how many are kept back so that they stay blind."""

    claims: tuple[ReviewedClaim, ...]
    kept_back: int


def require_reader(who: Person, doing: str) -> None:
    """Raise NotAllowed unless the person is a lead or an auditor: they may see everybody's word."""
    if not may_read(who):
        held = ", ".join(sorted(who.roles)) or "no role"
        raise NotAllowed(f"to {doing}, {who.name} needs to be lead or auditor (is {held})")


def may_read(who: Person) -> bool:
    """Whether the person is a lead or an auditor."""
    return bool(who.roles & {Role.LEAD, Role.AUDITOR})


def readable_by(
    viewer: Person, claims: Iterable[ReviewedClaim], open_claims: frozenset[int]
) -> Readable:
    """The claims whose votes ``viewer`` may see: none that they still have to judge themselves.

    ``open_claims`` are the keys of the claims that they hold a reading or a tie-break of.
    """
    readable, kept_back = [], 0
    for claim in claims:
        voted = any(vote.reviewer == viewer.name for vote in claim.votes)
        # A tie may be offered to any adjudicator who has not voted on it.
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
