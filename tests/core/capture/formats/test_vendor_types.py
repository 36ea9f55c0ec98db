"""Runs as the vendors' own packages wrote them, each read with its question, calls, failure and answer.

``vendors/*.jsonl`` were written with google-genai, google-adk, pydantic-ai, langchain-core, the types of
Converse and npm's ``ai``, by the builders that this file had in e48e525.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.reading import read_traces
from core.records import SourceStatus, Trace

VENDORS = Path(__file__).parent / "vendors"
QUESTION = "What dose of metformin does Ines Okafor take?"
ANSWER = "Ines Okafor takes metformin 500 mg twice daily."
LABS = "The laboratory is closed until Monday."  # nothing in it says that the call failed
ARGUMENTS = {"mrn": "MRN-44120"}


@pytest.mark.parametrize("file", sorted(VENDORS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_record_that_a_vendor_writes_is_read_rightly(file: Path) -> None:
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    traces = list(read_traces([file]))

    assert len(traces) == len(records) > 0
    for trace, record in zip(traces, records, strict=True):
        assert isinstance(trace, Trace)
        assert trace.trace_id.partition("~")[0] == record["id"]
        assert (trace.question, trace.answer, trace.earlier) == (QUESTION, ANSWER, ())
        chart, labs = trace.sources
        assert (chart.tool_name, labs.tool_name) == ("load_chart", "load_labs")
        assert chart.is_evidence and "500 mg" in chart.text
        assert labs.status is SourceStatus.ERROR and LABS in labs.text
        for source in trace.sources:
            assert json.loads(source.arguments or "null") == ARGUMENTS
        assert trace.notices == ()
