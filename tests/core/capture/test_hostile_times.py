"""No number that stands where a time should be stops a file from being read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_source, a_trace

from core.capture.reading import read_traces
from core.capture.spans import _start
from core.errors import InputError
from core.workflows.trace_export import FORMATS as WRITERS
from core.workflows.trace_export import export_traces


@pytest.mark.parametrize(
    "time",
    ["9" * 400, int("9" * 400), 1e308 * 10, [10**400, 0], "0001-01-01T00:00:00+23:59", "1e400"],
)
def test_a_start_that_is_no_time_orders_nothing(time: object) -> None:
    assert _start({"start_time": time}) >= 0.0 or isinstance(time, str)


@pytest.mark.parametrize("written", ["9" * 400, "9" * 5000, "1e400", "-1e400"])
def test_a_huge_time_is_a_record_or_a_reported_one(tmp_path: Path, written: str) -> None:
    good = {
        "question_id": "q",
        "user_question": "?",
        "full_tool_outputs": [{"tool_name": "chart", "source_id": "chart", "text": "Stable."}],
        "assistant_answer": "Stable.",
    }
    bad = json.dumps(good | {"question_id": "bad"})[:-1] + f', "elapsed_s": {written}}}'
    file = tmp_path / "t.jsonl"
    file.write_text(f"{bad}\n{json.dumps(good)}\n", encoding="utf-8")

    found = list(read_traces([file], "auto"))

    assert len(found) == 2
    assert not isinstance(found[1], InputError)


def test_a_log_line_before_the_records_is_reported_and_they_load(tmp_path: Path) -> None:
    good = {
        "question_id": "q",
        "user_question": "?",
        "full_tool_outputs": [{"tool_name": "chart", "source_id": "chart", "text": "Stable."}],
        "assistant_answer": "Stable.",
    }
    file = tmp_path / "t.jsonl"
    file.write_text(f"2026-03-02 INFO starting\n{json.dumps(good)}\n", encoding="utf-8")

    found = list(read_traces([file], "auto"))

    assert [isinstance(one, InputError) for one in found] == [True, False]


@pytest.mark.parametrize("format", sorted(WRITERS))
@pytest.mark.parametrize("seconds", [1e308, -1e308, 1e300, 10**400])
def test_a_huge_duration_is_written_in_every_format_or_said_to_be_lost(
    tmp_path: Path, format: str, seconds: float
) -> None:
    trace = replace(a_trace("Stable.", a_source("Stable.")), elapsed_seconds=seconds)

    done = export_traces([trace], format, tmp_path / "out.jsonl")

    assert done.written + done.refused_count == 1
