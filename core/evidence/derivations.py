"""A small typed grammar of derivations: how a claim's number follows from stated ones.

Only facts of one attribute, one record or one source are put together, in a fixed order, smallest
derivation first, and every search is bounded (evidence.md, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import interval, sign_fits
from core.evidence.count_derivations import count, total
from core.evidence.date_derivations import age, duration
from core.evidence.derivation_parts import (
    MOST_IN_SERIES,
    Search,
    direction_fits,
    in_time,
    matches,
    number_of,
    of_one_thing,
    series,
    shown,
    unit_of,
)
from core.evidence.elapsed import elapsed
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.units import TIME, factor
from core.records import Derivation

_MOST_PEOPLE = 200
_SHARE = re.compile(
    r"\b(?:share|portion|proportion|ratio|margin|yield|percentage of|implies)\b", re.IGNORECASE
)


def derive(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Derivation | None:
    """The smallest derivation that gives the claim's number; None when the grammar holds none."""
    searches: tuple[Search, ...] = (
        pair, difference, relative, age, duration, elapsed, count, total, body_mass, within_record,
    )  # fmt: skip
    for search in searches:
        found = next(search(want, claim, index, attributes), None)
        if found is not None:
            return found
    return None


def difference(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Later minus earlier of one attribute, where the claim speaks of a change."""
    changes = claim.says_up or claim.says_down or claim.says_change or want.signed
    if not changes or want.kind in (QuantityKind.DATE, QuantityKind.PAIR) or want.unit in TIME:
        return
    for attribute in attributes:
        for first, second in combinations(series(attribute), 2):
            earlier, later = in_time(first, second)
            change = number_of(later) - number_of(earlier)
            have = later.quantity
            if (
                have is None
                or not of_one_thing(first, second)
                or unit_of(earlier) != unit_of(later)
                or not change
            ):
                continue
            if direction_fits(change, claim, want) and matches(change, have, want, attribute.core):
                yield shown(
                    "difference", (earlier, later), f"{change:+.6g}{unit_of(later)}", want,
                    f"{number_of(later):g} minus {number_of(earlier):g} = {change:+.6g}{unit_of(later)}",
                )  # fmt: skip


def relative(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Percent change and ratio of one attribute."""
    changes = claim.says_up or claim.says_down or claim.says_change or want.signed
    if want.unit not in ("percent", "fold") or not changes:
        return
    wide = interval(want)
    for attribute in attributes:
        for first, second in combinations(series(attribute), 2):
            earlier, later = in_time(first, second)
            if not number_of(earlier) or not number_of(later) or not of_one_thing(first, second):
                continue
            ratio = number_of(later) / number_of(earlier)
            change = (ratio - 1) * 100
            if (
                want.unit == "percent"
                and wide.holds(abs(change))
                and direction_fits(change, claim, want)
            ):
                yield shown(
                    "percent_change", (earlier, later), f"{change:+.4g} %", want,
                    f"({number_of(later):g} / {number_of(earlier):g} − 1) × 100 = {change:+.4g} %",
                )  # fmt: skip
            elif want.unit == "fold" and (wide.holds(ratio) or wide.holds(1 / ratio)):
                yield shown(
                    "ratio", (earlier, later), f"{ratio:.4g}", want,
                    f"{number_of(later):g} / {number_of(earlier):g} = {ratio:.4g}",
                )  # fmt: skip


# ---------------------------------------------------------------- one record


def pair(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """ "150/92" from two fields of one record, or from two changes of the same pair of fields."""
    if want.kind is not QuantityKind.PAIR or want.high is None:
        return
    first, second = interval(want), interval(want, want.high, step=want.high_step)
    pairs = list(_pairs(attributes or index.attributes))
    for one, other in pairs:
        if first.holds(number_of(one)) and second.holds(number_of(other)):
            yield shown(
                "pair", (one, other), want.text, want,
                f"{one.path} {number_of(one):g} over {other.path} {number_of(other):g}",
            )  # fmt: skip
    cut, cut_high = interval(want, cut=True), interval(want, want.high, cut=True)
    for (a, b), (c, d) in combinations(pairs[:MOST_IN_SERIES], 2):
        changes = number_of(c) - number_of(a), number_of(d) - number_of(b)
        fits = cut.holds(abs(changes[0])) and cut_high.holds(abs(changes[1]))
        if fits and (a.path, b.path) == (c.path, d.path):
            yield shown(
                "difference", (a, b, c, d), want.text, want,
                f"{number_of(c):g} minus {number_of(a):g} = {changes[0]:+.4g}, "
                f"{number_of(d):g} minus {number_of(b):g} = {changes[1]:+.4g}",
            )  # fmt: skip
    yield from _month_and_year(want, index)


def _pairs(attributes: Sequence[Attribute]) -> Iterator[tuple[Fact, Fact]]:
    """Two numbers of one record in the same unit, either one first."""
    by_record: dict[tuple[str, int], list[Fact]] = {}
    for attribute in attributes:
        for fact in series(attribute):
            if unit_of(fact):
                by_record.setdefault((fact.source_id, fact.record.index), []).append(fact)
    for facts in by_record.values():
        for one, other in combinations(facts[:MOST_IN_SERIES], 2):
            if unit_of(one) == unit_of(other) and one.span != other.span:
                yield one, other
                yield other, one


def _month_and_year(want: Quantity, index: FactIndex) -> Iterator[Derivation]:
    """ "11/17" is November 2017 where the source has a date in it."""
    if want.high is None or want.high > 99 or not 1 <= want.amount <= 12 or want.step < 1:
        return
    for fact in index.dated:
        day = fact.quantity.date if fact.quantity else None
        if day is not None and day.month == want.amount and (day.year or 0) % 100 == want.high:
            yield shown("date", (fact,), str(day), want, f"{want.text} is the month of {day}")
            return


def within_record(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Two fields of one record that the claim names: share, ratio, percent above."""
    if (
        want.unit not in ("percent", "fold", None)
        or want.kind is not QuantityKind.NUMBER
        or want.digits < 2
    ):
        return
    if not (claim.says_up or claim.says_down or claim.says_change or _SHARE.search(claim.text)):
        return
    named = {attribute.path: attribute.core for attribute in attributes}
    by_record: dict[tuple[str, int], list[Fact]] = {}
    for attribute in index.attributes:
        if any(attribute.core & core for core in named.values()):
            for fact in series(attribute):
                by_record.setdefault((fact.source_id, fact.record.index), []).append(fact)
    for facts in by_record.values():
        for one, other in combinations(facts[:MOST_IN_SERIES], 2):
            if (
                one.path != other.path
                and unit_of(one) == unit_of(other)
                and {one.path, other.path} & set(named)
            ):
                yield from _related(one, other, want)
                yield from _related(other, one, want)


def _related(one: Fact, other: Fact, want: Quantity) -> Iterator[Derivation]:
    a, b = number_of(one), number_of(other)
    if not a or not b:
        return
    ways = [(a / b, "ratio", f"{a:g} / {b:g}")]
    if want.unit == "percent":
        ways = [
            ((a / b - 1) * 100, "percent_change", f"({a:g} / {b:g} − 1) × 100"),
            (a / b * 100, "share", f"{a:g} / {b:g} × 100"),
        ]
    for amount, operation, text in ways:
        if interval(want).holds(abs(amount)) and sign_fits(amount, want):
            yield shown(operation, (one, other), f"{amount:.4g}", want, f"{text} = {amount:.4g}")


def body_mass(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Weight over height squared (kg/m²) of one person at one time."""
    if "bmi" not in claim.shorts and not {"mass", "index"} <= claim.words:
        return
    heights = [f for a in index.attributes if "height" in a.core for f in a.facts][:_MOST_PEOPLE]
    weights = [f for a in index.attributes if "weight" in a.core for f in a.facts][:_MOST_PEOPLE]
    for weight in weights:
        for height in heights:
            if not _of_one_person(weight, height, claim):
                continue
            kilograms, metres = _in(weight, "kilogram"), _in(height, "meter")
            if kilograms and metres and interval(want).holds(kilograms / metres**2):
                mass = f"{kilograms / metres**2:.2f}"
                yield shown(
                    "bmi", (weight, height), mass, want, f"{kilograms:g} kg / ({metres:g} m)² = {mass}"
                )  # fmt: skip


def _of_one_person(weight: Fact, height: Fact, claim: ClaimView) -> bool:
    """Whether both stand in one row that the claim names, or in one chart on one day."""
    if weight.source_id != height.source_id:
        return False
    if weight.record.index == height.record.index:
        return bool(weight.record.stems & claim.words)
    return weight.date is not None and weight.date == height.date


def _in(fact: Fact, unit: str) -> float | None:
    by = factor(fact.quantity.unit, unit) if fact.quantity and fact.quantity.unit else None
    return None if by is None else number_of(fact) * by
