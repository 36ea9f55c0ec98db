"""Inspect AI logs: one sample a trace, in the JSON form of a log."""

from __future__ import annotations

import json
from collections.abc import Iterator

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "inspect_ai"

_EVALUATION = {
    "created": "1970-01-01T00:00:00+00:00",
    "task": "provenanceguard",
    "dataset": {},
    "model": "unknown",
    "config": {},
}
HEAD = f'{{"version": 2, "status": "success", "eval": {json.dumps(_EVALUATION)}, "samples": ['


def write(run: PlainRun) -> JsonObject:
    """The sample of a run."""
    said = None if run.answer is None else {"role": "assistant", "content": run.answer}
    choices = [] if said is None else [{"message": said, "stop_reason": "stop"}]
    return {
        "id": run.trace_id,
        "epoch": 1,
        "input": run.question,
        "target": "",
        "messages": list(_messages(run)),
        "output": {"model": "unknown", "choices": choices},
        "metadata": {CARRIED: run.carried},
        "events": [_event(call) for call in run.calls if call.truncated],
    }


def _messages(run: PlainRun) -> Iterator[JsonObject]:
    if run.question:
        yield {"role": "user", "content": run.question}
    if run.calls:
        made = [
            {"id": call.call_id, "function": call.tool, "arguments": call.input, "type": "function"}
            for call in run.calls
        ]
        yield {"role": "assistant", "content": "", "tool_calls": made}
    for call in run.calls:
        if call.output is not None:
            yield _output(call)
    if run.answer is not None:
        yield {"role": "assistant", "content": run.answer}


def _output(call: PlainCall) -> JsonObject:
    message = {
        "role": "tool",
        "content": call.output,
        "tool_call_id": call.call_id,
        "function": call.tool,
    }
    # The content of a failed call is the message of its error; both are kept, one text.
    error = {"type": "unknown", "message": call.output}
    return {**message, "error": error} if call.failed else message


def _event(call: PlainCall) -> JsonObject:
    """Says that an output is only a part of what the tool gave."""
    size = len((call.output or "").encode("utf-8", "replace"))
    return {
        "event": "tool",
        "timestamp": "1970-01-01T00:00:00+00:00",
        "working_start": 0.0,
        "type": "function",
        "id": call.call_id,
        "function": call.tool,
        "arguments": call.input,
        "result": call.output,
        "truncated": [size + 1, size],  # the real size is not known: more than what is here
        "events": [],
    }
