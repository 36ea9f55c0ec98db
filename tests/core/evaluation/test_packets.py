"""Reading claim packets: what is good loads, what is bad is named, nothing is lost."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRecord, UnreadableFile
from core.evaluation.packets import read_packet, row_from_json, row_sha256, row_to_json
from core.evaluation.splits import shared_traces, split_by_trace
from core.records import AttributionStatus, SourceStatus, VerdictLabel

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "packets"


def record(**changes: object) -> dict[str, object]:
    return {
        "claim_id": "demo-1",
        "trace_id": "demo",
        "claim": "Metformin was stopped in May.",
        "stated_attribution": "According to the chart",
        "sources": [
            {"source_id": "chart", "tool_name": "load_chart", "text": "Metformin stopped 3 May."},
            {"source_id": "notes", "tool_name": "load_notes", "text": "No change."},
        ],
        "label": "supported",
        "relation": "entailment",
        "gold_source_ids": ["chart"],
        "slices": ["chart"],
        **changes,
    }


def write(path: Path, *lines: str | bytes) -> Path:
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines) + b"\n")
    return path


def test_a_row_is_written_back_as_it_came_with_its_unknown_fields(tmp_path: Path) -> None:
    given = record(reviewers=["a", "b"], adjudication={"status": "single"}, category=None)
    given["gold_attribution"] = "match"

    row = read_packet(write(tmp_path / "p.jsonl", json.dumps(given))).rows[0]

    assert row_to_json(row) == given
    assert row.label is VerdictLabel.SUPPORTED
    assert row.gold_attribution is AttributionStatus.MATCH


def test_gzip_is_known_by_its_content_not_its_name(tmp_path: Path) -> None:
    path = tmp_path / "packet.jsonl"
    path.write_bytes(gzip.compress(json.dumps(record()).encode()))

    assert len(read_packet(path).rows) == 1


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"claim_id": None}, "claim_id", "expected text, found null"),
        ({"claim_id": 7}, "claim_id", "found a number"),
        ({"claim": "  "}, "claim", "only blanks"),
        ({"trace_id": ["x"]}, "trace_id", "found a list"),
        ({"sources": None}, "sources", "expected a list, found null"),
        ({"sources": ["text"]}, "sources[0]", "expected an object"),
        ({"sources": [{"tool_name": "t", "text": None}]}, "sources[0].text", "found null"),
        ({"sources": [{"text": "x"}]}, "sources[0].tool_name", "found null"),
        (
            {"sources": [{"tool_name": "t", "text": "x", "status": "fine"}]},
            "sources[0].status",
            "expected one of ok",
        ),
        ({"label": "true"}, "label", "expected one of supported"),
        ({"label": "unjudged"}, "label", "no gold label"),
        ({"relation": "supports"}, "relation", "expected one of entailment"),
        ({"gold_source_ids": [1]}, "gold_source_ids[0]", "expected text"),
        ({"gold_attribution": "yes"}, "gold_attribution", "expected one of match"),
        ({"slices": "chart"}, "slices", "expected a list"),
    ],
)
def test_a_bad_record_is_named_by_file_line_and_path_and_the_good_ones_load(
    tmp_path: Path, change: dict[str, object], path: str, message: str
) -> None:
    bad = json.dumps(record(claim_id="demo-2") | change)
    file = write(tmp_path / "p.jsonl", json.dumps(record()), bad, json.dumps(record(claim_id="3")))

    packet = read_packet(file)

    assert [row.claim_id for row in packet.rows] == ["demo-1", "3"]
    (problem,) = packet.problems
    assert isinstance(problem, BadRecord)
    assert (problem.file, problem.line, problem.path) == (file.name, 2, path)
    assert message in str(problem)


@pytest.mark.parametrize(
    ("line", "message"),
    [(b"{not json", "not valid JSON"), (b"[1, 2]", "found a list"), (b"7", "found a number")],
)
def test_a_line_that_is_no_record_is_reported(tmp_path: Path, line: bytes, message: str) -> None:
    packet = read_packet(write(tmp_path / "p.jsonl", json.dumps(record()), b"", line))

    assert len(packet.rows) == 1
    assert packet.problems[0].line == 3 and message in str(packet.problems[0])


def test_the_second_use_of_a_claim_id_is_reported(tmp_path: Path) -> None:
    packet = read_packet(write(tmp_path / "p.jsonl", json.dumps(record()), json.dumps(record())))

    assert len(packet.rows) == 1
    assert "already used on line 1" in str(packet.problems[0])


def test_a_record_over_the_limit_is_skipped_and_the_next_one_loads(tmp_path: Path) -> None:
    huge = json.dumps(record(claim_id="huge", claim="x" * 5_000))
    file = write(tmp_path / "p.jsonl", huge, json.dumps(record()))

    packet = read_packet(file, max_record_bytes=2_000)

    assert [row.claim_id for row in packet.rows] == ["demo-1"]
    assert packet.problems[0].line == 1 and "2000" in str(packet.problems[0]).replace(",", "")


def test_a_cut_off_gzip_keeps_what_could_be_read(tmp_path: Path) -> None:
    import random

    noise = random.Random(1)
    lines = [
        json.dumps(record(claim_id=f"c{i}", claim=f"{noise.getrandbits(4000):x}"))
        for i in range(200)
    ]
    whole = gzip.compress("\n".join(lines).encode())
    (tmp_path / "p.jsonl.gz").write_bytes(whole[: len(whole) // 2])

    packet = read_packet(tmp_path / "p.jsonl.gz")

    assert 0 < len(packet.rows) < 200
    assert isinstance(packet.problems[-1], UnreadableFile)


def test_no_file_and_an_empty_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()

    with pytest.raises(UnreadableFile, match="empty"):
        read_packet(tmp_path / "empty.jsonl")
    with pytest.raises(UnreadableFile, match="nowhere.jsonl"):
        read_packet(tmp_path / "nowhere.jsonl")


def test_two_outputs_with_one_id_are_two_chunks_of_one_source() -> None:
    sources = [
        {"source_id": "chart", "tool_name": "load_chart", "text": "One."},
        {"tool_name": "search", "text": "Two."},
        {"source_id": "chart", "tool_name": "load_chart", "text": "Three."},
        {"tool_name": "empty", "text": " "},
    ]

    row = row_from_json(record(sources=sources))

    assert [(s.source_id, s.text) for s in row.sources] == [
        ("chart", "One.\n\nThree."),
        ("search", "Two."),
        ("empty", " "),
    ]
    assert row.sources[2].status is SourceStatus.EMPTY


@pytest.mark.parametrize(
    "mark", [{"split": "held_out"}, {"split": "test"}, {"held_out": True}, {"slices": ["held-out"]}]
)
def test_a_held_out_row_is_known_as_such(mark: dict[str, object]) -> None:
    assert row_from_json(record(**mark)).held_out
    assert not row_from_json(record()).held_out


def test_a_conflation_should_be_blocked_though_its_claim_is_supported() -> None:
    assert row_from_json(record(gold_attribution="conflation")).should_block
    assert not row_from_json(record(gold_attribution="match")).should_block
    assert row_from_json(record(label="not_enough_evidence")).should_block


def test_the_digest_sees_what_the_verifier_sees_and_no_label() -> None:
    plain = row_from_json(record())

    assert row_sha256(plain) == row_sha256(row_from_json(record(label=None, gold_source_ids=[])))
    assert row_sha256(plain) != row_sha256(row_from_json(record(stated_attribution=None)))


@given(
    st.lists(st.sampled_from([f"trace-{n}" for n in range(30)]), min_size=1, max_size=200),
    st.integers(0, 5),
)
def test_a_split_never_divides_a_trace_and_loses_no_row(traces: list[str], seed: int) -> None:
    rows = [row_from_json(record(claim_id=f"c{i}", trace_id=t)) for i, t in enumerate(traces)]

    train, validation = split_by_trace(rows, validation_share=0.3, seed=seed)

    assert not shared_traces(train, validation)
    assert sorted(r.claim_id for r in (*train, *validation)) == sorted(r.claim_id for r in rows)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared claim packets are not here")
@pytest.mark.parametrize(("name", "rows"), [("train", 3_867), ("validation", 4_470)])
def test_the_shared_packets_load_whole(name: str, rows: int) -> None:
    packet = read_packet(SHARED / f"{name}.jsonl.gz")

    assert len(packet.rows) == rows and not packet.problems
