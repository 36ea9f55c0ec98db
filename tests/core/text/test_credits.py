"""Which source a sentence credits, in the many ways in which answers say so (III.2, III.6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.credits import find_credit
from core.text.families import load_families

FAMILIES = load_families()
# Original sentences; None where no source is credited, however tempting the words are.
WORDINGS = [
    (row["text"], row["family"])
    for row in map(
        json.loads,
        (Path(__file__).parents[2] / "golden" / "credits" / "wordings.jsonl")
        .read_text(encoding="utf-8")
        .splitlines(),
    )
]
CREDITING = [(text, family) for text, family in WORDINGS if family is not None]


def credited(text: str) -> tuple[str, ...]:
    found = find_credit(text, FAMILIES)
    return () if found is None else found.families


def is_right(text: str, family: str) -> bool:
    found = credited(text)
    return len(found) == 1 and FAMILIES.compatible(found[0], family)


def test_of_830_wordings_nearly_all_are_found_with_the_right_family() -> None:
    wrong = [text for text, family in CREDITING if not is_right(text, family)]

    assert len(CREDITING) == 830
    assert len(wrong) <= 52, wrong


def test_no_wording_is_taken_for_another_kind_of_source_than_it_names() -> None:
    """A missed credit says nothing of the answer; a wrong one would make a false conflation."""
    wrong = [
        (text, credited(text))
        for text, family in CREDITING
        if len(credited(text)) == 1 and not FAMILIES.compatible(credited(text)[0], family)
    ]

    assert len(wrong) <= 2, wrong


def test_sentences_that_credit_nothing_are_left_alone() -> None:
    silent = [text for text, family in WORDINGS if family is None]
    false = [text for text in silent if credited(text)]

    assert len(silent) == 486
    assert len(false) <= 5, false


FOUND = [(text, family) for text, family in CREDITING if is_right(text, family)]


@given(st.sampled_from(FOUND), st.sampled_from([" ", "  ", "\u00a0"]))
def test_space_around_a_sentence_changes_no_credit(found: tuple[str, str], space: str) -> None:
    text, family = found

    assert is_right(text + space, family)


@given(st.sampled_from(CREDITING + [(text, "") for text, family in WORDINGS if family is None]))
def test_what_can_be_left_out_lies_around_the_credit(found: tuple[str, str]) -> None:
    text, _ = found
    credit = find_credit(text, FAMILIES)

    if credit is not None:
        assert credit.span.cut(text).strip()
        if credit.removable is not None:
            rest = text[: credit.removable.start] + text[credit.removable.end :]
            assert 0 <= credit.removable.start < credit.removable.end <= len(text)
            assert len(rest) < len(text)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("According to the trial registry, the trial enrolled 200 adults.", "registry"),
        ("According to DailyMed, it is taken once a day.", "formulary"),
        ("As WebMD puts it, sunburn fades within a week.", "web"),
        ("Per GOLD, triple therapy is kept for frequent exacerbators.", "guideline"),
        ("It was completed early, per the trial's ClinicalTrials.gov record.", "registry"),
        (
            "We know from her own file that two earlier trials of sertraline failed.",
            "patient_record",
        ),
        ("Two falls since January, says the GP letter.", "patient_record"),
        ("Per the guideline, the laboratory reported a CRP of 38 mg/L.", "guideline"),
        (
            "Based on the patient history, it is PMID 92660418 of Pichler and colleagues.",
            "patient_record",
        ),
        ("Lower doses work as well, a pooled analysis reveals.", "literature"),
    ],
)
def test_the_longer_and_the_nearer_name_decides(text: str, family: str) -> None:
    assert credited(text) == (family,)
