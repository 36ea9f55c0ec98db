"""A wrong citation is put right where it stands, and the claim that it stood for stays."""

from __future__ import annotations

import pytest
from builders import a_source, a_trace
from lexical import verify_lexically

from core.attribution.families import load_families
from core.config import Config
from core.records import Decision, Repair, RepairKind, RepairStatus, Source
from core.repair.loop import repair_answer

BEES = """PMID: 31000001
Title: Night foraging of mountain bees under artificial lamps
Abstract: Mountain bees foraged until midnight under lamps. Nectar intake rose by 18 percent."""
MOSS = """PMID: 31000002
Title: Roof moss and the retention of storm water in old towns
Abstract: Moss roofs held back 62 percent of storm water and cooled attics in summer."""
SOURCES: tuple[Source, ...] = (
    a_source(BEES, source_id="search#1", tool_name="search_pubmed"),
    a_source(MOSS, source_id="search#2", tool_name="search_pubmed"),
)
FACT = "Mountain bees foraged until midnight under lamps"
LIST = "\n\nReferences\n[1] PMID: 31000001\n[2] PMID: 31000002\n"


def _repaired(answer: str) -> Repair:
    before = verify_lexically(a_trace(answer, *SOURCES))
    assert before.answer.decision is Decision.BLOCK
    return repair_answer(before, verify_lexically, Config(), load_families())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (f"{FACT} (PMID 31000002).", f"{FACT} (PMID 31000001)."),
        (f"{FACT} (PMID 39999999).", f"{FACT} (PMID 31000001)."),
        (
            f"{FACT} ([bees](https://pubmed.ncbi.nlm.nih.gov/31000002/)).",
            f"{FACT} ([bees](https://pubmed.ncbi.nlm.nih.gov/31000001/)).",
        ),
        (f"{FACT} [2].{LIST}", f"{FACT} [1].{LIST}"),
        (f"{FACT} [7].{LIST}", f"{FACT} [1].{LIST}"),
        (f"{FACT} [1, 7].{LIST}", f"{FACT} [1].{LIST}"),
    ],
)
def test_the_corrected_citation_is_offered_with_the_place_that_says_it(
    wrong: str, right: str
) -> None:
    repair = _repaired(wrong)

    assert repair.status is RepairStatus.CORRECTED
    assert repair.revised_answer == right
    [action] = repair.actions
    assert action.kind is RepairKind.ATTRIBUTION
    assert action.source_id == "search#1"
    assert all(span.cut(SOURCES[0].text) == SOURCES[0].text for span in action.evidence)


def test_a_citation_that_nothing_can_replace_is_taken_out_and_the_claim_stays() -> None:
    repair = _repaired(f"{FACT} (Quimby et al., 2019).")

    assert repair.revised_answer == f"{FACT}."
    assert [action.kind for action in repair.actions] == [RepairKind.ATTRIBUTION]


def test_a_claim_that_nobody_says_is_not_saved_by_a_better_citation() -> None:
    repair = _repaired(f"{FACT} (PMID 31000001). Purple foxes sleep in deep snow (PMID 39999999).")

    assert "deep snow (PMID 39999999) [not confirmed]." in (repair.revised_answer or "")
    assert f"{FACT} (PMID 31000001)." in (repair.revised_answer or "")
