"""resolve: what two readings and a tie-break make together (formats.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from core.review.records import Adjudication, Judgement, Resolution, ReviewStatus, Vote


def resolve(
    votes: Sequence[Vote], adjudication: Adjudication | None, *, reads: int
) -> Resolution | None:
    """What stands for a claim; None while readings are still to come.

    ``votes`` are the current ones, one a reviewer. An adjudication counts whatever the votes say.
    """
    if adjudication is not None:
        return Resolution(status=ReviewStatus.ADJUDICATED, final=adjudication.judgement)
    if len(votes) < reads:
        return None
    first = votes[0].judgement
    if any(differ(first, vote.judgement) for vote in votes[1:]):
        return Resolution(status=ReviewStatus.UNRESOLVED, final=None)
    status = ReviewStatus.SINGLE if len(votes) == 1 else ReviewStatus.UNANIMOUS
    return Resolution(status=status, final=first)


def differ(one: Judgement, other: Judgement) -> bool:
    """Whether two judgements need a third person: on support, on the source, or on conflation.

    A reviewer who did not answer about conflation differs from nobody there.
    """
    if one.support is not other.support or one.source_id != other.source_id:
        return True
    return (
        one.conflation is not None
        and other.conflation is not None
        and one.conflation is not other.conflation
    )
