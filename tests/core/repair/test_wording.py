"""Credits in the answer's own voice: every noun that is written is read back as its family."""

from __future__ import annotations

import pytest
from tables import cases

from core.attribution.families import load_families
from core.repair.wording import (
    capitalised,
    credited,
    finished,
    is_record_line,
    lowered,
    named_families,
    recredit,
    source_noun,
)

FAMILIES = load_families()
NAMED = [family.family_id for family in FAMILIES.items if family.family_id != "other"]


@pytest.mark.parametrize("family", NAMED)
def test_what_a_family_is_called_is_read_back_as_that_family(family: str) -> None:
    noun = source_noun(family, FAMILIES)

    assert noun is not None
    assert named_families(noun, FAMILIES) == {family}


def test_a_family_that_no_words_name_has_no_noun() -> None:
    assert source_noun("other", FAMILIES) is None
    assert source_noun("unheard_of", FAMILIES) is None


CREDITS = [
    "According to her chart", "According to PubMed evidence.", "per the registry", "In the study",
    "his problem list shows", "A recent trial found", "From the chart",
    "the labs show", "Mr. Whitlock's FHIR record carries", "the drug label warns", "Guideline",
]  # fmt: skip


@pytest.mark.parametrize("credit", CREDITS)
@pytest.mark.parametrize("family", NAMED)
def test_a_changed_credit_names_the_right_family_alone(credit: str, family: str) -> None:
    noun = source_noun(family, FAMILIES)
    assert noun is not None

    changed = recredit(credit, noun, FAMILIES)

    assert changed is not None
    assert named_families(changed, FAMILIES) == {family}
    assert changed[0].isupper() == credit[0].isupper()


@cases
def test_the_verb_goes_with_the_new_source(credit: str, noun: str, changed: str) -> None:
    assert recredit(credit, noun, FAMILIES) == changed


def test_words_that_name_no_source_are_not_changed() -> None:
    assert recredit("in March", "the patient's chart", FAMILIES) is None


@cases
def test_a_sentence_put_inside_another_keeps_names_and_short_forms(
    sentence: str, within: str
) -> None:
    assert lowered(
        sentence, ["Note by Ms. Usman today.", "In the trial, empagliflozin helped."]
    ) == (within)


def test_a_fragment_gets_its_source_in_brackets_and_a_sentence_in_front() -> None:
    assert credited("No fracture.", "the chart", sentence=False, known=()) == (
        "No fracture (per the chart)."
    )
    assert credited("Iron rose.", "the chart", sentence=True, known=()) == (
        "According to the chart, iron rose."
    )


def test_records_and_sentences_are_told_apart() -> None:
    assert is_record_line("name: Elena; label: asthma; status: active")
    assert is_record_line("tobacco.quitYear: 2000")
    assert not is_record_line("Iron rose in adults who took it.")


def test_small_letters_inside_names_stay() -> None:
    assert capitalised("mRNA rose") == "mRNA rose"
    assert capitalised("iron rose") == "Iron rose"
    assert finished("Iron rose,") == "Iron rose."
    assert finished("Did it?") == "Did it?"
