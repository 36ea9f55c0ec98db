"""OpenTelemetry GenAI spans: attributes since 1.37, message events before, MCP and AI SDK spans.

Content is opt-in in these conventions, so that most production traces hold none: such calls are
``not_captured``, and never verified as if they had been empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, trace_of_run, written
from core.capture.span_attributes import Attributes, indexed, parsed
from core.capture.spans import (
    SpanCall,
    SpanEvent,
    SpanRecord,
    TraceSpans,
    merge_calls,
    new_turns,
    read_spans,
    spans_of,
)
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "otel"

_MARKS = ("gen_ai.", "mcp.method.name", "ai.operationId", "traceloop.", "ai.toolCall.")
_NOT_CAPTURED = "the message content of this trace was not captured (it is opt-in)"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are GenAI spans."""
    best = 0.0
    for value in values:
        for item in spans_of(value, 0):
            if isinstance(item, BadRecord):
                continue
            if not isinstance(item, SpanRecord):
                best = max(best, 0.7 if item[2].name.startswith("gen_ai.") else 0.1)
                continue
            if "openinference.span.kind" in item.attributes:
                return 0.0
            known = any(key.startswith(_MARKS) for key in item.attributes) or any(
                event.name.startswith("gen_ai.") for event in item.events
            )
            best = max(best, 0.9 if known else 0.1)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all spans have been read."""
    yield from read_spans(records, file, _trace)


def _trace(spans: TraceSpans, file: str) -> Trace:
    seen: dict[object, int] = {}
    turns: list[Turn] = []
    asked: list[str] = []
    answer: str | None = None
    for span in spans.spans:
        before, after = _messages(span)
        turns.extend(new_turns([*before, *after], seen))
        if span is spans.root:
            asked = [turn.text for turn in before if isinstance(turn, Said) and turn.role == "user"]
            said = [
                t
                for t in after
                if isinstance(t, Said) and t.role == "assistant" and not t.calls_tools
            ]
            answer = said[-1].text if said else None
    talk = read_conversation(turns, answer)
    described = [call for span in spans.spans for call in _calls(span)]
    notices = list(spans.notes)
    if not turns:
        notices.append(_NOT_CAPTURED)
    versions = [span.attributes.get("mcp.protocol.version") for span in spans.spans]
    return trace_of_run(
        CapturedRun(
            origin=Origin(
                format=NAME,
                version=next((v for v in versions if isinstance(v, str)), None),
                file=file,
                line=spans.spans[0].line,
            ),
            trace_id=spans.trace_id,
            question=asked[0] if len(asked) == 1 else talk.question,
            answer=talk.answer,
            calls=merge_calls(turns, described),
            notices=notices,
            carried=spans.root.attributes.get(CARRIED),
        )
    )


# ---------------------------------------------------------------- tool calls


def _calls(span: SpanRecord) -> Iterator[SpanCall]:
    attributes = span.attributes
    if attributes.get("gen_ai.operation.name") == "execute_tool" or span.name.startswith(
        "execute_tool "
    ):
        tool = _text(attributes, "gen_ai.tool.name") or span.name.removeprefix("execute_tool ")
        yield _span_call(
            span,
            tool,
            _text(attributes, "gen_ai.tool.call.id"),
            attributes.get("gen_ai.tool.call.arguments"),
            attributes.get("gen_ai.tool.call.result"),
        )
    elif attributes.get("mcp.method.name") == "tools/call":
        tool = _text(attributes, "gen_ai.tool.name") or span.name.removeprefix("tools/call ")
        identity = attributes.get("jsonrpc.request.id")
        yield _span_call(
            span,
            tool,
            None if identity is None else str(identity),
            attributes.get("gen_ai.tool.call.arguments"),
            attributes.get("gen_ai.tool.call.result"),
            wire=True,
        )
    elif "ai.toolCall.name" in attributes:  # the AI SDK
        yield _span_call(
            span,
            str(attributes["ai.toolCall.name"]),
            _text(attributes, "ai.toolCall.id"),
            attributes.get("ai.toolCall.args", attributes.get("ai.toolCall.input")),
            attributes.get("ai.toolCall.result", attributes.get("ai.toolCall.output")),
        )
    elif attributes.get("traceloop.span.kind") == "tool":
        yield _span_call(
            span,
            _text(attributes, "traceloop.entity.name") or span.name,
            None,
            attributes.get("traceloop.entity.input"),
            attributes.get("traceloop.entity.output"),
        )


def _span_call(
    span: SpanRecord,
    tool: str,
    call_id: str | None,
    arguments: object,
    output: object,
    *,
    wire: bool = False,
) -> SpanCall:
    attributes = span.attributes
    server = _text(attributes, "mcp.server.name") or (
        _text(attributes, "server.address") if wire else None
    )
    failed = span.failed or bool(attributes.get("error.type"))
    if failed and output is None:
        output = (
            _text(attributes, "error.message")
            or _exception(span)
            or _text(attributes, "error.type")
        )
    return SpanCall(
        call=CapturedCall(
            tool=tool or "unknown tool",
            call_id=call_id,
            server=server,
            arguments=None if arguments is None else written(arguments),
            output=None if output is None else written(output),
            failed=failed,
        ),
        span_id=span.span_id,
        parent_id=span.parent_id,
        wire=wire,
    )


def _exception(span: SpanRecord) -> str | None:
    for event in span.events:
        if event.name == "exception":
            return _text(event.attributes, "exception.message")
    return None


# ---------------------------------------------------------------- messages


def _messages(span: SpanRecord) -> tuple[list[Turn], list[Turn]]:
    """What went into a model or agent and what came out."""
    before: list[Turn] = []
    after: list[Turn] = []
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        before.extend(_parts_of(attributes.get("gen_ai.input.messages"), "user"))
        after.extend(_parts_of(attributes.get("gen_ai.output.messages"), "assistant"))
    for event in span.events:
        (after if event.name in ("gen_ai.choice", "gen_ai.content.completion") else before).extend(
            _event(event)
        )
    attributes = span.attributes
    for row in indexed(attributes, "gen_ai.prompt."):
        before.extend(_flat_message(row))
    for row in indexed(attributes, "gen_ai.completion."):
        after.extend(_flat_message(row, "assistant"))
    prompt = parsed(attributes.get("ai.prompt.messages") or attributes.get("ai.prompt"))
    if isinstance(prompt, Mapping):
        text = prompt.get("prompt")
        before.extend([Said(role="user", text=text)] if isinstance(text, str) else [])
        prompt = prompt.get("messages")
    before.extend(_parts_of(prompt, "user"))
    text = _text(attributes, "ai.response.text") or _text(attributes, "ai.response.object")
    calls = parsed(attributes.get("ai.response.toolCalls"))
    made = list(_parts(calls, "assistant")) if isinstance(calls, list) else []
    if text:
        after.append(Said(role="assistant", text=text, calls_tools=bool(made)))
    after.extend(made)
    return before, after


def _parts_of(messages: object, role: str) -> Iterator[Turn]:
    """Messages with ``parts`` (current), ``content`` (older) or AI SDK content parts."""
    messages = parsed(messages)
    if isinstance(messages, Mapping):
        messages = [messages]
    if isinstance(messages, str) and messages:
        yield Said(role=role, text=messages)
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            continue
        speaker = str(message.get("role") or role)
        parts = message.get("parts", message.get("content"))
        if speaker == "tool" and isinstance(parts, str):
            yield Returned(
                call_id=_any(message, "tool_call_id", "id"),
                output=parts,
                tool=_text(message, "name"),
            )
            continue
        calls = message.get("tool_calls")
        found = [
            *_parts(parts, speaker),
            *(_parts(calls, speaker) if isinstance(calls, list) else ()),
        ]
        calling = any(isinstance(turn, Called) for turn in found)
        said = [turn.text for turn in found if isinstance(turn, Said)]
        if any(text.strip() for text in said):
            yield Said(role=_speaker(speaker), text="\n".join(said), calls_tools=calling)
        yield from (turn for turn in found if not isinstance(turn, Said))


def _parts(parts: object, role: str) -> Iterator[Turn]:
    if isinstance(parts, str):
        yield Said(role=role, text=parts)
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            yield Said(role=role, text=part)
        if not isinstance(part, Mapping):
            continue
        kind = _part_kind(part)
        function = part.get("function")
        inner: Mapping[str, object] = function if isinstance(function, Mapping) else part
        if (
            kind in ("tool_call", "server_tool_call", "tool-call", "function")
            or "toolCallId" in part
            and (kind != "tool-result")
        ):
            details = inner.get("server_tool_call")
            inner = details if isinstance(details, Mapping) else inner
            arguments = next(
                (inner[k] for k in ("arguments", "args", "input") if inner.get(k) is not None), None
            )
            yield Called(
                tool=_any(inner, "name", "toolName") or _any(part, "name") or "unknown tool",
                call_id=_any(part, "id", "toolCallId"),
                arguments=None if arguments is None else written(arguments),
            )
        elif kind in ("tool_call_response", "server_tool_call_response", "tool-result"):
            # The schema says response, the prose of the same document says result: both are in use.
            keys = ("response", "result", "output", "server_tool_call_response", "content")
            output = next((part[k] for k in keys if part.get(k) is not None), None)
            if (
                isinstance(output, Mapping)
                and output.get("type") in ("text", "json")
                and "value" in output
            ):
                output = output["value"]
            yield Returned(
                call_id=_any(part, "id", "toolCallId"),
                output=None if output is None else written(output),
                tool=_any(part, "name", "toolName"),
                failed=part.get("isError") is True,
            )
        elif kind in ("text", ""):
            text = part.get("content", part.get("text"))
            if isinstance(text, str):
                yield Said(role=role, text=text)


def _part_kind(part: Mapping[str, object]) -> str:
    """The type of a part, or what its fields make of it when it names none."""
    kind = part.get("type")
    if isinstance(kind, str) and kind:
        return kind
    if "response" in part or "result" in part:
        return "tool_call_response"
    return "tool_call" if "arguments" in part or "function" in part else ""


def _event(event: SpanEvent) -> Iterator[Turn]:
    """The message events of 1.36 and before."""
    fields: Attributes = event.attributes
    whole = parsed(fields.get("gen_ai.event.content"))
    if isinstance(whole, Mapping):
        fields = {**fields, **whole}
    content = fields.get("content")
    if event.name == "gen_ai.tool.message":
        yield Returned(
            call_id=_any(fields, "id", "tool_call_id"),
            output=None if content is None else written(content),
            tool=_text(fields, "name"),
        )
    elif event.name == "gen_ai.choice":
        message = parsed(fields.get("message"))
        yield from _parts_of(
            {"role": "assistant", **(message if isinstance(message, Mapping) else fields)},
            "assistant",
        )
    elif event.name in ("gen_ai.user.message", "gen_ai.system.message", "gen_ai.assistant.message"):
        role = event.name.split(".")[1]
        calls = parsed(fields.get("tool_calls"))
        yield from _parts_of({"role": role, "content": content, "tool_calls": calls}, role)
    elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
        key = event.name.replace("content.", "")
        role = "user" if key.endswith("prompt") else "assistant"
        yield from _parts_of(fields.get(key), role)


def _flat_message(row: Mapping[str, object], role: str = "user") -> Iterator[Turn]:
    """``gen_ai.prompt.0.role`` and its like, as some instrumentations write them."""
    role = str(row.get("role") or role)
    calls: list[Turn] = [
        Called(
            tool=_any(call, "name", "function.name") or "unknown tool",
            call_id=_any(call, "id"),
            arguments=_any(call, "arguments", "function.arguments"),
        )
        for call in indexed(row, "tool_calls.")
    ]
    content = row.get("content")
    if role == "tool":
        yield Returned(
            call_id=_any(row, "tool_call_id"), output=None if content is None else written(content)
        )
    elif isinstance(content, str) and content.strip():
        whole = parsed(content)
        if isinstance(whole, list):
            yield from _parts_of([{"role": role, "content": whole}], role)
        else:
            yield Said(role=_speaker(role), text=content, calls_tools=bool(calls))
    yield from calls


def _speaker(role: str) -> str:
    return {"model": "assistant", "ai": "assistant", "human": "user", "developer": "system"}.get(
        role, role
    )


def _any(value: Mapping[str, object], *keys: str) -> str | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str | int) and found != "":
            return str(found)
    return None


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
