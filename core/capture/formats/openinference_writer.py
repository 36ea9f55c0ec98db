"""OpenInference spans: an AGENT span with a TOOL span for each call."""

from __future__ import annotations

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.capture.files import write_json
from core.capture.otlp import WrittenSpan, otlp_record
from core.records import JsonObject

NAME = "openinference"

_TEXT = "text/plain"


def write(run: PlainRun) -> JsonObject:
    """The spans of a run."""
    agent = WrittenSpan(
        name="agent",
        attributes={
            "openinference.span.kind": "AGENT",
            "input.value": run.question or None,
            "input.mime_type": _TEXT if run.question else None,
            "output.value": run.answer,
            "output.mime_type": None if run.answer is None else _TEXT,
            CARRIED: write_json(run.carried),
        },
    )
    spans = [agent, *(_tool(call) for call in run.calls)]
    return otlp_record(run.trace_id, spans, run.elapsed_seconds)


def _tool(call: PlainCall) -> WrittenSpan:
    return WrittenSpan(
        name=call.tool,
        attributes={
            "openinference.span.kind": "TOOL",
            "tool.name": call.tool,
            "tool.id": call.call_id,
            "input.value": call.arguments,
            "output.value": call.output,
        },
        failed=call.failed,
    )
