"""resolve: what two annotations and an adjudication make together (formats.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.review.records import Adjudication, Annotation, Judgement, Resolution, ReviewStatus


def resolve(
    annotations: Sequence[Annotation], adjudication: Adjudication | None, *, reads: int
) -> Resolution | None:
    """What stands for a claim; None while annotations are still to come.

    ``annotations`` are the current ones, one a reviewer. An adjudication counts whatever they say.
    """
    if adjudication is not None:
        return Resolution(status=ReviewStatus.ADJUDICATED, final=adjudication.judgement)
    if len(annotations) < reads:
        return None
    first = annotations[0].judgement
    if any(differ(first, annotation.judgement) for annotation in annotations[1:]):
        return Resolution(status=ReviewStatus.UNRESOLVED, final=None)
    status = ReviewStatus.SINGLE if len(annotations) == 1 else ReviewStatus.UNANIMOUS
    corrections = (annotation.judgement.correction for annotation in annotations)
    correction = next(filter(None, corrections), "")
    final = first if correction == first.correction else replace(first, correction=correction)
    return Resolution(status=status, final=final)


def differ(one: Judgement, other: Judgement) -> bool:
    """Whether two judgements need a third person: on support, on the source, or on conflation.

    A reviewer who did not answer about conflation differs from nobody there. Two who say that it is no
    claim agree, whatever they would make of it.
    """
    if one.support is not other.support or one.source_id != other.source_id:
        return True
    return (
        one.conflation is not None
        and other.conflation is not None
        and one.conflation is not other.conflation
    )
