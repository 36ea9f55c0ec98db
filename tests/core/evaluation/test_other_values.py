"""A changed number stays one that could be true, and is another one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.probes import other_value


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (
            "The hazard ratio was 0.72 (95% CI 0.60 to 0.87).",
            "The hazard ratio was 0.94 (95% CI 0.60 to 0.87).",
        ),
        ("With 95% confidence, 40 adults improved.", "With 95% confidence, 52 adults improved."),
        ("She has taken 500 mg since 2015.", "She has taken 650 mg since 2015."),
        ("Started in 2019.", "Started in 2017."),
        ("The ejection fraction is 90 %.", "The ejection fraction is 63 %."),
        ("The eGFR of 5 in 2015 fell.", "The eGFR of 7 in 2015 fell."),
        (
            "She has type 2 diabetes and weighs 71.4 kg.",
            "She has type 2 diabetes and weighs 92.8 kg.",
        ),
    ],
)
def test_the_first_number_that_says_something_is_changed(text: str, changed: str) -> None:
    assert other_value(text) == changed


@pytest.mark.parametrize(
    "text",
    [
        "PMID 98541256 says so.",
        "On 2024-03-02 she left.",
        "No number here.",
        "NYHA class 2.",
        "A 95% CI.",
    ],
)
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
