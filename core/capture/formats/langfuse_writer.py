"""Langfuse traces with their observations: an AGENT with one TOOL observation a call."""

from __future__ import annotations

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.records import JsonObject

NAME = "langfuse"

_START = "1970-01-01T00:00:00.{:06d}Z"  # an order, not a clock time: a trace holds none


def write(run: PlainRun) -> JsonObject:
    """The trace of a run with its observations."""
    said = {
        "name": "agent",
        "input": _message("user", run.question or None),
        "output": _message("assistant", run.answer),
    }
    agent = {
        "id": f"{run.trace_id}-0",
        "traceId": run.trace_id,
        "type": "AGENT",
        "startTime": _START.format(0),
        "endTime": _START.format(0),
        "level": "DEFAULT",
        "parentObservationId": None,
        **said,
    }
    return {
        "id": run.trace_id,
        "timestamp": _START.format(0),
        **said,
        "metadata": {CARRIED: run.carried},
        "observations": [agent, *(_tool(c, run, at) for at, c in enumerate(run.calls, start=1))],
    }


def _tool(call: PlainCall, run: PlainRun, index: int) -> JsonObject:
    start = _START.format(min(index, 999_999))
    message = {"role": "tool", "tool_call_id": call.call_id, "content": call.output}
    return {
        "id": f"{run.trace_id}-{index}",
        "parentObservationId": f"{run.trace_id}-0",
        "traceId": run.trace_id,
        "type": "TOOL",
        "name": call.tool,
        "startTime": start,
        "endTime": start,
        "level": "ERROR" if call.failed else "DEFAULT",
        "input": None if call.arguments is None else call.input,
        "output": None if call.output is None else message,
        "metadata": {"server": call.server} if call.server else {},
    }


def _message(role: str, text: str | None) -> JsonObject | None:
    return None if text is None else {"role": role, "content": text}
