"""Omissions: what bears on the task and the answer is silent on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.evidence.chart.checks import read_chart_facts
from core.provenance.omissions import find_omissions, packaged_weights, read_weights
from core.provenance.records import Omission, RiskLevel
from core.records import Source, Trace

CHART = """Patient: Ilse Brandt
birthDate: 1961-03-09

AllergyIntolerance: Allergy to Penicillin V
clinicalStatus: active

MedicationRequest: Warfarin 5 MG Oral Tablet
authoredOn: 2021-02-03
status: stopped

Potassium: 6.1 mmol/L
effectiveDateTime: 2023-06-01
interpretation: HH
"""
TOLD = (
    "Ilse Brandt is allergic to penicillin.",
    "Warfarin was stopped.",
    "Potassium was 6.1 mmol/L, which is abnormal.",
)
QUESTION = "Summarise the chart: medication, allergies, results."
LISTS = Path(__file__).parents[3] / "core" / "provenance" / "lexicons" / "omissions.toml"


def listed(answer: str, question: str = QUESTION, text: str = CHART) -> tuple[Omission, ...]:
    source = Source(source_id="chart#0", tool_name="get_ehr", text=text)
    trace = Trace(trace_id="t", question=question, answer=answer, sources=(source,))
    return find_omissions(trace, read_chart_facts(trace), packaged_weights())[0]


def test_an_answer_that_tells_everything_has_none() -> None:
    assert listed(" ".join(TOLD)) == ()


@pytest.mark.parametrize(
    ("missing", "category"), [(0, "allergy"), (1, "stop order"), (2, "abnormal result")]
)
def test_the_one_fact_that_was_left_out_is_found_as_serious(missing: int, category: str) -> None:
    answer = " ".join(text for number, text in enumerate(TOLD) if number != missing)

    (found,) = listed(answer)

    assert found.category == category
    assert found.severity in (RiskLevel.HIGH, RiskLevel.CRITICAL)
    assert found.place.span is not None


def test_never_more_than_three_are_listed_and_the_heaviest_come_first() -> None:
    many = CHART + "".join(
        f"\nAllergyIntolerance: Allergy to {name}\nclinicalStatus: active\n"
        for name in ("Latex", "Peanut", "Codeine", "Shellfish")
    )

    found = listed("Nothing to report.", text=many)

    assert len(found) == packaged_weights().listed
    assert [each.score for each in found] == sorted((f.score for f in found), reverse=True)


def test_a_question_about_something_else_is_not_met_with_a_wall_of_omissions() -> None:
    assert listed("It opens at nine.", question="When does the pharmacy open?") == ()


def test_no_known_allergies_is_no_allergy() -> None:
    text = "Allergies: no known drug allergies.\nNKDA\n"

    assert listed("She is well.", text=text) == ()


def test_a_lead_can_weigh_otherwise(tmp_path: Path) -> None:
    edited = tmp_path / "weights.toml"
    text = LISTS.read_text(encoding="utf-8").replace("listed_from = 0.5", "listed_from = 2.0")
    edited.write_text(text, encoding="utf-8")

    weights = read_weights(edited)

    assert weights == replace(packaged_weights(), listed_from=2.0, weights=weights.weights)
    source = Source(source_id="chart#0", tool_name="get_ehr", text=CHART)
    trace = Trace(trace_id="t", question=QUESTION, answer="Nothing.", sources=(source,))
    assert find_omissions(trace, read_chart_facts(trace), weights)[0] == ()
