"""Claims of one answer or conversation that cannot both hold."""

from __future__ import annotations

import pytest

from core.provenance.contradictions import find_contradictions
from core.records import Claim
from tests.builders import a_claim

OPPOSED = [
    ("The basic fare costs $10.", "The basic fare costs $50.", "number"),
    ("The export supports images.", "The export does not support images.", "negation"),
    ("Sales in Porto rose in spring.", "Sales in Porto fell in spring.", "meaning"),
    ("The deposit for the room is 40 euros.", "The room deposit is 60 euros.", "number"),
    ("Seat 14C is available.", "Seat 14C is not available.", "negation"),
]
TOGETHER = [
    ("The basic fare costs $10.", "The flexible fare costs $50."),
    ("The fare for adults is $50.", "The fare for children is $10."),
    ("The clinic opened in 2011.", "The clinic closed in 2019."),
    ("Weight was 81 kg in 2015.", "Weight was 86 kg in 2018."),
    ("The basic fare costs $10.", "The basic fare costs ten dollars."),
    ("The export supports images.", "The export does not support video."),
    ("Potassium was 4.1 mmol/L on Monday.", "Potassium was 4.9 mmol/L on Friday."),
    ("Flight HX212 costs $120.", "Flight HX318 costs $180."),
]


def claim(text: str, **more: object) -> Claim:
    return a_claim(text, **more)


@pytest.mark.parametrize(("one", "other", "kind"), OPPOSED)
def test_what_cannot_both_hold_is_found_in_either_order(one: str, other: str, kind: str) -> None:
    for first, second in ((one, other), (other, one)):
        (found,) = find_contradictions([[claim(first), claim(second)]])

        assert found.kind == kind
        assert (found.first.text, found.second.text) == (first, second)


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_what_may_both_hold_is_left_alone(one: str, other: str) -> None:
    assert find_contradictions([[claim(one), claim(other)]]) == ()


def test_a_claim_never_contradicts_itself() -> None:
    for one, other, _ in OPPOSED:
        for text in (one, other):
            assert find_contradictions([[claim(text), claim(text)]]) == ()


def test_turns_are_compared_with_the_turns_before_them() -> None:
    earlier, later = claim("The refund is $340."), claim("The refund is $240.")

    (found,) = find_contradictions([[earlier], [], [later]])

    assert (found.first.turn, found.second.turn) == (0, 2)


def test_two_people_may_differ() -> None:
    one = claim("The dose is 5 mg.", subject="Ana Ruiz")
    other = claim("The dose is 10 mg.", subject="Lev Marek")

    assert find_contradictions([[one, other]]) == ()
