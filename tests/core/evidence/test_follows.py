"""A value that follows from the claim's other values, as it is computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.evidence.derivations import follows_within
from core.records import Span


def follows(text: str, want: str, *given_: str) -> bool:
    def place(words: str) -> Span:
        return Span(start=text.rindex(words), end=text.rindex(words) + len(words))

    return follows_within(text, place(want), [place(words) for words in given_])


@pytest.mark.parametrize(
    ("text", "want", "given_", "so"),
    [
        ("It fell from 42.7 to 39.6, a change of −3.1.", "−3.1", ("42.7", "39.6"), True),
        ("It fell from 42.7 to 39.6, a change of +3.1.", "+3.1", ("42.7", "39.6"), False),
        ("It fell from 42.7 to 39.6, by 3.2 points.", "3.2 points", ("42.7", "39.6"), False),
        ("She wants 120 seats instead of 210, 90 fewer.", "90", ("120", "210"), True),
        ("347 of 4,340 trains were cancelled, 8 %.", "8 %", ("347 of 4,340",), True),
        ("347 of 4,340 trains were cancelled, 9 %.", "9 %", ("347 of 4,340",), False),
        ("It rose from $907.70 to $929.05, by 2.4 %.", "2.4 %", ("$907.70", "$929.05"), True),
        ("It rose by 6,320 minutes (53 %).", "53 %", ("6,320 minutes",), False),
        ("The pressure is 120/80, the pulse 40 bpm.", "40 bpm", ("120/80",), False),
        ("Weighs 70 kg at 35 years, on 2 mg.", "2 mg", ("70 kg", "35 years"), False),
        ("Aged 40 years, on 20 mg, weighs 60 kg.", "60 kg", ("40 years", "20 mg"), False),
        ("It went 120 km in 2 hours, at 60 km/h.", "60 km/h", ("120 km", "2 hours"), True),
        ("From 3 to 5 days, 2 days longer.", "2 days", ("3", "5 days"), True),
        ("It rose from 12 in 2019 to 14 in 2021.", "2019", ("12", "14", "2021"), False),
    ],
)
def test_what_two_values_of_the_claim_give(
    text: str, want: str, given_: tuple[str, ...], so: bool
) -> None:
    assert follows(text, want, *given_) is so


@given(st.integers(2, 700), st.integers(2, 700), st.integers(1, 1_400))
def test_nothing_but_their_difference_sum_or_ratio_follows(one: int, two: int, said: int) -> None:
    assume(said % 1_000)  # a number in whole thousands states thousands
    found = follows(
        f"From {one} to {two}; counted were {said} items.",
        f"{said} items",
        f"From {one}",
        f"to {two};",
    )

    right = {abs(two - one), one + two}
    ratios = {one / two, two / one}
    assert found == (said in right or any(abs(said - ratio) <= 0.5 for ratio in ratios))
