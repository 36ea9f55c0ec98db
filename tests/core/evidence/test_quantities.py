"""Quantities as they are written: one reader for claims and sources."""

from __future__ import annotations

import datetime
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tables import cases

from core.evidence.comparing import dates_agree, fits, interval
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import converted, factor, unit_name
from core.evidence.values import protected_values, value_present

NOTHING = frozenset[str]()


def one(text: str) -> Quantity:
    """The only quantity of a text."""
    (found,) = read_quantities(text)
    return found


@cases
def test_an_amount_is_read_in_any_notation(text: str, amount: float, unit: str | None) -> None:
    found = one(text)

    assert found.amount == pytest.approx(amount)
    assert found.unit == unit


@cases
def test_identifiers_versions_addresses_and_articles_are_no_numbers(text: str) -> None:
    assert read_quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2018-09-17", Day(year=2018, month=9, day=17)),
        ("17 September 2018", Day(year=2018, month=9, day=17)),
        ("September 17th, 2018", Day(year=2018, month=9, day=17)),
        ("17th of Sept 2018", Day(year=2018, month=9, day=17)),
        ("9/17/2018", Day(year=2018, month=9, day=17)),
        ("2018年9月17日", Day(year=2018, month=9, day=17)),
        ("17.09.2018", Day(year=2018, month=9, day=17)),
        ("06.02.2018", Day(year=2018, month=2, day=6)),
        ("in Sep 2018", Day(year=2018, month=9)),
        ("9/2018", Day(year=2018, month=9)),
        ("in 2018", Day(year=2018)),
        ("in December", Day(year=None, month=12)),
    ],
)
def test_a_date_keeps_the_granularity_that_it_is_written_in(text: str, day: Day) -> None:
    assert one(text).date == day


def test_a_filtration_rate_is_told_without_the_body_surface_it_is_normalised_to() -> None:
    assert fits(one("44 mL/min/1.73 m²"), one("44 mL/min"), NOTHING) == "as stated"
    assert fits(one("44 mL/min/1.73 m²"), one("45 mL/min"), NOTHING) is None


def test_months_of_a_list_share_the_year_behind_them() -> None:
    days = [item.date for item in read_quantities("given in Jul, Sep and Dec 2020")]

    assert days == [Day(year=2020, month=month) for month in (7, 9, 12)]


@cases
def test_the_words_before_a_number_say_how_it_is_meant(text: str, bound: Bound) -> None:
    assert one(text).bound is bound


@pytest.mark.parametrize("hour", range(24))
def test_an_hour_of_half_a_day_is_the_hour_of_the_day(hour: int) -> None:
    half = f"{hour % 12 or 12} {'pm' if hour >= 12 else 'am'}"
    (said,), (stated,) = read_quantities(f"at {half}"), read_quantities(f"at {hour:02}:00")

    assert (
        (said.kind, said.amount) == (stated.kind, stated.amount) == (QuantityKind.CLOCK, hour * 60)
    )


def test_a_pair_and_a_range_are_one_quantity() -> None:
    pair, dose = one("150/91.7 mmHg"), one("10-20 mg")

    assert (pair.kind, pair.amount, pair.high, pair.step, pair.high_step) == (
        QuantityKind.PAIR, 150, 91.7, 1, pytest.approx(0.1),
    )  # fmt: skip
    assert (dose.amount, dose.high, dose.unit) == (10, 20, "milligram")


@given(st.integers(min_value=1, max_value=10**9))
def test_thousands_separators_change_nothing(number: int) -> None:
    plain, grouped = one(f"{number}"), one(f"{number:,}")

    assert plain.amount == grouped.amount == number


@given(st.decimals(min_value=1, max_value=9_999, places=3), st.integers(min_value=0, max_value=3))
def test_every_rounding_of_a_stated_number_is_that_number(stated: object, places: int) -> None:
    have, want = one(f"{stated} mL"), one(f"{float(str(stated)):.{places}f} mL")

    assert fits(have, want, NOTHING) is not None


@given(st.floats(min_value=10, max_value=9_000), st.integers(min_value=0, max_value=2))
def test_a_number_more_than_its_last_digit_off_is_another(stated: float, places: int) -> None:
    said = f"{stated + 1.6 * 10**-places:.{places}f}"
    assume(not said.endswith("000") or "." in said)  # a number in whole thousands states thousands
    have, want = one(f"{stated:.3f} mL"), one(f"{said} mL")

    assert fits(have, want, NOTHING) is None


@given(st.text(max_size=200))
def test_any_text_is_read_with_spans_in_order(text: str) -> None:
    found = read_quantities(text)

    assert all(0 <= item.span.start < item.span.end <= len(text) for item in found)
    assert all(a.span.end <= b.span.start for a, b in zip(found, found[1:], strict=False))


@cases
def test_equal_means_equal_at_the_precision_that_the_claim_states(
    claim: str, stated: str, holds: bool
) -> None:
    assert (fits(one(stated), one(claim), NOTHING) is not None) is holds


@cases
def test_a_conversion_follows_what_is_measured(
    what: str, amount: float, unit: str, into: str, expected: float
) -> None:
    one_unit, other = unit_name(unit), unit_name(into)

    assert one_unit is not None
    assert other is not None
    assert converted(amount, one_unit, other, frozenset({what})) == pytest.approx(
        expected, rel=2e-3
    )
    if what in ("glucose", "creatinine"):
        assert converted(amount, one_unit, other, NOTHING) is None


@given(st.sampled_from(["kilometer", "meter", "mile", "foot"]), st.sampled_from(["meter", "inch"]))
def test_a_conversion_and_its_inverse_give_the_amount_back(unit: str, other: str) -> None:
    there, back = factor(unit, other), factor(other, unit)

    assert there is not None
    assert back is not None
    assert there * back == pytest.approx(1.0)


@given(st.floats(min_value=0.1, max_value=1e6))
def test_about_holds_more_than_the_exact_number_does(amount: float) -> None:
    exact, about = one(f"{amount:.1f} kg"), one(f"about {amount:.1f} kg")

    narrow, wide = interval(exact), interval(about)

    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("expires Feb  7 06:32:09 2027 GMT", Day(year=2027, month=2, day=7)),
        ("Fri Oct 16 11:20:38 2026", Day(year=2026, month=10, day=16)),
        ("Nov  2 11:20 notes.txt", Day(year=None, month=11, day=2)),
    ],
)
def test_a_systems_time_stamp_is_a_date(text: str, day: Day) -> None:
    assert read_quantities(text)[0].date == day


@pytest.mark.parametrize("text", ["9" * 400, "9" * 400 + "th", "5e872", "1e-872", "9" * 400 + "/2"])
def test_what_no_amount_can_hold_is_no_quantity(text: str) -> None:
    found = read_quantities(f"The digest {text} was printed beside 14 files.")

    assert found[-1].amount == 14
    assert all(math.isfinite(each.amount) and math.isfinite(each.step) for each in found)


@given(
    st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2090, 1, 1)), st.integers(1, 31)
)
def test_a_day_of_the_month_is_held_by_a_date_of_that_day_alone(
    when: datetime.datetime, other: int
) -> None:
    for number in (when.day, other):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(
            number % 10 if number not in (11, 12, 13) else 0, "th"
        )
        claim = f"It left on the {number}{ending} at noon."
        (want,), (value,) = read_quantities(claim), protected_values(claim)
        for form in (when.isoformat(timespec="seconds"), f"{when:%B} {when.day}, {when.year}"):
            held = [have for have in read_quantities(form) if dates_agree(have, want)]

            assert bool(held) is (number == when.day) is value_present(value, form)


@pytest.mark.parametrize(
    "text", ["On the 4th lesson it rained.", "It was the 4th.", "On the 40th."]
)
def test_an_ordinal_that_says_which_one_is_no_day(text: str) -> None:
    assert [item.kind for item in read_quantities(text)] == [QuantityKind.ORDINAL]
