"""Bounds, approximations and decades: what fulfils them, what does not."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.evidence.values import protected_values, settles, value_present


def held(claim: str, premise: str) -> bool:
    values = protected_values(claim)
    assert values, f"{claim!r} holds no value"
    return all(value_present(value, premise) for value in values)


@cases
def test_a_premise_fulfils_a_bound_without_writing_its_number(claim: str, premise: str) -> None:
    assert held(claim, premise)


@cases
def test_a_premise_does_not_fulfil_what_it_fails(claim: str, premise: str) -> None:
    assert not held(claim, premise)


AMOUNTS = st.decimals(min_value=1, max_value=9999, places=1)


@given(AMOUNTS, AMOUNTS)
def test_over_and_under_are_held_on_their_own_side_only(bound: Decimal, there: Decimal) -> None:
    premise = f"weight: {there:f} kg"
    over, under = (
        held(f"weighs over {bound:f} kg", premise),
        held(f"weighs under {bound:f} kg", premise),
    )

    assert (over and under) == (bound == there)
    assert not over or there >= bound
    assert not under or there <= bound


@given(AMOUNTS, AMOUNTS, st.sampled_from(["over", "under", "about", "at least", "nearly"]))
def test_whoever_holds_the_number_itself_holds_every_bound_on_it(
    number: Decimal, other: Decimal, word: str
) -> None:
    assert held(f"weighs {word} {number:f} kg", f"first {other:f} kg, then {number:f} kg")


def missing(claim: str, premise: str) -> list[tuple[str, bool]]:
    return [
        (value.text, settles(value, premise))
        for value in protected_values(claim)
        if not value_present(value, premise)
    ]


@pytest.mark.parametrize(
    ("claim", "premise", "found"),
    [
        # What the source may say in other words lowers the support alone.
        ("It lies in the Great Barrier Reef.", "a reef", [("Great Barrier Reef", False)]),
        ("It has two daughters.", "children: Ann, Bea", [("two", False)]),
        ("It is over 300 metres high.", "a tall tower", [("over 300 metres", False)]),
        ("It came out in the 1960s.", "a drink", [("1960s", False)]),
        # What is exact, or fails a bound close by, blocks the claim.
        ("The patient is Carla Mendoza.", "name: Ana Ruiz", [("Carla Mendoza", True)]),
        ("The dose is 20 mg.", "dose: 10 mg", [("20 mg", True)]),
        ("The dose is two grams.", "dose: 10 mg", [("two grams", True)]),
        ("It rose by 12 %.", "it rose", [("12 %", True)]),
        ("It is over 300 metres high.", "height: 290 metres", [("over 300 metres", True)]),
        ("It said “never again”.", "it was quiet", [("“never again”", True)]),
        ("It was in 2014.", "in 2013", [("2014", True)]),
    ],
)
def test_only_what_must_be_written_as_it_is_settles_a_claim(
    claim: str, premise: str, found: list[tuple[str, bool]]
) -> None:
    assert missing(claim, premise) == found


def test_names_are_found_whatever_their_accents() -> None:
    assert held("He rode the late Canonero II.", "horse: Cañonero II")
    assert held("He rode the late Cañonero II.", "horse: Canonero II")
