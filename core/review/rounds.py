"""Agreement rounds: the same claims for everyone, read blind, so that a guideline can be amended.

A round's labels are practice: they settle no claim and train nothing.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, zip_longest

from core.errors import InputError
from core.records import Span
from core.review.adjudication import shared_source
from core.review.agreement_figures import figures
from core.review.agreement_pairs import Pair, columns
from core.review.agreement_records import AgreementFigures, Label, Question
from core.review.records import Judgement, Person, Unfit

CLAIMS = 20
MOST_CLAIMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorOfRound:
    """Somebody who reads a round's claims, and how many of them they have read."""

    person_id: int
    name: str
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRound:
    """One round; ``guideline_version`` was in force when it began."""

    round_id: int
    number: int
    claims: int
    guideline_version: int
    by: str
    at: datetime
    annotators: tuple[AnnotatorOfRound, ...]
    closed_at: datetime | None

    @property
    def finished(self) -> bool:
        """Whether nobody of its annotators may still read: it was closed, or all have read all."""
        return self.closed_at is not None or all(
            each.done >= self.claims for each in self.annotators
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundItem:
    """One claim of a round, in an annotator's hands: item ``position`` of ``total``."""

    round_id: int
    number: int
    position: int
    total: int
    claim_key: int
    claim_id: str
    text: str
    span: Span
    trace_id: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLabel:
    """What one annotator said of one claim of a round."""

    claim_key: int
    claim_id: str
    text: str
    trace_id: str
    content_hash: str
    annotator: str
    judgement: Judgement
    rationale: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A claim that a round may take: nobody has begun it, and no annotator has seen its verdict."""

    claim_key: int
    claim_id: str
    trace_id: str
    text: str


def check_round(annotators: Collection[Person], claims: int) -> None:
    """Raise InputError for a round that could show no agreement."""
    if len({each.person_id for each in annotators}) < 2:
        raise InputError("a round needs two annotators or more", path="readers")
    if not 1 <= claims <= MOST_CLAIMS:
        raise InputError(f"expected 1 to {MOST_CLAIMS} claims, found {claims}", path="claims")


def draw(candidates: Iterable[Candidate], number: int, count: int) -> tuple[Candidate, ...]:
    """``count`` claims for the round of that number: by chance, one of every trace before a second.

    The same candidates and number give the same claims.
    """
    of_trace: dict[str, list[Candidate]] = defaultdict(list)
    for each in sorted(candidates, key=lambda one: _drawn(number, one)):
        of_trace[each.trace_id].append(each)
    turns = zip_longest(*of_trace.values())
    return tuple(each for turn in turns for each in turn if each is not None)[:count]


def _drawn(number: int, candidate: Candidate) -> str:
    told = f"{number} {candidate.trace_id} {candidate.claim_id} {candidate.text}"
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def agreement_of_round(labels: Sequence[RoundLabel], question: Question) -> AgreementFigures:
    """How far the annotators agree on one question; every two annotators of a claim are one pair.

    The interval is by resampling traces, as everywhere: pairs of one claim are not independent.
    """
    pairs, left_out = columns(_pairs(labels, question))
    return figures(pairs, left_out, question)


def differing(labels: Sequence[RoundLabel], question: Question) -> list[list[RoundLabel]]:
    """The claims on which not all annotators said the same, the most divided first."""
    claims = [
        each
        for each in _by_claim(labels)
        if len({answer(one.judgement, question) for one in each}) > 1
    ]
    return sorted(claims, key=lambda each: (_largest(each, question) / len(each), each[0].claim_id))


def answer(judgement: Judgement, question: Question) -> Label:
    """What a judgement says to the question; "not said" where it was left open.

    Of what is no claim nothing else is asked.
    """
    if question is Question.CLAIM:
        return "no" if judgement.label is None else "yes"
    if isinstance(judgement.support, Unfit):
        return judgement.support.value
    if question is Question.SUPPORT:
        return judgement.support.value
    if question is Question.SOURCE:
        return judgement.source_id
    return {True: "yes", False: "no", None: "not said"}[judgement.conflation]


def _largest(claim: Sequence[RoundLabel], question: Question) -> int:
    said = [answer(one.judgement, question) for one in claim]
    return max(said.count(each) for each in said)


def _by_claim(labels: Sequence[RoundLabel]) -> list[list[RoundLabel]]:
    claims: dict[int, list[RoundLabel]] = defaultdict(list)
    for each in labels:
        claims[each.claim_key].append(each)
    return [sorted(each, key=lambda one: one.annotator) for each in claims.values()]


def _pairs(labels: Sequence[RoundLabel], question: Question) -> Iterable[Pair | str]:
    for claim in _by_claim(labels):
        if len(claim) < 2:
            yield "one annotation only"
        for one, other in combinations(claim, 2):
            left, right = answer(one.judgement, question), answer(other.judgement, question)
            if question is not Question.CLAIM and not (
                one.judgement.label and other.judgement.label
            ):
                yield "a reviewer says that it is no claim, or was cut wrongly"
                continue
            if "not said" in (left, right) and question is Question.CONFLATION:
                yield "a reviewer did not answer this question"
                continue
            shared = shared_source(one.judgement, other.judgement)
            if question is Question.SOURCE and shared is not None:
                left = right = shared
            yield Pair(
                claim_key=one.claim_key,
                trace_id=one.trace_id,
                raters=(one.annotator, other.annotator),
                labels=(left, right),
            )
