"""MCP logs of every spec version, alone and with the transcript that they belong to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.reading import detect_format, read_traces
from core.errors import InputError
from core.records import SourceStatus, Trace

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def request(identity: object, tool: str = "load_chart", **params: object) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {"mrn": "MRN-1"}, **params},
    }


def text(identity: object, said: str, **more: object) -> dict[str, object]:
    result = {"content": [{"type": "text", "text": said}], **more}
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def hello(identity: object, server: str, version: str = "2025-06-18") -> list[dict[str, object]]:
    return [
        {"jsonrpc": "2.0", "id": identity, "method": "initialize", "params": {}},
        {
            "jsonrpc": "2.0",
            "id": identity,
            "result": {
                "protocolVersion": version,
                "serverInfo": {"name": server},
                "capabilities": {},
            },
        },
    ]


def write(path: Path, records: list[object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def load(tmp_path: Path, records: list[object]) -> tuple[list[Trace], list[InputError]]:
    items = list(read_traces([write(tmp_path / "log.jsonl", records)]))
    return (
        [item for item in items if isinstance(item, Trace)],
        [item for item in items if isinstance(item, InputError)],
    )


def test_a_log_alone_is_a_trace_without_an_answer_that_says_so(tmp_path):
    (trace,), errors = load(tmp_path, [*hello(0, "ehr"), request(1), text(1, "metformin 500 mg")])

    assert (trace.answer, trace.question, errors) == (None, "", [])
    assert trace.sources[0].source_id == "ehr/load_chart#1"
    assert trace.sources[0].text == "metformin 500 mg"
    assert trace.origin.version == "2025-06-18"
    assert "neither the question nor the answer" in trace.notices[0]


def test_the_2026_07_28_spec_names_server_and_version_in_each_message(tmp_path):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "traceparent": PARENT}
    answer = text(
        1, "x", _meta={"io.modelcontextprotocol/serverInfo": {"name": "ehr", "version": "2"}}
    )

    (trace,), _ = load(tmp_path, [request(1, _meta=meta), answer])

    assert trace.trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert trace.origin.version == "2026-07-28"
    assert trace.sources[0].server == "ehr"


def test_errors_of_either_kind_are_never_evidence(tmp_path):
    failed = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "Unknown tool"}}

    (trace,), _ = load(
        tmp_path, [request(1), text(1, "no such patient", isError=True), request(2), failed]
    )

    assert [source.status for source in trace.sources] == [SourceStatus.ERROR] * 2
    assert "Unknown tool" in trace.sources[1].note


def test_text_and_structured_content_are_one_source(tmp_path):
    data = {"drug": "metformin"}

    (trace,), _ = load(tmp_path, [request(1), text(1, json.dumps(data), structuredContent=data)])

    assert [source.text for source in trace.sources] == ["drug: metformin"]


def test_the_same_tool_and_id_on_two_servers_are_two_sources(tmp_path):
    records = [
        {"server": "ehr", "message": request(1, "search")},
        {"server": "pubmed", "message": request(1, "search")},
        {"server": "pubmed", "message": text(1, "an abstract")},
        {"server": "ehr", "message": text(1, "a chart")},
    ]

    (trace,), _ = load(tmp_path, records)

    assert [(s.source_id, s.text) for s in trace.sources] == [
        ("ehr/search#1", "a chart"),
        ("pubmed/search#1", "an abstract"),
    ]


def test_ids_that_differ_only_in_type_are_different_calls(tmp_path):
    (trace,), _ = load(
        tmp_path, [request(1), request("1", "labs"), text("1", "labs"), text(1, "chart")]
    )

    assert [source.text for source in trace.sources] == ["chart", "labs"]


def test_a_request_for_input_is_replaced_by_the_retry_that_answers_it(tmp_path):
    waits = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"resultType": "input_required", "requestState": "abc", "inputRequests": {}},
    }
    retry = request(2, requestState="abc", inputResponses={})

    (trace,), _ = load(tmp_path, [request(1), waits, retry, text(2, "the chart")])

    assert [(s.source_id, s.text) for s in trace.sources] == [("load_chart#2", "the chart")]


def test_a_request_for_input_that_nobody_answered_is_not_evidence(tmp_path):
    waits = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required"}}

    (trace,), _ = load(tmp_path, [request(1), waits])

    assert trace.sources[0].status is SourceStatus.NOT_CAPTURED
    assert "asked for input" in trace.sources[0].note


def test_a_call_sent_again_after_a_broken_stream_is_one_source(tmp_path):
    (trace,), _ = load(tmp_path, [request(1), request(2), text(2, "the chart")])

    assert [source.source_id for source in trace.sources] == ["load_chart#2"]


def test_a_call_that_was_never_answered_is_kept_as_not_captured(tmp_path):
    (trace,), _ = load(tmp_path, [request(1), request(2, "labs"), text(2, "HbA1c")])

    assert [source.status.value for source in trace.sources] == ["not_captured", "ok"]


def test_a_result_whose_request_is_missing_is_kept(tmp_path):
    (trace,), _ = load(tmp_path, [request(1), text(1, "a"), text(7, "whose?")])

    assert [source.text for source in trace.sources] == ["a", "whose?"]
    assert "request of this result is not in the log" in trace.sources[1].note


def test_a_resource_that_was_read_is_known_by_its_uri(tmp_path):
    ask = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "ehr://p/1"}}
    give = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "contents": [{"uri": "ehr://p/1", "mimeType": "text/plain", "text": "Afebrile."}]
        },
    }

    (trace,), _ = load(tmp_path, [ask, give])

    assert [(s.source_id, s.uri, s.text) for s in trace.sources] == [
        ("ehr://p/1", "ehr://p/1", "Afebrile.")
    ]


def test_one_resource_in_two_results_is_one_source(tmp_path):
    def gives(identity: int, said: str) -> dict[str, object]:
        block = {"type": "resource", "resource": {"uri": "ehr://p/1", "text": said}}
        return {"jsonrpc": "2.0", "id": identity, "result": {"content": [block]}}

    (trace,), _ = load(
        tmp_path,
        [request(1), gives(1, "Afebrile."), request(2, "b"), gives(2, "Afebrile."),
         request(3, "c"), gives(3, "Febrile.")],
    )  # fmt: skip

    assert [(s.source_id, s.text) for s in trace.sources] == [
        ("ehr://p/1", "Afebrile."),
        ("ehr://p/1#3", "Febrile."),
    ]


def test_batches_notifications_and_other_requests_are_understood(tmp_path):
    records: list[object] = [
        [request(1), {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}],
        {"jsonrpc": "2.0", "id": 9, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 9, "result": {"tools": []}},
        [text(1, "a")],
    ]

    (trace,), errors = load(tmp_path, records)

    assert ([source.text for source in trace.sources], errors) == (["a"], [])


def test_a_text_log_with_times_and_server_names_is_read(tmp_path):
    path = tmp_path / "mcp.log"
    path.write_text(
        f"2025-03-01T10:00:00Z [ehr] [info] Message from client: {json.dumps(request(1))}\n"
        f"2025-03-01T10:00:01Z [ehr] [info] Message from server: {json.dumps(text(1, 'a chart'))}\n"
    )

    assert detect_format(path).format == "mcp"
    (trace,) = read_traces([path])

    assert isinstance(trace, Trace)
    assert [(s.source_id, s.text) for s in trace.sources] == [("ehr/load_chart#1", "a chart")]


def transcript(**record: object) -> dict[str, object]:
    made = {"name": "load_chart", "arguments": json.dumps({"mrn": "MRN-1"})}
    return {
        "task_id": "t1",
        "messages": [
            {"role": "user", "content": "Dose?"},
            {"role": "assistant", "tool_calls": [{"id": "call_9", "function": made}]},
            {"role": "tool", "tool_call_id": "call_9", "content": "metformin 5… [truncated]"},
            {"role": "assistant", "content": "500 mg."},
        ],
        **record,
    }


def test_a_log_gives_the_transcript_its_servers_and_its_whole_outputs(tmp_path):
    log = write(tmp_path / "log.jsonl", [*hello(0, "ehr"), request(1), text(1, "metformin 500 mg")])
    talk = write(tmp_path / "talk.jsonl", [transcript()])

    for order in ([log, talk], [talk, log]):
        (trace,) = read_traces(order)

        assert isinstance(trace, Trace)
        assert (trace.answer, trace.question) == ("500 mg.", "Dose?")
        assert [(s.source_id, s.text, s.status.value) for s in trace.sources] == [
            ("ehr/load_chart#call_9", "metformin 500 mg", "ok")
        ]


def test_calls_that_stand_only_in_the_log_join_the_one_transcript_there_is(tmp_path):
    log = write(tmp_path / "log.jsonl", [request(1, "labs"), text(1, "HbA1c 7.1 %")])
    talk = write(
        tmp_path / "talk.jsonl",
        [
            {
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": "7.1 %."},
                ]
            }
        ],
    )

    (trace,) = read_traces([talk, log])

    assert isinstance(trace, Trace)
    assert [source.text for source in trace.sources] == ["HbA1c 7.1 %"]
    assert "1 calls stand only in the MCP log" in trace.notices


def test_each_of_several_transcripts_takes_its_own_calls_and_the_rest_is_kept(tmp_path):
    other = json.loads(json.dumps(transcript(task_id="t2")).replace("MRN-1", "MRN-2"))
    log = write(
        tmp_path / "log.jsonl",
        [
            request(1), text(1, "chart one"),
            request(2, arguments={"mrn": "MRN-2"}), text(2, "chart two"),
            request(3, "labs"), text(3, "nobody asked"),
        ],
    )  # fmt: skip
    talks = write(tmp_path / "talks.jsonl", [other, transcript()])

    traces = [item for item in read_traces([log, talks]) if isinstance(item, Trace)]

    assert [[source.text for source in trace.sources] for trace in traces] == [
        ["chart two"],
        ["chart one"],
        ["nobody asked"],
    ]
    assert traces[2].answer is None


@pytest.mark.parametrize("record", ["hello", 5, {"jsonrpc": "2.0", "id": 1}, {"method": "x"}])
def test_what_is_no_message_is_named_by_its_line(tmp_path, record):
    traces, errors = load(tmp_path, [request(1), text(1, "a"), record])

    assert len(traces) == 1
    assert [error.line for error in errors] == [3]


def test_what_a_client_answers_is_no_output_of_a_call_of_the_same_id(tmp_path):
    asks = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}
    said = {"role": "assistant", "content": [{"type": "text", "text": "a thought"}], "model": "m"}
    told = {"jsonrpc": "2.0", "id": 1, "result": said}
    for known in (True, False):
        lines = [
            ("client", request(1, "chart")), ("server", asks), ("client", told),
            ("server", text(1, "500 mg")),
        ]  # fmt: skip
        if not known:
            told["result"] = {**said, "content": said["content"][0]}
        records = [({"sender": who} if known else {}) | {"message": m} for who, m in lines]
        path = tmp_path / f"log-{known}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))

        (trace,) = read_traces([path])

        assert [source.text for source in trace.sources] == ["500 mg"]


def test_two_clients_that_use_one_id_at_once_each_get_their_own_output(tmp_path):
    lines = [
        (1, request(1, "chart")), (2, request(1, "labs")), (2, text(1, "eGFR 58")),
        (1, text(1, "500 mg")),
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"exchange": n, "message": m}) + "\n" for n, m in lines))

    (trace,) = read_traces([path])

    assert [(s.tool_name, s.text) for s in trace.sources] == [
        ("chart", "500 mg"),
        ("labs", "eGFR 58"),
    ]
