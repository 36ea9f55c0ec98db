"""Which line of the evidence a claim is about, and what can be put right from it."""

from __future__ import annotations

import pytest
from tables import cases

from core.evidence.values import protected_values, value_present
from core.repair.candidates import (
    best_line,
    fitting_value,
    missing_qualifier,
)
from core.repair.edits import Edit, apply_edits


def corrected(claim: str, line: str) -> str | None:
    """The value that stands for the claim's first one."""
    wrong = protected_values(claim)[0]
    return fitting_value(wrong, claim, line, protected_values(claim))


@cases
def test_the_one_value_that_fits_is_written_as_the_answer_writes_it(
    claim: str, line: str, value: str
) -> None:
    assert corrected(claim, line) == value


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("HbA1c was 8.4 %.", "HbA1c 7.4 % and 6.9 %."),  # two would fit
        ("HbA1c was 8.4 %.", "HbA1c 7.4 mmol/L."),  # another unit
        ("HbA1c was 8.4 %.", "HbA1c is pending."),  # none
        ("It began on 2 May 2019.", "onset: 2018"),  # less precise than the answer
        ("We saw 12 patients.", "It took 19 minutes."),  # about something else
        ("Her MRN 44-1 is new.", "MRN 55-2"),  # an identity is never guessed
        ("HbA1c was 8.4 %.", "HbA1c 7.4 %. " + "Other words follow here. " * 20),  # too long a line
    ],
)
def test_a_value_that_might_be_another_is_not_taken(claim: str, line: str) -> None:
    assert corrected(claim, line) is None


def test_a_corrected_value_is_held_by_its_line() -> None:
    line = "onset: 2018-04-02; dose 10 mg; share 7.4 %"
    for claim in ("In March 2019.", "It is 25 mg.", "It is 9 %."):
        value = corrected(claim, line)
        assert value is not None
        assert all(value_present(one, line) for one in protected_values(value))


@cases
def test_only_a_dropped_qualifier_between_shared_words_is_put_back(
    statement: str, line: str, restored: str | None
) -> None:
    found = missing_qualifier(statement, line)

    made = (
        None
        if found is None
        else apply_edits(statement, [Edit(span=found.span, after=found.after)])
    )
    assert made == restored


def test_the_line_that_shares_most_is_best_and_names_do_not_count() -> None:
    premise = "name: Elena Marchetti; sex: female.\nHbA1c was 7.4 %.\nHbA1c will be repeated."

    best = best_line("Elena Marchetti has an HbA1c of 7.4 %.", premise)

    assert best is not None
    assert best.text == "HbA1c was 7.4 %."
    assert best_line("Elena Marchetti plays the violin.", premise) is None


def test_a_sentence_that_leans_on_another_says_nothing_by_itself() -> None:
    assert best_line("It was suspected.", "Dr. Ito raised lupus. This was suspected only.") is None


def test_raw_structure_is_never_a_line() -> None:
    assert best_line("HbA1c was 7.4.", '{"hba1c": 7.4, "unit": "%"}') is None
