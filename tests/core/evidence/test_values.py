"""Protected values: what is one, and whether a premise holds it (Table 2, III.4)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.evidence.values import nearest_value, protected_values, value_present, value_spans


def texts(text: str) -> list[str]:
    return [value.text for value in protected_values(text)]


def held(claim: str, premise: str) -> bool:
    values = protected_values(claim)
    assert values, f"{claim!r} holds no value"
    return all(value_present(value, premise) for value in values)


def test_the_papers_examples_protect_what_the_paper_says() -> None:
    assert texts("The patient is Carla Mendoza.") == ["Carla Mendoza"]
    assert texts("Felipe Costa (bench-6) has active condition Asthma") == ["bench-6"]


@cases
def test_digits_and_capitals_inside_names_of_things_protect_nothing(text: str) -> None:
    assert texts(text) == []


@cases
def test_a_value_is_read_whole_and_normalised(
    text: str, value: str, kind: str, normalised: str
) -> None:
    (found,) = protected_values(text)

    assert (found.text, found.kind, found.normalised) == (value, kind, normalised)


@cases
def test_a_premise_holds_a_value_in_another_notation(claim: str, premise: str) -> None:
    assert held(claim, premise)


@cases
def test_a_premise_does_not_hold_a_value_that_is_another(claim: str, premise: str) -> None:
    assert not held(claim, premise)


@cases
def test_values_that_name_a_person_or_a_record_are_identities(
    text: str, identities: list[str]
) -> None:
    assert [value.text for value in protected_values(text) if value.identity] == identities


def test_the_nearest_value_is_the_one_a_reviewer_would_compare() -> None:
    (dose,) = protected_values("takes 50 mg")

    assert nearest_value(dose, "On 2024-03-12: 5 tablets of 40 mg, then 2 g") == "40 mg"
    assert nearest_value(dose, "no values here") is None


@cases
def test_a_value_is_set_beside_values_in_its_unit_and_of_the_same_thing(
    claim: str, value: str, there: str, nearest: str | None
) -> None:
    (wanted,) = [one for one in protected_values(claim) if one.text == value]

    assert nearest_value(wanted, there, claim) == nearest


@given(st.text(max_size=200))
def test_every_value_stands_where_it_says_and_none_overlap(text: str) -> None:
    values = protected_values(text)

    assert all(value.span.cut(text) == value.text for value in values)
    assert all(a.span.end <= b.span.start for a, b in zip(values, values[1:], strict=False))


VALUED = st.sampled_from(
    [
        "takes 10 mg daily", "HbA1c 7.2 %", "on 12 March 2024", "at 07:30", "costs $12.50", "bench-6",
        'said "never again"', "aged 18-64 years", "it is Carla Mendoza now", "NCT01234567", "twelve men",
    ]
)  # fmt: skip


HELD_ELSEWHERE = [
    "dose 0.01 g", "10 mg/day", "7.2 percent", "7.25 %", "date: 2024-03-12", "March 2024", "7:30 am",
    "12.50 USD", "$12.5", "BENCH-6.", "bench-61", "Never  again", "18 to 64 years", "Mendoza, Carla",
    "12 men", "0730",
    "nct01234567", "NCT012345678", "12,000", "0.5", "a dozen",
]  # fmt: skip


@given(st.lists(VALUED, min_size=1, max_size=4).map(". Then ".join))
def test_a_text_holds_all_of_its_own_values(text: str) -> None:
    assert all(value_present(value, text) for value in protected_values(text))


@given(VALUED, st.sampled_from(["", "\n", "Then came nothing. ", "x: y; "]))
def test_more_text_around_it_never_hides_a_value(claim: str, around: str) -> None:
    assert held(claim, f"{around}{claim}; {around}")


@given(VALUED, st.sampled_from(HELD_ELSEWHERE), st.integers(0, 3))
def test_a_long_text_is_read_as_a_short_one(claim: str, premise: str, where: int) -> None:
    filler = "\nNothing of note was written here.\n" * 200
    texts_around = [premise + filler, filler + premise, filler + premise + filler, premise]

    for value in protected_values(claim):
        assert value_present(value, texts_around[where]) == value_present(value, premise)


@given(
    st.decimals(min_value=0, max_value=99999, places=2),
    st.decimals(min_value=0, max_value=99999, places=2),
)
def test_numbers_are_held_when_and_only_when_they_are_equal(one: Decimal, other: Decimal) -> None:
    assert held(f"weighs {one} kg", f"weight: {other:f} kg") == (one == other)


@cases
def test_records_hold_a_value_in_their_own_notation(claim: str, premise: str, held: bool) -> None:
    values = protected_values(claim)

    assert values
    assert all(value_present(value, premise) for value in values) is held


@pytest.mark.parametrize(
    ("text", "normalised"),
    [("500 SEK", "500 sek"), ("KRW 900", "900 krw"), ("12 euros", "12 eur"), ("$5", "5 usd")],
)
def test_every_currency_of_the_one_list_is_read_in_a_claim(text: str, normalised: str) -> None:
    (value,) = protected_values(f"It cost {text} there.")

    assert (value.kind, value.normalised) == ("currency", normalised)


SCHEDULE = (
    "item,ordered,delivered\nSyringes 5 mL,500,450\nramipril 5 mg: started 2026-01-12\n"
    '{"starts_at": "2026-01-09T14:05:00Z", "price": 399.0, "seats": 1000, "day": "Wednesday"}'
)


@pytest.mark.parametrize("around", ["", "\nmore words" * 500], ids=["short", "long"])
@cases
def test_ordinary_forms_are_found_in_records_and_others_are_not(
    claim: str, there: bool, around: str
) -> None:
    assert held(claim, SCHEDULE + around) is there


def test_a_value_is_found_wherever_it_stands_however_it_is_written() -> None:
    (value,) = protected_values("5463 patients took part.")
    text = "Of 5,463 patients, 54 left; 5463 were counted again, and 15463 never."

    assert [span.cut(text) for span in value_spans(value, text)] == ["5,463", "5463"]
