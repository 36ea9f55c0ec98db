"""What every derivation is put together from: facts of one attribute, and the line people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import in_unit, interval, sign_fits
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Fact
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.records import Derivation, FactPlace

MOST_IN_SERIES = 24

Search = Callable[[Quantity, ClaimView, FactIndex, Sequence[Attribute]], Iterator[Derivation]]


def place_of(fact: Fact) -> FactPlace:
    """Where a fact stands."""
    return FactPlace(source_id=fact.source_id, span=fact.span, path=fact.path or None)


def shown(
    operation: str, inputs: Iterable[Fact | FactPlace], result: str, want: Quantity, text: str
) -> Derivation:
    """A derivation with its inputs' places and the tolerance of the claim's precision."""
    wide = interval(want)
    dated = want.kind is QuantityKind.DATE
    return Derivation(
        operation=operation,
        inputs=tuple(place_of(each) if isinstance(each, Fact) else each for each in inputs),
        result=result,
        tolerance=None if dated else f"{(wide.high - wide.low) / 2:g}",
        text=text,
    )


def series(attribute: Attribute) -> list[Fact]:
    """The numbers of an attribute, bounded."""
    return [f for f in attribute.facts if f.quantity and f.quantity.date is None][:MOST_IN_SERIES]


def number_of(fact: Fact) -> float:
    """A fact's amount."""
    return fact.quantity.amount if fact.quantity is not None else 0.0


def unit_of(fact: Fact) -> str:
    """A fact's unit behind a space, or nothing."""
    named = fact.quantity.unit if fact.quantity is not None else None
    return f" {named}" if named else ""


def matches(amount: float, have: Quantity, want: Quantity, words: frozenset[str]) -> bool:
    """Whether an amount in a stated quantity's unit is the claim's."""
    wide = interval(want)
    return any(wide.holds(abs(each)) for each, _ in in_unit(amount, have, want, words))


def in_time(first: Fact, second: Fact) -> tuple[Fact, Fact]:
    """Two facts, the earlier one first."""
    if (
        first.date is not None
        and second.date is not None
        and day_key(second.date) < day_key(first.date)
    ):
        return second, first
    return first, second


def of_one_thing(first: Fact, second: Fact) -> bool:
    """Whether two numbers of an attribute are of one thing over time, and not of two rows."""
    if first.date is not None and second.date is not None:
        return first.date != second.date
    return first.record.name == second.record.name


def day_key(day: Day) -> tuple[int, int, int]:
    """Sorts days; what is not said sorts first."""
    return (day.year or 0, day.month or 0, day.day or 0)


def direction_fits(change: float, claim: ClaimView, want: Quantity) -> bool:
    """Whether a change goes where the claim says."""
    if want.signed:
        return sign_fits(change, want)
    if claim.says_up == claim.says_down:
        return True
    return (change > 0) == claim.says_up
