"""Small inputs of the kinds that people's files are wrong in, each with what is right of it.

``cases.jsonl`` is a table: a kind, records or a fixture, what they come to. The given cases are kept
outside the repository, and are verified with the shipped models where they are there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.capture.files import FileRecord
from core.capture.reading import read_records_of, read_traces
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


def searched(said: str) -> dict[str, object]:
    """An answer on a web search: of the page only its title and its age can be read."""
    url, title = "https://news.example/ferry", "Arn ferry runs again from 4 June 2026"
    result = {"type": "web_search_result", "url": url, "title": title, "page_age": "June 5, 2026"}
    cited = {"type": "web_search_result_location", "url": url, "cited_text": "The ferry runs."}
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [result]},
        {"type": "text", "text": said, "citations": [cited]},
    ]
    return {"id": "a", "messages": [{"role": "assistant", "content": content}]}


def retrieved(said: str) -> dict[str, object]:
    """An answer on hosted retrieval, its citation behind the sentence."""
    text = "Ward 3 was closed on 12 March 2026 for repairs."
    found = {"file_id": "file-N", "filename": "notice.txt", "text": text}
    mark = {"type": "file_citation", "file_id": "file-N", "index": len(said)}
    told = {"type": "output_text", "text": said, "annotations": [mark]}
    output = [
        {"type": "file_search_call", "id": "f", "status": "completed", "results": [found]},
        {"type": "message", "role": "assistant", "content": [told]},
    ]
    return {"id": "r", "object": "response", "output": output, "input": "When?"}


def fetched(said: str) -> dict[str, object]:
    """An answer on a page that a tool fetched, its link in the text."""
    url = "https://lab.example/report-7"
    page = {"url": url, "title": "Report 7", "text": "The culture was taken on 2026-04-09."}
    call = {"id": "c1", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(page)},
        {"role": "assistant", "content": f"{said} [Report 7]({url})"},
    ]
    return {"id": "c", "messages": messages}


@pytest.mark.parametrize(
    ("record", "right", "wrong"),
    [
        (searched, "The Arn ferry runs again since 4 June 2026.", "14 June 2026"),
        (retrieved, "Ward 3 was closed on 12 March 2026.", "21 March 2026"),
        (fetched, "The culture was taken on 9 April 2026.", "9 May 2026"),
    ],
)
def test_only_a_record_of_that_day_says_it(record, right, wrong):
    told = []
    for said in (right, re.sub(r"\d+ \w+ 2026", wrong, right)):
        (trace,) = read_records_of([FileRecord(record(said), 1)])
        (found,) = audit_citations(trace)
        told.append((found.outcome, wrong in found.reason))

    assert told == [(CitationOutcome.SAYS_IT, False), (CitationOutcome.SILENT, True)]
