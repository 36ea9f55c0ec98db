"""Lengths of time: no time of day is one, and one in two units is one quantity."""

from __future__ import annotations

from tables import cases

from core.evidence.fact_index import index_trace
from core.evidence.quantities import read_quantities
from core.evidence.value_checks import check_values
from core.records import Check, Outcome
from tests.builders import a_claim, a_source, a_trace


def value_checks(text: str, source: str) -> list[Check]:
    """The checks of a claim's values against one source."""
    found = check_values(a_claim(text), index_trace(a_trace(None, a_source(source))))
    return [check for check in found if check.check == "value"]


@cases
def test_a_time_of_day_is_no_length(field: str, outcome: Outcome) -> None:
    (check,) = value_checks("The LH400 flight takes 8 hours 40 minutes.", f"flight: LH400\n{field}")

    assert check.outcome is outcome


@cases
def test_a_time_in_two_units_is_one_quantity(text: str, amount: float, unit: str) -> None:
    (one,) = read_quantities(f"It took {text}.")

    assert (one.text, one.amount, one.unit) == (text, amount, unit)
