"""A claim's values bound to what outputs state: same, elsewhere or open."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.binding.bind import Bond, Part, bind, with_bindings
from core.binding.following import Following
from core.binding.outline import outline_of
from core.evidence.fact_index import index_trace
from core.evidence.stated_whole import WHOLE
from core.records import Check, Claim, Outcome, Span
from provenanceguard.verifier import trace_of

ORDERS = [
    {
        "order_id": "SO-4821",
        "customer": "Ann Lee",
        "status": "shipped",
        "total": 399.0,
        "ordered_at": "2026-03-04T12:35:00-04:00",
        "ship_by": "2026-03-09",
    },
    {
        "order_id": "SO-4907",
        "customer": "Bo Ray",
        "status": "cancelled",
        "total": 120.5,
        "ordered_at": "2026-03-06T09:10:00Z",
        "ship_by": "2026-03-12",
    },
]
DOSES = {"drug": "Levetiracetam", "starting_dose": "10 mg daily", "maximum_dose": "40 mg daily"}


def stated(*outputs: object) -> Following:
    """What outputs state, given as JSON values or as text."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in outputs]
    trace = trace_of("x", [{"tool_name": "get", "text": text} for text in texts], None)
    return Following(outline=outline_of(trace, index_trace(trace)))


def claim(text: str) -> Claim:
    return Claim(claim_id="c", text=text, said=text, span=Span(start=0, end=len(text)))


def bound(text: str, outputs: Sequence[object], question: str = "") -> dict[str, Bond]:
    """What became of each amount of a claim."""
    return {part.text: part.bond for part in parts(text, outputs, question)}


def parts(text: str, outputs: Sequence[object], question: str = "") -> tuple[Part, ...]:
    return bind(claim(text), stated(*outputs), question)


@pytest.mark.parametrize(
    ("text", "value", "bond"),
    [
        ("Bo Ray's order SO-4907 totals €120.50.", "€120.50", Bond.SAME),
        ("Ann Lee's order SO-4821 totals €399.", "€399", Bond.SAME),
        ("Bo Ray's order SO-4907 totals €399.", "€399", Bond.ELSEWHERE),
        ("SO-4821 was ordered at 12:35.", "12:35", Bond.SAME),
        ("SO-4821 was ordered on 4 March.", "4 March", Bond.SAME),
        ("SO-4821 was ordered on 9 March.", "9 March", Bond.ELSEWHERE),
        ("SO-4821 was ordered on 17 March.", "17 March", Bond.OPEN),
        ("SO-4821 was ordered on Wednesday, 4 March 2026.", "Wednesday", Bond.SAME),
        ("SO-4821 was ordered on Thursday, 4 March 2026.", "Thursday", Bond.OTHERWISE),
        ("SO-4821 was ordered on Thursday, 4 March.", "Thursday", Bond.OTHERWISE),
        ("The two orders come to 519.50 together.", "519.50", Bond.SAME),
        ("SO-4821 costs 278.50 more than SO-4907: its total is higher.", "278.50", Bond.SAME),
        ("The orders come to 999.50 together.", "999.50", Bond.OPEN),
    ],
)
def test_a_value_is_bound_to_the_record_and_field_that_the_claim_names(
    text: str, value: str, bond: Bond
) -> None:
    assert bound(text, [ORDERS])[value] is bond


def test_a_code_points_to_no_date_that_has_its_digits() -> None:
    vans = [
        {"van": "V-02", "model": "Transit", "inspection_due": "2026-10-31"},
        {"van": "V-03", "model": "e-Vito", "inspection_due": "2027-02-28"},
    ]

    text = "V-02's inspection is due on 31 October 2026."
    assert bound(text, [vans]) == {"31 October 2026": Bond.SAME}
    swapped = text.replace("V-02", "V-03")
    assert bound(swapped, [vans]) == {"31 October 2026": Bond.ELSEWHERE}


def test_a_date_that_could_be_read_both_ways_holds_either() -> None:
    report = "CT chest performed 09/06/2026, signed by Dr Chen."

    assert bound("The CT of 9 June 2026 was signed.", [report]) == {"9 June 2026": Bond.SAME}
    assert bound("The CT of 9 July 2026 was signed.", [report]) == {"9 July 2026": Bond.OPEN}


def test_a_bound_is_otherwise_where_the_sign_of_its_field_turns_it_round() -> None:
    text, troponin = "Her troponin was at least 0.01 ng/mL.", {"patient": "Ida Roe"}

    said = {sign: bound(text, [troponin | {"troponin": f"{sign}0.01 ng/mL"}]) for sign in "<>"}
    assert said == {"<": {"0.01 ng/mL": Bond.OTHERWISE}, ">": {"0.01 ng/mL": Bond.SAME}}
    assert bound(text, ["The troponin of Ida Roe was <0.01 ng/mL."]) == {"0.01 ng/mL": Bond.SAME}


@pytest.mark.parametrize(
    ("output", "text", "value"),
    [
        ("We will have it for you Thu 20 Nov.", "It is due on Thursday 20 November.", "Thursday"),
        ("Backup ran Thu 20 Nov.", "The backup ran on 20 November.", "20 November"),
        ("The camp of 2-6 March is off.", "The camp of 2 to 6 March is off.", "6 March"),
        ("Review on 28.08.2025.", "The review is on 28 August.", "28 August"),
    ],
)
def test_a_day_is_bound_however_it_is_written(output: str, text: str, value: str) -> None:
    assert bound(text, [output])[value] is Bond.SAME
    moved = output.replace("20 Nov", "21 Nov").replace("2-6", "2-7").replace("28.", "27.")
    assert bound(text, [moved.replace("Thu", "Fri")])[value] is not Bond.SAME


def test_a_value_that_follows_from_the_claims_others_is_not_open() -> None:
    doses = [{"day": 1, "dose": "250 mg"}, {"day": 9, "dose": "100 mg"}]
    text = "Salbutamol was cut from 250 mg to 100 mg, by 150 mg."

    assert set(bound(text, [{"drug": "Salbutamol", "doses": doses}]).values()) == {Bond.SAME}
    assert (
        bound(text.replace("150", "160"), [{"drug": "Salbutamol", "doses": doses}])["160 mg"]
        is Bond.OPEN
    )


def test_a_flight_is_found_however_it_is_written() -> None:
    outputs = [{"flight": "NV423", "seat": "14C"}]

    assert bound("The seat on NV 423 is booked.", outputs) == {"NV 423": Bond.SAME}
    assert bound("The seat on NV 432 is booked.", outputs) == {"NV 432": Bond.OPEN}


# ---------------------------------------------------------------- invariances

TEXTS = st.sampled_from(
    [
        "Bo Ray's order SO-4907 totals 120.50.",
        "Bo Ray's order SO-4907 totals 399.",
        "SO-4821 was ordered on 9 March at 12:35.",
        "SO-4907 was ordered on 17 March.",
        "The orders come to 519.50 together.",
    ]
)


@given(TEXTS, st.permutations(ORDERS), st.permutations(sorted(ORDERS[0])))
def test_the_order_of_records_and_fields_changes_nothing(
    text: str, records: list[dict[str, object]], keys: list[str]
) -> None:
    arranged = [{key: record[key] for key in ["order_id", *keys]} for record in records]
    assert bound(text, [arranged]) == bound(text, [ORDERS])


@given(TEXTS)
def test_how_keys_are_written_changes_nothing(text: str) -> None:
    def camel(key: str) -> str:
        first, *rest = key.split("_")
        return first + "".join(map(str.title, rest))

    written = [{camel(key): value for key, value in record.items()} for record in ORDERS]
    assert bound(text, [written]) == bound(text, [ORDERS])


@given(st.sampled_from(["399", "399.0", "399.00", "€399", "EUR 399"]))
def test_how_a_number_is_written_changes_nothing(said: str) -> None:
    assert set(bound(f"Ann Lee's order SO-4821 totals {said}.", [ORDERS]).values()) == {Bond.SAME}


@given(st.integers(1_000, 9_000), st.integers(1, 28))
def test_an_unrelated_record_never_gives_an_open_value(number: int, day: int) -> None:
    text = "Order SO-4821 was weighed on 30 April 2026 at 18.25 kg."
    other = {"room": f"R{number}", "seats": number, "booked_on": f"2024-11-{day:02}"}

    assert set(bound(text, [ORDERS]).values()) == {Bond.OPEN}
    assert set(bound(text, [ORDERS, other]).values()) == {Bond.OPEN}


@given(st.permutations([10, 25, 40]))
def test_swapping_the_values_of_two_fields_moves_a_value_elsewhere(doses: list[int]) -> None:
    low, middle, high = doses
    drug = {
        "starting_dose": f"{low} mg",
        "usual_dose": f"{middle} mg",
        "maximum_dose": f"{high} mg",
    }

    assert bound(f"The usual dose is {middle} mg.", [drug]) == {f"{middle} mg": Bond.SAME}
    swapped = drug | {"starting_dose": f"{middle} mg", "usual_dose": f"{low} mg"}
    assert bound(f"The usual dose is {middle} mg.", [swapped]) == {f"{middle} mg": Bond.ELSEWHERE}


def test_only_the_question_names_the_record() -> None:
    text, asked = "It totals 399.", "What does Bo Ray's order SO-4907 come to?"

    assert bound(text, [ORDERS], asked) == {"399": Bond.ELSEWHERE}
    assert bound("It totals 120.50.", [ORDERS], asked) == {"120.50": Bond.SAME}


def test_what_stands_elsewhere_is_told_only_of_a_claim_that_some_place_would_state_whole() -> None:
    whole = Check(
        check=WHOLE, outcome=Outcome.SUPPORTS, reason="all of it stands there", binding=1.0
    )

    def told(dose: str, *checks: Check) -> list[Check]:
        text = claim(f"The starting dose is {dose} daily.")
        kept, bound = with_bindings(text, stated(DOSES), "", checks)
        return [*kept, *bound]

    assert [check.check for check in told("10 mg", whole)] == [WHOLE, Bond.SAME]
    assert told("40 mg") == []
    (otherwise,) = told("40 mg", whole)
    assert (otherwise.check, otherwise.outcome) == (Bond.OTHERWISE, Outcome.SILENT)
    assert otherwise.reason == (
        "40 mg stands under “maximum dose” (Levetiracetam); "
        "“starting dose” (Levetiracetam) is “10 mg daily”"
    )
    assert [place.path for place in otherwise.facts] == ["maximum_dose", "starting_dose"]


def test_a_call_without_arguments_is_no_record() -> None:
    calls = [
        {"tool_name": "ping", "text": ""},
        {"tool_name": "order", "text": "", "arguments": {"drug": "lisinopril", "dose": 40}},
    ]
    trace = trace_of("x", calls, None)
    following = Following(outline=outline_of(trace, index_trace(trace)))

    (part,) = bind(claim("Lisinopril was ordered at a dose of 40."), following)[:1]

    assert (part.text, part.bond) == ("40", Bond.SAME)
    assert following.outline.records == 1 == 1 + following.outline.record.max()


@pytest.mark.parametrize(
    ("output", "said", "value"),
    [
        (
            "Order 7781. Status: shipped. Shipped on: 3 March 2026.",
            "Order 7781 was shipped.",
            "7781",
        ),
        ("Results 2026-10-21: urate 512 µmol/L, creatinine 88", "Urate, 21 October.", "21 October"),
    ],
)
def test_what_stands_before_a_label_or_dates_it_is_stated_too(
    output: str, said: str, value: str
) -> None:
    assert bound(said, [output])[value] is Bond.SAME
    assert (
        bound(said, [output.replace("7781", "7718").replace("10-21", "10-12")])[value]
        is not Bond.SAME
    )


def test_a_title_before_a_label_is_part_of_it() -> None:
    facts = [field.path for field in stated("Dr. Lind: room 14\nVit. D: 20 ng/mL").outline.fields]

    assert facts == ["Dr. Lind", "Vit. D"]


def test_no_amount_stands_in_place_of_one_in_a_label() -> None:
    chart = "Patient: Ada Lind\nPain severity - 0-10 verbal rating: 3.70 score\nHeart rate: 80 bpm"

    assert bound("Ada Lind rated her pain 3.7.", [chart]) == {"3.7": Bond.SAME}
    assert bound("Pain was rated from 0 to 10.", [chart]) == {"0": Bond.SAME, "10": Bond.SAME}


def test_a_day_of_the_month_is_bound_to_the_field_of_a_date_time_that_the_claim_means() -> None:
    flight = {"flight": "P-9", "booked": "2026-11-02", "departs": "2026-11-27T16:20"}

    assert bound("It departs on the 27th.", [flight]) == {"27th": Bond.SAME}
    assert bound("It departs on the 2nd.", [flight]) == {"2nd": Bond.ELSEWHERE}
    assert bound("It departs on the 28th.", [flight]) == {"28th": Bond.OPEN}
