"""Whether a stated amount is what a claim says: the precision rule (evidence.md, section 3).

Equal means equal at the precision that the claim states, after unit and scale. "About" allows 5 %,
"nearly" and "over" one side, and a bound is checked as a bound.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import NAMES, converted, factor

Held = TypeVar("Held")

ABOUT = 0.05  # "about", "roughly" (seed 001)
_NORMALISED = " / 1.73 * meter ** 2"
NEARLY = 0.1  # how far below its number "nearly" may lie
# How far past a bound a value may lie and still be what was meant by it.
REACH_WITH_UNIT, REACH = 4.0, 2.0
LOWER = (Bound.OVER, Bound.AT_LEAST)
UPPER = (Bound.UNDER, Bound.AT_MOST)
_MOST_NEAR = 600
# What a bare number might have been counted in ("read as metres") shows nothing.
_HOLDS = ("as stated", "rounded", "converted", "as a share")
_SLASHED = re.compile(r"\d{1,2}([/-])\d{1,2}\1(?:\d\d|\d{4})")
# What a bare number of a record may be counted in, by what the claim counts in.
_BASES: dict[str, tuple[str, ...]] = {
    "meter": ("kilometer", "meter", "centimeter", "millimeter"),
    "second": ("second", "millisecond", "minute", "hour", "day"),
    "byte": ("byte", "kilobyte", "megabyte"),
    "gram": ("gram", "kilogram", "milligram"),
    "watt": ("watt", "kilowatt"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The amounts that make a claim's number true, in its own unit."""

    low: float
    high: float

    def holds(self, amount: float) -> bool:
        """Whether an amount lies in it."""
        return self.low <= amount <= self.high


def interval(
    want: Quantity, amount: float | None = None, *, cut: bool = False, step: float | None = None
) -> Interval:
    """The amounts that a claim's number stands for; with ``cut`` also those that it cuts short."""
    said = abs(want.amount if amount is None else amount)
    step = step or want.step
    half = step / 2 * (1 + 1e-9) + said * 1e-12
    reach = REACH if want.unit is None else REACH_WITH_UNIT
    match want.bound:
        case Bound.ABOUT:
            half = max(half, ABOUT * said)
            return Interval(low=said - half, high=said + half)
        case Bound.NEARLY:
            return Interval(low=said * (1 - NEARLY), high=said + step * 1e-9)
        case Bound.OVER | Bound.AT_LEAST:
            return Interval(low=said - 1e-9 * said, high=max(said * reach, said + 1))
        case Bound.UNDER | Bound.AT_MOST:
            return Interval(low=said / reach, high=said + 1e-9 * said)
        case _:
            return Interval(low=said - half, high=said + (step * (1 - 1e-9) if cut else half))


def in_unit(
    amount: float, have: Quantity, want: Quantity, words: frozenset[str]
) -> Iterator[tuple[float, str]]:
    """``amount`` of a stated quantity's unit in the unit of the claim, and how it got there; several where
    no unit is stated."""
    if QuantityKind.MONEY in (have.kind, want.kind):
        if have.kind is want.kind and not set((have.unit or "").split("|")) & set(
            (want.unit or "").split("|")
        ):
            return
        if (
            have.kind is want.kind
            or (have.unit is None and want.kind is QuantityKind.MONEY)
            or want.unit is None
            and not want.noun
        ):
            yield amount, "as stated"
        return
    if have.unit == want.unit or want.unit is None or of_something(have.unit, want.unit):
        yield amount, "as stated"
    elif have.unit is None:
        yield from _of_no_unit(amount, want)
    else:
        into = converted(amount, have.unit, want.unit, words)
        if into is not None:
            yield into, "converted"
            if "byte" in have.unit or "byte" in want.unit:  # thousands, or powers of two
                power = round(_thousands(have.unit, want.unit))
                yield into * (1000 / 1024) ** power, "converted"


def _of_no_unit(amount: float, want: Quantity) -> Iterator[tuple[float, str]]:
    unit = want.unit or ""
    yield amount, "as stated"
    if unit == "percent":
        yield amount * 100, "as a share"
        return
    for base, stated in _BASES.items():
        if factor(unit, base) is None:
            continue
        for one in stated:
            by = factor(one, unit)
            if by is not None and one != unit:
                yield amount * by, f"read as {one.replace('_', ' ')}s"
                if base == "byte" and one == "byte":
                    yield amount / 1024 ** round(-_thousands(one, unit)), "read as bytes"


def of_something(unit: str | None, want: str) -> bool:
    """Whether a unit is the claim's per day, tablet or spray: a denominator that a claim leaves out."""
    head, _, rest = (unit or "").partition(" / ")
    if head == want and (rest == "day" or rest.isalpha() and rest not in NAMES.values()):
        return True
    # A filtration rate is told with the body surface that it is normalised to, or without.
    return (unit or "").removesuffix(_NORMALISED) == want


def _thousands(one: str, other: str) -> float:
    sizes = {"byte": 0, "kilobyte": 1, "megabyte": 2, "gigabyte": 3, "terabyte": 4}
    return sizes.get(one, 0) - sizes.get(other, 0) if sizes.keys() & {one, other} else 0


def sign_fits(have: float, want: Quantity) -> bool:
    """Whether a stated sign is the claim's; a claim without one gives the size alone."""
    return not want.signed or have == 0 or (have > 0) == (want.amount > 0)


def fits(have: Quantity, want: Quantity, words: frozenset[str]) -> str | None:
    """How a stated quantity makes a claim's one true; None where it does not."""
    if want.kind is QuantityKind.PAIR or have.kind is QuantityKind.PAIR:
        return _pairs(have, want)
    if _counts(want) and have.step < 1 and have.kind is QuantityKind.NUMBER:
        return None  # a count is no rounded measurement
    ends = [have.amount] if have.high is None else [have.amount, have.high]
    for end in ends:
        for amount, how in in_unit(end, have, want, words):
            wide = interval(want, cut=how not in ("as stated",))
            if wide.holds(abs(amount)) and sign_fits(amount, want):
                if want.high is not None and not _high_fits(have, want, words):
                    continue
                exact = abs(abs(amount) - abs(want.amount)) <= 1e-9 * max(1.0, abs(amount))
                return how if exact or how != "as stated" else "rounded"
    return None


def _counts(want: Quantity) -> bool:
    """Whether a number counts things: "three doses"."""
    return want.unit is None and bool(want.noun) and want.step >= 1 and want.bound is Bound.EXACT


def _high_fits(have: Quantity, want: Quantity, words: frozenset[str]) -> bool:
    if have.high is None or want.high is None:
        return False
    wide = interval(want, want.high)
    return any(wide.holds(abs(amount)) for amount, _ in in_unit(have.high, have, want, words))


def _pairs(have: Quantity, want: Quantity) -> str | None:
    if have.kind is not want.kind or have.high is None or want.high is None:
        return None
    first, second = interval(want), interval(want, want.high, step=want.high_step)
    if first.holds(have.amount) and second.holds(have.high):
        return "as stated" if (have.amount, have.high) == (want.amount, want.high) else "rounded"
    return None


def same_day(have: Day, want: Day) -> bool:
    """Whether a stated date is the claim's, at the granularity of the claim."""
    return all(
        asked is None or asked == there
        for asked, there in ((want.year, have.year), (want.month, have.month), (want.day, have.day))
    )


def dates_agree(have: Quantity, want: Quantity) -> bool:
    """Whether a stated date or end of a period is the claim's; a decade holds its years."""
    if want.date is None or have.date is None:
        return False
    if want.until is not None and want.until.month is None and want.date.year is not None:
        first, last = want.date.year, want.until.year or want.date.year
        year = have.date.year
        return year is not None and first <= (year if first > 99 else year % 100) <= last
    ends = (have.date, have.until)
    return any(day is not None and same_day(day, want.date) for day in ends)


def readings_of(item: Quantity) -> tuple[Day, ...]:
    """The dates that a date may be: "09/06/2026" is one in June or one in September."""
    day = item.date
    if day is None:
        return ()
    if _SLASHED.fullmatch(item.text.strip()) and day.month and day.day and day.day <= 12:
        both = day, Day(year=day.year, month=day.day, day=day.month)
        return both[: 1 + (day.day != day.month)]
    return (day,)


def halves(item: Quantity) -> Iterator[Quantity]:
    """The two amounts of a pair or range ("142/88"), which a record may hold in two fields."""
    single = replace(item, kind=QuantityKind.NUMBER, high=None, high_step=None)
    yield single
    yield replace(single, amount=item.high or 0.0, step=item.high_step or item.step)


def holds(have: Quantity, want: Quantity, words: frozenset[str] = frozenset()) -> bool:
    """Whether a stated quantity is the claim's: of its kind, at its precision, on its side of a bound."""
    if want.kind is QuantityKind.DATE:
        return dates_agree(have, want)
    if have.kind is QuantityKind.DATE or (have.kind is QuantityKind.CLOCK) != (
        want.kind is QuantityKind.CLOCK
    ):
        return False
    if (have.bound in LOWER and want.bound in UPPER) or (
        have.bound in UPPER and want.bound in LOWER
    ):
        return False
    return fits(have, want, words) in _HOLDS


class Amounts(Generic[Held]):
    """What holds quantities, sorted by unit: those near a claim's are found without reading all."""

    def __init__(
        self,
        held: Iterable[tuple[Quantity, Held]],
        words: Callable[[Held], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        self._words = words
        held = tuple(held)
        self.dated = tuple(
            (item if day == item.date else replace(item, date=day), one)
            for item, one in held
            for day in readings_of(item)  # a date that may be two is either
        )
        self._pairs = [(i, one) for i, one in held if i.kind is QuantityKind.PAIR]
        rows: dict[str | None, list[tuple[float, int]]] = {}
        for count, (item, _) in enumerate(held):
            whole_date = item.kind is QuantityKind.DATE and (item.date is None or item.date.month)
            if item.kind is QuantityKind.PAIR or (item.date and not item.date.year) or whole_date:
                continue
            for end in (item.amount, *(() if item.high is None else (item.high,))):
                rows.setdefault(item.unit, []).append((abs(end), count))
        self._by_unit = {
            unit: ([amount for amount, _ in row], [held[count] for _, count in row])
            for unit, row in ((unit, sorted(row)) for unit, row in rows.items())
        }

    def near(self, want: Quantity) -> Iterator[tuple[Held, str]]:
        """What holds a number that makes the claim's true, with how; bounded."""
        if want.kind is QuantityKind.PAIR:
            for item, one in self._pairs:
                if (how := fits(item, want, self._words(one))) is not None:
                    yield one, how
            return
        found = 0
        for unit, (amounts, rows) in self._by_unit.items():
            for low, high in _windows(unit, want):
                at = bisect.bisect_left(amounts, low)
                while at < len(amounts) and amounts[at] <= high and found < _MOST_NEAR:
                    item, one = rows[at]
                    if (how := fits(item, want, self._words(one))) is not None:
                        found += 1
                        yield one, how
                    at += 1

    def on_day(self, want: Quantity) -> Iterator[Held]:
        """What states the claim's date, at its granularity."""
        for item, one in self.dated:
            if dates_agree(item, want):
                yield one


def _windows(unit: str | None, want: Quantity) -> Iterator[tuple[float, float]]:
    """The stretches of a unit's amounts that may fit: one a conversion."""
    if (
        unit is not None
        and want.unit is not None
        and unit != want.unit
        and want.kind is not QuantityKind.MONEY
    ):
        by = factor(unit, want.unit)
        if by is None and of_something(unit, want.unit):
            by = 1.0
        if by is None:
            if not _by_attribute(unit, want.unit):
                return
            yield 0.0, float("inf")  # a conversion that depends on what is measured: each is tried
            return
    probe = Quantity(text="", span=want.span, kind=QuantityKind.NUMBER, amount=1.0, unit=unit)
    if want.kind is QuantityKind.MONEY and unit is not None:
        probe = Quantity(text="", span=want.span, kind=QuantityKind.MONEY, amount=1.0, unit=unit)
    for times, how in in_unit(1.0, probe, want, frozenset()):
        wide = interval(want, cut=how != "as stated")
        if times > 0:
            yield wide.low / times * (1 - 1e-9), wide.high / times * (1 + 1e-9)


def _by_attribute(unit: str, other: str) -> bool:
    pair = f"{unit} {other}"
    return "degree_" in pair or ("mol" in pair and ("gram" in pair or "percent" in pair))
