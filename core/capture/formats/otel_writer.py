"""OpenTelemetry GenAI spans: an ``invoke_agent`` span with an ``execute_tool`` span for each call."""

from __future__ import annotations

import json

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.capture.files import write_json
from core.capture.otlp import WrittenSpan, otlp_record
from core.records import JsonObject

NAME = "otel"


def write(run: PlainRun) -> JsonObject:
    """The spans of a run."""
    agent = WrittenSpan(
        name="invoke_agent",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": _said("user", run.question or None),
            "gen_ai.output.messages": _said("assistant", run.answer),
            CARRIED: write_json(run.carried),
        },
    )
    spans = [agent, *(_tool(call) for call in run.calls)]
    return otlp_record(run.trace_id, spans, run.elapsed_seconds)


def _said(role: str, text: str | None) -> str | None:
    if text is None:
        return None
    message: dict[str, object] = {"role": role, "parts": [{"type": "text", "content": text}]}
    if role == "assistant":
        message["finish_reason"] = "stop"
    return json.dumps([message], ensure_ascii=False)


def _tool(call: PlainCall) -> WrittenSpan:
    return WrittenSpan(
        name=f"execute_tool {call.tool}",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call.call_id,
            "gen_ai.tool.call.arguments": call.arguments,
            "gen_ai.tool.call.result": call.output,
            "error.type": "tool_error" if call.failed else None,
        },
        failed=call.failed,
    )
