"""Spans as the steps of a run and back: one table of attributes for OpenTelemetry GenAI and its kin.

Content is opt-in in these conventions, so that most production traces hold none: such calls are
``not_captured``, and never verified as if they had been empty.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping

from core.capture.carried import CARRIED, PlainRun
from core.capture.files import FileRecord, write_json
from core.capture.runs import turns_of
from core.capture.spans import NAMELESS, SpanEvent, SpanRecord, indexed, spans_by_trace
from core.capture.steps import Gathered, Run, Step, traces_of_runs
from core.capture.turns import CapturedCall, Said, Turn
from core.capture.values import (
    first_in,
    mapping,
    parsed,
    retrieved,
    text_in,
    unquoted,
    written,
    written_or_none,
)
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

_NOT_CAPTURED = "the message content of this trace was not captured (it is opt-in) or was masked"
_REDACTED = "__REDACTED__"
# What went into a model or agent and what came out, by the attribute that holds it.
_BEFORE = (
    "gen_ai.input.messages", "ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request",
    "langfuse.observation.input",
)  # fmt: skip
_AFTER = (
    "gen_ai.output.messages", "gcp.vertex.agent.llm_response", "langfuse.observation.output",
)  # fmt: skip
# Of the outermost span, where it has none of these: its input and output.
_ASKED = ("input.value", "traceloop.entity.input", "langfuse.trace.input")
_TOLD = (
    "output.value", "traceloop.entity.output", "langfuse.trace.output", "final_result",
    "pydantic_ai.all_messages",
)  # fmt: skip
# The same as messages of their own, one under each number.
_ROWS = (
    ("gen_ai.prompt.", "user"),
    ("gen_ai.completion.", "assistant"),
    ("llm.input_messages.", "user"),
    ("llm.output_messages.", "assistant"),
)
# The name, id, arguments and output of a tool call, in each convention.
_TOOLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "gen_ai": (
        ("gen_ai.tool.name",), ("gen_ai.tool.call.id",),
        ("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool_arguments"),
        ("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "tool_response"),
    ),
    "mcp": (
        ("gen_ai.tool.name",), ("jsonrpc.request.id",), ("gen_ai.tool.call.arguments",),
        ("gen_ai.tool.call.result",),
    ),
    "ai": (
        ("ai.toolCall.name",), ("ai.toolCall.id",), ("ai.toolCall.args", "ai.toolCall.input"),
        ("ai.toolCall.result", "ai.toolCall.output"),
    ),
    "traceloop": (
        ("traceloop.entity.name",), (), ("traceloop.entity.input",), ("traceloop.entity.output",),
    ),
    "openinference": (
        ("tool.name",), ("tool.id", "tool_call.id"), ("input.value", "tool.parameters"),
        ("output.value",),
    ),
}  # fmt: skip
_PREFIXES = ("execute_tool ", "tools/call ")
_SERVICE = "provenanceguard"
_LONGEST_SECONDS = 1e9  # 30 years


def read_spans(
    records: Iterable[FileRecord | InputError], file: str, name: str
) -> Iterator[Trace | InputError]:
    """The traces of each trace id, when all spans have been read."""
    return traces_of_runs(spans_by_trace(records, Origin(format=name, file=file)), _run)


def kind_of(span: SpanRecord) -> str:
    """The kind that OpenInference gives a span, in capitals; empty without one."""
    return str(span.attributes.get("openinference.span.kind") or "").upper()


def _run(found: Gathered[SpanRecord]) -> Run:
    spans = found.items
    ids = {span.span_id for span in spans}
    roots = [span for span in spans if span.parent_id not in ids]
    root = (*roots, spans[0])[0]
    logged = Run(carried=root.attributes.get(CARRIED))
    for span in spans:
        before, after = _messages(span, logged.unknown)
        if any(NAMELESS in one for one in (span.attributes, *(e.attributes for e in span.events))):
            logged.unknown[NAMELESS] = None
        logged.steps.append(Step(before=before, after=after, call=_call(span)))
        if span is root:  # only where one span holds all others its output is that of the run
            logged.asked, logged.told = before, after if len(roots) == 1 else []
    if kind_of(root) in ("AGENT", "CHAIN", ""):
        logged.asked = _values(root, _ASKED, "user", logged.unknown) or logged.asked
        logged.told = _values(root, _TOLD, "assistant", logged.unknown) or logged.told
    steps = (turn for step in logged.steps for turn in (*step.before, *step.after))
    if next(iter((*logged.asked, *logged.told, *steps)), None) is None:
        logged.notices.append(_NOT_CAPTURED)
    versions = (text_in(span.attributes, "mcp.protocol.version") for span in spans)
    logged.version = next(filter(None, versions), None)
    return logged


# ---------------------------------------------------------------- tool calls


def _call(span: SpanRecord) -> CapturedCall | None:
    attributes = span.attributes
    if kind_of(span) == "RETRIEVER":  # a RERANKER holds the same documents again, in another order
        documents = [
            retrieved(*(row.get(f"document.{key}") for key in ("id", "metadata", "content")))
            for row in indexed(attributes, "retrieval.documents.")
        ]
        output = written(documents) if documents else None
        name = span.name or "retriever"
        return _span_call(span, name, span.span_id, attributes.get("input.value"), output)
    convention = _convention(span)
    if convention is None:
        return None
    named, ids, given, returned = _TOOLS[convention]
    tool = text_in(attributes, *named) or span.name
    for prefix in _PREFIXES:
        tool = tool.removeprefix(prefix)
    call_id, result = first_in(attributes, ids), first_in(attributes, returned)
    call = _span_call(
        span,
        tool,
        None if call_id is None else str(call_id),
        first_in(attributes, given),
        unquoted(result) if attributes.get("output.mime_type") == "application/json" else result,
    )
    if convention != "mcp":
        return call
    server = call.server or text_in(attributes, "server.address")
    return dataclasses.replace(call, server=server, wire=True)


def _convention(span: SpanRecord) -> str | None:
    """The convention in which a span describes a tool call; None where it describes none."""
    attributes, executes = span.attributes, span.name.startswith(_PREFIXES[0])
    if kind_of(span) == "TOOL":
        return "openinference"
    if attributes.get("mcp.method.name") == "tools/call":
        return "mcp"
    if attributes.get("gen_ai.operation.name") == "execute_tool" or executes:
        return "gen_ai"
    if "ai.toolCall.name" in attributes:
        return "ai"
    return "traceloop" if attributes.get("traceloop.span.kind") == "tool" else None


def _span_call(
    span: SpanRecord, tool: str, call_id: str | None, arguments: object, output: object
) -> CapturedCall:
    attributes = span.attributes
    failed = span.failed or bool(attributes.get("error.type"))
    if output == _REDACTED:
        output = None
    if failed and output is None:
        thrown = (e.attributes for e in span.events if e.name == "exception")
        told = mapping(next(thrown, None)).get("exception.message")
        output = attributes.get("error.message") or told or attributes.get("error.type")
    return CapturedCall(
        tool=tool or "unknown tool",
        call_id=call_id or None,
        server=text_in(attributes, "mcp.server.name"),
        arguments=written_or_none(arguments),
        output=written_or_none(output),
        failed=failed,
        span_id=span.span_id,
        parent_id=span.parent_id,
    )


# ---------------------------------------------------------------- messages


def _messages(span: SpanRecord, unknown: dict[str, None]) -> tuple[list[Turn], list[Turn]]:
    """What went into a model or agent and what came out."""
    sides: dict[str, list[Turn]] = {"user": [], "assistant": []}
    before, after = sides.values()
    attributes = span.attributes
    for holder in (attributes, *(event.attributes for event in span.events)):
        before += turns_of(first_in(holder, _BEFORE), "user", unknown)
        after += turns_of(first_in(holder, _AFTER), "assistant", unknown)
    for event in span.events:
        ended = event.name in ("gen_ai.choice", "gen_ai.content.completion")
        (after if ended else before).extend(_event(event, unknown))
    for prefix, role in _ROWS:
        for row in indexed(attributes, prefix):
            sides[role] += turns_of(_message(row, role), role, unknown)
    text = text_in(attributes, "ai.response.text", "ai.response.object")
    calls = parsed(attributes.get("ai.response.toolCalls"))
    if text or calls:
        reply = {"role": "assistant", "content": text, "tool_calls": calls}
        after += turns_of(reply, "assistant", unknown)
    if kind_of(span) == "LLM":
        before = before or _values(span, ("input.value",), "user", unknown)
        after = after or _values(span, ("output.value",), "assistant", unknown)
    return before, after


def _message(row: JsonObject, role: str) -> JsonObject:
    """``gen_ai.prompt.0.role``, ``llm.input_messages.0.message.role`` and their like as one message."""
    fields = {key.removeprefix("message."): value for key, value in row.items()}
    content = fields.get("content")
    if not isinstance(content, str):
        texts = (part.get("message_content.text") for part in indexed(fields, "contents."))
        content = "\n".join(text for text in texts if isinstance(text, str)) or content
    given = [
        {key.removeprefix("tool_call.").removeprefix("function."): call[key] for key in call}
        for call in indexed(fields, "tool_calls.")
    ]
    calls = [{k: v for k, v in call.items() if k in ("id", "name", "arguments")} for call in given]
    legacy = text_in(fields, "function_call_name")
    if legacy:
        calls.append({"name": legacy, "arguments": fields.get("function_call_arguments_json")})
    speaker = str(fields.get("role") or role)
    masked = content == _REDACTED
    if speaker == "tool":
        content = None if masked else content
    elif masked:
        content = ""
    elif isinstance(whole := parsed(content), list):
        content = whole
    return {
        "role": speaker,
        "content": content,
        **({"masked": True} if masked else {}),
        **{key: fields[key] for key in ("tool_call_id", "name") if key in fields},
        **({"tool_calls": calls} if calls else {}),
    }


def _event(event: SpanEvent, unknown: dict[str, None]) -> list[Turn]:
    """The message events of 1.36 and before."""
    content = mapping(parsed(event.attributes.get("gen_ai.event.content")))
    fields = {**event.attributes, **content}
    if event.name == "gen_ai.choice":
        message = mapping(parsed(fields.get("message"))) or fields
        return turns_of({**message, "role": "assistant"}, "assistant", unknown)
    kind, _, role = event.name.removesuffix(".message").partition(".")
    if kind == "gen_ai" and role in ("user", "system", "assistant", "tool"):
        message = {"role": role, "content": fields.get("content")}
        message |= {"name": fields["name"]} if "name" in fields else {}
        if role == "tool":
            message["tool_call_id"] = fields.get("id") or fields.get("tool_call_id")
        else:
            message["tool_calls"] = parsed(fields.get("tool_calls"))
        return turns_of(message, role, unknown)
    if role in ("content.prompt", "content.completion"):
        key = event.name.replace("content.", "")
        return turns_of(fields.get(key), "user" if key.endswith("prompt") else "assistant", unknown)
    return []


def _values(
    span: SpanRecord, keys: Iterable[str], role: str, unknown: dict[str, None]
) -> list[Turn]:
    """The input or output of a span: a plain text as it is, else the messages or the text in it."""
    for key in keys:
        value = span.attributes.get(key)
        if value in (None, "", _REDACTED):
            continue
        if span.attributes.get(key.replace("value", "mime_type")) == "text/plain":
            return [Said(role=role, text=str(value))] if str(value).strip() else []
        if turns := turns_of(unquoted(value), role, unknown):
            return turns
    return []


# ---------------------------------------------------------------- writing


def write_spans(
    run: PlainRun, name: str, agent: JsonObject, convention: str, tool: JsonObject
) -> JsonObject:
    """A run as OTLP ``TracesData``: a root span with one span below it for each call.

    ``agent`` are the attributes of the root, ``tool`` those that every call has, whose own are named
    in ``convention``. The times are places in the order of the calls: a trace holds no clock times.
    """
    carried = {**agent, CARRIED: write_json(run.carried)}
    spans = [_written(run, 0, name, carried)]
    for index, call in enumerate(run.calls, 1):
        own = (call.tool, call.call_id, call.arguments, call.output)
        named = dict(zip((keys[0] for keys in _TOOLS[convention]), own, strict=True))
        attributes = {**tool, **named}
        prefix = ""
        if convention == "gen_ai":
            attributes["error.type"] = "tool_error" if call.failed else None
            prefix = _PREFIXES[0]
        span = _written(run, index, f"{prefix}{call.tool}", attributes)
        spans.append({**span, "status": {"code": 2}} if call.failed else span)
    service = {"key": "service.name", "value": {"stringValue": _SERVICE}}
    scope = {"scope": {"name": _SERVICE}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": [service]}, "scopeSpans": [scope]}]}


def _written(run: PlainRun, index: int, name: str, attributes: JsonObject) -> JsonObject:
    seconds = run.elapsed_seconds
    timed = index == 0 and seconds is not None and 0 <= seconds < _LONGEST_SECONDS
    root = _hex_id(f"{run.trace_id}\x1f0", 16)
    span = {
        "traceId": _hex_id(run.trace_id, 32),
        "spanId": _hex_id(f"{run.trace_id}\x1f{index}", 16),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(index),
        "endTimeUnixNano": str(round(float(seconds or 0) * 1e9) if timed else index),
        "attributes": [
            {"key": key, "value": {"stringValue": value}}
            for key, value in attributes.items()
            if value is not None
        ],
    }
    return {**span, "parentSpanId": root} if index else span


def _hex_id(text: str, digits: int) -> str:
    """An id of so many hexadecimal digits, the same for the same text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:digits]
