"""Spans as the steps of a run: one table of attributes for OpenTelemetry GenAI, OpenInference and kin.

Content is opt-in in these conventions, so that most production traces hold none: such calls are
``not_captured``, and never verified as if they had been empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from core.capture.answers import AnswersSeen
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.messages import text_in
from core.capture.outputs import CapturedCall, CapturedRun, written
from core.capture.runs import turns_of
from core.capture.span_attributes import Attributes, indexed, mapping, parsed
from core.capture.spans import SpanCall, SpanEvent, SpanRecord, TraceSpans, gather_spans
from core.capture.steps import Run, Step, traces_of_steps
from core.capture.turns import Said, Turn
from core.errors import InputError
from core.records import Origin, Trace

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


def read_named(
    records: Iterable[FileRecord | InputError], file: str, name: str
) -> Iterator[Trace | InputError]:
    """The traces of each trace id, when all spans have been read."""
    seen = AnswersSeen()
    for item in gather_spans(records, file):
        if isinstance(item, InputError):
            yield item
        else:
            yield from _traces(item, file, name, seen)


def kind_of(span: SpanRecord) -> str:
    """The kind that OpenInference gives a span, in capitals; empty without one."""
    return str(span.attributes.get("openinference.span.kind") or "").upper()


def _traces(spans: TraceSpans, file: str, name: str, seen: AnswersSeen) -> Iterator[Trace]:
    unknown: dict[str, None] = {}
    root = spans.root
    logged = Run()
    for span in spans.spans:
        before, after = _messages(span, unknown)
        logged.steps.append(Step(before=before, after=after, call=_call(span)))
        if span is root:
            logged.asked, logged.told = before, after if spans.rooted else []
    if kind_of(root) in ("AGENT", "CHAIN", ""):
        logged.asked = _values(root, _ASKED, "user", unknown) or logged.asked
        logged.told = _values(root, _TOLD, "assistant", unknown) or logged.told
    notices = [
        *spans.notes,
        *(f"blocks of the type {kind} were not understood" for kind in unknown),
    ]
    said = (
        logged.asked,
        logged.told,
        *(side for s in logged.steps for side in (s.before, s.after)),
    )
    if not any(said):
        notices.append(_NOT_CAPTURED)
    versions = [span.attributes.get("mcp.protocol.version") for span in spans.spans]
    run = CapturedRun(
        origin=Origin(
            format=name,
            version=next((v for v in versions if isinstance(v, str)), None),
            file=file,
            line=spans.spans[0].line,
        ),
        trace_id=spans.trace_id,
        question="",
        answer=None,
        calls=(),
        notices=notices,
        carried=root.attributes.get(CARRIED),
    )
    yield from traces_of_steps(run, logged, seen)


# ---------------------------------------------------------------- tool calls


def _call(span: SpanRecord) -> SpanCall | None:
    attributes, kind = span.attributes, kind_of(span)
    if kind == "RETRIEVER":  # a RERANKER holds the same documents again, in another order
        documents = [_document(row) for row in indexed(attributes, "retrieval.documents.")]
        output = written(documents) if documents else None
        return _span_call(
            span, span.name or "retriever", span.span_id, attributes.get("input.value"), output
        )
    if kind == "TOOL":
        convention = "openinference"
    elif attributes.get("mcp.method.name") == "tools/call":
        convention = "mcp"
    elif attributes.get("gen_ai.operation.name") == "execute_tool" or span.name.startswith(
        _PREFIXES[0]
    ):
        convention = "gen_ai"
    elif "ai.toolCall.name" in attributes:
        convention = "ai"
    elif attributes.get("traceloop.span.kind") == "tool":
        convention = "traceloop"
    else:
        return None
    named, ids, given, returned = _TOOLS[convention]
    tool = text_in(attributes, *named) or span.name
    for prefix in _PREFIXES:
        tool = tool.removeprefix(prefix)
    call_id = next((str(attributes[key]) for key in ids if attributes.get(key) is not None), None)
    return _span_call(
        span,
        tool,
        call_id,
        _first(attributes, given),
        _first(attributes, returned),
        convention == "mcp",
    )


def _span_call(
    span: SpanRecord,
    tool: str,
    call_id: str | None,
    arguments: object,
    output: object,
    wire: bool = False,
) -> SpanCall:
    attributes = span.attributes
    failed = span.failed or bool(attributes.get("error.type"))
    if output == _REDACTED:
        output = None
    if failed and output is None:
        told = next(
            (e.attributes.get("exception.message") for e in span.events if e.name == "exception"),
            None,
        )
        output = attributes.get("error.message") or told or attributes.get("error.type")
    server = text_in(attributes, "mcp.server.name", *(("server.address",) if wire else ()))
    return SpanCall(
        call=CapturedCall(
            tool=tool or "unknown tool",
            call_id=call_id or None,
            server=server,
            arguments=None if arguments is None else written(arguments),
            output=None if output is None else written(output),
            failed=failed,
        ),
        span_id=span.span_id,
        parent_id=span.parent_id,
        wire=wire,
    )


def _document(row: Mapping[str, object]) -> dict[str, object]:
    """A retrieved document as a search result: a source of its own under its id."""
    fields = mapping(parsed(row.get("document.metadata")))
    address = row.get("document.id") or fields.get("source") or fields.get("url")
    title = fields.get("title")
    return {
        "type": "search_result",
        **({"source": str(address)} if address is not None else {}),
        **({"title": title} if isinstance(title, str) else {}),
        "content": [{"type": "text", "text": str(row.get("document.content") or "")}],
    }


# ---------------------------------------------------------------- messages


def _messages(span: SpanRecord, unknown: dict[str, None]) -> tuple[list[Turn], list[Turn]]:
    """What went into a model or agent and what came out."""
    before: list[Turn] = []
    after: list[Turn] = []
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        for side, keys, role in ((before, _BEFORE, "user"), (after, _AFTER, "assistant")):
            side += turns_of(_first(attributes, keys), role, unknown)
    for event in span.events:
        ended = event.name in ("gen_ai.choice", "gen_ai.content.completion")
        (after if ended else before).extend(_event(event, unknown))
    attributes = span.attributes
    for prefix, side, role in (
        ("gen_ai.prompt.", before, "user"),
        ("gen_ai.completion.", after, "assistant"),
        ("llm.input_messages.", before, "user"),
        ("llm.output_messages.", after, "assistant"),
    ):
        for row in indexed(attributes, prefix):
            side += turns_of(_message(row, role), role, unknown)
    text = text_in(attributes, "ai.response.text", "ai.response.object")
    calls = parsed(attributes.get("ai.response.toolCalls"))
    if text or calls:
        reply = {"role": "assistant", "content": text, "tool_calls": calls}
        after += turns_of(reply, "assistant", unknown)
    if kind_of(span) == "LLM":
        before = before or _values(span, ("input.value",), "user", unknown)
        after = after or _values(span, ("output.value",), "assistant", unknown)
    return before, after


def _message(row: Mapping[str, object], role: str) -> dict[str, object]:
    """``gen_ai.prompt.0.role``, ``llm.input_messages.0.message.role`` and their like as one message."""
    fields = {key.removeprefix("message."): value for key, value in row.items()}
    content = fields.get("content")
    if not isinstance(content, str):
        parts = indexed(fields, "contents.")
        texts = [part.get("message_content.text") for part in parts]
        content = "\n".join(text for text in texts if isinstance(text, str)) or content
    whole = parsed(content)
    given = [
        {
            key.removeprefix("tool_call.").removeprefix("function."): value
            for key, value in call.items()
        }
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
    else:
        content = "" if masked else whole if isinstance(whole, list) else content
    return {
        "role": speaker,
        "content": content,
        **({"masked": True} if masked else {}),
        **{key: fields[key] for key in ("tool_call_id", "name") if key in fields},
        **({"tool_calls": calls} if calls else {}),
    }


def _event(event: SpanEvent, unknown: dict[str, None]) -> list[Turn]:
    """The message events of 1.36 and before."""
    fields: Attributes = {
        **event.attributes,
        **mapping(parsed(event.attributes.get("gen_ai.event.content"))),
    }
    if event.name == "gen_ai.choice":
        message = mapping(parsed(fields.get("message"))) or fields
        return turns_of({**message, "role": "assistant"}, "assistant", unknown)
    kind, _, role = event.name.removesuffix(".message").partition(".")
    if kind == "gen_ai" and role in ("user", "system", "assistant", "tool"):
        identity = {"tool_call_id": fields.get("id") or fields.get("tool_call_id")}
        calls = parsed(fields.get("tool_calls"))
        named = {"name": fields["name"]} if "name" in fields else {}
        message = {"role": role, "content": fields.get("content"), **named}
        return turns_of(
            {**message, **(identity if role == "tool" else {"tool_calls": calls})}, role, unknown
        )
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
        if turns := turns_of(value, role, unknown):
            return turns
    return []


def _first(attributes: Attributes, keys: Iterable[str]) -> object:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)
