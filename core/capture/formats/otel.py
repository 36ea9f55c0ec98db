"""OpenTelemetry GenAI spans: attributes since 1.37, message events before, MCP and AI SDK spans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from core.capture.carried import PlainRun
from core.capture.files import FileRecord
from core.capture.span_steps import kind_of, read_spans, write_spans
from core.capture.spans import spans_of
from core.errors import BadRecord, InputError
from core.records import JsonObject, Trace

NAME = "otel"

_MARKS = (
    "gen_ai.", "mcp.method.name", "ai.operationId", "traceloop.", "ai.toolCall.",
    "gcp.vertex.agent.", "langfuse.observation.",
)  # fmt: skip


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record holds GenAI spans."""
    best = 0.0
    for span in spans_of(value, 0):
        if isinstance(span, BadRecord):
            continue
        if kind_of(span):
            return 0.0
        known = any(key.startswith(_MARKS) for key in span.attributes) or any(
            event.name.startswith("gen_ai.") for event in span.events
        )
        best = max(best, 0.1 if not known else 0.7 if span.loose else 0.9)
    return best


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each trace id, when all spans have been read."""
    yield from read_spans(records, file, NAME)


def write(run: PlainRun) -> JsonObject:
    """An ``invoke_agent`` span with an ``execute_tool`` span for each call."""
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": _said("user", run.question or None),
        "gen_ai.output.messages": _said("assistant", run.answer),
    }
    tool = {"gen_ai.operation.name": "execute_tool"}
    return write_spans(run, "invoke_agent", agent, "gen_ai", tool)


def _said(role: str, text: str | None) -> str | None:
    if text is None:
        return None
    message: dict[str, object] = {"role": role, "parts": [{"type": "text", "content": text}]}
    if role == "assistant":
        message["finish_reason"] = "stop"
    return json.dumps([message], ensure_ascii=False)
