"""Values that are meant as a bound, about, or a decade: what fulfils them, and what speaks against them.

"Over 100 light years" is held by 101.51, "the 1960s" by 1962, and "for over 15 years" by a record
that runs from 1997 to 2014. A claim may say so without its source ever writing that number.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from core.evidence.value_grammar import Written

# How far a number may lie from the one it is taken for. Without a unit it may count something else.
_REACH_WITH_UNIT = Decimal(4)
_REACH_WITHOUT = Decimal(2)
_ABOUT = Decimal("0.1")
_CLOSE = Decimal("1.5")
_MOST_YEARS = 6
_SMALL_COUNT = 12


def is_bound(want: Written) -> bool:
    """Whether the value says more than, less than, about, or names ten years."""
    return bool(want.compares) and len(want.amounts) == 1


def fulfils(want: Written, there: Written) -> bool:
    """Whether a written value makes the bound true; units have been found to fit."""
    amount = want.amounts[0]
    if want.compares == "decade":
        return _in_decade(amount, there)
    return any(_within(want, amount, number) for number in there.amounts)


def years_apart(want: Written, items: Iterable[Written]) -> bool:
    """Whether two years of the text lie as many years apart as the value says.

    Only for a text with few years: among many, some two lie any number of years apart.
    """
    if want.unit != "month" or len(want.amounts) != 1 or want.amounts[0] % 12:
        return False
    years = sorted({year for item in items for year in _years(item)})
    if not 2 <= len(years) <= _MOST_YEARS:
        return False
    wanted = want.amounts[0] / 12
    if wanted < 2:
        return False
    apart = {Decimal(b - a) for i, a in enumerate(years) for b in years[i + 1 :]}
    if want.compares == ">":
        return any(wanted <= number <= _REACH_WITH_UNIT * wanted for number in apart)
    if want.compares == "<":
        return any(number <= wanted for number in apart)
    # A year more or less: birthdays and terms begin within a year.
    return any(abs(number - wanted) <= 1 for number in apart)


def is_decisive(want: Written, items: Iterable[Written]) -> bool:
    """Whether the value's absence settles the matter by itself.

    A small count in words need not be written in a source that lists what is counted. A bound, an
    approximation or a decade is settled only by a comparable value close by that fails it.
    """
    if is_bound(want):
        return any(_speaks_against(want, item) for item in items)
    in_words = want.value.text[:1].isalpha() and want.unit is None and want.value.kind == "number"
    return not (in_words and all(amount <= _SMALL_COUNT for amount in want.amounts))


def _within(want: Written, amount: Decimal, number: Decimal) -> bool:
    reach = _REACH_WITHOUT if want.unit is None else _REACH_WITH_UNIT
    if want.compares == ">":
        return amount <= number <= amount * reach
    if want.compares == "<":
        return amount / reach <= number <= amount
    return abs(number - amount) <= _ABOUT * abs(amount)


def _in_decade(first: Decimal, there: Written) -> bool:
    if there.compares == "decade":
        return there.amounts == (first,) or (
            min(first, *there.amounts) < 100 and (first - there.amounts[0]) % 100 == 0
        )
    if first < 100:  # "her 80s", "the 80's"
        ages = [int(number) for number in there.amounts if there.unit in (None, "month")]
        ages = [age // 12 if there.unit == "month" else age for age in ages]
        return any(first <= year % 100 < first + 10 for year in (*_years(there), *ages))
    return any(first <= year < first + 10 for year in _years(there))


def _years(item: Written) -> list[int]:
    if item.date is not None:
        return [item.date[0]] if item.date[0] else []
    if item.unit is not None:
        return []
    return [int(n) for n in item.amounts if 1500 <= n < 2200 and n == n.to_integral_value()]


def _speaks_against(want: Written, item: Written) -> bool:
    if want.compares == "decade" or not item.amounts or item.unit != want.unit:
        return False
    amount, number = want.amounts[0], item.amounts[0]
    return number > 0 and amount / _CLOSE <= number <= amount * _CLOSE
