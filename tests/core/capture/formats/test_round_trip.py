"""A native trace written as each captured format and read back is the same trace."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.capture.carried import CARRIED, CHANGED, plain_run
from core.capture.files import FileRecord, write_json
from core.capture.native_record import export_native, read_trace
from core.capture.reading import FORMATS as IMPORTERS
from core.capture.reading import detect_format, read_traces
from core.codec import content_hash, trace_document
from core.records import Trace
from core.workflows.trace_export import FORMATS, export_traces

SAMPLE = Path(__file__).parents[4] / "sample_data" / "traces.jsonl"
FIXTURES = Path(__file__).parent / "fixtures"

TEXT = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30
)
# What readers look for inside outputs, questions and answers, and must not find in an export.
TRICKY = st.sampled_from(
    [
        '{"output": "x"}', '{"output": 1.10, "id": "a"}', '{"messages": []}', "[1.10, 2.0]", "{", " ",
        '{"role": "tool", "content": "y"}', "<tool_response>z</tool_response>", "__REDACTED__",
        '{"type": "text", "text": "t"}', '{"content": [{"type": "text", "text": "1.50"}]}', "",
        "attachment://0123456789abcdef", "Error: no such patient", '[{"id": 1}, {"id": 2}]',
        "<tool_call>{}</tool_call>", "See [the trial](https://t.example/1).", '{"input": "q"}',
    ]
)  # fmt: skip
ANY = st.one_of(TEXT, TRICKY)
VALUE = st.one_of(st.none(), st.booleans(), st.integers(), TEXT, st.floats(0, 9))
STATUS = st.sampled_from(["error", "empty", "truncated", "not_captured"])
OUTPUT = st.fixed_dictionaries(
    {"text": ANY},
    optional={
        "tool_name": st.one_of(
            st.sampled_from(["load_chart", "mcp__ehr__chart", "call_tool"]), TEXT
        ),
        "source_id": st.sampled_from(["s1", "s2", "s3"]),
        "source_role": TEXT,
        "chunk_count": st.integers(0, 9),
        "server": st.sampled_from(["ehr", "lab"]),
        "call_id": st.sampled_from(["call_1", "call_2", "a", " "]),
        "arguments": st.sampled_from(['{"mrn": "1", "x": 1.10}', "[1]", "{", "plain"]),
        "status": STATUS,
        "seen_at": VALUE,
    },
)
RECORD = st.fixed_dictionaries(
    {"question_id": TEXT, "full_tool_outputs": st.lists(OUTPUT, max_size=4)},
    optional={
        "user_question": ANY,
        "category": st.one_of(st.none(), TEXT),
        "tool_calls": st.lists(TEXT, max_size=3),
        "assistant_answer": st.one_of(st.none(), ANY),
        "final_reply_to_user": st.one_of(st.none(), ANY),
        "earlier_answers": st.lists(ANY, max_size=2),
        "elapsed_s": st.floats(0, 100),
        "run_by": VALUE,
    },
)
PLAIN = {
    "question_id": "q-1",
    "user_question": "Dose?",
    "full_tool_outputs": [
        {"tool_name": "chart", "source_id": "s1", "text": "500 mg"},
        {"tool_name": "labs", "source_id": "s2", "status": "not_captured", "text": ""},
    ],
    "final_reply_to_user": "500 mg.",
}


def export(tmp_path: Path, traces: list[Trace], format: str) -> tuple[Path, object]:
    out = tmp_path / f"out.{format}"
    return out, export_traces(traces, format, out)


# What was said before is markup of some formats too, and is told as lost where they cannot carry it.
SAID_EARLIER = {**PLAIN, "earlier_answers": ["<tool_call>"], "final_reply_to_user": "<tool_call>"}

# The second output of one call is kept aside, and with it what chat transcripts wrap outputs in.
HIDDEN_MARKUP = {
    "question_id": "",
    "full_tool_outputs": [
        {"text": "0", "source_id": "s1"},
        {"text": "<tool_response>z</tool_response>", "source_id": "s1", "status": "error"},
    ],
}


@pytest.mark.stress
@pytest.mark.parametrize("format", FORMATS)
def test_every_sample_trace_comes_back_the_same_and_is_recognised(tmp_path, format):
    traces = list(read_traces([SAMPLE]))

    out, report = export(tmp_path, traces, format)

    again = list(read_traces([out]))
    assert detect_format(out) == format
    assert [content_hash(trace) for trace in again] == [content_hash(trace) for trace in traces]
    assert (report.written, report.partly, report.refused) == (len(traces), (), ())


@pytest.mark.parametrize("format", FORMATS)
@given(record=RECORD)
@example(record=PLAIN)
@example(record=HIDDEN_MARKUP)
@example(record=SAID_EARLIER)
def test_any_native_trace_comes_back_the_same_or_is_refused_with_a_reason(tmp_path, format, record):
    trace = read_trace(record, None)

    out, report = export(tmp_path, [trace], format)

    if report.refused_count:
        assert report.written == 0
        assert f"{format} cannot carry this trace" in report.refused[0]
        assert _is_hard(record)
        return
    (again,) = read_traces([out], format)
    essential = ("trace_id", "question", "answer", "sources", "tool_calls", "extra", "citations")
    for key in essential:
        assert trace_document(again)[key] == trace_document(trace)[key]
    assert export_native(again) == record
    assert content_hash(again) == content_hash(trace) or report.partly


def _is_hard(record: dict[str, object]) -> bool:
    """Whether a record holds what some format reads as markup of its own."""
    texts = [str(record.get("user_question") or "q"), str(record.get("assistant_answer") or "a")]
    texts += [str(record.get("final_reply_to_user") or "a")]
    texts += [output["text"] for output in record["full_tool_outputs"]]
    marks = ("tool_response", "tool_call>", "__REDACTED__", "attachment://")
    return any(mark in text for text in texts for mark in marks) or not all(map(str.strip, texts))


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"native"}))
def test_a_text_changed_after_the_export_is_the_text_that_is_read(tmp_path, format):
    out, _ = export(tmp_path, [read_trace(PLAIN, None)], format)
    out.write_text(out.read_text().replace("500 mg", "850 mg"))

    (again,) = read_traces([out], format)

    assert again.answer == "850 mg."
    assert [source.text for source in again.sources] == ["850 mg", ""]
    assert again.sources[0].source_id == "s1"


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"native"}))
def test_a_call_renamed_after_the_export_is_another_trace_that_says_so(tmp_path, format):
    out, _ = export(tmp_path, [read_trace(PLAIN, None)], format)
    text = out.read_text()
    at = text.index(CARRIED)
    carried_end = text.index("asked_in", at)
    changed = _renamed(text[:at]) + text[at:carried_end] + _renamed(text[carried_end:])
    out.write_text(changed)

    (again,) = read_traces([out], format)

    assert CHANGED in again.notices
    assert again.sources[0].text == "500 mg"
    assert again.sources[0].tool_name == "scan"


def _renamed(text: str) -> str:
    return text.replace('"chart"', '"scan"').replace("execute_tool chart", "execute_tool scan")


ALL = {"trace_id", "question", "answer", "tool", "call_id", "arguments", "output", "error"}
OWN_FIELDS = {
    "native": ALL | {"server", "truncated"},
    "chat": ALL,
    "responses": (ALL - {"error"}) | {"server", "truncated"},  # only hosted calls can fail
    "anthropic": ALL | {"server"},
    "otel": ALL - {"trace_id"},
    "openinference": ALL - {"trace_id"},
    "langsmith": ALL - {"trace_id"},
    "langfuse": ALL | {"server"},
    "inspect_ai": ALL | {"truncated"},
}


@pytest.mark.parametrize("format", FORMATS)
def test_the_table_says_what_a_format_holds_in_fields_of_its_own(tmp_path, format):
    outputs = [
        {
            "tool_name": "chart", "source_id": "s1", "server": "ehr", "call_id": "c-7",
            "arguments": '{"mrn": "M-1"}', "text": "500 mg",
        },
        {"tool_name": "scan", "source_id": "s2", "status": "truncated", "text": "the first half"},
        {"tool_name": "labs", "source_id": "s3", "status": "error", "text": "no such patient"},
    ]  # fmt: skip
    trace = read_trace({**PLAIN, "full_tool_outputs": outputs}, None)
    out, _ = export(tmp_path, [trace], format)
    value = json.loads(out.read_text())
    _drop(value)
    out.write_text(json.dumps(value))

    (again,) = read_traces([out], format)

    chart, scan, labs = again.sources
    held = {
        "trace_id": again.trace_id.startswith("q-1"),
        "question": again.question == "Dose?",
        "answer": again.answer == "500 mg.",
        "tool": [source.tool_name for source in again.sources] == ["chart", "scan", "labs"],
        "call_id": chart.call_id == "c-7",
        "server": chart.server == "ehr",
        "arguments": json.loads(chart.arguments or "null") == {"mrn": "M-1"},
        "output": [chart.text, scan.text, labs.text] == [o["text"] for o in outputs],
        "error": labs.status.value == "error",
        "truncated": scan.status.value == "truncated",
    }
    assert {name for name, is_held in held.items() if is_held} == OWN_FIELDS[format]


def _drop(value: object) -> None:
    """Take out what our export carries beside a trace."""
    if isinstance(value, dict):
        value.pop(CARRIED, None)
        for key, item in list(value.items()):
            if isinstance(item, list):
                value[key] = [
                    x for x in item if not (isinstance(x, dict) and x.get("key") == CARRIED)
                ]
        for item in value.values():
            _drop(item)
    elif isinstance(value, list):
        for item in value:
            _drop(item)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "name", ["anthropic/parallel_results.json", "responses/hosted_mcp.json", "otel/no_content.json"]
)
def test_captured_citations_and_missing_content_survive_a_change_of_format(tmp_path, name, format):
    traces = list(read_traces([FIXTURES / name]))

    out, report = export(tmp_path, traces, format)

    again = list(read_traces([out], format))
    assert report.refused == ()
    for trace, copy in zip(traces, again, strict=True):
        if format == "native" and trace.citations:  # it has only the marks in the answer itself
            assert "citations" in report.partly[0]
        else:
            assert copy.citations == trace.citations
        assert [s.text for s in copy.sources] == [s.text for s in trace.sources]
        assert [s.status for s in copy.sources] == [s.status for s in trace.sources]


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"native"}))
@given(data=st.data())
def test_damage_to_what_an_export_carries_never_costs_an_output(format, data):
    run = plain_run(read_trace(PLAIN, None))
    carried = json.loads(write_json(run.carried))
    where = data.draw(st.sampled_from(list(_places(carried))))
    holder = carried
    for key in where[:-1]:
        holder = holder[key]
    holder[where[-1]] = data.draw(st.sampled_from([None, 0, "", "x", [], {}, [None], [[1, 2]]]))
    text = write_json(FORMATS[format].write(dataclasses.replace(run, carried=carried)))

    (trace,) = IMPORTERS[format].read([FileRecord(json.loads(text), 1)], "f")

    assert isinstance(trace, Trace)
    assert "500 mg" in [source.text for source in trace.sources]
    assert (trace.question, trace.answer) == ("Dose?", "500 mg.")


def _places(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from _places(item, (*path, key))


def test_a_format_is_only_written_when_it_can_be_read() -> None:
    assert set(FORMATS) <= set(IMPORTERS)
    assert set(IMPORTERS) - set(FORMATS) == {"mcp", "codex"}


def test_an_export_may_replace_the_file_that_it_reads(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(SAMPLE.read_bytes())

    export_traces(read_traces([path]), "chat", path)

    assert detect_format(path) == "chat"
    assert len(list(read_traces([path]))) == len(list(read_traces([SAMPLE])))
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]
