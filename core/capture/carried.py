"""A trace as a plain run that any captured format can hold, and that run as the same trace again.

A format holds the texts in fields of its own: question, answer, and each call with its output. What
it has no field for (source ids, roles, chunks, unknown fields) travels beside them under ``CARRIED``.
No text of a tool travels there, so that what is verified is what the format's own fields say.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.capture.files import parse_record
from core.capture.native_record import export_native, read_trace
from core.capture.turns import CapturedCall
from core.codec import trace_document, trace_from_document
from core.errors import BadRecord
from core.records import Citation, JsonObject, Origin, SourceStatus, Trace

CARRIED = "provenanceguard.trace"
CHANGED = "this trace was changed after its export; what the export carried beside it was left out"
_VERSION = 1
_ANSWER_KEYS = ("final_reply_to_user", "assistant_answer")
_UNNAMED = "unknown tool"


def input_of(call: CapturedCall) -> JsonObject:
    """The arguments of a call as the object that most formats want."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": call.arguments}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRun:
    """What formats hold of a trace, its ``native`` record, and what is to be carried beside it.

    The id of each call is unique in it.
    """

    trace_id: str
    question: str
    answer: str | None
    calls: tuple[CapturedCall, ...]
    elapsed_seconds: float | None
    native: JsonObject
    carried: JsonObject


def placed_at(index: int) -> str:
    """A time that tells an order and nothing else: a trace holds no clock times."""
    return f"1970-01-01T00:00:00.{min(index, 999_999):06d}Z"


def as_messages(
    run: PlainRun,
    content: str | None,
    call: Callable[[CapturedCall], JsonObject],
    output: Callable[[CapturedCall], JsonObject],
) -> list[JsonObject]:
    """The question, one turn (with ``content``) that calls every tool, their outputs, the answer."""
    messages: list[JsonObject] = []
    if run.question:
        messages.append({"role": "user", "content": run.question})
    if run.calls:
        made = [call(one) for one in run.calls]
        messages.append({"role": "assistant", "content": content, "tool_calls": made})
    messages += [output(one) for one in run.calls if one.output is not None]
    if run.answer is not None:
        messages.append({"role": "assistant", "content": run.answer})
    return messages


def plain_run(trace: Trace) -> PlainRun:
    """The run of a trace: one call for each output of its native record."""
    native = export_native(trace)
    record = dict(native)
    listed = record.get("full_tool_outputs")
    outputs: list[Mapping[str, object]] = []
    carried: dict[str, object] = {"version": _VERSION}
    if isinstance(listed, list | tuple):
        outputs = [item for item in listed if isinstance(item, Mapping)]
        del record["full_tool_outputs"]
        fields = [{k: v for k, v in output.items() if k != "text"} for output in outputs]
        carried["outputs"] = fields
    asked = [
        key for key in ("user_question",) if trace.question and record.get(key) == trace.question
    ]
    said = [key for key in _ANSWER_KEYS if trace.answer and record.get(key) == trace.answer]
    for key in (*asked, *said):
        del record[key]
    carried |= {"record": record, "asked_in": asked, "answered_in": said}
    carried |= {"notices": list(trace.notices)}
    if trace.citations != read_trace(native, None).citations:
        carried["citations"] = trace_document(trace)["citations"]
    return PlainRun(
        trace_id=trace.trace_id,
        question=trace.question,
        answer=trace.answer,
        calls=_calls(outputs),
        elapsed_seconds=trace.elapsed_seconds,
        native=native,
        carried=carried,
    )


def restored(
    carried: object,
    question: str,
    answer: str | None,
    calls: Sequence[tuple[str, str | None]],
    origin: Origin,
) -> Trace | None:
    """The trace that was exported, with the texts found now; None when what is carried does not fit.

    ``calls`` are the tools with their outputs, in the order in which they were exported.
    """
    if isinstance(carried, str):
        try:
            carried, _ = parse_record(carried.encode("utf-8", "replace"))
        except BadRecord:
            return None
    if not isinstance(carried, Mapping) or carried.get("version") != _VERSION:
        return None
    record, outputs = carried.get("record"), carried.get("outputs")
    listed = outputs if isinstance(outputs, list) else []
    fields = [item for item in listed if isinstance(item, Mapping)]
    if not isinstance(record, Mapping) or len(fields) != len(listed):
        return None
    if [_tool(item) for item in fields] != [tool for tool, _ in calls]:
        return None
    whole = {str(key): value for key, value in record.items()}
    if question:
        whole |= dict.fromkeys(_names(carried.get("asked_in"), ("user_question",)), question)
    if answer is not None:
        whole |= dict.fromkeys(_names(carried.get("answered_in"), _ANSWER_KEYS), answer)
    if isinstance(outputs, list):
        whole["full_tool_outputs"] = [
            {**item, "text": output or ""} for item, (_, output) in zip(fields, calls, strict=True)
        ]
    elif whole.get("full_tool_outputs"):
        return None
    try:
        trace = read_trace(whole, origin, _names(carried.get("notices"), None))
        trace = _with_citations(trace, carried.get("citations"))
    except BadRecord:
        return None
    told = answer if answer is not None and answer.strip() else None
    return trace if (trace.question, trace.answer) == (question, told) else None


def _calls(outputs: Sequence[Mapping[str, object]]) -> tuple[CapturedCall, ...]:
    given = [output.get("call_id") for output in outputs]
    numbered = [f"call_{number}" for number in range(1, len(outputs) + 1)]
    ids = [
        one if isinstance(one, str) and one.strip() and given.count(one) == 1 else number
        for one, number in zip(given, numbered, strict=True)
    ]
    ids = ids if len(set(ids)) == len(ids) else numbered  # one was given the name of another
    calls = []
    for call_id, output in zip(ids, outputs, strict=True):
        status, text = output.get("status"), output.get("text")
        missing = status == SourceStatus.NOT_CAPTURED.value and not text
        calls.append(
            CapturedCall(
                tool=_tool(output),
                call_id=call_id,
                server=_text(output.get("server")),
                arguments=_text(output.get("arguments")),
                output=None if missing else str(text),
                failed=status == SourceStatus.ERROR.value,
                truncated=status == SourceStatus.TRUNCATED.value,
            )
        )
    return tuple(calls)


def _tool(output: Mapping[str, object]) -> str:
    return _text(output.get("tool_name")) or _text(output.get("source_id")) or _UNNAMED


def _with_citations(trace: Trace, citations: object) -> Trace:
    """The trace with the citations that its first capture held; those that no longer fit are left out."""
    if not isinstance(citations, list):
        return trace
    document = {**trace_document(trace), "citations": citations}
    return dataclasses.replace(
        trace,
        citations=tuple(
            citation
            for citation in trace_from_document(document).citations
            if _fits(citation, trace)
        ),
    )


def _fits(citation: Citation, trace: Trace) -> bool:
    known = {source.source_id for source in trace.sources}
    return 0 <= citation.span.start < citation.span.end <= len(trace.answer or "") and (
        citation.source_id is None or citation.source_id in known
    )


def _names(value: object, allowed: Sequence[str] | None) -> tuple[str, ...]:
    items = value if isinstance(value, list) else ()
    return tuple(x for x in items if isinstance(x, str) and (allowed is None or x in allowed))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
