"""OpenAI Responses: a request that holds the calls and their outputs, and the response to it.

A call to a named server is a hosted ``mcp_call``, call and output in one item.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "responses"


def write(run: PlainRun) -> JsonObject:
    """The request and the response of a run; without an answer there is no response."""
    asked: list[JsonObject] = []
    if run.question:
        asked.append({"type": "message", "role": "user", "content": run.question})
    items = [item for call in run.calls for item in _items(call)]
    record: dict[str, object] = {"trace_id": run.trace_id, "request": {"input": [*asked, *items]}}
    if run.answer is not None:
        record["response"] = _response(run.answer)
    return {**record, CARRIED: run.carried}


def _items(call: PlainCall) -> Iterator[JsonObject]:
    if call.server:
        yield {
            "type": "mcp_call",
            "id": call.call_id,
            "server_label": call.server,
            "name": call.tool,
            "arguments": call.arguments or "{}",
            "output": call.output,
            "status": "failed" if call.failed else "completed",
        }
        return
    yield {
        "type": "function_call",
        "call_id": call.call_id,
        "name": call.tool,
        "arguments": call.arguments or "{}",
    }
    if call.output is not None:
        yield {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": call.output,
            "status": "incomplete" if call.truncated else "completed",
        }


def _response(answer: str) -> JsonObject:
    text = {"type": "output_text", "text": answer, "annotations": []}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0.0,
        "model": "unknown",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
