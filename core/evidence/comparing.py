"""Whether a stated amount is what a claim says: the precision rule (evidence.md, section 3).

Equal means equal at the precision that the claim states, after unit and scale. "About" allows 5 %,
"nearly" and "over" one side, and a bound is checked as a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import NAMES, converted, factor

ABOUT = 0.05  # "about", "roughly" (seed 001)
_NORMALISED = " / 1.73 * meter ** 2"
NEARLY = 0.1  # how far below its number "nearly" may lie
# How far past a bound a value may lie and still be what was meant by it.
REACH_WITH_UNIT, REACH = 4.0, 2.0
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
    """Whether a unit is the claim's per tablet, per spray: a denominator that is no unit itself."""
    head, _, rest = (unit or "").partition(" / ")
    if head == want and rest and rest not in NAMES.values() and rest.isalpha():
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
    """Whether a stated date or period holds the claim's; a decade holds its years."""
    if want.date is None or have.date is None:
        return False
    if want.until is not None and want.until.month is None and want.date.year is not None:
        first, last = want.date.year, want.until.year or want.date.year
        return have.date.year is not None and first <= have.date.year <= last
    return same_day(have.date, want.date)
