"""What is lit in a source speaks of the claim: no furniture, no digits that are equal by chance."""

from __future__ import annotations

from core.records import Span
from pages.widgets.evidence_lines import (
    claim_terms,
    is_furniture,
    lit_lines,
    nearest_line,
    stands_beside,
)

CLAIM = "The patient takes metformin 2 g daily."
SOURCE = (
    "Complete tool output for load_patient_history.\n"
    "[2]\n"
    "MRN: 2\n"
    "Patient: Elena Marchetti\n"
    "metformin 2 g once daily\n"
    "Visits: 2 g of sodium were advised"
)


def test_a_capture_s_heading_and_bare_numbers_are_furniture() -> None:
    for line in (
        "Complete tool output for search_pubmed_key_words.",
        "Complete tool output for load_patient_history (synthetic patient).",
        "Tool result of get_labs:",
        "[12]",
        "-----",
    ):
        assert is_furniture(line), line
    for line in ("The output of urine was 2 L.", "eGFR 58", "Complete response in 12 patients."):
        assert not is_furniture(line), line


def test_the_lit_lines_are_those_that_speak_of_the_claim() -> None:
    whole = Span(start=0, end=len(SOURCE))

    lit = [span.cut(SOURCE) for span in lit_lines([whole], SOURCE, claim_terms(CLAIM), [])]

    assert lit == ["Patient: Elena Marchetti", "metformin 2 g once daily"]


def test_a_line_that_only_repeats_the_subject_is_not_lit_beside_the_one_that_decides() -> None:
    text = "Refill of metformin: May\nMetformin\nmetformin, status: stopped\nOn time for June"
    whole = Span(start=0, end=len(text))

    lit = [s.cut(text) for s in lit_lines([whole], text, claim_terms("Metformin was stopped."), [])]

    assert lit == ["metformin, status: stopped"]


def test_lines_of_one_premise_are_judged_together() -> None:
    at = SOURCE.index("MRN"), SOURCE.index("metformin")
    spans = [Span(start=at[0], end=at[0] + 6), Span(start=at[1], end=at[1] + 24)]

    lit = [span.cut(SOURCE) for span in lit_lines(spans, SOURCE, claim_terms(CLAIM), [])]

    assert lit == ["metformin 2 g once daily"]


def test_a_premise_in_other_words_is_lit_but_for_its_furniture() -> None:
    text = "Complete tool output for x.\nGlucophage, two tablets"

    lit = [
        span.cut(text)
        for span in lit_lines([Span(start=0, end=len(text))], text, claim_terms(CLAIM), [])
    ]

    assert lit == ["Glucophage, two tablets"]


def test_equal_digits_count_only_beside_words_of_the_claim() -> None:
    terms = claim_terms(CLAIM)
    places = [at for at in range(len(SOURCE)) if SOURCE.startswith("2", at)]

    beside = [at for at in places if stands_beside(Span(start=at, end=at + 1), SOURCE, terms)]

    assert [SOURCE[at - 10 : at] for at in beside] == ["metformin "]


def test_a_pane_opens_at_the_nearest_line_and_nowhere_when_none_is_near() -> None:
    near = nearest_line(SOURCE, claim_terms(CLAIM))

    assert near is not None and near.cut(SOURCE) == "metformin 2 g once daily"
    assert nearest_line("Nothing of the sort.", claim_terms(CLAIM)) is None
