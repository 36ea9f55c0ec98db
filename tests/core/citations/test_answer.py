"""What answers cite is resolved and read: every style of citing, right, moved and invented."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from core.capture.reading import read_traces
from core.citations.answer import audit_citations
from core.citations.records_of import RunRecords
from core.records import (
    Citation,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    Source,
    SourceStatus,
    Span,
    Trace,
)

DATA = Path(__file__).parents[4] / "shared" / "data" / "traces"
needs_data = pytest.mark.skipif(
    not DATA.exists(), reason="the shared traces are not on this machine"
)

BEES = """PMID: 31000001
Title: Night foraging of mountain bees under artificial lamps
Authors: Ostrander K, Villem T. 2019. doi: 10.1234/bees.2019.77
Abstract: Mountain bees foraged until midnight under lamps. Nectar intake rose by 18 percent."""
MOSS = """PMID: 31000002
Title: Roof moss and the retention of storm water in old towns
Authors: Paakkonen R. 2021. doi: 10.1234/moss.2021.5
Abstract: Moss roofs held back 62 percent of storm water and cooled attics in summer."""
TRIAL = "NCT04000011: a trial of walking groups for stiff knees, completed in 2022 with 310 people."
PAGE = "The harbour museum opens at ten and keeps the lighthouse lens in its north hall."


def _sources() -> tuple[Source, ...]:
    return (
        Source(source_id="search#1", tool_name="search_papers", text=f"{BEES}\n\n{MOSS}"),
        Source(source_id="trial#2", tool_name="get_trial", text=TRIAL),
        Source(
            source_id="page#3",
            tool_name="fetch",
            text=PAGE,
            uri="https://museum.example/visit",
            arguments='{"url": "https://museum.example/visit", "save_to": "/root/notes/visit.md"}',
        ),
    )


def _audit(answer: str, **more: object) -> tuple[CitationFinding, ...]:
    trace = Trace(trace_id="t", question="", answer=answer, sources=_sources(), **more)  # type: ignore[arg-type]
    return audit_citations(trace)


def _only(answer: str) -> CitationFinding:
    found = _audit(answer)
    assert len(found) == 1, found
    return found[0]


BEE_FACT = "Mountain bees foraged until midnight under lamps, with nectar intake up 18 percent"
LIST = "\n\nReferences\n[1] Ostrander. Night foraging of mountain bees under artificial lamps. "
LIST += "PMID: 31000001\n"
LIST += "[2] Roof moss and the retention of storm water in old towns. doi:10.1234/moss.2021.5\n"

# Each style of citing: how the right record, another one, and nothing at all is named in it.
STYLES = {
    "pmid": ("(PMID 31000001)", "(PMID 31000002)", "(PMID 39999999)", ""),
    "bare id": ("(31000001)", "(31000002)", "(39999999)", ""),
    "doi": ("(doi:10.1234/bees.2019.77)", "(doi:10.1234/moss.2021.5)", "(doi:10.1234/none.1)", ""),
    "doi link": (
        "(https://doi.org/10.1234/bees.2019.77)",
        "(https://doi.org/10.1234/moss.2021.5)",
        "(https://doi.org/10.9/none)".replace("10.9", "10.9999"),
        "",
    ),
    "pubmed link": (
        "[Ostrander](https://pubmed.ncbi.nlm.nih.gov/31000001/)",
        "[Ostrander](https://pubmed.ncbi.nlm.nih.gov/31000002/)",
        "[Ostrander](https://pubmed.ncbi.nlm.nih.gov/39999999/)",
        "",
    ),
    "author and year": (
        "(Ostrander et al., 2019)",
        "(Paakkonen et al., 2021)",
        "(Quimby et al., 2019)",
        "",
    ),
    "number": ("[1]", "[2]", "[7]", LIST),
    "superscript": ("¹", "²", "⁷", LIST.replace("[1]", "1.").replace("[2]", "2.")),
    "footnote": ("[^1]", "[^2]", "[^7]", LIST.replace("[1]", "[^1]:").replace("[2]", "[^2]:")),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_right_citation_says_it(style: str) -> None:
    right, _, _, end = STYLES[style]

    finding = _only(f"{BEE_FACT} {right}.{end}")

    assert finding.outcome is CitationOutcome.SAYS_IT, finding.reason
    assert finding.resolves_to is not None
    assert finding.resolves_to.source_id == "search#1"
    assert finding.resolves_to.span is not None
    assert finding.resolves_to.span.cut(_sources()[0].text).startswith("PMID: 31000001")


@pytest.mark.parametrize("style", STYLES)
def test_a_moved_citation_says_otherwise_and_names_the_better_place(style: str) -> None:
    _, moved, _, end = STYLES[style]

    finding = _only(f"{BEE_FACT} {moved}.{end}")

    assert finding.outcome is CitationOutcome.SAYS_OTHERWISE, finding.reason
    assert finding.better is not None
    assert finding.better.span is not None
    assert "31000001" in finding.better.span.cut(_sources()[0].text)


@pytest.mark.parametrize("style", STYLES)
def test_an_invented_citation_resolves_to_nothing(style: str) -> None:
    _, _, invented, end = STYLES[style]

    finding = _only(f"{BEE_FACT} {invented}.{end}")

    assert finding.outcome is CitationOutcome.RESOLVES_TO_NOTHING, finding.reason
    assert finding.outcome.blocks


def test_a_mark_without_any_list_and_beyond_all_sources_resolves_to_nothing() -> None:
    assert _only(f"{BEE_FACT} [9].").outcome is CitationOutcome.RESOLVES_TO_NOTHING


def test_a_page_that_was_not_captured_is_not_resolvable_here() -> None:
    finding = _only("The museum opens at ten (https://elsewhere.example/hours).")

    assert finding.outcome is CitationOutcome.NOT_RESOLVABLE_HERE


def test_a_captured_page_says_it() -> None:
    finding = _only(
        "The lighthouse lens is in the north hall ([museum](https://www.museum.example/visit/))."
    )

    assert (finding.kind, finding.outcome) == (CitationKind.LINK, CitationOutcome.SAYS_IT)


def test_trials_and_provenance_values_are_resolved() -> None:
    kinds = {
        "The trial of walking groups had 310 people (NCT04000011).": CitationOutcome.SAYS_IT,
        "The trial of walking groups had 310 people (NCT04999999).": CitationOutcome.RESOLVES_TO_NOTHING,
        "It is kept there, see web:https://museum.example/none": CitationOutcome.NOT_RESOLVABLE_HERE,
        "It is kept there, see memory:note-404": CitationOutcome.RESOLVES_TO_NOTHING,
    }

    for answer, outcome in kinds.items():
        assert _only(answer).outcome is outcome, answer


def test_a_file_that_a_call_wrote_is_known_and_another_is_not() -> None:
    assert not _only("I saved it to /root/notes/visit.md for you.").outcome.blocks
    assert _only("I saved it to /root/notes/other.md for you.").outcome.blocks


def test_units_years_and_indexes_are_no_citations() -> None:
    answer = (
        "It covers 12 m² at 10³ per µL, O(n²), rows_of[1] of the list (July 2025) and Berlin (2019). "
        "In 2021 it was 31000001 people."
    )

    assert _audit(answer) == ()


def test_two_marks_in_one_sentence_are_two_findings() -> None:
    found = _audit(f"{BEE_FACT}, as two reports say (PMIDs 31000001 and 39999999).")

    assert [one.outcome.blocks for one in found] == [False, True]


@pytest.mark.parametrize(
    ("source_id", "url", "outcome"),
    [
        ("page#3", None, CitationOutcome.SILENT),
        (None, "https://elsewhere.example", CitationOutcome.NOT_RESOLVABLE_HERE),
        (None, None, CitationOutcome.RESOLVES_TO_NOTHING),
    ],
)
def test_annotations_of_the_capture_are_findings(
    source_id: str | None, url: str | None, outcome: CitationOutcome
) -> None:
    note = Citation(span=Span(start=0, end=5), text="note", source_id=source_id, url=url)

    found = _audit("Lamps are lit.", citations=(note,))

    assert [one.outcome for one in found] == [outcome]
    assert found[0].kind is CitationKind.ANNOTATION


def test_a_failed_call_is_no_evidence_to_cite() -> None:
    failed = Source(
        source_id="a", tool_name="get", text="PMID: 31000009", status=SourceStatus.ERROR
    )
    trace = Trace(trace_id="t", question="", answer="So it is (PMID 31000009).", sources=(failed,))

    assert audit_citations(trace)[0].outcome is CitationOutcome.RESOLVES_TO_NOTHING


def test_findings_are_cut_from_the_answer_and_in_order() -> None:
    answer = f"{BEE_FACT} (PMID 31000001). Moss roofs held back storm water [2] and [1].{LIST}"

    found = _audit(answer)

    assert [one.text for one in found] == [one.span.cut(answer) for one in found]
    assert [one.span.start for one in found] == sorted(one.span.start for one in found)


@needs_data
@pytest.mark.stress
def test_citations_that_were_moved_or_invented_in_clinical_answers_are_found() -> None:
    """The whole measurement was bench/citations.py of 0.19.0."""
    chance = random.Random(1)
    found = accused = wrong = right = 0
    for trace in read_traces([DATA / "clinical_native.jsonl.gz"]):
        assert isinstance(trace, Trace)
        run = RunRecords(trace.sources)
        good = {f.span for f in audit_citations(trace) if not f.outcome.blocks}
        answer = trace.answer or ""
        for mark in re.finditer(r"PMID (\d{7,8})", answer):
            others = sorted(run.pmids - {mark[1]})
            if not any(span.start == mark.start(1) for span in good) or chance.random() > 0.5:
                continue
            new = chance.choice(others) if others and chance.random() < 0.5 else "39999999"
            changed = answer[: mark.start(1)] + new + answer[mark.end(1) :]
            findings = audit_citations(
                Trace(trace_id="", question="", answer=changed, sources=trace.sources)
            )
            wrong += 1
            found += any(f.span.start == mark.start(1) and f.outcome.blocks for f in findings)
            rest = [f for f in findings if f.span.start != mark.start(1) and f.text in run.pmids]
            right += len(rest)
            accused += sum(
                f.outcome.blocks and f.text not in ("14004887", "12459930") for f in rest
            )

    assert wrong >= 15
    assert found / wrong >= 0.95
    assert accused / right <= 0.02
