"""Small inputs of the kinds that people's files are wrong in, each with what is right of it.

``cases.jsonl`` is a table: a kind, records or a fixture, what they come to. The given cases are kept
outside the repository, and are verified with the shipped models where they are there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.reading import read_traces
from core.citations.answer import audit_citations
from core.config import Config
from core.errors import InputError
from core.pipeline import verify_all
from core.records import CitationOutcome, Trace
from core.workflows.gate import GateReport, Policy
from tests.real_models import real_models

HERE = Path(__file__).parent
GIVEN = HERE.parents[4] / "shared" / "data" / "cases"
CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text().splitlines()]
RIGHT = json.loads((HERE / "given_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['name']}")
def test_a_file_of_this_kind_comes_to_what_is_right(tmp_path, case):
    if "records" in case:
        file = tmp_path / "file.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in case["records"]))
    else:
        file = HERE / "fixtures" / case["file"]
    items = list(read_traces([file], case["format"]))
    traces = [item for item in items if isinstance(item, Trace)]
    sources = [source for trace in traces for source in trace.sources]
    usable = [source.text for source in sources if source.is_evidence]
    errors = [item for item in items if isinstance(item, InputError)]
    notices = " ".join(notice for trace in traces for notice in trace.notices)
    found = {
        "answers": [trace.answer for trace in traces],
        "ids": [trace.trace_id for trace in traces],
        "questions": [trace.question for trace in traces],
        "earlier": [list(trace.earlier) for trace in traces],
        "versions": [trace.origin.version for trace in traces if trace.origin],
        "tools": [source.tool_name for source in sources],
        "sources": [source.source_id for source in sources],
        "outputs": [[one.source_id, one.status.value, one.text] for one in sources],
        "arguments": [source.arguments for source in sources],
        "notes": [source.note for source in sources],
        "citations": [
            [one.span.cut(trace.answer or ""), one.source_id]
            for trace in traces
            for one in trace.citations
        ],
        "errors": [error.line for error in errors],
        "refused": [f"{x.path}: {x.message}" if x.path else x.message for x in errors],
    }
    expected = dict(case["expect"])
    said = {key: expected.pop(key, []) for key in ("evidence", "no_evidence", "notices")}

    assert {key: found[key] for key in expected} == expected
    assert len(set(found["ids"])) == len(traces)
    for text in said["evidence"]:
        assert any(text in one for one in usable), (text, usable)
    for text in said["no_evidence"]:
        assert not any(text in one for one in usable), (text, usable)
    for text in said["notices"]:
        assert text in notices


@pytest.mark.skipif(not GIVEN.is_dir(), reason="the given cases are not here")
@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_given_case_is_judged_as_is_right(name):
    report = GateReport(policy=Policy())
    traces = []
    for item in read_traces([GIVEN / name]):
        if isinstance(item, Trace):
            traces.append(item)
        else:
            report.skipped.append(item)
    for verification in verify_all(traces, real_models(), Config()):
        report.add(verification)

    decided = {one.trace.trace_id: one.answer.decision.value for one in report.answers}
    assert RIGHT[name]["decisions"].items() <= decided.items()
    assert [error.line for error in report.skipped] == RIGHT[name].get("errors", [])
    assert bool(report.broken) is RIGHT[name]["broken"]


@pytest.mark.skipif(not GIVEN.is_dir(), reason="the given cases are not here")
def test_a_page_of_another_day_does_not_say_it():
    (trace,) = read_traces([GIVEN / "18-citation-audit-day.json"])
    assert isinstance(trace, Trace)

    (found,) = audit_citations(trace)

    assert found.outcome is CitationOutcome.SILENT
    assert "2 May 2026" in found.reason
