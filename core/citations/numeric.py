"""Stage 6: a claim's numbers asked of the claim and of the evidence apart, and compared (001).

Quantities are read by core.evidence; nothing here reads a number of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from core.citations.claim_records import Answered, FiveWay, NumericFinding
from core.evidence.comparing import dates_agree, fits
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.records import Derivation, FactPlace, Span
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms

TOLERANCE = 0.05
VALUE_WEIGHT, UNIT_WEIGHT, ENTITY_WEIGHT = 0.6, 0.2, 0.2
SUPPORTED, PARTIAL = 0.9, 0.5
_MOST_SUMMED = 12
_TOTALS = re.compile(
    r"\b(?:totals?|totall?ed|totall?ing|sum|combined|altogether|overall|in all)\b", re.I
)
_LEFT_OUT = frozenset(
    "about around approximately roughly nearly almost fiscal year quarter total annual annually report "
    "company million billion thousand percent full-time part-time there work".split()
)


def value_score(claimed: float, stated: float, tolerance: float = TOLERANCE) -> float:
    """1 − 0.1·|1 − r|/tolerance inside the tolerance, 0.5 in the same order of magnitude, else 0."""
    if stated == 0:
        return 1.0 if claimed == 0 else 0.0
    ratio = claimed / stated
    if abs(1 - ratio) <= tolerance + 1e-12:
        return 1.0 - 0.1 * abs(1 - ratio) / tolerance
    return 0.5 if 0.1 <= ratio <= 10 else 0.0


def verify_numbers(
    claim: str, evidence: str, *, source_id: str = "evidence", tolerance: float = TOLERANCE
) -> tuple[NumericFinding, ...]:
    """One finding for each amount of the claim; a claim without amounts has none."""
    amounts = [one for one in read_quantities(claim) if _is_amount(one)]
    return tuple(_verified(one, claim, evidence, source_id, tolerance) for one in amounts)


def _is_amount(one: Quantity) -> bool:
    return one.kind not in (QuantityKind.DATE, QuantityKind.ORDINAL)


def _verified(
    want: Quantity, claim: str, evidence: str, source_id: str, tolerance: float
) -> NumericFinding:
    stated = [one for one in read_quantities(evidence) if _is_amount(one)]
    best: NumericFinding | None = None
    for have in stated:
        found = _compared(want, have, claim, evidence, tolerance)
        if best is None or _rank(found) > _rank(best):
            best = found
    if best is not None and best.verdict is FiveWay.SUPPORTED:
        return best
    derived = _summed(want, stated, claim, source_id, tolerance)
    if derived is not None:
        return derived
    if best is None:
        return _finding(FiveWay.NEI, 0.0, want, None, reason="the evidence states no number")
    return best


def _rank(found: NumericFinding) -> tuple[bool, float]:
    return found.verdict is FiveWay.SUPPORTED, found.score


def _compared(
    want: Quantity, have: Quantity, claim: str, evidence: str, tolerance: float
) -> NumericFinding:
    """One amount of the claim against one of the evidence, by the seed's weights.

    A wrong entity or a wrong period is a contradiction: the seed's own sum (0.8) would call it
    partial, and its examples do not.
    """
    fit = fits(have, want, frozenset()) is not None
    same_unit = want.unit == have.unit
    value = value_score(want.amount, have.amount, tolerance) if same_unit or fit else 0.0
    if fit:
        value = max(value, 1.0 - 0.1)
    entity = _entity_match(_entity(claim, want), _entity(evidence, have))
    period = _period_match(claim, evidence, have)
    score = VALUE_WEIGHT * value + UNIT_WEIGHT * (1.0 if same_unit or fit else 0.5)
    score = round(score + ENTITY_WEIGHT * (1.0 if entity else 0.0), 4)
    told = f"{want.text} against {have.text}"
    if value < SUPPORTED:
        return _finding(
            FiveWay.CONTRADICTED, score, want, have, entity, period, f"{told}: another value"
        )
    if not entity:
        return _finding(
            FiveWay.CONTRADICTED, score, want, have, entity, period, f"{told}: of something else"
        )
    if not period:
        return _finding(
            FiveWay.CONTRADICTED, score, want, have, entity, period, f"{told}: of another time"
        )
    verdict = FiveWay.SUPPORTED if score >= SUPPORTED else FiveWay.PARTIAL
    return _finding(verdict, score, want, have, entity, period, f"{told}: the same")


def _finding(
    verdict: FiveWay,
    score: float,
    want: Quantity,
    have: Quantity | None,
    entity: bool = False,
    period: bool = True,
    reason: str = "",
) -> NumericFinding:
    return NumericFinding(
        verdict=verdict,
        score=score,
        claim_value=want.text,
        evidence_value=have.text if have else None,
        entity_match=entity,
        period_match=period,
        reason=reason,
    )


def _entity(text: str, amount: Quantity) -> frozenset[str]:
    """What a number is of: the content words of its sentence besides numbers and times."""
    sentence = next(
        (one for one in sentence_spans(text) if one.start <= amount.span.start < one.end), None
    )
    part = sentence.cut(text) if sentence else text
    for one in sorted(read_quantities(part), key=lambda one: -one.span.start):
        part = part[: one.span.start] + " " + part[one.span.end :]
    terms = (term for term in content_terms(part) if not any(c.isdigit() for c in term))
    return frozenset(term for term in terms if term not in _LEFT_OUT)


def _entity_match(claimed: frozenset[str], stated: frozenset[str]) -> bool:
    """Whether two numbers may be of one thing; nothing said of one leaves that open."""
    if not claimed or not stated:
        return True
    return any(one == other or _same_stem(one, other) for one in claimed for other in stated)


def _same_stem(one: str, other: str) -> bool:
    return len(one) > 4 and len(other) > 4 and one[:5] == other[:5]


_QUARTER = re.compile(r"\bQ([1-4])\b", re.I)


def _period_match(claim: str, evidence: str, have: Quantity) -> bool:
    """Whether the claim's dates and quarters are among those that the evidence gives, if any."""
    sentence = next(
        (s for s in sentence_spans(evidence) if s.start <= have.span.start < s.end), None
    )
    part = sentence.cut(evidence) if sentence else evidence
    asked = [one for one in read_quantities(claim) if one.kind is QuantityKind.DATE]
    given = [one for one in read_quantities(part) if one.kind is QuantityKind.DATE]
    given = given or [one for one in read_quantities(evidence) if one.kind is QuantityKind.DATE]
    if asked and given and not all(any(dates_agree(g, a) for g in given) for a in asked):
        return False
    quarters, stated = set(_QUARTER.findall(claim)), set(_QUARTER.findall(part))
    return not quarters or not stated or bool(quarters & stated)


def _summed(
    want: Quantity, stated: Sequence[Quantity], claim: str, source_id: str, tolerance: float
) -> NumericFinding | None:
    """The amount as the sum of stated ones: of all of one unit, or of a pair where a total is claimed."""
    like = [one for one in stated if one.unit == want.unit and one.kind == want.kind][:_MOST_SUMMED]
    groups: list[Sequence[Quantity]] = [like] if len(like) > 1 else []
    if _TOTALS.search(claim):
        groups += combinations(like, 2)
    for group in groups:
        total = sum(one.amount for one in group)
        if abs(total - want.amount) > max(want.step / 2, 1e-9 * abs(total)):
            continue
        told = f"{' + '.join(one.text for one in group)} = {want.text}"
        derivation = Derivation(
            operation="sum",
            inputs=tuple(
                FactPlace(source_id=source_id, span=Span(start=one.span.start, end=one.span.end))
                for one in group
            ),
            result=want.text,
            tolerance=f"{want.step / 2:g}",
            text=told,
        )
        return NumericFinding(
            verdict=FiveWay.SUPPORTED,
            score=round(value_score(want.amount, total, tolerance), 4),
            claim_value=want.text,
            evidence_value=None,
            entity_match=True,
            period_match=True,
            reason=told,
            derivation=derivation,
        )
    return None


def numeric_questions(claim: str, evidence: str) -> tuple[Answered, ...]:
    """The questions that a claim's amounts raise, answered from the evidence without those amounts."""
    asked = []
    for want in (one for one in read_quantities(claim) if _is_amount(one)):
        entity = _entity(claim, want)
        answer = _answer(entity, want.unit, evidence)
        finding = _verified(want, claim, evidence, "evidence", TOLERANCE)
        asked.append(
            Answered(
                question=f"Which amount goes with {' '.join(sorted(entity)) or 'this'}?",
                expected=want.text,
                answer=answer.text if answer else None,
                agrees=finding.verdict is FiveWay.SUPPORTED,
            )
        )
    return tuple(asked)


def _answer(entity: frozenset[str], unit: str | None, evidence: str) -> Quantity | None:
    """The evidence's amount that shares most words with what is asked for; None when none shares any."""
    best: tuple[int, Quantity] | None = None
    for have in (one for one in read_quantities(evidence) if _is_amount(one)):
        words = _entity(evidence, have)
        shared = sum(any(a == b or _same_stem(a, b) for b in words) for a in entity)
        shared += unit is not None and have.unit == unit
        if shared and (best is None or shared > best[0]):
            best = (shared, have)
    return best[1] if best else None
