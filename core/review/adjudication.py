"""resolve: what two annotations and an adjudication make together (formats.md, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.records import State, VerdictLabel
from core.review.records import (
    Adjudication,
    Annotation,
    Judgement,
    Resolution,
    ReviewStatus,
    Unfit,
)

# Where the claim does not pass: contradicted, or supported by another source than is credited.
FOUND_WRONG = (VerdictLabel.CONTRADICTED, VerdictLabel.SUPPORTED)


def resolve(
    annotations: Sequence[Annotation], adjudication: Adjudication | None, *, reads: int
) -> Resolution | None:
    """What stands for a claim; None while annotations are still to come.

    ``annotations`` are the current ones, one a reviewer. An adjudication counts whatever they say.
    """
    if adjudication is not None:
        final = _mended(adjudication.judgement, annotations)
        return Resolution(status=ReviewStatus.ADJUDICATED, final=final)
    if len(annotations) < reads:
        return None
    first = annotations[0].judgement
    if any(differ(first, annotation.judgement) for annotation in annotations[1:]):
        return Resolution(status=ReviewStatus.UNRESOLVED, final=None)
    status = ReviewStatus.SINGLE if len(annotations) == 1 else ReviewStatus.UNANIMOUS
    final = first
    for annotation in annotations[1:]:
        final = _in_common(final, annotation.judgement)
    return Resolution(status=status, final=final)


def _mended(final: Judgement, annotations: Sequence[Annotation]) -> Judgement:
    """An adjudicator's judgement, with what readers of the same mind wrote that the claim should say."""
    if not isinstance(final.support, Unfit) or final.correction:
        return final
    same = (one.judgement for one in annotations if one.judgement.support == final.support)
    return replace(final, correction=next((one.correction for one in same if one.correction), ""))


def should_block(final: Judgement) -> bool:
    """Whether blocking is right: not supported, or credited to the wrong source."""
    return final.support is not VerdictLabel.SUPPORTED or final.conflation is True


def passes(final: Judgement) -> bool:
    """Whether nothing of the claim stands against its answer: it may pass, or is no claim at all."""
    return isinstance(final.support, Unfit) or not should_block(final)


def state_of_final(final: Judgement) -> State:
    """The state of a claim with that final label: block is for what people found wrong or wrongly
    credited, and what no source confirms needs review still."""
    if passes(final):
        return State.ALLOW
    return State.BLOCK if final.support in FOUND_WRONG else State.NEEDS_REVIEW


def _in_common(one: Judgement, other: Judgement) -> Judgement:
    """What two judgements that do not differ say together: the sources that both name."""
    if one == other:
        return one
    shared = shared_source(one, other)
    both = (each for each in one.source_ids if each in other.source_ids and each != shared)
    return replace(
        one,
        source_id=shared,
        more_source_ids=tuple(both),
        conflation=other.conflation if one.conflation is None else one.conflation,
        correction=one.correction or other.correction,
        passages=tuple(dict.fromkeys((*one.passages, *other.passages))),
    )


def shared_source(one: Judgement, other: Judgement) -> str | None:
    """The source on which two judgements agree: the main one of either that the other names too.

    None where they name none in common so, and where neither names any.
    """
    if one.source_id in other.source_ids:
        return one.source_id
    return other.source_id if other.source_id in one.source_ids else None


def differ(one: Judgement, other: Judgement) -> bool:
    """Whether two judgements need a third person: on support, on the source, or on conflation.

    The sources agree where the main one of either is among the other's: who names two that it rests on
    does not differ from who names one of them. A reviewer who did not answer about conflation differs
    from nobody there. Two who say that it is no claim agree, whatever they would make of it.
    """
    if one.support is not other.support:
        return True
    if (one.source_ids or other.source_ids) and shared_source(one, other) is None:
        return True
    return (
        one.conflation is not None
        and other.conflation is not None
        and one.conflation is not other.conflation
    )
