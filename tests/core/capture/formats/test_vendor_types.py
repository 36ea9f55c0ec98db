"""Runs as the vendors' own packages write them, each read with its question, calls, failure and answer.

``vendors/*.jsonl`` were written by these builders (run this module with the extra ``vendors``, and
google-adk in an environment of its own; npm's ``ai`` by ``vendors/ai_sdk.mjs``). Where a package is
there, what it builds is held against the file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.capture.reading import read_traces
from core.records import JsonObject, SourceStatus, Trace

VENDORS = Path(__file__).parent / "vendors"
QUESTION = "What dose of metformin does Ines Okafor take?"
ANSWER = "Ines Okafor takes metformin 500 mg twice daily."
CHART = {"patient": "Ines Okafor", "medications": [{"name": "metformin", "dose": "500 mg"}]}
LABS = "The laboratory is closed until Monday."  # nothing in it says that the call failed
ARGUMENTS = {"mrn": "MRN-44120"}
AT = datetime(2026, 11, 2, 8, tzinfo=UTC)


def google_genai() -> Iterator[JsonObject]:
    """Contents as google-genai serialises them, in both spellings, and around an answer's candidate."""
    from google.genai import types

    def content(role: str, *parts: types.Part) -> types.Content:
        return types.Content(role=role, parts=list(parts))

    def call(name: str, id: str | None) -> types.Part:
        return types.Part(function_call=types.FunctionCall(id=id, name=name, args=ARGUMENTS))

    def output(name: str, id: str | None, response: dict[str, Any]) -> types.Part:
        told = types.FunctionResponse(id=id, name=name, response=response)
        return types.Part(function_response=told)

    for spelling, ids in ((True, ("c1", "c2")), (False, (None, None))):
        contents = [
            content("user", types.Part(text=QUESTION)),
            content(
                "model",
                types.Part(text="The chart first.", thought=True),
                call("load_chart", ids[0]),
                call("load_labs", ids[1]),
            ),
            content(
                "user",
                output("load_chart", ids[0], {"output": CHART}),
                output("load_labs", ids[1], {"error": LABS}),
            ),
            content("model", types.Part(text=ANSWER)),
        ]
        dumped = [
            one.model_dump(mode="json", exclude_none=True, by_alias=spelling) for one in contents
        ]
        yield {"id": f"genai-{spelling}", "contents": dumped}
        reply = types.GenerateContentResponse(
            candidates=[
                types.Candidate(content=contents[-1], finish_reason=types.FinishReason.STOP)
            ]
        )
        told = reply.model_dump(mode="json", exclude_none=True, by_alias=spelling)
        yield {"id": f"genai-reply-{spelling}", "contents": dumped[:-1], "response": told}


def google_adk() -> Iterator[JsonObject]:
    """The events of a session of google-adk."""
    from google.adk.events import Event
    from google.adk.sessions import Session
    from google.genai import types

    def event(number: int, author: str, role: str, *parts: types.Part) -> Event:
        return Event(
            id=f"e{number}", invocation_id="i1", author=author, timestamp=1_793_606_400.0 + number,
            content=types.Content(role=role, parts=list(parts)),
        )  # fmt: skip

    def output(name: str, id: str, response: dict[str, Any]) -> types.Part:
        return types.Part(
            function_response=types.FunctionResponse(id=id, name=name, response=response)
        )

    calls = [
        types.Part(function_call=types.FunctionCall(id=id, name=name, args=ARGUMENTS))
        for id, name in (("adk-1", "load_chart"), ("adk-2", "load_labs"))
    ]
    events = [
        event(1, "user", "user", types.Part(text=QUESTION)),
        event(2, "ward_agent", "model", *calls),
        event(
            3, "ward_agent", "user",
            output("load_chart", "adk-1", {"result": CHART}),
            output("load_labs", "adk-2", {"error": LABS}),
        ),
        event(4, "ward_agent", "model", types.Part(text=ANSWER)),
    ]  # fmt: skip
    for spelling in (True, False):
        session = Session(
            id=f"s-{spelling}", app_name="ward", user_id="u", events=events,
            last_update_time=1_793_606_500.0,
        )  # fmt: skip
        yield session.model_dump(mode="json", exclude_none=True, by_alias=spelling)


def pydantic_ai() -> Iterator[JsonObject]:
    """The message history of a run, its failure as the retry that the model is asked for."""
    from pydantic_ai import messages as m

    def history(failed: m.ModelRequestPart) -> list[m.ModelMessage]:
        calls = [
            m.ToolCallPart(tool_name=name, args=args, tool_call_id=id)
            for id, name, args in (
                ("c1", "load_chart", ARGUMENTS),
                ("c2", "load_labs", json.dumps(ARGUMENTS)),
            )
        ]
        chart = m.ToolReturnPart(
            tool_name="load_chart", content=CHART, tool_call_id="c1", timestamp=AT
        )
        asked = [
            m.SystemPromptPart(content="You are a ward's agent.", timestamp=AT),
            m.UserPromptPart(content=QUESTION, timestamp=AT),
        ]
        return [
            m.ModelRequest(parts=asked),
            m.ModelResponse(parts=[m.ThinkingPart(content="The chart."), *calls], timestamp=AT),
            m.ModelRequest(parts=[chart, failed]),
            m.ModelResponse(parts=[m.TextPart(content=ANSWER)], timestamp=AT),
        ]

    shared: dict[str, Any] = {"tool_name": "load_labs", "tool_call_id": "c2", "timestamp": AT}
    for number, outcome in enumerate(("failed", "retried", "denied")):
        part = m.ToolReturnPart(content=LABS, outcome=outcome, **shared)
        dumped = m.ModelMessagesTypeAdapter.dump_python(history(part), mode="json")
        yield {"id": f"pydantic-{number}", "all_messages": dumped}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of version 1 and deprecated now
        retry = m.RetryPromptPart(content=LABS, **shared)
        dumped = m.ModelMessagesTypeAdapter.dump_python(history(retry), mode="json")
    yield {"id": "pydantic-retry", "all_messages": dumped}


def langchain() -> Iterator[JsonObject]:
    """Messages of langchain-core as its three ways to write them."""
    from langchain_core.load import dumpd
    from langchain_core.messages import (
        AIMessage,
        HumanMessage,
        ToolCall,
        ToolMessage,
        message_to_dict,
    )

    calls = [
        ToolCall(id=id, name=name, args=ARGUMENTS)
        for id, name in (("c1", "load_chart"), ("c2", "load_labs"))
    ]
    messages = [
        HumanMessage(QUESTION),
        AIMessage("", tool_calls=calls),
        ToolMessage(json.dumps(CHART), tool_call_id="c1", name="load_chart"),
        ToolMessage(LABS, tool_call_id="c2", name="load_labs", status="error"),
        AIMessage(ANSWER),
    ]
    yield {"id": "lc-dumpd", "messages": dumpd(messages)}
    yield {"id": "lc-to-dict", "messages": [message_to_dict(one) for one in messages]}
    yield {"id": "lc-model-dump", "messages": [one.model_dump(mode="json") for one in messages]}


def bedrock() -> Iterator[JsonObject]:
    """A request of Converse and its reply, of the types of mypy-boto3-bedrock-runtime."""
    from mypy_boto3_bedrock_runtime import type_defs

    uses: list[Any] = [
        {"toolUse": {"toolUseId": id, "name": name, "input": ARGUMENTS}}
        for id, name in (("tooluse_1", "load_chart"), ("tooluse_2", "load_labs"))
    ]
    results: list[Any] = [
        {"toolResult": {"toolUseId": "tooluse_1", "content": [{"json": CHART}]}},
        {
            "toolResult": {
                "toolUseId": "tooluse_2", "content": [{"text": LABS}], "status": "error",
            }
        },
    ]  # fmt: skip
    messages: list[Any] = [
        {"role": "user", "content": [{"text": QUESTION}]},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    last: Any = {"role": "assistant", "content": [{"text": ANSWER}]}
    for message in (*messages, last):
        _of(type_defs.MessageTypeDef, message)
        for block in message["content"]:
            _of(type_defs.ContentBlockOutputTypeDef, block)
    for use, result in zip(uses, results, strict=True):
        _of(type_defs.ToolUseBlockOutputTypeDef, use["toolUse"])
        _of(type_defs.ToolResultBlockOutputTypeDef, result["toolResult"])
    yield {"id": "converse", "messages": [*messages, last]}
    reply = {"output": {"message": last}, "stopReason": "end_turn"}
    yield {"id": "converse-reply", "messages": messages, "response": reply}


def _of(kind: Any, value: dict[str, Any]) -> None:
    assert set(value) <= set(kind.__annotations__)


def ai_sdk() -> Iterator[JsonObject]:
    """UI messages and model messages, built by npm's ``ai``."""
    given = (QUESTION, ANSWER, json.dumps(CHART), LABS, json.dumps(ARGUMENTS))
    try:
        done = subprocess.run(
            ["node", str(VENDORS / "ai_sdk.mjs"), *given],
            capture_output=True,
            check=True,
            text=True,
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise ModuleNotFoundError("the npm package ai") from None
    yield from map(json.loads, done.stdout.splitlines())


BUILDERS: dict[str, Callable[[], Iterator[JsonObject]]] = {
    "google-genai": google_genai,
    "google-adk": google_adk,
    "pydantic-ai-slim": pydantic_ai,
    "langchain-core": langchain,
    "mypy-boto3-bedrock-runtime": bedrock,
    "ai": ai_sdk,
}


@pytest.mark.parametrize("name", BUILDERS)
def test_every_record_that_a_vendor_writes_is_read_rightly(name: str) -> None:
    file = VENDORS / f"{name}.jsonl"
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


@pytest.mark.parametrize("name", BUILDERS)
def test_the_files_are_what_the_vendors_packages_write(name: str) -> None:
    try:
        built = list(BUILDERS[name]())
    except ModuleNotFoundError as error:
        pytest.skip(f"not installed: {error.name or error}")

    file = VENDORS / f"{name}.jsonl"
    kept = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [_essence(one) for one in built] == [_essence(one) for one in kept]


def _essence(value: object) -> object:
    """A record without what another version of a package may add empty."""
    if isinstance(value, dict):
        return {k: _essence(v) for k, v in value.items() if v not in (None, {}, [], "", 0, False)}
    return [_essence(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for name in sys.argv[1:] or BUILDERS:
        lines = [json.dumps(record, ensure_ascii=False) for record in BUILDERS[name]()]
        (VENDORS / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
