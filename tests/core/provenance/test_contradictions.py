"""Claims of one answer or conversation that cannot both hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from core.attribution.families import load_families
from core.config import Config
from core.decomposition.claims import decompose
from core.provenance.contradictions import find_contradictions
from core.records import Claim, Trace
from tests.builders import a_claim
from training.texts import text_folder

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "contradictions"

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


LEAD = "\n\nHere is the payment:\n\n- Certificate 7504069: $250\n- Remaining balance: "
ACROSS = [
    [
        "The total for the flights in economy is $255.",
        "The total for the flights is actually $305.",
    ],
    [f"Please confirm.{LEAD}$5", f"Please confirm again.{LEAD}$55"],
    ["Order 778201 is on its way:\n\n- Quantity: 2", "Here is order 778201:\n\n- Quantity: 3"],
]
APART = [
    ["The total for the flights in economy is $255.", "The total for the flights is $305."],
    [
        "- Insurance: Yes\n- Baggage: none\n- Total: $329",
        "- Insurance: No\n- Baggage: none\n- Total: $299",
    ],
    ["- Flight: HX212\n- Price: $120", "- Flight: HX318\n- Price: $180"],
    ["Room 214 is available for Friday.", "Room 216 is not available for Friday."],
    ["- Price: $120", "- Price: $180"],
    ["You can pay with:\n\n- Gift card with $51 balance\n- Gift card with $262 balance"],
]


FAMILIES = load_families()


def said(text: str) -> tuple[Claim, ...]:
    """Everything that one turn says, cut as an answer is."""
    trace = Trace(trace_id="t", question="", answer=text, sources=())
    return tuple(decompose(trace, Config(), FAMILIES))


@pytest.mark.parametrize("turns", ACROSS)
def test_two_turns_that_give_one_thing_two_amounts_are_found(turns: list[str]) -> None:
    (found,) = find_contradictions([said(text) for text in turns])

    assert (found.kind, found.first.turn, found.second.turn) == ("number", 0, 1)
    for place in (found.first, found.second):
        assert place.span.cut(turns[place.turn]).strip("- ")


@pytest.mark.parametrize("turns", APART)
def test_a_list_of_another_thing_is_no_contradiction(turns: list[str]) -> None:
    assert find_contradictions([said(text) for text in turns]) == ()


def test_the_newest_claims_of_a_long_conversation_are_compared() -> None:
    many = [claim(f"Ward {n} is the {n}th.") for n in range(450)]
    last = [claim("The refund is $340."), claim("The refund is $240.")]

    (found,) = find_contradictions([many, last])

    assert found.second.turn == 1


def test_the_list_that_people_read_is_well_formed() -> None:
    rows = tomllib.loads((GOLDEN / "tau_airline.toml").read_text(encoding="utf-8"))["pair"]

    assert len(rows) >= 10
    for row in rows:
        first, second = row["turns"]
        assert first < second and row["found_by"] in ("number", "ability") and row["about"]


def test_the_original_conversations_are_told_apart() -> None:
    rows = tomllib.loads(
        (text_folder() / "pairs" / "contradictions.toml").read_text(encoding="utf-8")
    )
    found = {
        name: [bool(find_contradictions([said(text) for text in turns])) for turns in listed]
        for name, listed in rows.items()
    }

    assert min(map(len, found.values())) >= 30
    right, wrong = sum(found["OPPOSED"]), sum(found["TOGETHER"])
    assert right >= 0.9 * (right + wrong) and right >= 0.8 * len(found["OPPOSED"])


def test_two_people_may_differ() -> None:
    one = claim("The dose is 5 mg.", subject="Ana Ruiz")
    other = claim("The dose is 10 mg.", subject="Lev Marek")

    assert find_contradictions([[one, other]]) == ()
