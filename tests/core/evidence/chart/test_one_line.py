"""A chart written in one line reads as the same chart with a line for each of its parts."""

from __future__ import annotations

from itertools import permutations

import pytest
from builders import a_claim, a_source, a_trace

from core.evidence.chart.checks import chart_checks, read_chart_facts
from core.evidence.chart.entries import read_chart
from core.records import Outcome

PARTS = (
    "Medications: atorvastatin 40 mg nightly; warfarin 5 mg daily.",
    "Allergies: penicillin (anaphylaxis).",
    "Family history: mother had breast cancer.",
)
LOOSE = "LDL 5.1 mmol/L on 2025-03-01. No history of stroke."


def rows(text: str) -> list[tuple[str, str]]:
    """Each row's section and words."""
    made = read_chart(a_source(text)).rows
    assert all(row.span.cut(text) == row.text for row in made)
    return [(row.section, row.text) for row in made if not row.fields]


@pytest.mark.parametrize("parts", list(permutations(PARTS)))
def test_parts_of_one_line_are_the_parts_of_several(parts: tuple[str, ...]) -> None:
    one = rows(" ".join(["Patient: Mary Lee.", *parts, LOOSE]))
    several = rows("\n\n".join(["Patient: Mary Lee.", *parts, LOOSE]))

    assert one == several
    assert ("allergies", "penicillin (anaphylaxis).") in one
    assert ("", "No history of stroke.") in one


@pytest.mark.parametrize(
    "text",
    ["She was seen at 10: 30 minutes late.", "Note. See: the letter", "Ratio 3; B: c", "Dr. X: no"],
)
def test_a_colon_in_a_sentence_begins_no_part(text: str) -> None:
    assert {section for section, _ in rows(f"She was seen today. {text}")} <= {""}


def about(said: str, *outputs: tuple[str, str]) -> list[tuple[str, Outcome]]:
    """What the charts say of one claim."""
    sources = (a_source(text, source_id=name, tool_name=name) for name, text in outputs)
    facts = read_chart_facts(a_trace(said, *sources))
    return [(one.check, one.outcome) for one in chart_checks(a_claim(said), facts)]


LABS = ("labs", "Patient: Maria Gomez\nMRN 1\nLab results\nLDL 162 mg/dL")
NOTE = ("note", "Discharge summary. History of gout. Discharged on amlodipine 5 mg daily.")


def test_what_a_note_without_a_name_says_is_not_told_as_named_nowhere() -> None:
    said = "Maria Gomez takes amlodipine 5 mg daily."

    assert ("name", Outcome.CONTRADICTS) in about(said, LABS)
    assert ("name", Outcome.CONTRADICTS) not in about(said, LABS, NOTE)
    paper = ("search_pubmed", "In this trial amlodipine lowered blood pressure; PMID: 12345678.")
    assert ("name", Outcome.CONTRADICTS) in about(said, LABS, paper)
