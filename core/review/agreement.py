"""How well people agree, with each other and with the machine, beyond what chance would give.

Every figure has its number of claims, its interval by resampling traces, and a reason where it is
undefined. Support and source are two questions and are never pooled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from itertools import chain

from core.bootstrap import SEED
from core.records import AttributionStatus, VerdictLabel
from core.review.adjudication import shared_source
from core.review.agreement_figures import figures
from core.review.agreement_pairs import Found, Pair, columns, compared
from core.review.agreement_records import (
    AgreementFigures,
    Basis,
    GroupAgreement,
    Grouping,
    Label,
    Question,
    RevealEffect,
)
from core.review.agreement_resamples import RESAMPLES
from core.review.assignment import unaided
from core.review.pre_labels import PRE_LABELS, PreLabel
from core.review.records import (
    Annotation,
    Judgement,
    ReviewedClaim,
)

MACHINE = "the verifier"
TAKEN_AS_CLAIM = "a machine takes every claim for one: there is nothing to compare"


# ---------------------------------------------------------------- people with people


def agreement_with_groups(
    claims: Sequence[ReviewedClaim],
    question: Question,
    grouping: Grouping,
    *,
    basis: Basis = Basis.INDEPENDENT,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[AgreementFigures, tuple[GroupAgreement, ...]]:
    """How far the first two annotations of each claim agree, of all claims and of each group by name.

    Claims with one annotation do not count; a claim of two slices counts in both. Intervals are of
    ``resamples`` draws of the traces.
    """
    found = _of_people(claims, question, basis)
    pairs, left_out = columns(chain.from_iterable(found))
    members: dict[str | None, list[int]] = defaultdict(list)
    without: dict[str | None, Counter[str]] = defaultdict(Counter)
    names_of, place = _GROUP_NAMES[grouping], 0
    for claim, (pair,) in zip(claims, found, strict=True):
        if len(claim.annotations) >= 2:
            for name in names_of(claim):
                if isinstance(pair, str):
                    without[name][pair] += 1
                else:
                    members[name].append(place)
        place += not isinstance(pair, str)
    return figures(pairs, left_out, question, resamples, seed), tuple(
        GroupAgreement(
            name=name,
            figures=figures(pairs.at(members[name]), without[name], question, resamples, seed),
        )
        for name in sorted({*members, *without}, key=lambda name: (name is None, name or ""))
    )


def _of_people(claims: Iterable[ReviewedClaim], question: Question, basis: Basis) -> list[Found]:
    return compared(claims, (question, basis), lambda claim: (_pair(claim, question, basis),))


def _first_two(claim: ReviewedClaim) -> tuple[Annotation, Annotation]:
    if len(claim.annotations) == 2:  # nearly all: no list is sorted for them
        first, second = claim.annotations
        return (first, second) if first.slot <= second.slot else (second, first)
    first, second = sorted(claim.annotations, key=lambda annotation: annotation.slot)[:2]
    return first, second


def _pair(claim: ReviewedClaim, question: Question, basis: Basis) -> Pair | str:
    if len(claim.annotations) < 2:
        return "one annotation only"
    first, second = _first_two(claim)
    one, other = _judgement(first, basis), _judgement(second, basis)
    if one is None or other is None:
        return "an annotation was made with the verifier's view on screen"
    left, right = _label(one, question), _label(other, question)
    if isinstance(left, _Unsaid):
        return left.value
    if isinstance(right, _Unsaid):
        return right.value
    if question is Question.SOURCE and (shared := shared_source(one, other)) is not None:
        left = right = shared
    # By name and not by slot, so that Cohen's two raters are the same two people on every claim.
    raters = (first.reviewer, second.reviewer)
    if raters[0] > raters[1]:
        raters, left, right = (raters[1], raters[0]), right, left
    return Pair(
        claim_key=claim.claim_key, trace_id=claim.trace_id, raters=raters, labels=(left, right)
    )


def _judgement(annotation: Annotation, basis: Basis) -> Judgement | None:
    """The judgement to compare; None where an independent one is asked for and none was made."""
    if basis is Basis.STANDING:
        return annotation.judgement
    return unaided(annotation)


class _Unsaid(Enum):
    """Why there is no answer, which is not the answer "no source"."""

    OPEN = "a reviewer did not answer this question"
    NO_CLAIM = "a reviewer says that it is no claim, or was cut wrongly"


def _label(judgement: Judgement, question: Question) -> Label | _Unsaid:
    if question is Question.CLAIM:
        return _yes_no(judgement.label is not None)
    if judgement.label is None:
        return _Unsaid.NO_CLAIM
    if question is Question.SUPPORT:
        return judgement.support.value
    if question is Question.SOURCE:
        return judgement.source_id
    return _Unsaid.OPEN if judgement.conflation is None else _yes_no(judgement.conflation)


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _pair_name(claim: ReviewedClaim) -> tuple[str, ...]:
    first, second = _first_two(claim)
    return (" and ".join(sorted((first.reviewer, second.reviewer))),)


def _week(claim: ReviewedClaim) -> tuple[str, ...]:
    first, second = sorted(claim.annotations, key=lambda annotation: annotation.slot)[:2]
    day = max(first.at, second.at).date()
    return ((day - timedelta(days=day.weekday())).isoformat(),)


_GROUP_NAMES: Mapping[Grouping, Callable[[ReviewedClaim], Sequence[str | None]]] = {
    Grouping.SLICE: lambda claim: claim.slices or (None,),
    Grouping.FAMILY: lambda claim: (claim.family,),
    Grouping.CATEGORY: lambda claim: (claim.category,),
    Grouping.PAIR: _pair_name,
    Grouping.WEEK: _week,
}


# ---------------------------------------------------------------- people with the machine


def agreement_with_machine(
    claims: Iterable[ReviewedClaim],
    question: Question,
) -> AgreementFigures:
    """How far annotations agree with the verifier before its view was shown; one pair an annotation."""
    found = compared(
        claims,
        (question, MACHINE),
        lambda claim: tuple(
            _machine_pair(claim, annotation, question) for annotation in claim.annotations
        ),
    )
    return figures(*columns(chain.from_iterable(found)), question)


def agreement_with_pre_labels(
    claims: Iterable[ReviewedClaim],
    made: Mapping[int, PreLabel],
    question: Question,
) -> AgreementFigures:
    """How far annotations agree with the pre-labels before those were shown; one pair an annotation."""
    pairs = (
        _pre_label_pair(claim, annotation, made[claim.claim_key], question)
        for claim in claims
        if claim.claim_key in made
        for annotation in claim.annotations
    )
    return figures(*columns(pairs), question)


def _pre_label_pair(
    claim: ReviewedClaim, annotation: Annotation, made: PreLabel, question: Question
) -> Pair | str:
    judgement = _judgement(annotation, Basis.INDEPENDENT)
    if judgement is None:
        return "the annotation was made with the verifier's view on screen"
    if question is Question.CLAIM:
        return TAKEN_AS_CLAIM
    label = _label(judgement, question)
    if isinstance(label, _Unsaid):
        return label.value
    said: Label = made.label.value
    if question is Question.SOURCE:
        said = made.source_id
        label = said if said in judgement.source_ids else label
    elif question is not Question.SUPPORT:
        if made.conflation is None:
            return "the pre-labels say nothing of the credit"
        said = _yes_no(made.conflation)
    return Pair(
        claim_key=claim.claim_key,
        trace_id=claim.trace_id,
        raters=("reviewers", PRE_LABELS),
        labels=(label, said),
    )


def _machine_pair(claim: ReviewedClaim, annotation: Annotation, question: Question) -> Pair | str:
    judgement = _judgement(annotation, Basis.INDEPENDENT)
    if judgement is None:
        return "the annotation was made with the verifier's view on screen"
    if claim.signal is None:
        return "the verifier has said nothing about the claim"
    if question is Question.CLAIM:
        return TAKEN_AS_CLAIM
    label = _label(judgement, question)
    if isinstance(label, _Unsaid):
        return label.value
    said: Label
    if question is Question.SUPPORT:
        if claim.signal.verdict in (None, VerdictLabel.UNJUDGED):
            return "the verifier could not judge the claim"
        said = claim.signal.verdict.value if claim.signal.verdict else None
    elif question is Question.SOURCE:
        # The router names a source for every claim, also for one that no source supports.
        if label is None:
            return "the reviewer named no source"
        if claim.signal.routed_source_id in judgement.source_ids:
            label = claim.signal.routed_source_id
        if claim.signal.routed_source_id is None:
            return "the verifier could not judge the claim"
        said = claim.signal.routed_source_id
    else:
        said = _yes_no(claim.signal.attribution is AttributionStatus.CONFLATION)
    return Pair(
        claim_key=claim.claim_key,
        trace_id=claim.trace_id,
        raters=("reviewers", MACHINE),
        labels=(label, said),
    )


def reveal_effect(claims: Iterable[ReviewedClaim]) -> RevealEffect:
    """What reviewers did when the machine's view was shown after their decision (support alone)."""
    annotations = changed = towards = away = 0
    for claim in claims:
        for annotation in claim.annotations:
            if annotation.first is None or not annotation.saw_model_output:
                continue
            annotations += 1
            changed += annotation.changed_after_reveal
            said = claim.signal.verdict if claim.signal else None
            before, after = annotation.first.support is said, annotation.judgement.support is said
            towards += after and not before
            away += before and not after
    return RevealEffect(
        annotations=annotations, changed=changed, towards_machine=towards, away_from_machine=away
    )
