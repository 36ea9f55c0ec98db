"""OpenInference spans (Phoenix, Arize): LLM messages, TOOL spans and retrieved documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, trace_of_run, written
from core.capture.span_attributes import indexed, parsed
from core.capture.spans import (
    SpanCall,
    SpanRecord,
    TraceSpans,
    merge_calls,
    new_turns,
    read_spans,
    spans_of,
)
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.config import Config
from core.errors import InputError
from core.records import Origin, Trace

NAME = "openinference"

_KIND = "openinference.span.kind"
_NOT_CAPTURED = "the message content of this trace was not captured or was masked"
_REDACTED = "__REDACTED__"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are OpenInference spans."""
    for value in values:
        for item in spans_of(value, 0):
            if isinstance(item, SpanRecord) and _KIND in item.attributes:
                return 0.95
    return 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all spans have been read."""
    yield from read_spans(records, file, _trace)


def _trace(spans: TraceSpans, file: str) -> Trace:
    seen: dict[object, int] = {}
    turns: list[Turn] = []
    for span in spans.spans:
        if _kind(span) == "LLM":
            before = _messages(span, "llm.input_messages.", "user")
            after = _messages(span, "llm.output_messages.", "assistant")
            if not before and (text := _shown(span, "input.value")):
                before = [Said(role="user", text=text)]
            if not after and (text := _shown(span, "output.value")):
                after = [Said(role="assistant", text=text)]
            turns.extend(new_turns([*before, *after], seen))
    root = spans.root
    answer = _shown(root, "output.value") if _kind(root) in ("AGENT", "CHAIN") else None
    talk = read_conversation(turns, answer)
    question = _shown(root, "input.value") if _kind(root) in ("AGENT", "CHAIN") else None
    described = [call for span in spans.spans for call in _calls(span)]
    notices = list(spans.notes)
    if not turns and talk.answer is None:
        notices.append(_NOT_CAPTURED)
    return trace_of_run(
        CapturedRun(
            origin=Origin(format=NAME, file=file, line=spans.spans[0].line),
            trace_id=spans.trace_id,
            question=question or talk.question,
            answer=talk.answer,
            calls=merge_calls(turns, described),
            notices=notices,
            carried=spans.root.attributes.get(CARRIED),
        )
    )


def _calls(span: SpanRecord) -> Iterator[SpanCall]:
    attributes = span.attributes
    kind = _kind(span)
    if kind == "TOOL":
        output = attributes.get("output.value")
        captured = output is not None and output != _REDACTED
        error = next(
            (e.attributes.get("exception.message") for e in span.events if e.name == "exception"),
            None,
        )
        arguments = attributes.get("input.value", attributes.get("tool.parameters"))
        yield SpanCall(
            call=CapturedCall(
                tool=_text(attributes, "tool.name") or span.name or "unknown tool",
                call_id=_text(attributes, "tool.id") or _text(attributes, "tool_call.id"),
                arguments=None if arguments is None else written(arguments),
                output=written(output) if captured else written(error) if error else None,
                failed=span.failed,
            ),
            span_id=span.span_id,
            parent_id=span.parent_id,
        )
    elif kind in ("RETRIEVER", "RERANKER"):
        prefix = "retrieval.documents." if kind == "RETRIEVER" else "reranker.output_documents."
        documents = [_document(row) for row in indexed(attributes, prefix)]
        if kind == "RERANKER":
            return  # the same documents again, in another order
        query = attributes.get("input.value")
        yield SpanCall(
            call=CapturedCall(
                tool=span.name or "retriever",
                call_id=span.span_id,
                arguments=None if query is None else written(query),
                output=written(documents) if documents else None,
                failed=span.failed,
            ),
            span_id=span.span_id,
            parent_id=span.parent_id,
        )


def _document(row: Mapping[str, object]) -> dict[str, object]:
    """A retrieved document as a search result: a source of its own under its id."""
    metadata = parsed(row.get("document.metadata"))
    fields: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    address = row.get("document.id") or fields.get("source") or fields.get("url")
    title = fields.get("title")
    return {
        "type": "search_result",
        **({"source": str(address)} if address is not None else {}),
        **({"title": title} if isinstance(title, str) else {}),
        "content": [{"type": "text", "text": str(row.get("document.content") or "")}],
    }


def _messages(span: SpanRecord, prefix: str, role: str) -> list[Turn]:
    turns: list[Turn] = []
    for row in indexed(span.attributes, prefix):
        turns.extend(_turns(row, role))
    return turns


def _turns(row: Mapping[str, object], role: str) -> Iterator[Turn]:
    speaker = str(row.get("message.role") or role)
    text = row.get("message.content")
    if not isinstance(text, str):
        parts = indexed(row, "message.contents.")
        texts = [part.get("message_content.text") for part in parts]
        text = "\n".join(part for part in texts if isinstance(part, str))
    if text == _REDACTED:
        text = ""
    if speaker in ("tool", "function"):
        redacted = row.get("message.content") == _REDACTED
        yield Returned(
            call_id=_text(row, "message.tool_call_id"),
            output=None if redacted else text,
            tool=_text(row, "message.name"),
        )
        return
    calls = [
        Called(
            tool=_text(call, "tool_call.function.name") or "unknown tool",
            call_id=_text(call, "tool_call.id"),
            arguments=_written(call.get("tool_call.function.arguments")),
        )
        for call in indexed(row, "message.tool_calls.")
    ]
    legacy = _text(row, "message.function_call_name")
    if legacy:
        arguments = _written(row.get("message.function_call_arguments_json"))
        calls.append(Called(tool=legacy, call_id=None, arguments=arguments))
    if text.strip():
        names = {"model": "assistant", "ai": "assistant", "human": "user", "developer": "system"}
        yield Said(role=names.get(speaker, speaker), text=text, calls_tools=bool(calls))
    yield from calls


def _shown(span: SpanRecord, key: str) -> str | None:
    """The text of an input or output: itself, or the text in the JSON that frameworks put around it."""
    value = span.attributes.get(key)
    if not isinstance(value, str) or not value.strip() or value == _REDACTED:
        return None
    if span.attributes.get(key.replace("value", "mime_type")) == "text/plain":
        return value
    whole = parsed(value)
    if isinstance(whole, Mapping):
        return _said(whole)
    if isinstance(whole, list):
        said = [_said(item) for item in whole if isinstance(item, Mapping)]
        return said[-1] if said else None
    return value


def _said(value: Mapping[str, object]) -> str | None:
    keys = (
        "output",
        "answer",
        "response",
        "result",
        "input",
        "question",
        "query",
        "content",
        "text",
    )
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, Mapping) and (inner := _said(found)):
            return inner
    messages = value.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if isinstance(last, list) and last:
        last = last[-1]
    return _said(last) if isinstance(last, Mapping) else None


def _kind(span: SpanRecord) -> str:
    return str(span.attributes.get(_KIND) or "").upper()


def _written(value: object) -> str | None:
    return None if value is None else written(value)


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
