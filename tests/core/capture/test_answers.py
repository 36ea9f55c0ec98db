"""Conversations of several answers: each answer that was given with evidence is a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.capture.files import FileRecord
from core.capture.reading import read_records_of, read_traces
from core.records import Trace

Json = dict[str, object]
FALSE, TRUE = "Northwind is a Silver customer.", "Northwind has 140 seats."
THANKS, BYE = "Thanks", "You are welcome!"
CALLED = {"type": "function", "function": {"name": "get_account", "arguments": "{}"}}


def chat(*said: str) -> list[Json]:
    """One transcript; ``call X`` makes a call that gives X, other words are said in turn by both."""
    messages: list[Json] = []
    for index, text in enumerate(said):
        if text.startswith("call "):
            call = {"id": f"c{index}", **CALLED}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{index}", "content": text[5:]})
        else:
            role = "assistant" if text in (FALSE, TRUE, BYE, "Hello!") else "user"
            messages.append({"role": role, "content": text})
    return [{"trace_id": "talk", "messages": messages}]


def anthropic(*said: str) -> list[Json]:
    messages: list[Json] = []
    for message in chat(*said)[0]["messages"]:  # type: ignore[attr-defined]
        if message["role"] == "tool":
            kind = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
            messages.append({"role": "user", "content": [{**kind, "content": message["content"]}]})
        elif message.get("tool_calls"):
            (call,) = message["tool_calls"]
            block = {"type": "tool_use", "id": call["id"], "name": "get_account", "input": {}}
            messages.append({"role": "assistant", "content": [block]})
        else:
            messages.append(message)
    return [{"trace_id": "talk", "messages": messages}]


def session(*said: str) -> list[Json]:
    """A session log: one message of it a line."""
    messages: list[Json] = anthropic(*said)[0]["messages"]  # type: ignore[assignment]
    return [
        {"sessionId": "talk", "uuid": str(at), "message": one} for at, one in enumerate(messages)
    ]


def inspect(*said: str) -> list[Json]:
    messages = chat(*said)[0]["messages"]
    for message in messages:  # type: ignore[attr-defined]
        for call in message.get("tool_calls", ()):
            call |= {"function": "get_account", "arguments": {}}
    choice = {"message": messages[-1], "stop_reason": "stop"}  # type: ignore[index]
    return [
        {"id": "talk", "epoch": 1, "input": said[0], "messages": messages,
         "output": {"choices": [choice]}}
    ]  # fmt: skip


def responses(*said: str) -> list[Json]:
    """One request that holds all that was said before."""
    items: list[Json] = []
    for message in chat(*said)[0]["messages"]:  # type: ignore[attr-defined]
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            items.append({"type": "function_call", "call_id": call_id, "name": "get_account",
                          "arguments": "{}"})  # fmt: skip
            items.append({"type": "function_call_output", "call_id": call_id,
                          "output": message["content"]})  # fmt: skip
        elif message.get("content"):
            items.append({"type": "message", **message})
    last = {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": items.pop()["content"]}]}  # fmt: skip
    reply = {"id": "r1", "object": "response", "output": [last]}
    return [{"trace_id": "talk", "input": items, "response": reply}]


FORMATS = [chat, anthropic, session, inspect, responses]
each_format = pytest.mark.parametrize("written", FORMATS, ids=lambda one: one.__name__)
Written = Callable[..., list[Json]]


def read(records: list[Json]) -> list[Trace]:
    found = read_records_of([FileRecord(one, at) for at, one in enumerate(records, 1)])
    return [one for one in found if isinstance(one, Trace)]


@each_format
def test_an_answer_before_a_closing_word_is_judged_with_the_same_evidence_as_without_it(
    written: Written,
):
    (alone,) = read(written("What is it?", "call tier: Gold", FALSE))
    first, last = read(written("What is it?", "call tier: Gold", FALSE, THANKS, BYE))

    assert (first.answer, last.answer) == (FALSE, BYE)
    assert first.sources == alone.sources
    assert (last.trace_id, first.trace_id) == (alone.trace_id, f"{alone.trace_id}::t1")
    assert last.earlier == (FALSE,)


@each_format
def test_what_came_after_an_answer_is_no_evidence_for_it(written: Written):
    said = ("What?", "call tier: Gold", FALSE, "And seats?", "call seats: 140", TRUE, THANKS, BYE)

    traces = read(written(*said))

    assert [trace.answer for trace in traces] == [FALSE, TRUE, BYE]
    texts = [[source.text for source in trace.sources] for trace in traces]
    assert texts == [["tier: Gold"], *[["tier: Gold", "seats: 140"]] * 2]
    assert len({trace.trace_id for trace in traces}) == 3


@each_format
def test_what_was_said_before_any_call_has_no_evidence_and_the_answer_says_so(written: Written):
    (trace,) = read(written("Hi", "Hello!", "What is it?", "call tier: Gold", FALSE))

    assert trace.answer == FALSE
    assert any("before any tool call" in notice for notice in trace.notices)


@each_format
def test_what_is_said_before_or_beside_a_call_is_judged_by_what_was_known_then(written: Written):
    said = ("What is it?", "call tier: Gold", TRUE, "call seats: 140", FALSE)

    first, last = read(written(*said))

    assert (first.answer, last.answer) == (TRUE, FALSE)
    assert [source.text for source in first.sources] == ["tier: Gold"]
    assert last.earlier == (TRUE,)


@pytest.mark.parametrize("written", [chat, anthropic, responses], ids=lambda one: one.__name__)
def test_a_log_that_repeats_the_conversation_with_each_request_tells_each_answer_once(
    written: Written,
):
    said = ("What?", "call tier: Gold", FALSE, "And seats?", "call seats: 140", TRUE, THANKS, BYE)
    records = [written(*said[:end])[0] for end in (3, 6, 8)]

    assert [trace.answer for trace in read(records)] == [FALSE, TRUE, BYE]


def test_documents_given_to_the_model_are_evidence_for_the_answers_behind_them():
    def given(text: str) -> Json:
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return {"role": "user", "content": [{"type": "document", "source": source},
                                            {"type": "text", "text": "What is it?"}]}  # fmt: skip

    def said(text: str) -> Json:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    messages = [given("tier: Gold"), said(FALSE), given("seats: 140"), said(TRUE)]
    record = {"messages": messages[:-1], "response": {"type": "message", **messages[-1]}}

    first, last = read([record])

    assert (first.answer, len(first.sources)) == (FALSE, 1)
    assert (last.answer, len(last.sources)) == (TRUE, 2)


def test_a_log_of_the_servers_is_joined_to_every_answer_of_a_conversation(tmp_path: Path):
    file, log = tmp_path / "talk.json", tmp_path / "mcp.jsonl"
    (record,) = chat("What is it?", "call short", FALSE, THANKS, BYE)
    file.write_text(json.dumps(record), encoding="utf-8")
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": "get_account", "arguments": {}}}  # fmt: skip
    content = [{"type": "text", "text": "the whole record: tier Gold"}]
    told = {"jsonrpc": "2.0", "id": 1, "result": {"content": content}}
    log.write_text(f"{json.dumps(asked)}\n{json.dumps(told)}\n", encoding="utf-8")

    traces = [one for one in read_traces([file, log]) if isinstance(one, Trace)]

    assert [trace.answer for trace in traces] == [FALSE, BYE]
    for trace in traces:
        assert [source.text for source in trace.sources] == ["the whole record: tier Gold"]
