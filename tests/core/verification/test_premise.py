"""III.3: the premise is exact evidence, about the claim, within its budget."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from builders import a_claim, a_source, a_trace
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.config import Config
from core.errors import PremiseError
from core.records import Premise, Span
from core.text.chunks import chunks, is_record_text, units
from core.verification.premise import (
    call_windows,
    head_of,
    nearest_window,
    select_premise,
    shown_window,
)
from core.verification.prepare import IndexedSource, index_evidence

text = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=400)


def _premise(claim: str, evidence: str, budget: int) -> Premise | None:
    config = Config(premise_characters=budget)
    indexed = index_evidence(a_trace(claim, a_source(evidence)), [a_claim(claim)], config).sources
    if not indexed:
        return None
    [one] = indexed
    far = [0.0] * len(one.groups)
    return select_premise(a_claim(claim), one, far, config)


@given(text, text, st.integers(600, 900))
def test_a_premise_is_its_spans_of_the_source_within_the_budget(
    claim: str, evidence: str, budget: int
) -> None:
    found = _premise(claim, evidence, budget)

    if evidence.strip():
        assert found is not None
        assert found.text == "\n".join(span.cut(evidence) for span in found.spans)
        assert all(a.end <= b.start for a, b in zip(found.spans, found.spans[1:], strict=False))
        assert 0 < len(found.text) <= budget


@given(text)
def test_units_and_chunks_cover_every_visible_character_in_order(evidence: str) -> None:
    parts = units(evidence)
    runs = chunks(evidence, parts, 60)

    covered = "".join(unit.span.cut(evidence) for unit in parts)
    assert "".join(covered.split()) == "".join(evidence.split())
    assert "".join("".join(s.cut(evidence) for s in runs).split()) == "".join(evidence.split())


def test_the_row_that_the_claim_is_about_is_taken_with_the_records_heading() -> None:
    labs = "\n\n".join(
        f"patient: Ana Ruiz, date: 2024-03-{day:02d}\ntest: {name}\nvalue: {value}"
        for day, (name, value) in enumerate(
            [("Sodium", "139 mmol/L"), ("Potassium", "4.1 mmol/L"), ("Creatinine", "88 umol/L")]
            * 20,
            1,
        )
    )

    found = _premise("Potassium was 4.1 mmol/L.", labs, 600)

    assert found is not None
    assert "Potassium" in found.text
    assert "Ana Ruiz" in found.text
    assert found.truncated


def test_a_source_without_text_is_an_error() -> None:
    empty = replace(_indexed("x", "x"), units=(), groups=())

    with pytest.raises(PremiseError, match="chart"):
        select_premise(a_claim("x"), empty, (), Config())


@cases
def test_records_are_told_from_prose(evidence: str, is_record: bool) -> None:
    assert is_record_text(evidence) is is_record


def _indexed(claim: str, evidence: str) -> IndexedSource:
    [one] = index_evidence(a_trace(claim, a_source(evidence)), [a_claim(claim)], Config()).sources
    return one


LIPIDS = """Patient: Ana Ruiz

High Density Lipoprotein Cholesterol: 75.29 mg/dL
effectiveDateTime: 2014-02-09

High Density Lipoprotein Cholesterol: 60.72 mg/dL
effectiveDateTime: 2018-02-18

Tobacco smoking status: Former smoker
effectiveDateTime: 2018-02-18"""


@given(text, st.lists(st.integers(0, 399), max_size=5), st.integers(600, 900))
def test_what_the_checks_found_is_read_within_the_budget(
    evidence: str, places: list[int], budget: int
) -> None:
    indexed = index_evidence(a_trace("x", a_source(evidence)), [a_claim("x")], Config()).sources
    if not indexed:
        return
    facts = [Span(start=at, end=at + 1) for at in places if at < len(evidence)]

    found = shown_window(indexed[0], facts, Config(premise_characters=budget))

    if found is not None:
        assert found.text == "\n".join(span.cut(evidence) for span in found.spans)
        assert len(found.text) <= budget
    first = next((fact for fact in facts), None)
    if first is not None and any(
        u.span.start <= first.start < u.span.end for u in indexed[0].units
    ):
        assert found is not None
        assert any(span.start <= first.start < span.end for span in found.spans)


def test_a_fact_without_shared_words_is_read_with_its_whole_record() -> None:
    one = _indexed("HDL was 75 in 2014.", LIPIDS)
    at = LIPIDS.index("75.29")

    found = shown_window(one, [Span(start=at, end=at + 5)], Config())

    assert found is not None
    assert "75.29 mg/dL\neffectiveDateTime: 2014-02-09" in found.text
    assert "60.72" not in found.text


def test_whose_record_it_is_alone_is_no_evidence() -> None:
    one = _indexed("Ana Ruiz is a former smoker.", LIPIDS)
    claim = a_claim("Ana Ruiz is a former smoker.")

    far = [0.0] * len(one.groups)
    found = nearest_window(claim, one, far, Config())

    assert "Former smoker" in found.text


@cases
def test_short_forms_of_a_name_are_terms_of_its_line(said: str, named: str) -> None:
    assert said in _indexed("x", f"{named}: 60.72").terms


def test_whose_record_it_is_goes_with_every_window_of_one_persons_record() -> None:
    claim = a_claim("Ana Ruiz is a former smoker.")
    one = _indexed(claim.text, LIPIDS)
    head = head_of(claim, one)
    far = [0.0] * len(one.groups)
    at = LIPIDS.index("Former")

    windows = [
        select_premise(claim, one, far, Config(), head),
        nearest_window(claim, one, far, Config(), head),
        shown_window(one, [Span(start=at, end=at + 6)], Config(), head),
    ]

    for window in windows:
        assert window is not None
        assert window.text.startswith("Patient: Ana Ruiz\n")
        assert "Former smoker" in window.text


def test_a_front_that_names_nothing_of_the_claim_is_not_taken_along() -> None:
    one = _indexed("Sodium was 139.", "Results of 3 May\n\nSodium: 139 mmol/L")
    assert head_of(a_claim("Potassium was 4."), one) is None


def test_the_line_on_the_other_value_is_taken_before_a_fifth_line_on_the_first() -> None:
    pulses = "\n".join(
        f"Pulse of the day was {60 + day} at ward {day}, as charted." for day in range(40)
    )
    evidence = f"{pulses}\nFerritin: 18 ug/L"

    found = _premise("The pulse was 72 and ferritin 18.", evidence, 600)

    assert found is not None
    assert "Ferritin: 18" in found.text
    assert "was 72" in found.text


DOCUMENT = "\n".join(
    [
        "# Notes on the river survey",
        *(f"Reach {reach} was walked on day {reach} with two surveyors." for reach in range(1, 40)),
        "The weir at Hollin was found damaged.",
        "A repair is planned for the autumn.",
        *(f"Reach {reach} was walked on day {reach} with one surveyor." for reach in range(40, 80)),
    ]
)


def _call_premises(claim: str, content: str) -> tuple[Premise, ...]:
    config = Config()
    source = a_source("Wrote 83 lines.", arguments=json.dumps({"path": "n.md", "content": content}))
    [one] = index_evidence(a_trace(claim, source), [a_claim(claim)], config).sources
    return call_windows(a_claim(claim), one, config)


def test_a_document_that_the_agent_wrote_is_read_where_it_says_the_claim() -> None:
    covering, near = _call_premises("The notes say that the weir at Hollin was damaged.", DOCUMENT)

    assert "weir at Hollin was found damaged" in covering.text
    assert "weir at Hollin was found damaged.\nA repair is planned" in near.text
    assert len(near.text) <= Config().window_characters


def test_a_short_call_is_read_once() -> None:
    assert len(_call_premises("The weir was damaged.", "The weir at Hollin was damaged.")) == 1


@given(text, st.text(st.characters(codec="utf-8"), max_size=3_000))
def test_windows_of_a_call_are_of_its_lines_and_within_the_budget(claim: str, content: str) -> None:
    for found in _call_premises(claim, content):
        assert found.text
        assert found.text.splitlines()[1].startswith("The call ")
        assert len(found.text) <= Config().premise_characters
        assert found.text == found.call
