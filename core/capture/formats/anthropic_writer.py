"""Anthropic Messages: tool blocks with their results, and the reply.

A call to a named server is a pair of the MCP connector's blocks in the assistant's own message.
"""

from __future__ import annotations

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "anthropic"


def write(run: PlainRun) -> JsonObject:
    """The conversation of a run; without an answer there is no reply."""
    made: list[JsonObject] = []
    returned: list[JsonObject] = []
    for call in run.calls:
        made.append(_use(call))
        if call.output is not None:
            (made if call.server else returned).append(_result(call))
    messages: list[JsonObject] = []
    for role, content in (("user", run.question), ("assistant", made), ("user", returned)):
        if content:
            messages.append({"role": role, "content": content})
    record: dict[str, object] = {"trace_id": run.trace_id, "messages": messages}
    if run.answer is not None:
        record["response"] = _reply(run.answer)
    return {**record, CARRIED: run.carried}


def _use(call: PlainCall) -> JsonObject:
    block: dict[str, object] = {"type": "tool_use", "id": call.call_id, "name": call.tool}
    if call.server:
        block |= {"type": "mcp_tool_use", "server_name": call.server}
    return {**block, "input": call.input}


def _result(call: PlainCall) -> JsonObject:
    return {
        "type": "mcp_tool_result" if call.server else "tool_result",
        "tool_use_id": call.call_id,
        "content": call.output,
        "is_error": call.failed,
    }


def _reply(answer: str) -> JsonObject:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "unknown",
        "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
