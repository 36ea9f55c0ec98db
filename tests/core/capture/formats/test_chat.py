"""Chat transcripts with tool calls, in the shapes that people export."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.capture.conversations import is_earlier_answer, read_conversations, turns_before
from core.capture.files import FileRecord
from core.capture.reading import detect_format, read_traces
from core.codec import trace_document, trace_from_document
from core.codec.verdicts import verdict_document, verification_from_document
from core.errors import InputError, NotFound
from core.records import Origin, Trace
from tests.verdicts import a_verification


def read_trace(value: object, origin: Origin) -> Trace:
    record = FileRecord(value, origin.line or 1)
    *_, last = read_conversations([record], origin.format, origin.file or "")
    if isinstance(last, InputError):
        raise last
    return last


SHARED = Path(__file__).parents[5] / "shared/data/traces"
ORIGIN = Origin(format="chat")


def call(call_id: str, name: str, **arguments: object) -> dict[str, object]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def asks(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def calls(*made: dict[str, object], content: str | None = None) -> dict[str, object]:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def returns(call_id: str, content: object, **more: object) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def says(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def read(*messages: dict[str, object], **record: object) -> Trace:
    return read_trace({"messages": list(messages), **record}, ORIGIN)


def test_what_was_said_to_the_user_before_the_answer_is_kept_beside_a_call_too():
    talk = (asks("Hello"), says("Hi"), asks("Cancel"), calls(call("c1", "book"), content="I see."))

    trace = read(*talk, returns("c1", "Done."), says("Ok."), asks("Sure?"), says("Done."))
    answered = read(*talk, returns("c1", "Done."), says("Ok."), says("Done."), response="Done.")

    assert (trace.earlier, trace.answer) == (("Hi", "I see.", "Ok."), "Done.")
    assert answered.earlier == trace.earlier
    assert trace_from_document(trace_document(trace)) == trace
    told = verdict_document(a_verification(trace, {"book#c1": "other"}, []))
    assert verification_from_document(told).trace.earlier == trace.earlier


def test_a_single_answer_is_hashed_as_before_there_were_turns():
    document = trace_document(read(asks("Hello"), says("Hi")))

    assert "earlier" not in document


def spoken() -> list[dict[str, object]]:
    return [
        {"role": "user", "content": "Dose?"},
        {"role": "tool_call", "content": "{'name': 'chart', 'arguments': '{\"mrn\": 4}'}"},
        {"role": "tool_response", "content": "500 mg"},
        {"role": "assistant", "content": "500 mg."},
    ]


def tagged() -> list[dict[str, object]]:
    made = '<tool_call>\n{"name": "chart", "arguments": {"mrn": 4}}\n</tool_call>'
    return [
        {"from": "human", "value": "Dose?"},
        {"from": "gpt", "value": made},
        {"from": "tool", "value": "<tool_response>\n500 mg\n</tool_response>"},
        {"from": "gpt", "value": "500 mg."},
    ]


def legacy() -> list[dict[str, object]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": "Dose?"}]},
        {
            "role": "assistant",
            "function_call": {"name": "chart", "arguments": '{"mrn": 4}'},
            "content": None,
        },
        {"role": "function", "name": "chart", "content": "500 mg"},
        {"role": "assistant", "content": [{"type": "text", "text": "500 mg."}]},
    ]


@pytest.mark.parametrize("messages", [spoken(), tagged(), legacy()])
@pytest.mark.parametrize("shape", ["list", "text", "conversations", "bare", "lines"])
def test_the_shapes_of_other_exports_mean_the_same(tmp_path, messages, shape):
    path = tmp_path / "traces.jsonl"
    records: list[object] = {
        "list": [{"messages": messages}],
        "text": [{"messages": json.dumps(messages)}],
        "conversations": [{"conversations": messages}],
        "bare": [messages],
        "lines": messages,
    }[shape]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))

    assert detect_format(path) == "chat"
    (trace,) = read_traces([path])

    assert isinstance(trace, Trace)
    assert (trace.question, trace.answer) == ("Dose?", "500 mg.")
    assert [(s.tool_name, s.text.strip()) for s in trace.sources] == [("chart", "500 mg")]
    assert json.loads(trace.sources[0].arguments) == {"mrn": 4}


def test_the_same_transcript_without_an_id_is_named_by_its_content():
    messages = [asks("?"), says("Yes.")]

    one = read_trace({"messages": messages}, Origin(format="chat", file="a.jsonl", line=1))
    other = read_trace({"messages": messages}, Origin(format="chat", file="b.jsonl", line=9))

    assert one.trace_id == other.trace_id
    assert one.trace_id.startswith("sha256:")


@pytest.mark.stress
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared real traces are not here")
@pytest.mark.parametrize(("name", "count"), [("livemcpbench", 45), ("tau_airline", 60)])
def test_real_runs_all_load_and_no_wrapper_is_left_in_their_evidence(name, count):
    items = list(read_traces([SHARED / f"{name}_chat.jsonl.gz"]))

    assert not any(isinstance(item, InputError) for item in items)
    assert sum(not is_earlier_answer(item.trace_id) for item in items) == count
    for trace in items:
        assert trace.answer
        for source in trace.sources:
            assert "TextContent(" not in source.text
            assert source.tool_name not in ("execute-tool", "unknown tool")
            raw = (source.raw or "").encode()
            for place in source.raw_map:
                assert place.raw_end <= len(raw)


@pytest.mark.stress
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared real traces are not here")
def test_every_call_of_the_real_runs_is_a_source_or_comes_after_the_answer():
    path = SHARED / "tau_airline_chat.jsonl.gz"
    made = [
        sum(len(message.get("tool_calls") or ()) for message in json.loads(line)["messages"])
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
    ]

    read = [trace for trace in read_traces([path]) if isinstance(trace, Trace)]
    whole = [trace for trace in read if not is_earlier_answer(trace.trace_id)]
    for trace, count in zip(whole, made, strict=True):
        late = sum(
            int(notice.split()[0]) for notice in trace.notices if "after the answer" in notice
        )
        assert len(trace.sources) + late == count


def test_what_was_asked_and_said_before_an_answer_is_found_turn_by_turn(tmp_path: Path) -> None:
    talk: list[dict[str, object]] = [asks("Hello?"), says("Good morning."), asks("Her weight?")]
    talk += [calls(call("1", "chart", of="weight")), returns("1", "71 kg"), says("It is 71 kg.")]
    talk += [asks("And her pulse?"), calls(call("2", "chart", of="pulse")), returns("2", "64")]
    record = json.dumps({"question_id": "talk", "messages": [*talk, says("It is 64.")]})
    file = tmp_path / "talks.jsonl"
    file.write_text(f"{record}\n{record.replace('64', '65')}\n")  # the same id twice
    kept = {each.trace_id: each for each in read_traces([file]) if isinstance(each, Trace)}

    def find(trace_id: str) -> Trace:
        if trace_id not in kept:
            raise NotFound(trace_id)
        return kept[trace_id]

    before = [("", "Good morning."), ("Her weight?", "It is 71 kg.")]
    for trace_id, turns in (("talk::t2", before[:1]), ("talk", before), ("talk~2", before)):
        assert [said for _, said in turns_before(kept[trace_id], find)] == [s for _, s in turns]
    assert turns_before(kept["talk"], find) == before
