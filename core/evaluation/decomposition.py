"""Agreement of decomposed claims with reference claims, as in the paper's Table 8 (IV.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evidence.values import protected_values
from core.text.tokens import content_terms

MATCH_FROM = 0.60  # share of content terms, Dice; the paper does not say where it draws the line
FOUND_FROM = 0.75  # the same share, for a claim that an author wrote beside the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class DecompositionAgreement:
    """Table 8's row. A rate with nothing to count is None.

    ``value_exact`` is the share of matched pairs with protected values whose values are the same.
    """

    answers: int
    predicted: int
    reference: int
    matched: int
    value_bearing: int
    precision: float | None
    recall: float | None
    f1: float | None
    value_exact: float | None


def measure_decomposition(
    answers: Iterable[tuple[Sequence[str], Sequence[str]]],
) -> DecompositionAgreement:
    """Agreement over (predicted claim texts, reference claim texts) of each answer.

    Claims match one to one, most alike first, when their content terms overlap by ``MATCH_FROM``.
    """
    count = predicted = reference = matched = bearing = exact = 0
    for claims, expected in answers:
        count += 1
        predicted += len(claims)
        reference += len(expected)
        for claim, wanted in match_claims(claims, expected):
            matched += 1
            values = _values(expected[wanted])
            if values:
                bearing += 1
                exact += values == _values(claims[claim])
    precision, recall = _rate(matched, predicted), _rate(matched, reference)
    both = (precision or 0.0) + (recall or 0.0)
    return DecompositionAgreement(
        answers=count,
        predicted=predicted,
        reference=reference,
        matched=matched,
        value_bearing=bearing,
        precision=precision,
        recall=recall,
        f1=None
        if precision is None or recall is None or not both
        else 2 * precision * recall / both,
        value_exact=_rate(exact, bearing),
    )


def found_claims(wanted: Sequence[str], claims: Sequence[str]) -> int:
    """How many wanted claims have a claim with the same values and ``FOUND_FROM`` of their words."""
    seen = [(content_terms(text), _values(text)) for text in claims]
    return sum(
        any(_dice(terms, other, False) >= FOUND_FROM and values == held for other, held in seen)
        for text in wanted
        for terms, values in [(content_terms(text), _values(text))]
    )


def match_claims(claims: Sequence[str], expected: Sequence[str]) -> list[tuple[int, int]]:
    """(claim, reference) index pairs, one to one, most alike first; earlier ones win ties."""
    left = [content_terms(text) for text in claims]
    right = [content_terms(text) for text in expected]
    scored = sorted(
        (-score, i, j)
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if (score := _dice(one, other, claims[i] == expected[j])) >= MATCH_FROM
    )
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs = []
    for _, i, j in scored:
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            pairs.append((i, j))
    return sorted(pairs)


def _dice(one: frozenset[str], other: frozenset[str], same_text: bool) -> float:
    if not one and not other:  # nothing but stop words on both sides
        return 1.0 if same_text else 0.0
    return 2 * len(one & other) / (len(one) + len(other))


def _values(text: str) -> frozenset[str]:
    return frozenset(value.normalised for value in protected_values(text) if value.kind != "name")


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
