"""The files of a packet: cells that are no formulas, archives that stay inside, rows that come back."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from builders import a_source, a_trace
from hypothesis import example, given
from hypothesis import strategies as st
from reviewed import a_judgement, a_reviewed_claim, an_adjudication, an_annotation, two_readings
from verdicts import showcase, with_citations

from core.codec import citation_document
from core.errors import BadRecord, ComponentUnavailable, UnreadableFile
from core.records import CitationFinding, CitationKind, CitationOutcome, Span
from core.review.packet import packet_row
from core.review.packet_reader import review_from_json
from core.review.readable import trace_page
from core.review.records import (
    SUPPORT_LABELS,
    Cause,
    Exposure,
    Judgement,
    Passage,
    QueueReason,
    Unfit,
)
from core.workflows.packet_export import (
    ANNOTATION_COLUMNS,
    FORMULA_STARTS,
    annotation_cells,
    csv_cell,
    write_csv,
    write_parquet,
)
from core.workflows.packet_folder import pack, unpack
from core.workflows.printing import find_browser, print_page, printed, settled

SOURCES = st.lists(st.text(min_size=1, max_size=12), max_size=3, unique=True)
JUDGEMENTS = st.builds(
    lambda sources, **more: Judgement(
        source_id=next(iter(sources), None), more_source_ids=tuple(sources[1:]), **more
    ),
    sources=SOURCES,
    support=st.sampled_from(SUPPORT_LABELS),
    conflation=st.none() | st.booleans(),
    passages=st.lists(
        st.builds(
            Passage,
            source_id=st.text(min_size=1, max_size=5),
            start=st.integers(0, 9),
            end=st.integers(10, 20),
            sha256=st.text(max_size=5),
        ),
        max_size=2,
    ).map(tuple),
) | st.builds(
    Judgement,
    support=st.just(Unfit.NOT_A_CLAIM),
    source_id=st.none(),
    correction=st.text(max_size=9),
)
MOMENTS = st.datetimes(
    min_value=datetime(2020, 1, 1), max_value=datetime(2035, 1, 1), timezones=st.just(UTC)
)
NAMES = st.text(min_size=1, max_size=12).filter(str.strip)


@st.composite
def votes(draw: st.DrawFn, slot: int = 1):
    return an_annotation(
        draw(NAMES),
        draw(JUDGEMENTS),
        slot,
        vote_id=0,
        claim_key=0,
        first=draw(st.none() | JUDGEMENTS),
        confidence=draw(st.none() | st.integers(1, 5)),
        rationale=draw(st.text(max_size=30)),
        saw_model_output=draw(st.booleans()),
        changed_after_reveal=draw(st.booleans()),
        exposures=tuple(
            Exposure(what=what, at=at)
            for what, at in draw(st.lists(st.tuples(NAMES, MOMENTS), max_size=2))
        ),
        seconds=draw(st.floats(0, 1e5)),
        at=draw(MOMENTS),
        queue_reason=draw(st.sampled_from(QueueReason)),
        inclusion_probability=draw(st.none() | st.floats(0, 1)),
        guideline_version=draw(st.integers(1, 9)),
        threshold=draw(st.none() | st.floats(0, 1)),
    )


@given(votes(), st.none() | JUDGEMENTS, st.sampled_from(Cause), MOMENTS)
def test_what_people_said_comes_back_from_a_line_exactly(annotation, decided, cause, at) -> None:
    adjudication = None
    if decided is not None:
        adjudication = replace(
            an_adjudication(decided), adjudication_id=0, claim_key=0, cause=cause, at=at
        )
    claim = a_reviewed_claim(1, annotation, adjudication=adjudication, inclusion_probability=0.25)
    trace = a_trace("An answer.", a_source("text"), trace_id=claim.trace_id)

    back = review_from_json(packet_row(claim, trace, None))

    assert back.annotations == (annotation,)
    assert back.adjudication == adjudication
    assert (back.status, back.final) == (claim.resolution.status, claim.resolution.final)
    assert (back.claim_id, back.content_hash) == (claim.claim_id, claim.content_hash)


def test_a_line_tells_what_the_answer_cites_for_its_claim() -> None:
    finding = CitationFinding(
        text="[7]",
        span=Span(start=0, end=3),
        covers=Span(start=0, end=3),
        kind=CitationKind.NUMBER,
        outcome=CitationOutcome.RESOLVES_TO_NOTHING,
        reason="no entry",
    )
    verdict = with_citations(showcase(), 1, finding)
    claim = replace(a_reviewed_claim(1, an_annotation()), claim_id=verdict.claims[0].claim.claim_id)

    row = packet_row(claim, verdict.trace, verdict)

    assert row["citations"] == [citation_document(finding)]
    assert review_from_json(row).claim_id == claim.claim_id


def test_a_line_with_the_published_fields_alone_is_enough() -> None:
    claim = two_readings(1, a_judgement(), a_judgement(conflation=True))
    row = packet_row(claim, a_trace("An answer.", trace_id="t1"), None)
    del row["review_record"]

    back = review_from_json(row)

    assert [annotation.judgement for annotation in back.annotations] == [
        annotation.judgement for annotation in claim.annotations
    ]
    assert [annotation.slot for annotation in back.annotations] == [1, 2]
    assert back.content_hash is None


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"support": "unjudged"}, "support"),
        ({"at": "2026-01-01T00:00:00"}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"confidence": 6}, "confidence"),
        ({"conflation": "yes"}, "conflation"),
        ({"reviewer": " "}, "reviewer"),
    ],
)
def test_a_wrong_value_is_named_with_its_path(change: dict[str, object], path: str) -> None:
    row = packet_row(
        a_reviewed_claim(1, an_annotation()), a_trace("An answer.", trace_id="t1"), None
    )
    row["adjudication"]["votes"][0] |= change  # type: ignore[index]

    with pytest.raises(BadRecord) as refused:
        review_from_json(row)

    assert refused.value.path == f"adjudication.votes[0].{path}"


@given(st.lists(st.text(st.sampled_from(" ;\"'=,-\nab"), max_size=6), max_size=4, unique=True))
@example(["a; b", "c"])
def test_the_sources_in_a_cell_come_back_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str]
) -> None:
    judgement = replace(a_judgement(), more_source_ids=tuple(ids))
    claim = a_reviewed_claim(1, an_annotation("Ada", judgement, 1))
    file = tmp_path_factory.getbasetemp() / "annotations.csv"
    write_csv(file, ANNOTATION_COLUMNS, annotation_cells(claim))

    with file.open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream)
    cell = io.StringIO(row["more_source_ids"], newline="")

    assert next(csv.reader(cell, delimiter=";", skipinitialspace=True), []) == ids
    if not any(set(one) & set(";\"'=-\n") or one != one.strip() or not one for one in ids):
        assert row["more_source_ids"] == "; ".join(ids)  # as it was before ids were quoted


@given(st.text(max_size=20))
def test_no_text_becomes_a_formula_in_csv_and_harmless_text_stays_as_it_is(value: str) -> None:
    cell = csv_cell(value)

    assert not cell.lstrip(" ").startswith(FORMULA_STARTS)
    if not value.lstrip(" ").startswith(FORMULA_STARTS):
        assert cell == value.replace("\x00", "␀")


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =cmd|' /C'"])
def test_each_start_of_a_formula_is_neutralised_and_a_number_of_ours_is_not(value: str) -> None:
    assert csv_cell(value) == f"'{value}"
    assert csv_cell(-0.5) == "-0.5"


@given(rationale=st.text(max_size=30))
def test_parquet_holds_every_text_as_it_is(tmp_path: Path, rationale: str) -> None:
    claim = a_reviewed_claim(1, an_annotation(rationale=rationale))

    write_parquet(tmp_path / "votes.parquet", ANNOTATION_COLUMNS, annotation_cells(claim))

    (row,) = pq.read_table(tmp_path / "votes.parquet").to_pylist()
    assert row["rationale"] == rationale
    assert row["at"] == claim.annotations[0].at
    assert row["seconds"] == 12.5


def test_a_folder_comes_back_from_its_archive_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "in" / "reports").mkdir(parents=True)
    (tmp_path / "in" / "a.json").write_bytes(b"{}\n")
    (tmp_path / "in" / "reports" / "x.html").write_bytes(bytes(range(256)))

    archive = pack(tmp_path / "in")
    unpack(archive, tmp_path / "out", name="packet.zip")

    assert (tmp_path / "out" / "reports" / "x.html").read_bytes() == bytes(range(256))
    assert pack(tmp_path / "out") == archive


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside", "C:\\outside"])
def test_an_archive_never_writes_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, "no")

    with pytest.raises(UnreadableFile, match="outside of it"):
        unpack(stream.getvalue(), tmp_path / "folder", name="packet.zip")

    assert not [path for path in tmp_path.rglob("*") if "outside" in path.name]


@given(st.binary(max_size=200))
def test_what_is_no_archive_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    with pytest.raises(UnreadableFile):
        unpack(data, tmp_path_factory.mktemp("zip"), name="packet.zip")


@given(st.text(alphabet="<>&\"'ab=/ \n", max_size=40), st.text(alphabet="<>&\"'ab ", max_size=20))
def test_a_page_has_the_same_elements_whatever_the_texts_are(hostile: str, name: str) -> None:
    def tags(text: str, who: str) -> int:
        claim = a_reviewed_claim(1, an_annotation(who, rationale=text), text=text)
        trace = a_trace(text, a_source(text, source_id=text), trace_id=text)
        return trace_page([claim], trace, None).count("<")

    assert tags(hostile + "x", name + "x") == tags("plain", "Ada")


def test_a_page_is_printed_by_the_browser_of_this_machine(tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip("no browser that can print on this machine")
    claim = a_reviewed_claim(1, an_annotation(rationale="é ≥ 7.0"))
    (tmp_path / "page.html").write_text(
        trace_page([claim], a_trace("An answer.", a_source("text"), trace_id="t1"), None),
        encoding="utf-8",
    )

    print_page(tmp_path / "page.html", tmp_path / "page.pdf")

    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")


def test_without_a_browser_printing_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ComponentUnavailable, match="open the HTML reports and print them"):
        print_page(tmp_path / "page.html", tmp_path / "page.pdf")


TABLE = (
    "<!doctype html><html lang='en'><title>Two heads</title><table><tr><th>Drug</th><th>Dose</th>"
    "</tr><tr><td>ramipril</td><td>5 mg</td></tr></table></html>"
)


def renumbered(pdf: bytes, by: int) -> bytes:
    return re.sub(rb"\(node(\d{8})\)", lambda n: b"(node%08d)" % (int(n[1]) + by), pdf)


def test_a_printing_is_the_same_wherever_nodes_are_counted_from() -> None:
    if find_browser() is None:
        pytest.skip("no browser that can print on this machine: apt-get install chromium")

    once = printed(TABLE)

    moved = renumbered(once, 1)
    assert len(set(re.findall(rb"\(node\d{8}\)", once))) >= 2
    assert moved != once and settled(moved) == once
    assert settled(once) == once and len(settled(moved)) == len(moved)
