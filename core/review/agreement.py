"""How well people agree, with each other and with the machine, beyond what chance would give.

Every figure has its number of claims, its interval by resampling traces, and a reason where it is
undefined. Support and source are two questions and are never pooled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import SEED, Interval, interval, resampled_counts
from core.records import AttributionStatus, VerdictLabel
from core.review.assignment import unaided
from core.review.records import (
    SUPPORT_LABELS,
    Annotation,
    Judgement,
    ReviewedClaim,
)
from core.statistics import Agreement, cohen_kappa, fleiss_kappa, gwet_ac1

Label = str | None  # None: "no source", an answer to the question of the source
Array = NDArray[np.float64]
Codes = NDArray[np.int64]

RESAMPLES = 1_000
MACHINE = "the verifier"
MOST_CELLS = 20_000_000  # of the table traces × shared labels; a larger one gets no interval
# What an interval may cost: a thousand resamples of a thousand blocks of traces tell enough.
DRAWS, FEWEST_RESAMPLES, MOST_BLOCKS = 1_000_000, 1_000, 1_000


class Question(StrEnum):
    """What two readings are compared on."""

    SUPPORT = "support"
    SOURCE = "source"
    CONFLATION = "conflation"


class Basis(StrEnum):
    """Which judgement of a reading is compared."""

    INDEPENDENT = "independent"  # made before anything of the machine's view was shown
    STANDING = "standing"  # as it stands now, after the reveal


class Grouping(StrEnum):
    """What the claims are told apart by."""

    SLICE = "slice"
    FAMILY = "family"
    CATEGORY = "category"
    PAIR = "pair"
    WEEK = "week"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A coefficient with its 95 % interval by trace; without a value, ``reason`` says why.

    A value without an interval has the reason for that.
    """

    value: float | None
    interval: Interval | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelShare:
    """How often raters chose a label; ``label`` None is "no source"."""

    label: Label
    count: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigures:
    """Two ratings a claim, compared on one question; the claims behind the numbers by their key.

    ``left_out`` counts, by reason, the readings or claims that the question could not compare.
    """

    question: Question
    claims: int
    traces: int
    raw: Figure
    cohen: Figure
    fleiss: Figure
    ac1: Figure
    prevalence: tuple[LabelShare, ...]
    agreeing: tuple[int, ...]
    differing: tuple[int, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """The figures of the claims that have something in common; ``name`` None: they lack it."""

    name: str | None
    figures: AgreementFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealEffect:
    """What showing the machine's view did: readings that saw it after deciding, and who changed."""

    readings: int
    changed: int
    towards_machine: int
    away_from_machine: int


class _Pair(NamedTuple):
    """Two labels of one claim; a plain tuple, since a page makes a hundred thousand of them."""

    claim_key: int
    trace_id: str
    raters: tuple[str, str]
    labels: tuple[Label, Label]


_Found = tuple["_Pair | str", ...]  # of one claim: its pairs, or why a pair cannot be compared


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Pairs as columns of one length; ``left`` and ``right`` are places in ``names``."""

    claims: Codes
    traces: Codes
    raters: Codes
    left: Codes
    right: Codes
    names: tuple[Label, ...]

    def at(self, places: Sequence[int]) -> _Pairs:
        """Some of the pairs, in the order of ``places``."""
        return replace(
            self,
            claims=self.claims[places],
            traces=self.traces[places],
            raters=self.raters[places],
            left=self.left[places],
            right=self.right[places],
        )


# ---------------------------------------------------------------- people with people


def agreement(
    claims: Iterable[ReviewedClaim],
    question: Question,
    *,
    basis: Basis = Basis.INDEPENDENT,
    resamples: int | None = None,
    seed: int = SEED,
) -> AgreementFigures:
    """How far the first two readings of each claim agree; claims with one reading do not count.

    Intervals are of ``resamples`` draws of the traces: 5,000, and fewer where many traces make each
    draw costly and the interval narrow.
    """
    found = _of_people(claims, question, basis)
    return _figures(*_columns(chain.from_iterable(found)), question, resamples, seed)


def agreement_with_groups(
    claims: Sequence[ReviewedClaim],
    question: Question,
    grouping: Grouping,
    *,
    basis: Basis = Basis.INDEPENDENT,
    resamples: int | None = None,
    seed: int = SEED,
) -> tuple[AgreementFigures, tuple[GroupAgreement, ...]]:
    """``agreement`` of all claims, and of each group by name; a claim of two slices counts in both."""
    found = _of_people(claims, question, basis)
    pairs, left_out = _columns(chain.from_iterable(found))
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
    return _figures(pairs, left_out, question, resamples, seed), tuple(
        GroupAgreement(
            name=name,
            figures=_figures(pairs.at(members[name]), without[name], question, resamples, seed),
        )
        for name in sorted({*members, *without}, key=lambda name: (name is None, name or ""))
    )


# What was said of each claim when it was last compared. Records never change: after one more annotation
# nearly all claims are the same objects, and only the others are compared again.
_LAST: dict[tuple[Hashable, ...], dict[int, tuple[ReviewedClaim, _Found]]] = {}
_LAST_AT_MOST = 4


def _compared(
    claims: Iterable[ReviewedClaim],
    what: tuple[Hashable, ...],
    compare: Callable[[ReviewedClaim], _Found],
) -> list[_Found]:
    before, now = _LAST.pop(what, {}), {}
    found = []
    for claim in claims:
        known = before.get(claim.claim_key)
        if known is None or known[0] is not claim:
            known = (claim, compare(claim))
        now[claim.claim_key] = known
        found.append(known[1])
    while len(_LAST) >= _LAST_AT_MOST:
        _LAST.pop(next(iter(_LAST)), None)
    _LAST[what] = now
    return found


def _of_people(claims: Iterable[ReviewedClaim], question: Question, basis: Basis) -> list[_Found]:
    return _compared(claims, (question, basis), lambda claim: (_pair(claim, question, basis),))


def _columns(found: Iterable[_Pair | str]) -> tuple[_Pairs, Counter[str]]:
    """The pairs as columns, and how many there are of each reason for none."""
    pairs: list[_Pair] = []
    left_out: Counter[str] = Counter()
    for each in found:
        if isinstance(each, str):
            left_out[each] += 1
        else:
            pairs.append(each)
    names: dict[Label, int] = {}
    traces: dict[str, int] = {}
    raters: dict[tuple[str, str], int] = {}
    table = np.array(
        [
            (
                pair.claim_key,
                traces.setdefault(pair.trace_id, len(traces)),
                raters.setdefault(pair.raters, len(raters)),
                names.setdefault(pair.labels[0], len(names)),
                names.setdefault(pair.labels[1], len(names)),
            )
            for pair in pairs
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    claims, of_trace, of_raters, left, right = table.T
    columns = _Pairs(
        claims=claims, traces=of_trace, raters=of_raters, left=left, right=right, names=(*names,)
    )
    return columns, left_out


def _first_two(claim: ReviewedClaim) -> tuple[Annotation, Annotation]:
    if len(claim.annotations) == 2:  # nearly all: no list is sorted for them
        first, second = claim.annotations
        return (first, second) if first.slot <= second.slot else (second, first)
    first, second = sorted(claim.annotations, key=lambda annotation: annotation.slot)[:2]
    return first, second


def _pair(claim: ReviewedClaim, question: Question, basis: Basis) -> _Pair | str:
    if len(claim.annotations) < 2:
        return "one reading only"
    first, second = _first_two(claim)
    one, other = _judgement(first, basis), _judgement(second, basis)
    if one is None or other is None:
        return "a reading was made with the machine's view on screen"
    left, right = _label(one, question), _label(other, question)
    if isinstance(left, _Unsaid) or isinstance(right, _Unsaid):
        return "a reviewer did not answer this question"
    # By name and not by slot, so that Cohen's two raters are the same two people on every claim.
    raters = (first.reviewer, second.reviewer)
    if raters[0] > raters[1]:
        raters, left, right = (raters[1], raters[0]), right, left
    return _Pair(
        claim_key=claim.claim_key, trace_id=claim.trace_id, raters=raters, labels=(left, right)
    )


def _judgement(annotation: Annotation, basis: Basis) -> Judgement | None:
    """The judgement to compare; None where an independent one is asked for and none was made."""
    if basis is Basis.STANDING:
        return annotation.judgement
    return unaided(annotation)


class _Unsaid:
    """No answer, which is not the answer "no source"."""


_UNSAID = _Unsaid()


def _label(judgement: Judgement, question: Question) -> Label | _Unsaid:
    if question is Question.SUPPORT:
        return judgement.support.value
    if question is Question.SOURCE:
        return judgement.source_id
    return _UNSAID if judgement.conflation is None else _yes_no(judgement.conflation)


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _pair_name(claim: ReviewedClaim) -> tuple[str, ...]:
    first, second = _first_two(claim)
    return (" and ".join(sorted((first.reviewer, second.reviewer))),)


def _week(claim: ReviewedClaim) -> tuple[str, ...]:
    first, second = sorted(claim.annotations, key=lambda annotation: annotation.slot)[:2]
    year, week, _ = max(first.at, second.at).isocalendar()
    return (f"{year}-W{week:02d}",)


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
    *,
    resamples: int | None = None,
    seed: int = SEED,
) -> AgreementFigures:
    """How far readings agree with the verifier before its view was shown; one pair a reading."""
    found = _compared(
        claims,
        (question, MACHINE),
        lambda claim: tuple(
            _machine_pair(claim, annotation, question) for annotation in claim.annotations
        ),
    )
    return _figures(*_columns(chain.from_iterable(found)), question, resamples, seed)


def _machine_pair(claim: ReviewedClaim, annotation: Annotation, question: Question) -> _Pair | str:
    judgement = _judgement(annotation, Basis.INDEPENDENT)
    if judgement is None:
        return "the reading was made with the machine's view on screen"
    if claim.signal is None:
        return "the verifier has said nothing about the claim"
    label = _label(judgement, question)
    if isinstance(label, _Unsaid):
        return "the reviewer did not answer this question"
    said: Label
    if question is Question.SUPPORT:
        if claim.signal.verdict in (None, VerdictLabel.UNJUDGED):
            return "the verifier could not judge the claim"
        said = claim.signal.verdict.value if claim.signal.verdict else None
    elif question is Question.SOURCE:
        # The router names a source for every claim, also for one that no source supports.
        if label is None:
            return "the reviewer named no source"
        if claim.signal.routed_source_id is None:
            return "the verifier could not judge the claim"
        said = claim.signal.routed_source_id
    else:
        said = _yes_no(claim.signal.attribution is AttributionStatus.CONFLATION)
    return _Pair(
        claim_key=claim.claim_key,
        trace_id=claim.trace_id,
        raters=("reviewers", MACHINE),
        labels=(label, said),
    )


def reveal_effect(claims: Iterable[ReviewedClaim]) -> RevealEffect:
    """What reviewers did when the machine's view was shown after their decision (support alone)."""
    readings = changed = towards = away = 0
    for claim in claims:
        for annotation in claim.annotations:
            if annotation.first is None or not annotation.saw_model_output:
                continue
            readings += 1
            changed += annotation.changed_after_reveal
            said = claim.signal.verdict if claim.signal else None
            before, after = annotation.first.support is said, annotation.judgement.support is said
            towards += after and not before
            away += before and not after
    return RevealEffect(
        readings=readings, changed=changed, towards_machine=towards, away_from_machine=away
    )


# ---------------------------------------------------------------- the figures of pairs


def _figures(
    pairs: _Pairs,
    left_out: Mapping[str, int],
    question: Question,
    resamples: int | None,
    seed: int,
) -> AgreementFigures:
    kinds, times = np.unique(pairs.left * len(pairs.names) + pairs.right, return_counts=True)
    labels = [
        (pairs.names[a], pairs.names[b])
        for a, b in zip(*divmod(kinds, max(1, len(pairs.names))), strict=True)
    ]
    each = times.tolist()
    choices = _choices(question, labels)
    resampled = _resampled(pairs, len(choices), resamples, seed)
    count = len(pairs.claims)
    fleiss = fleiss_kappa(labels, each)
    cohen = (
        cohen_kappa([left for left, _ in labels], [right for _, right in labels], each)
        if len(np.unique(pairs.raters)) <= 1
        else Agreement(
            value=None,
            raw=fleiss.raw,
            items=count,
            reason="several pairs of reviewers: it is defined for one pair",
        )
    )
    chosen = Counter[Label]()
    for pair, n in zip(labels, each, strict=True):
        for label in pair:
            chosen[label] += n
    agree = pairs.left == pairs.right
    return AgreementFigures(
        question=question,
        claims=count,
        traces=len(np.unique(pairs.traces)),
        raw=_figure(
            Agreement(
                value=fleiss.raw if count else None,
                raw=fleiss.raw,
                items=count,
                reason=None if count else "no claim was judged twice",
            ),
            resampled,
            "raw",
        ),
        cohen=_figure(cohen, resampled, "cohen"),
        fleiss=_figure(fleiss, resampled, "fleiss"),
        ac1=_figure(gwet_ac1(labels, choices, each), resampled, "ac1"),
        prevalence=tuple(
            LabelShare(label=label, count=count, share=count / chosen.total())
            for label, count in sorted(
                chosen.items(), key=lambda each: (-each[1], each[0] is None, each[0] or "")
            )
        ),
        agreeing=tuple(pairs.claims[agree].tolist()),
        differing=tuple(pairs.claims[~agree].tolist()),
        left_out=dict(left_out),
    )


def _choices(question: Question, labels: Sequence[tuple[Label, Label]]) -> Sequence[Label]:
    """What raters could choose from; sources differ from trace to trace, so there: what they chose."""
    if question is Question.SUPPORT:
        return [label.value for label in SUPPORT_LABELS]
    if question is Question.CONFLATION:
        return ["yes", "no"]
    return list(dict.fromkeys(label for pair in labels for label in pair))


def _figure(found: Agreement, resampled: Mapping[str, Array] | str, name: str) -> Figure:
    if found.value is None:
        return Figure(value=None, interval=None, reason=found.reason)
    if isinstance(resampled, str):
        return Figure(value=found.value, interval=None, reason=resampled)
    between = interval(resampled[name])
    return Figure(
        value=found.value,
        interval=between,
        reason=None if between else "no resample of the traces has a value",
    )


def _resampled(
    pairs: _Pairs, choices: int, resamples: int | None, seed: int
) -> Mapping[str, Array] | str:
    """Each coefficient on each resample of traces, shape (resamples,); or why there are none.

    With two ratings a claim, all four follow from the claims, those agreed on, and the sums over
    labels of pooled counts squared and of one rater's counts times the other's.
    """
    traces = _in_order(pairs.traces)
    count = int(traces.max(initial=-1)) + 1
    if count < 2:
        return "all claims are of one trace"
    # Beyond a thousand traces, blocks of them are drawn: a tenth of the work for the same width.
    blocks = min(count, MOST_BLOCKS)
    place = traces % blocks
    if resamples is None:
        resamples = max(FEWEST_RESAMPLES, min(RESAMPLES, DRAWS // blocks))
    labels = np.stack([pairs.left, pairs.right])
    size = blocks, len(pairs.names)
    at_label = np.unique(labels.ravel() * size[0] + np.tile(place, 2)) // size[0]
    is_shared = np.bincount(at_label, minlength=size[1]) > 1
    shared = int(is_shared.sum())
    if shared * size[0] > MOST_CELLS:
        return "too many different sources"
    agreed = (labels[0] == labels[1]).astype(np.float64)
    sums = np.stack([np.bincount(place, w, size[0]) for w in (np.ones(len(place)), agreed)], axis=1)
    column = np.cumsum(is_shared) - 1
    left, right = (
        np.bincount((place * shared + column[side])[is_shared[side]], minlength=size[0] * shared)
        .reshape(size[0], shared)
        .astype(np.float64)
        for side in labels
    )
    # A label of one trace is drawn as often as its trace, and its square as often squared: sources'
    # names would otherwise need a column each.
    one, two = (np.bincount(side, minlength=size[1]).astype(np.float64) for side in labels)
    home = np.zeros(size[1], dtype=np.int64)
    home[labels.ravel()] = np.tile(place, 2)
    alone = ~is_shared
    squares = np.stack(
        [
            np.bincount(home[alone], weights[alone], size[0]).astype(np.float64)
            for weights in ((one + two) ** 2, one * two)
        ],
        axis=1,
    )
    parts = [
        _coefficients(
            counts.astype(np.float64), sums.astype(np.float64), left, right, squares, choices
        )
        for counts in resampled_counts(size[0], resamples=resamples, seed=seed)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _in_order(codes: Codes) -> Codes:
    """Codes by first appearance, without gaps."""
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes]


def _coefficients(
    drawn: Array, sums: Array, left: Array, right: Array, squares: Array, choices: int
) -> dict[str, Array]:
    claims, agreed = (drawn @ sums).T
    one, two = drawn @ left, drawn @ right
    pooled, product = (drawn**2 @ squares).T
    pooled = pooled + ((one + two) ** 2).sum(axis=1)
    product = product + (one * two).sum(axis=1)
    raw = agreed / claims
    by_pool = pooled / (2 * claims) ** 2
    by_choice = (1 - by_pool) / (choices - 1) if choices > 1 else np.full_like(raw, np.nan)
    return {
        "raw": raw,
        "cohen": _beyond(raw, product / claims**2),
        "fleiss": _beyond(raw, by_pool),
        "ac1": _beyond(raw, by_choice),
    }


def _beyond(raw: Array, chance: Array) -> Array:
    undefined = chance >= 1.0 - 1e-12
    beyond: Array = np.where(
        undefined, np.nan, (raw - chance) / np.where(undefined, 1.0, 1.0 - chance)
    )
    return beyond
