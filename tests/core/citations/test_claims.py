"""What a claim cites reaches its verdict: through the whole pipeline, with models that count words."""

from __future__ import annotations

import json

import pytest
from builders import a_source, a_trace
from lexical import lexical_models

from core.citations.claims import citations_by_claim
from core.codec import verdict_document, verification_from_document
from core.config import Config
from core.pipeline import verify, verify_claims
from core.records import (
    Citation,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
    Source,
    Span,
    Verification,
)
from core.workflows.cited_claims import without_marks
from core.workflows.rescore import rescore

BEES = """PMID: 31000001
Title: Night foraging of mountain bees under artificial lamps
Abstract: Mountain bees foraged until midnight under lamps. Nectar intake rose by 18 percent."""
MOSS = """PMID: 31000002
Title: Roof moss and the retention of storm water in old towns
Abstract: Moss roofs held back 62 percent of storm water and cooled attics in summer."""
LIST = (
    "\n\nReferences\n[1] Night foraging of mountain bees under artificial lamps. PMID: 31000001\n"
    "[2] Roof moss and the retention of storm water in old towns. PMID: 31000002\n"
)
FACT = "Mountain bees foraged until midnight under lamps"
OTHER = "moss roofs held back 62 percent of storm water"


def _sources() -> tuple[Source, ...]:
    return (a_source(f"{BEES}\n\n{MOSS}", source_id="search#1", tool_name="search_pubmed"),)


def _verified(answer: str, **more: object) -> Verification:
    return verify(a_trace(answer, *_sources(), **more), lexical_models(), Config())


def _about(verification: Verification, word: str) -> ClaimVerdict:
    [found] = [one for one in verification.claims if word in one.claim.text]
    return found


def test_a_right_citation_stays_with_its_claim_and_speaks_for_it() -> None:
    verdict = _about(_verified(f"{FACT} (PMID 31000001)."), "foraged")

    assert [one.outcome for one in verdict.citations] == [CitationOutcome.SAYS_IT]
    assert verdict.decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("mark", "end"),
    [
        ("[7]", LIST),
        ("[^7]", LIST.replace("[1]", "[^1]:").replace("[2]", "[^2]:")),
        ("(PMID 39999999)", ""),
        ("(doi:10.1234/none.1)", ""),
        ("[a study](https://pubmed.ncbi.nlm.nih.gov/39999999/)", ""),
        ("(Quimby et al., 2019)", ""),
    ],
)
def test_an_invented_citation_blocks_a_supported_claim_and_is_never_praised(
    mark: str, end: str
) -> None:
    verification = _verified(f"{FACT} {mark}.{end}")

    verdict = _about(verification, "foraged")
    assert verdict.decision is Decision.BLOCK
    assert verification.answer.decision is Decision.BLOCK
    assert mark.strip("()").removeprefix("doi:") in verdict.reasons[0]
    assert not any("that the answer credits" in reason for reason in verdict.reasons)


def test_a_mark_without_an_entry_is_named_with_where_it_was_looked_for() -> None:
    verdict = _about(_verified(f"{FACT} [7].{LIST}"), "foraged")

    assert verdict.reasons[0] == (
        "[7] leads to nothing: it is not in the list of references, and no tool returned it."
    )


def test_a_moved_citation_blocks_and_says_which_mark_would_be_right() -> None:
    verdict = _about(_verified(f"{FACT} [2].{LIST}"), "foraged")

    [finding] = verdict.citations
    assert verdict.decision is Decision.BLOCK
    assert finding.outcome is CitationOutcome.SAYS_OTHERWISE
    assert finding.instead == "[1]"


def test_an_address_that_was_not_captured_is_told_and_accuses_nobody() -> None:
    verdict = _about(_verified(f"{FACT} ([bees](https://bees.example/night))."), "foraged")

    assert [one.outcome for one in verdict.citations] == [CitationOutcome.NOT_RESOLVABLE_HERE]
    assert verdict.decision is Decision.ALLOW
    assert "Not resolvable here" in verdict.reasons[0]
    assert "that the answer credits" not in verdict.reasons[0]


def test_a_tool_that_gave_nothing_may_be_named() -> None:
    failed = a_source("", source_id="labs#2", tool_name="get_lab_results")
    trace = a_trace("Nothing came back from get_lab_results.", *_sources(), failed)

    verification = verify(trace, lexical_models(), Config())

    assert not any(one.outcome.blocks for claim in verification.claims for one in claim.citations)


def test_of_two_marks_in_a_sentence_only_the_wrong_ones_claim_is_accused() -> None:
    answer = f"{FACT} [1], and {OTHER} [7].{LIST}"
    trace = a_trace(answer, *_sources())
    claims = [_claim(answer, FACT, 1), _claim(answer, OTHER, 2)]

    found = citations_by_claim(trace, claims)

    assert [one.text for one in found["t::c01"]] == ["[1]"]
    assert [one.text for one in found["t::c02"]] == ["[7]"]


def test_marks_that_open_their_statements_stand_for_what_follows() -> None:
    answer = (
        f"PMID 31000001 says that {FACT.lower()}, while PMID 39999999 says that {OTHER} in towns."
    )
    trace = a_trace(answer, *_sources())
    claims = [_claim(answer, FACT.lower(), 1), _claim(answer, OTHER, 2)]

    found = citations_by_claim(trace, claims)

    assert [one.text for one in found["t::c01"]] == ["31000001"]
    assert [one.text for one in found["t::c02"]] == ["39999999"]


def test_a_group_of_marks_stands_for_one_statement() -> None:
    answer = f"{FACT} [1], [7].{LIST}"

    found = citations_by_claim(a_trace(answer, *_sources()), [_claim(answer, FACT, 1)])

    assert [one.text for one in found["t::c01"]] == ["[1]", "[7]"]


def test_a_providers_annotation_is_resolved_like_a_mark() -> None:
    answer = f"{FACT}."
    whole = Span(start=0, end=len(answer))
    known = Citation(span=whole, text="bees", source_id="search#1")
    unknown = Citation(span=whole, text="bees", source_id=None)
    address = Citation(span=whole, text="bees", source_id=None, url="https://bees.example")

    outcomes = [
        _about(_verified(answer, citations=(one,)), "foraged").citations[0].outcome
        for one in (known, unknown, address)
    ]

    assert outcomes == [
        CitationOutcome.SAYS_IT,
        CitationOutcome.RESOLVES_TO_NOTHING,
        CitationOutcome.NOT_RESOLVABLE_HERE,
    ]


def test_a_mark_that_only_counts_means_what_the_capture_says() -> None:
    chart = a_source("Otto Brandt has gout.", source_id="chart#0")
    answer = f"{FACT} [1]."
    told = Citation(
        span=Span(start=answer.index("["), end=len(answer) - 1), text="[1]", source_id="search#1"
    )

    counted, captured = (
        verify(a_trace(answer, chart, *_sources(), citations=citations), lexical_models(), Config())
        for citations in ((), (told,))
    )

    assert _about(counted, "foraged").decision is Decision.BLOCK
    assert _about(captured, "foraged").decision is Decision.ALLOW


def test_findings_come_back_from_the_document_and_survive_a_rescoring() -> None:
    verification = _verified(f"{FACT} [7].{LIST}")

    text = json.dumps(verdict_document(verification))
    again = verification_from_document(json.loads(text))
    models = lexical_models()
    rescored = rescore(again, models.calibrator, models.families, Config())

    assert [one.citations for one in again.claims] == [one.citations for one in verification.claims]
    assert [one.reasons for one in rescored.claims] == [one.reasons for one in verification.claims]


def test_an_entry_of_the_list_that_names_a_record_claims_nothing() -> None:
    verification = _verified(f"{FACT} [1].{LIST}")

    entries = [one for one in verification.claims if "References" in one.claim.said]
    assert entries
    assert {one.claim.claim_type for one in entries} == {ClaimType.BOILERPLATE}
    assert verification.answer.decision is Decision.ALLOW


@pytest.mark.parametrize("added", ["Foxes drown in it.", "The dose was 40 mg.", "PMID: 39999999."])
def test_an_entry_that_says_more_than_its_record_is_still_checked(added: str) -> None:
    verification = _verified(f"{FACT} [1].{LIST.rstrip()} {added}\n")

    assert verification.answer.decision is Decision.BLOCK


def test_a_frozen_claim_is_not_held_against_a_list_that_is_not_there() -> None:
    answer = f"{FACT} [7]."
    trace, claim = a_trace(answer, *_sources()), _claim(answer, FACT, 1)

    [verification] = verify_claims([(trace, (claim,))], lexical_models(), Config())

    assert verification.claims[0].citations == ()


def _claim(answer: str, said: str, number: int) -> Claim:
    start = answer.index(said)
    return Claim(
        claim_id=f"t::c{number:02d}",
        text=said,
        said=said,
        span=Span(start=start, end=start + len(said)),
    )


@pytest.mark.parametrize(
    ("claim", "marks", "bare"),
    [
        ("Moss roofs cool attics (PMID 31000002).", ["31000002"], "Moss roofs cool attics."),
        ("Moss roofs cool attics [PMID: 31000002].", ["31000002"], "Moss roofs cool attics."),
        ("Type (grade 1) roofs cool attics [1].", ["[1]"], "Type (grade 1) roofs cool attics."),
        ("Roofs (2) cool attics [1, 2].", ["[1, 2]"] * 2, "Roofs (2) cool attics."),
        ("Roofs (MOSS) cool attics.", [""], "Roofs (MOSS) cool attics."),
    ],
)
def test_a_claim_loses_its_marks_in_brackets_and_nothing_else(
    claim: str, marks: list[str], bare: str
) -> None:
    cited = [
        CitationFinding(
            text=mark, span=Span(start=0, end=1), covers=Span(start=0, end=1),
            kind=CitationKind.NUMBER, outcome=CitationOutcome.SILENT, reason="",
        )
        for mark in marks
    ]  # fmt: skip

    assert without_marks(claim, cited) == bare
