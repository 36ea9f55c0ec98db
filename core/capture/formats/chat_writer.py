"""Chat-completions transcripts: one assistant turn that calls every tool, their outputs, the answer."""

from __future__ import annotations

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "chat"


def write(run: PlainRun) -> JsonObject:
    """The transcript of a run."""
    messages: list[JsonObject] = []
    if run.question:
        messages.append({"role": "user", "content": run.question})
    if run.calls:
        made = [_call(call) for call in run.calls]
        messages.append({"role": "assistant", "content": None, "tool_calls": made})
    messages.extend(_output(call) for call in run.calls if call.output is not None)
    if run.answer is not None:
        messages.append({"role": "assistant", "content": run.answer})
    return {"trace_id": run.trace_id, "messages": messages, CARRIED: run.carried}


def _call(call: PlainCall) -> JsonObject:
    function = {"name": call.tool, "arguments": call.arguments or "{}"}
    return {"id": call.call_id, "type": "function", "function": function}


def _output(call: PlainCall) -> JsonObject:
    message = {"role": "tool", "tool_call_id": call.call_id, "content": call.output}
    return {**message, "is_error": True} if call.failed else message
