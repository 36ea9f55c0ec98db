"""MCP logs of every spec version, alone and with the transcript that they belong to."""

from __future__ import annotations

import json
from pathlib import Path

from core.capture.reading import detect_format, read_traces
from core.errors import InputError
from core.records import Trace

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


def test_a_text_log_with_times_and_server_names_is_read(tmp_path):
    path = tmp_path / "mcp.log"
    path.write_text(
        f"2025-03-01T10:00:00Z [ehr] [info] Message from client: {json.dumps(request(1))}\n"
        f"2025-03-01T10:00:01Z [ehr] [info] Message from server: {json.dumps(text(1, 'a chart'))}\n"
    )

    assert detect_format(path) == "mcp"
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
