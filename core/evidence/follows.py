"""Whether a value of a claim follows from its other values: "from 42.7 to 39.6, a change of −3.1"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from core.evidence.comparing import interval, sign_fits
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.records import Span

_MOST_GIVEN = 8  # amounts of one claim that are put together
_COMPUTED = frozenset({QuantityKind.NUMBER, QuantityKind.MONEY})


def follows_within(text: str, place: Span, given: Sequence[Span]) -> bool:
    """Whether the amount at ``place`` is a difference, sum, ratio or change of two at ``given``.

    Places are in ``text``. At the precision that the amount is written in; a sign says the direction.
    """
    quantities = read_quantities(text)
    wanted = [one for one in quantities if one.span.overlaps(place) and one.kind in _COMPUTED]
    amounts = [
        amount
        for one in quantities
        if any(one.span.overlaps(span) for span in given) and not one.span.overlaps(place)
        if one.date is None
        for amount in (one.amount, *(() if one.high is None else (one.high,)))
    ][:_MOST_GIVEN]
    return bool(wanted) and all(
        any(
            interval(want).holds(abs(amount)) and sign_fits(amount, want)
            for first, second in (combinations if want.signed else permutations)(amounts, 2)
            for amount in _of_two(first, second, want.unit == "percent")
        )
        for want in wanted
    )


def _of_two(first: float, second: float, percent: bool) -> Iterator[float]:
    """What two amounts give, the first one before the second."""
    if percent:
        if first:
            yield 100 * (second - first) / abs(first)
            yield 100 * second / first
        return
    yield second - first
    yield first + second
    if first:
        yield second / first
