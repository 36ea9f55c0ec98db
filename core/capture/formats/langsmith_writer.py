"""LangSmith runs: a chain with its tool runs under it, nested as the API returns them."""

from __future__ import annotations

import uuid

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "langsmith"

_RUNS = uuid.UUID("6f1d5a52-0c5e-4a0f-9a35-2f6f2f1f7c11")  # any fixed one: names of one kind of run
_START = "1970-01-01T00:00:00.{:06d}+00:00"  # an order, not a clock time: a trace holds none


def write(run: PlainRun) -> JsonObject:
    """The root run of a trace, its tool runs in ``child_runs``."""
    trace_id = _id(run.trace_id, 0)
    children = [_tool(call, run, trace_id, index) for index, call in enumerate(run.calls, start=1)]
    return {
        "id": trace_id,
        "trace_id": trace_id,
        "name": "agent",
        "run_type": "chain",
        "start_time": _START.format(0),
        "inputs": _message("human", run.question or None),
        "outputs": _message("ai", run.answer),
        "extra": {"metadata": {CARRIED: run.carried}},
        "child_runs": children,
    }


def _tool(call: PlainCall, run: PlainRun, trace_id: str, index: int) -> JsonObject:
    message = {
        "type": "tool",
        "name": call.tool,
        "tool_call_id": call.call_id,
        "content": call.output,
        "status": "error" if call.failed else "success",
    }
    given = {"type": "tool_call", "id": call.call_id, "name": call.tool, "args": call.input}
    return {
        "id": _id(run.trace_id, index),
        "trace_id": trace_id,
        "parent_run_id": trace_id,
        "name": call.tool,
        "run_type": "tool",
        "start_time": _START.format(min(index, 999_999)),
        "inputs": {"input": given},
        "outputs": None if call.output is None else {"output": message},
        "error": None,
    }


def _message(kind: str, text: str | None) -> JsonObject:
    return {} if text is None else {"messages": [{"type": kind, "content": text}]}


def _id(trace_id: str, index: int) -> str:
    return str(uuid.uuid5(_RUNS, f"{trace_id}\x1f{index}"))
