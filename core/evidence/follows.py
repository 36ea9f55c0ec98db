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

    Places are in ``text``. At the precision that the amount is written in; a sign says the direction, and
    a unit what may give it: no pulse of 40 bpm follows from a pressure of 120/80.
    """
    quantities = read_quantities(text)
    wanted = [one for one in quantities if one.span.overlaps(place) and one.kind in _COMPUTED]
    amounts = [
        (amount, one.unit)
        for one in quantities
        if any(one.span.overlaps(span) for span in given) and not one.span.overlaps(place)
        if one.date is None
        for amount in (one.amount, *(() if one.high is None else (one.high,)))
    ][:_MOST_GIVEN]
    return bool(wanted) and all(
        any(
            interval(want).holds(abs(amount)) and sign_fits(amount, want)
            for first, second in (combinations if want.signed else permutations)(amounts, 2)
            for amount in _of_two(first, second, want.unit)
        )
        for want in wanted
    )


def _of_two(
    one: tuple[float, str | None], other: tuple[float, str | None], unit: str | None
) -> Iterator[float]:
    """What two amounts give in a unit, the first one before the second."""
    (first, of_first), (second, of_second) = one, other
    alike = of_first == of_second or None in (of_first, of_second)
    if unit == "percent":
        if first and alike:
            yield 100 * (second - first) / abs(first)
            yield 100 * second / first
        return
    if alike and unit in (None, of_first, of_second):
        yield second - first
        yield first + second
    if first and ((alike and unit in (None, "fold")) or unit == f"{of_second} / {of_first}"):
        yield second / first
