"""What sources state: the same fact from every structured format, with its place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evidence.facts import MOST_CHARACTERS, Fact, argument_facts, source_facts
from core.evidence.quantity_records import Day
from core.records import SourceStatus
from tests.builders import a_source

FORMATS = {
    "block": "Patient: Ada Lind\n\nBody Weight: 81.7 kg\neffectiveDateTime: 2015-09-14",
    "list": "## Observation\n- code: Body Weight, effectiveDateTime: 2015-09-14, "
    'valueQuantity: {"value": 81.7, '
    '"unit": "kg"}',
    "bars": "| Test | Body Weight (kg) | date |\n|---|---|---|\n| weight | 81.7 | 2015-09-14 |",
    "html": "<tr><th>Test</th><th>Body Weight (kg)</th><th>date</th></tr>\n"
    "<tr><td>weight</td><td>81.7</td><td>2015-09-14</td></tr>",
    "comma": "test,Body Weight (kg),date\nweight,81.7,2015-09-14\nheight,,2015-09-14",
}


def weights(text: str) -> list[Fact]:
    """The facts whose attribute is the weight."""
    return [
        fact
        for fact in source_facts(a_source(text)).facts
        if "Weight" in fact.path and fact.quantity is not None and fact.quantity.date is None
    ]


@pytest.mark.parametrize("shape", FORMATS)
def test_the_same_fact_is_read_from_every_format(shape: str) -> None:
    (fact,) = weights(FORMATS[shape])

    assert fact.quantity is not None
    assert (fact.quantity.amount, fact.quantity.unit) == (81.7, "kilogram")
    assert fact.date == Day(year=2015, month=9, day=14)


@pytest.mark.parametrize("shape", FORMATS)
def test_a_fact_points_to_its_characters(shape: str) -> None:
    (fact,) = weights(FORMATS[shape])

    assert fact.span is not None
    assert fact.span.cut(FORMATS[shape]).startswith("81.7")


def test_components_are_facts_under_their_own_names() -> None:
    text = (
        "- code: Blood Pressure, effectiveDateTime: 2020-01-02, component: "
        '[{"code": "Diastolic Blood Pressure", "valueQuantity": {"value": 88.0, "unit": "mm[Hg]"}}, '
        '{"code": "Systolic Blood Pressure", "valueQuantity": {"value": 125.5, "unit": "mm[Hg]"}}]'
    )

    found = {f.path: f.quantity.amount for f in source_facts(a_source(text)).facts if f.quantity}

    assert found["Diastolic Blood Pressure"] == 88.0
    assert found["Systolic Blood Pressure"] == 125.5


def test_a_sentence_gives_its_quantities_with_its_words() -> None:
    text = "Dogs were walked daily. In 44 cats the mean weight was 4.2 kg."

    facts = source_facts(a_source(text)).facts

    assert [fact.quantity.amount for fact in facts if fact.quantity] == [44, 4.2]
    assert all("Dogs" not in fact.record.text for fact in facts)


def test_arguments_are_facts_without_a_place_in_the_output() -> None:
    source = a_source("done", arguments='{"params": {"path": "/root/x.md", "slide_count": 8}}')

    facts = argument_facts(source).facts

    assert {fact.path for fact in facts} == {"params.path", "params.slide_count"}
    assert all(fact.span is None for fact in facts)


@pytest.mark.parametrize("status", [SourceStatus.ERROR, SourceStatus.NOT_CAPTURED])
def test_a_failed_output_states_nothing(status: SourceStatus) -> None:
    assert source_facts(a_source("Weight: 81.7 kg", status=status)).facts == ()


def test_a_truncated_output_is_not_whole() -> None:
    assert not source_facts(a_source("Weight: 81.7 kg", status=SourceStatus.TRUNCATED)).whole
    assert source_facts(a_source("Weight: 81.7 kg")).whole


@pytest.mark.stress
def test_a_very_long_output_is_bounded_and_said_not_to_be_whole() -> None:
    text = "Body Weight: 81.7 kg\neffectiveDateTime: 2015-09-14\n\n" * (10_000_000 // 54)
    started = time.perf_counter()

    found = source_facts(a_source(text))

    assert not found.whole
    assert len(found.facts) <= 20_000
    assert time.perf_counter() - started < 20
    assert all(fact.span is not None and fact.span.end <= MOST_CHARACTERS for fact in found.facts)


@given(st.text(alphabet='ab1.:,|-{}"[] \n<>', max_size=300))
def test_any_text_is_read_with_places_inside_it(text: str) -> None:
    found = source_facts(a_source(text or "-"))

    assert all(
        f.span is not None and 0 <= f.span.start <= f.span.end <= len(text or "-")
        for f in found.facts
    )
