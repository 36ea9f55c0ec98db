"""Answers with their outputs in files, the ids of records, and what is told where no format fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.reading import read_traces
from core.errors import InputError
from core.records import SourceStatus, Trace

RECORD = {"answer": "It is Gold.", "tool_outputs": [{"tool_name": "get", "text": "tier: Gold"}]}
CHAT = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]}


def read(tmp_path: Path, *records: object) -> list[Trace | InputError]:
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return list(read_traces([file]))


def _output(**fields: object) -> dict[str, object]:
    return {**RECORD, "tool_outputs": [{"tool_name": "get", "text": "tier: Gold"} | fields]}


@pytest.mark.parametrize(
    ("record", "text", "status"),
    [
        (RECORD, "tier: Gold", SourceStatus.OK),
        (_output(status="error"), "tier: Gold", SourceStatus.ERROR),
        (_output(text={"tier": "Gold"}), "tier: Gold", SourceStatus.OK),
        (_output(arguments={"name": "Northwind"}, call_id="c1"), "tier: Gold", SourceStatus.OK),
    ],
)
def test_the_record_that_the_services_take_is_read_from_a_file(
    tmp_path: Path, record: dict[str, object], text: str, status: SourceStatus
):
    (trace,) = read(tmp_path, {**record, "question": "What tier?", "note": "kept"})

    assert isinstance(trace, Trace)
    assert (trace.question, trace.answer) == ("What tier?", "It is Gold.")
    assert [(one.text, one.status) for one in trace.sources] == [(text, status)]
    assert trace.extra["note"] == "kept"


def test_outputs_of_one_tool_are_sources_of_their_own(tmp_path: Path):
    (output,) = RECORD["tool_outputs"]

    (trace,) = read(tmp_path, {**RECORD, "tool_outputs": [output, {**output, "text": "seats: 1"}]})

    assert [source.source_id for source in trace.sources] == ["get", "get#2"]


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (_output(text=7), "tool_outputs[0].text"),
        (_output(text=None), "tool_outputs[0].text"),
        (_output(tool_name=None), "tool_outputs[0].tool_name"),
        (_output(status="fine"), "tool_outputs[0].status"),
    ],
)
def test_a_wrong_value_in_it_is_told_with_its_path(
    tmp_path: Path, record: dict[str, object], path: str
):
    (error, trace) = read(tmp_path, record, RECORD)

    assert isinstance(trace, Trace)
    assert isinstance(error, InputError) and (error.line, error.path) == (1, path)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"answer": "x"}, "native, as the services take it, which lacks tool_outputs"),
        ({"tool_outputs": []}, "which lacks answer"),
        ({"messages": "none"}, "chat, but messages does not hold what it needs"),
        ({"traceId": "1", "spanId": "2"}, "otel, which lacks attributes"),
        ({"surprise": 1}, 'a record can be {"answer": "…", "tool_outputs": '),
    ],
)
def test_where_no_format_fits_the_nearest_one_and_what_it_lacks_is_told(
    tmp_path: Path, record: dict[str, object], told: str
):
    (error,) = read(tmp_path, record)

    assert isinstance(error, InputError)
    assert "no known trace format" in error.message and told in error.message


@pytest.mark.parametrize(
    "key",
    ["question_id", "id", "conversation_id", "thread_id", "session_id", "run_id"],
)
@pytest.mark.parametrize("record", [CHAT, RECORD], ids=["chat", "answer"])
def test_a_record_keeps_its_own_id_and_records_that_share_it_stay_apart(
    tmp_path: Path, key: str, record: dict[str, object]
):
    named, same, other, none = read(
        tmp_path, *({key: name, **record} for name in ("a01", "a01", 7, ""))
    )

    assert [one.trace_id for one in (named, same, other)] == ["a01", "a01~2", "7"]
    assert none.trace_id.startswith("sha256:")


def test_what_a_record_says_of_its_trace_goes_before_what_it_is_called(tmp_path: Path):
    (trace,) = read(tmp_path, {"id": "row 5", "trace_id": "t9", **CHAT})

    assert (trace.trace_id, trace.extra["id"]) == ("t9", "row 5")
