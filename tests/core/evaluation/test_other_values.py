"""A changed number stays one that could be true, and is another one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.evaluation.probes import other_value


@cases
def test_the_first_number_that_says_something_is_changed(text: str, changed: str) -> None:
    assert other_value(text) == changed


@cases
def test_what_only_numbers_or_dates_something_is_left(text: str) -> None:
    assert other_value(text) is None


@given(st.integers(0, 9999), st.integers(0, 2), st.sampled_from([" mg", "%", " adults", ""]))
def test_the_change_is_another_number_of_the_same_form(
    whole: int, decimals: int, unit: str
) -> None:
    number = f"{min(whole, 100) if unit == '%' else whole}" + (
        f".{'37'[:decimals]}" if decimals else ""
    )
    if unit == "%" and float(number) > 100:
        return
    changed = other_value(f"It was {number}{unit} then.")

    assert changed is not None
    (other,) = re.findall(r"[0-9.]+(?=%| )", changed)
    assert other != number and len(other.partition(".")[2]) == decimals
    assert unit != "%" or 0 <= float(other) <= 100
