"""Stage 6 of seed 001: a claim's numbers asked of the claim and of the evidence apart, and compared.

Quantities are read by core.evidence; nothing here reads a number of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, islice

from core.evidence.comparing import dates_agree, fits
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms

TOLERANCE = 0.05
VALUE_WEIGHT, UNIT_WEIGHT, ENTITY_WEIGHT = 0.6, 0.2, 0.2
SUPPORTED = 0.9
_MOST_SUMMED = 12
_TOTALS = re.compile(
    r"\b(?:totals?|totall?ed|totall?ing|sum|combined|altogether|overall|in all)\b", re.I
)
_WORD = re.compile(r"[^\W\d_]+")
_QUARTER = re.compile(r"\bQ([1-4])\b", re.I)
_LEFT_OUT = frozenset(
    "about around approximately roughly nearly almost fiscal year quarter total annual annually report "
    "company million billion thousand percent full-time part-time there work".split()
)


class FiveWay(StrEnum):
    """The verdicts of seed 001."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NEI = "nei"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question about a claim, answered from the evidence alone; ``answer`` None: it is not there."""

    question: str
    expected: str
    answer: str | None
    agrees: bool

    @property
    def reply(self) -> str:
        """The answer in words."""
        return self.answer if self.answer is not None else "NOT FOUND IN EVIDENCE"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericFinding:
    """How a claim's number compares with the evidence; ``reason`` of a sum is its calculation."""

    verdict: FiveWay
    score: float
    reason: str
    inputs: tuple[Quantity, ...] = ()


def value_score(claimed: float, stated: float, tolerance: float = TOLERANCE) -> float:
    """1 − 0.1·|1 − r|/tolerance inside the tolerance, 0.5 in the same order of magnitude, else 0."""
    if stated == 0:
        return 1.0 if claimed == 0 else 0.0
    ratio = claimed / stated
    if abs(1 - ratio) <= tolerance + 1e-12:
        return 1.0 - 0.1 * abs(1 - ratio) / tolerance
    return 0.5 if 0.1 <= ratio <= 10 else 0.0


def verify_numbers(claim: str, evidence: str) -> tuple[NumericFinding, ...]:
    """One finding for each amount of the claim; a claim without amounts has none."""
    stated = _amounts(evidence)
    return tuple(_verified(want, stated, claim, evidence) for want in _amounts(claim))


def numeric_questions(claim: str, evidence: str) -> tuple[Answered, ...]:
    """The questions that a claim's amounts raise, answered from the evidence without those amounts."""
    stated, asked = _amounts(evidence), []
    for want in _amounts(claim):
        entity = _entity(claim, want)
        answer = _closest(entity, want.unit, stated, evidence)
        finding = _verified(want, stated, claim, evidence)
        asked.append(
            Answered(
                question=f"Which amount goes with {' '.join(sorted(entity)) or 'this'}?",
                expected=want.text,
                answer=answer.text if answer else None,
                agrees=finding.verdict is FiveWay.SUPPORTED,
            )
        )
    return tuple(asked)


def _amounts(text: str) -> list[Quantity]:
    apart = (QuantityKind.DATE, QuantityKind.ORDINAL)
    return [one for one in read_quantities(text) if one.kind not in apart]


def _verified(
    want: Quantity, stated: Sequence[Quantity], claim: str, evidence: str
) -> NumericFinding:
    compared = [_compared(want, have, claim, evidence) for have in stated]
    best = max(
        compared, key=lambda one: (one.verdict is FiveWay.SUPPORTED, one.score), default=None
    )
    if best is not None and best.verdict is FiveWay.SUPPORTED:
        return best
    nothing = NumericFinding(verdict=FiveWay.NEI, score=0.0, reason="the evidence states no number")
    return _summed(want, stated, claim) or best or nothing


def _compared(want: Quantity, have: Quantity, claim: str, evidence: str) -> NumericFinding:
    """One amount of the claim against one of the evidence, by the seed's weights.

    A wrong entity or a wrong period is a contradiction: the seed's own sum (0.8) would call it
    partial, and its examples do not.
    """
    fit = fits(have, want, frozenset()) is not None
    same_unit = fit or want.unit == have.unit
    value = value_score(want.amount, have.amount) if same_unit else 0.0
    value = max(value, SUPPORTED) if fit else value
    entity = _entity_match(_entity(claim, want), _entity(evidence, have)) and not _other_measure(
        claim, want, evidence, have
    )
    score = (
        VALUE_WEIGHT * value + UNIT_WEIGHT * (1.0 if same_unit else 0.5) + ENTITY_WEIGHT * entity
    )
    differs = (
        "another value"
        if value < SUPPORTED
        else "of something else"
        if not entity
        else ""
        if _period_match(claim, evidence, have)
        else "of another time"
    )
    verdict = FiveWay.SUPPORTED if round(score, 4) >= SUPPORTED else FiveWay.PARTIAL
    return NumericFinding(
        verdict=FiveWay.CONTRADICTED if differs else verdict,
        score=round(score, 4),
        reason=f"{want.text} against {have.text}: {differs or 'the same'}",
    )


def _sentence_of(text: str, amount: Quantity) -> str:
    spans = sentence_spans(text)
    return next((s.cut(text) for s in spans if s.start <= amount.span.start < s.end), text)


def _entity(text: str, amount: Quantity) -> frozenset[str]:
    """What a number is of: the content words of its sentence besides numbers and times."""
    part = _sentence_of(text, amount)
    for one in sorted(read_quantities(part), key=lambda one: -one.span.start):
        part = part[: one.span.start] + " " + part[one.span.end :]
    terms = (term for term in content_terms(part) if not any(c.isdigit() for c in term))
    return frozenset(term for term in terms if term not in _LEFT_OUT)


def _entity_match(claimed: frozenset[str], stated: frozenset[str]) -> bool:
    """Whether two numbers may be of one thing; nothing said of one leaves that open."""
    if not claimed or not stated:
        return True
    return any(_same_stem(one, other) for one in claimed for other in stated)


def _other_measure(claim: str, want: Quantity, evidence: str, have: Quantity) -> bool:
    """Whether each number stands with a measure that the other's sentence does not name.

    "Revenue was $95 billion" and "profit of $95B" share the company, and say different things.
    """
    asked, given = _beside(claim, want), _beside(evidence, have)
    return bool(asked and given) and not (
        _entity_match(asked, _entity(evidence, have)) or _entity_match(given, _entity(claim, want))
    )


def _beside(text: str, amount: Quantity) -> frozenset[str]:
    """The content word before a number in its sentence, and the one behind it; numbers are none."""
    entity, found = _entity(text, amount), set[str]()
    before, behind = text[: amount.span.start], text[amount.span.end :]
    for words in (reversed(_WORD.findall(before)), _WORD.findall(behind)):
        terms = (term for word in words for term in content_terms(word) if term in entity)
        found.update(islice(terms, 1))
    return frozenset(found)


def _same_stem(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) > 4 and one[:5] == other[:5])


def _period_match(claim: str, evidence: str, have: Quantity) -> bool:
    """Whether the claim's dates and quarters are among those that the evidence gives, if any."""
    part = _sentence_of(evidence, have)
    asked, given, anywhere = (
        [one for one in read_quantities(text) if one.kind is QuantityKind.DATE]
        for text in (claim, part, evidence)
    )
    given = given or anywhere
    if given and not all(any(dates_agree(g, a) for g in given) for a in asked):
        return False
    quarters, stated = set(_QUARTER.findall(claim)), set(_QUARTER.findall(part))
    return not quarters or not stated or bool(quarters & stated)


def _summed(want: Quantity, stated: Sequence[Quantity], claim: str) -> NumericFinding | None:
    """The amount as the sum of stated ones: of all of one unit, or of a pair where a total is claimed."""
    like = [one for one in stated if one.unit == want.unit and one.kind == want.kind][:_MOST_SUMMED]
    groups: list[Sequence[Quantity]] = [like] if len(like) > 1 else []
    if _TOTALS.search(claim):
        groups += combinations(like, 2)
    for group in groups:
        total = sum(one.amount for one in group)
        if abs(total - want.amount) <= max(want.step / 2, 1e-9 * abs(total)):
            return NumericFinding(
                verdict=FiveWay.SUPPORTED,
                score=round(value_score(want.amount, total), 4),
                reason=f"{' + '.join(one.text for one in group)} = {want.text}",
                inputs=tuple(group),
            )
    return None


def _closest(
    entity: frozenset[str], unit: str | None, stated: Sequence[Quantity], evidence: str
) -> Quantity | None:
    """The evidence's amount that shares most words with what is asked for; None when none shares any."""

    def shared(have: Quantity) -> int:
        words = _entity(evidence, have)
        held = sum(any(_same_stem(a, b) for b in words) for a in entity)
        return held + (unit is not None and have.unit == unit)

    best = max(stated, key=shared, default=None)
    return best if best is not None and shared(best) else None
