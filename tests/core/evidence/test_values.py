"""Protected values: what is one, and whether a premise holds it (Table 2, III.4)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evidence.values import nearest_value, protected_values, value_present


def texts(text: str) -> list[str]:
    return [value.text for value in protected_values(text)]


def held(claim: str, premise: str) -> bool:
    values = protected_values(claim)
    assert values, f"{claim!r} holds no value"
    return all(value_present(value, premise) for value in values)


def test_the_papers_examples_protect_what_the_paper_says() -> None:
    assert texts("The patient is Carla Mendoza.") == ["Carla Mendoza"]
    assert texts("Felipe Costa (bench-6) has active condition Asthma") == ["bench-6"]


@pytest.mark.parametrize(
    "text",
    [
        "HbA1c and SGLT2 rose in COVID-19.",
        "IL-6, PD-1 and SARS-CoV-2 were measured.",
        "Vitamin B12 and omega-3 are sold.",
        "One of the drugs may help.",
        "Asthma is common.",
        "The Patient is well.",
        "",
    ],
)
def test_digits_and_capitals_inside_names_of_things_protect_nothing(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "value", "kind", "normalised"),
    [
        ("It was 7.20 % today", "7.20 %", "percent", "7.2%"),
        ("It was 32 percent today", "32 percent", "percent", "32%"),
        ("He weighs 1,234 and more", "1,234", "number", "1234"),
        ("On 12 March 2024 he", "12 March 2024", "date", "2024-03-12"),
        ("On March 12, 2024 he", "March 12, 2024", "date", "2024-03-12"),
        ("On 2024-03-12 he", "2024-03-12", "date", "2024-03-12"),
        ("On 13/12/2024 he", "13/12/2024", "date", "2024-12-13"),
        ("On 03/12/2024 he", "03/12/2024", "date", "03/12/2024"),
        ("In April 2024 he", "April 2024", "date", "2024-04"),
        ("In 2019 he", "2019", "date", "2019"),
        ("2008年8月8日出生", "2008年8月8日", "date", "2008-08-08"),
        ("At 2:30 pm he", "2:30 pm", "time", "14:30"),
        ("It costs $3.17 trillion now", "$3.17 trillion", "currency", "3170000000000 usd"),
        ("See NCT01234567 now", "NCT01234567", "identifier", "nct01234567"),
        ("See PMID: 123456 now", "PMID: 123456", "identifier", "123456"),
        ("Code E11.9 now", "E11.9", "identifier", "e11.9"),
        ("Variant rs1799853 now", "rs1799853", "identifier", "rs1799853"),
        ("Flight HAT169 now", "HAT169", "identifier", "hat169"),
        ("File /data/a/b.pdf now", "/data/a/b.pdf", "identifier", "/data/a/b.pdf"),
        ('He said "no more pills" now', '"no more pills"', "quoted", "no more pills"),
        ("Pressure 120/80 mmHg now", "120/80 mmHg", "number", "120/80"),
        ("Aged 18.5-24.9 kg/m2 now", "18.5-24.9 kg/m2", "number", "18500..24900 g/m2"),
        ("He has two cats", "two", "number", "2"),
        ("He has twenty-five cats", "twenty-five", "number", "25"),
    ],
)
def test_a_value_is_read_whole_and_normalised(
    text: str, value: str, kind: str, normalised: str
) -> None:
    (found,) = protected_values(text)

    assert (found.text, found.kind, found.normalised) == (value, kind, normalised)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("takes 10 mg", "dose 10 mg/day"),
        ("takes 10 mg", "dose: 10\nunit: mg"),
        ("takes 500 mg", "takes 0.5 g"),
        ("for 12 months", "for 1 year"),
        ("in 2024", "on 2024-03-12"),
        ("on 12 March 2024", "date: 2024-03-12T10:00:00Z"),
        ("32 %", "32 percent"),
        ("two patients", "2 patients"),
        ("2 patients", "two patients"),
        ("1 patient", "one patient"),
        ("1,234 cases", "1234 cases"),
        ("3-5 days", "3 to 5 days"),
        ("3-5 days", "at least 3 days and at most 5 days"),
        ("at 2 pm", "at 14:00"),
        ("$5", "5 USD"),
        ("bench-6 is", "id: bench-6; name"),
        ("PMID 123456", "pmid: 123456"),
        ("it is Carla Mendoza", "family: Mendoza\ngiven: Carla"),
        ("it is Abe Frami", "name: Abe604 Frami345"),
        ("was 120/80", "BP 120/80 mmHg"),
    ],
)
def test_a_premise_holds_a_value_in_another_notation(claim: str, premise: str) -> None:
    assert held(claim, premise)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("7.2 %", "17.25 %"),
        ("takes 10 mg", "takes 10 g"),
        ("takes 10 mg", "takes 100 mg"),
        ("32 patients", "32 % of patients"),
        ("32 % of patients", "32 patients of 40, 80 %"),
        ("bench-6 is", "bench-61 is"),
        ("in 2024", "in 2023"),
        ("on 3 March 2024", "in March 2024"),
        ("on 03/12/2024", "on 12/03/2024"),
        ("it is Carla Mendoza", "Patient Carlos Mendoza"),
        ("aged ≥ 65", "aged < 65"),
        ("was 120/80", "was 80/120"),
        ("5 days", "5 weeks"),
        ("-5.5 %", "+5.5 %"),
        ("E11.9", "E11.90"),
    ],
)
def test_a_premise_does_not_hold_a_value_that_is_another(claim: str, premise: str) -> None:
    assert not held(claim, premise)


@pytest.mark.parametrize(
    ("text", "identities"),
    [
        ("The patient is Carla Mendoza.", ["Carla Mendoza"]),
        ("Ms. Mendoza is here", ["Mendoza"]),
        ("Then patient Bo Berg left", ["Bo Berg"]),
        (
            "MRN 44-8812 and NCT01234567 and PMID 123456",
            ["MRN 44-8812", "NCT01234567", "PMID 123456"],
        ),
        ("pt-118 has gout", ["pt-118"]),
        ("It was 5 mg of Old Spice", []),
    ],
)
def test_values_that_name_a_person_or_a_record_are_identities(
    text: str, identities: list[str]
) -> None:
    assert [value.text for value in protected_values(text) if value.identity] == identities


def test_the_nearest_value_is_the_one_a_reviewer_would_compare() -> None:
    (dose,) = protected_values("takes 50 mg")

    assert nearest_value(dose, "On 2024-03-12: 5 tablets of 40 mg, then 2 g") == "40 mg"
    assert nearest_value(dose, "no values here") is None


@pytest.mark.parametrize(
    ("claim", "value", "there", "nearest"),
    [
        ("She takes warfarin 50 mg.", "50 mg", "warfarin 5 mg daily, atorvastatin 40 mg daily", "5 mg"),
        ("She takes warfarin 50 mg.", "50 mg", "atorvastatin 40 mg\nwarfarin 5 mg", "5 mg"),
        ("75% of the work is done.", "75%", "members: 6", None),
        ("The build failed after 12 minutes.", "12 minutes", "build 77, took 29 minutes", "29 minutes"),
        ("The build failed after 12 minutes.", "12 minutes", "build 77", None),
        ("There are 12 members.", "12", "members: 6, budget EUR 13", "6"),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("claim", "premise", "held"),
    [
        ("The list has erenumab 70 mg.", '{"drug": "erenumab 70 mg autoinjector"}', True),
        ("The list has erenumab 140 mg.", '{"drug": "erenumab 70 mg autoinjector"}', False),
        ("Its PMID is 92660418.", "PMID 92660418", True),
        ("Its PMID is 92660419.", "PMID 92660418", False),
        ("The man, 41, is well.", "male, 41 years", True),
        ("The man, 42, is well.", "male, 41 years", False),
        ("eGFR was 56.", "eGFR 56 mL/min", True),
        ("Men aged 18 to 65.", "minimum_age: 18 Years\nmaximum_age: 65 Years", True),
        ("Men aged 18 to 70.", "minimum_age: 18 Years\nmaximum_age: 65 Years", False),
        ("32 patients responded.", "32 % responded", False),
    ],
)
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
@pytest.mark.parametrize(
    ("claim", "there"),
    [
        ("450 of the 500 were delivered", True),
        ("500,450 were delivered", False),
        ("he takes ramipril 5 mg", True),
        ("it begins at 14:05", True),
        ("the price is 399", True),
        ("it has 1,000 seats", True),
        ("it began on a Monday", True),  # 2026-01-12
        ("it begins on Friday", True),  # 2026-01-09
        ("it is open on Wednesdays", True),
        ("it began on a Tuesday", False),
        ("it began on 12 January", True),
        ("it began on 12 June", False),
    ],
)
def test_ordinary_forms_are_found_in_records_and_others_are_not(
    claim: str, there: bool, around: str
) -> None:
    assert held(claim, SCHEDULE + around) is there
