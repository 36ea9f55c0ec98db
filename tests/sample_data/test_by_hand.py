"""The answers by hand load, and their labels stand where they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "sample_data" / "by_hand"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


TRACES = {str(trace["question_id"]): trace for trace in lines("traces.jsonl")}


@pytest.mark.parametrize("trace_id", TRACES)
def test_spans_cut_the_answer_and_quotes_stand_in_the_outputs(trace_id: str) -> None:
    trace = TRACES[trace_id]
    labels = [label for label in lines("labels.jsonl") if label["trace_id"] == trace_id]
    material = "\n".join(
        [output["text"] for output in trace["full_tool_outputs"]]
        + [json.dumps(call.get("arguments"), ensure_ascii=False) for call in trace["tool_calls"]]
    )

    assert labels
    for label in labels:
        start, end = label["span"]
        assert trace["final_reply_to_user"][start:end] == label["span_text"]
        for quote in [label["quote"], *label["more_quotes"]]:
            assert quote is None or quote in material
