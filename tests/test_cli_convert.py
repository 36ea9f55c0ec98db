"""The convert command: traces from one captured format into another, and what it says about them."""

from __future__ import annotations

import json
from pathlib import Path

from commands import run

from core.capture.reading import read_traces

SAMPLE = Path(__file__).parent.parent / "sample_data" / "traces.jsonl"


def test_traces_are_written_in_another_format_and_back(tmp_path):
    spans, back = tmp_path / "spans.jsonl", tmp_path / "back.jsonl"

    there = run("convert", SAMPLE, "--to", "otel", "--out", spans)
    again = run("convert", spans, "--to", "native", "--out", back)

    assert (there.exit_code, again.exit_code) == (0, 0), there.output + again.output
    assert "72 traces written to" in there.stdout
    original = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    assert [json.loads(line) for line in back.read_text().splitlines()] == original


def test_a_record_that_cannot_be_read_is_named_and_the_others_are_written(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text(SAMPLE.read_text().splitlines()[0] + "\n{broken\n")
    out = tmp_path / "chat.jsonl"

    result = run("convert", path, "--to", "chat", "--out", out, "--json", "-")

    assert result.exit_code == 0
    assert "skipped: traces.jsonl:2: not valid JSON" in result.stderr
    assert json.loads(result.stdout)["written"] == 1
    assert len(list(read_traces([out]))) == 1


def test_what_cannot_be_converted_ends_with_2_and_says_why(tmp_path):
    out = tmp_path / "out"
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{broken\n")
    marked = tmp_path / "marked.jsonl"
    record = {
        "question_id": "1",
        "user_question": " ",
        "full_tool_outputs": [],
    }
    marked.write_text(json.dumps(record) + "\n")

    for arguments, message in (
        ((SAMPLE, "--to", "mcp"), "holds neither question nor answer"),
        ((SAMPLE, "--to", "xml"), "unknown format 'xml'"),
        ((bad, "--to", "chat"), "no trace could be written"),
        ((marked, "--to", "chat"), "chat cannot carry this trace: its question would be changed"),
        ((tmp_path / "none", "--to", "chat"), "no such file"),
    ):
        result = run("convert", *arguments, "--out", out)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert sorted(tmp_path.iterdir()) == [bad, marked]
