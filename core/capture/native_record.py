"""Native trace records (Appendix A) as traces, and traces written back as native records."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import TypeGuard

from core.capture.echoes import without_echoes
from core.capture.readable.structured import unfold_output
from core.capture.status import status_of
from core.capture.values import at, id_key, mapping, written
from core.codec import Fields, content_hash, json_kind
from core.codec.traces import APART, AS_READ, with_arguments
from core.errors import BadRecord
from core.records import JsonObject, Origin, RawRange, Source, SourceStatus, Span, Trace
from core.text.citation_marks import citations_in, order_doubt

_RECORD_KEYS = {
    "question_id", "user_question", "category", "route", "tool_calls", "full_tool_outputs",
    "final_reply_to_user", "earlier_answers", "elapsed_s",
}  # fmt: skip
_ANSWERS = ("final_reply_to_user", "assistant_answer")
_NAMED = ("question_id", "trace_id", "task_id")
# A record without any of these asks, answers, captures and names nothing.
_OF_A_TRACE = frozenset(
    {"user_question", "full_tool_outputs", "final_reply_to_user", "assistant_answer", *_NAMED}
)
# What the services call the fields of an answer with its outputs.
_OUTPUTS_AT = "tool_outputs"
_SERVICE_NAMES = {
    "question": "user_question",
    "answer": "final_reply_to_user",
    _OUTPUTS_AT: "full_tool_outputs",
}
_OUTPUT_KEYS = {
    "tool_name", "source_id", "source_role", "chunk_count", "text", "server", "call_id", "arguments",
    "uri", "status", "note",
}  # fmt: skip


def read_trace(value: object, origin: Origin | None, notes: Sequence[str] = ()) -> Trace:
    """The trace of one native record; raises BadRecord naming the path of a wrong value."""
    if not isinstance(value, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(value)}")
    fields = Fields(value, "")
    answer = _answer(fields)
    question = fields.optional_string("user_question") or ""
    called = _tool_calls(fields)
    sources, apart = _asked(question, fields)
    told = [note for note in notes if note != APART]  # it may have come with an export
    told += [order_doubt(answer, sources) or _no_answer(fields) or "", APART if apart else ""]
    trace = Trace(
        trace_id=_trace_id(fields),
        question=question,
        answer=answer,
        sources=sources,
        earlier=fields.tuple_of(str, "earlier_answers"),
        citations=citations_in(answer, sources),
        category=fields.optional_string("category"),
        route=fields.optional_string("route"),
        tool_calls=called,
        elapsed_seconds=fields.read(float | None, "elapsed_s"),
        origin=origin,
        notices=tuple(dict.fromkeys(note for note in told if note)),
        extra={key: item for key, item in value.items() if key not in _RECORD_KEYS},
    )
    if not _OF_A_TRACE & value.keys():
        raise BadRecord(
            f"none of the fields of a trace is in it ({', '.join(sorted(_OF_A_TRACE))})"
        )
    if not trace.trace_id:
        trace = dataclasses.replace(trace, trace_id=content_hash(trace))
    return _with_as_read(trace, value)


def export_native(trace: Trace) -> dict[str, object]:
    """The trace as a native record; a native trace comes back as it was read, field for field."""
    extra = dict(trace.extra)
    as_read = extra.pop(AS_READ, None)
    record: dict[str, object] = {
        "question_id": trace.trace_id,
        "user_question": trace.question,
        "category": trace.category,
        "route": trace.route,
        "tool_calls": list(trace.tool_calls),
        "full_tool_outputs": _outputs(trace.sources),
        "final_reply_to_user": trace.answer,
        "earlier_answers": list(trace.earlier) or None,
        "elapsed_s": trace.elapsed_seconds,
    }
    record = {key: value for key, value in record.items() if value is not None}
    record.update(extra)
    if isinstance(as_read, Mapping):
        changed, absent = as_read.get("changed"), as_read.get("absent")
        record.update(changed if isinstance(changed, Mapping) else {})
        for key in absent if isinstance(absent, list | tuple) else ():
            record.pop(str(key), None)
    return record


def _trace_id(fields: Fields) -> str:
    """``question_id``, else ``trace_id``, else ``task_id`` with its trial, else nothing."""
    for key in _NAMED:
        value = fields.get(key)
        if value is None or value == "":
            continue
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise fields.wrong(key, "text or a whole number")
        trial = fields.get("trial")
        return f"{value}::{trial}" if key == "task_id" and trial is not None else str(value)
    return ""


def _answer(fields: Fields) -> str | None:
    for key in _ANSWERS:
        text = fields.optional_string(key)
        if text and text.strip():
            return text
    return None


def _no_answer(fields: Fields) -> str | None:
    """Where an answer was looked for, when there is none and the record has other texts."""
    if any(key in fields.value for key in _ANSWERS):
        return None
    known = _RECORD_KEYS | _OF_A_TRACE
    texts = [str(k)[:40] for k, v in fields.value.items() if isinstance(v, str) and k not in known]
    if not texts:
        return None
    return f"no answer: looked for {' and '.join(_ANSWERS)}, not for {', '.join(texts[:5])}"


def _tool_calls(fields: Fields) -> tuple[str, ...]:
    names = []
    for index, call in enumerate(fields.sequence("tool_calls")):
        name = call.get("name") or call.get("tool_name") if isinstance(call, Mapping) else call
        if not isinstance(name, str):
            raise BadRecord(
                f"expected a tool name, found {json_kind(call)}", path=f"tool_calls[{index}]"
            )
        names.append(name)
    return tuple(names)


def _asked(question: str, fields: Fields) -> tuple[tuple[Source, ...], bool]:
    """The sources without what their calls had said already, and whether some calls stay apart."""
    read = _sources(fields.objects("full_tool_outputs"))
    sources, apart = with_arguments(read, fields.get("tool_calls"))
    ordered = sources
    if all(source.call_place is not None for source in sources):
        # Outputs may stand in another order than their calls: a later call repeats earlier outputs.
        ordered = tuple(sorted(sources, key=lambda source: source.call_place or 0))
    known = {source.source_id: source for source in without_echoes(question, ordered)}
    return tuple(known[source.source_id] for source in sources), apart


def _sources(outputs: Sequence[Fields]) -> tuple[Source, ...]:
    """Sources in the order of their first output; outputs of one id are its chunks."""
    groups: dict[str, list[tuple[int, Fields]]] = {}
    for index, output in enumerate(outputs):
        source_id = output.optional_string("source_id") or output.optional_string("tool_name")
        groups.setdefault(source_id or "unknown tool", []).append((index, output))
    return tuple(_source(source_id, chunks) for source_id, chunks in groups.items())


def _source(source_id: str, chunks: Sequence[tuple[int, Fields]]) -> Source:
    first = chunks[0][1]
    texts = [output.string("text") for _, output in chunks]
    read = [_chunk(output, text) for (_, output), text in zip(chunks, texts, strict=True)]
    usable = [chunk for chunk in read if chunk.status in (SourceStatus.OK, SourceStatus.TRUNCATED)]
    shown = usable or read
    text, raw_map = _joined(read, shown)
    whole = "\n\n".join(texts)
    source = Source(
        source_id=source_id,
        tool_name=first.optional_string("tool_name") or source_id,
        text=text,
        status=max((chunk.status for chunk in shown), key=_seriousness),
        server=first.optional_string("server"),
        call_id=first.optional_string("call_id"),
        arguments=first.optional_string("arguments"),
        source_role=first.optional_string("source_role"),
        chunk_count=first.read(int | None, "chunk_count"),
        uri=first.optional_string("uri"),
        structured=any(chunk.structured for chunk in shown),
        raw=whole if whole != text else None,
        raw_map=raw_map if whole != text else (),
        note="; ".join(dict.fromkeys(note for chunk in read for note in chunk.notes)) or None,
        extra={key: item for key, item in first.value.items() if key not in _OUTPUT_KEYS},
    )
    if len(chunks) == 1 and _outputs([source]) == [dict(first.value)]:
        return source
    as_read = []
    for (index, output), text in zip(chunks, texts, strict=True):
        fields = {key: item for key, item in output.value.items() if key != "text"}
        as_read.append({"index": index, "characters": len(text), "fields": fields})
    return dataclasses.replace(source, extra={**source.extra, AS_READ: as_read})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """One output made readable; ``raw_bytes`` is its length in the raw text."""

    text: str
    raw_map: tuple[RawRange, ...]
    raw_bytes: int
    structured: bool
    status: SourceStatus
    notes: tuple[str, ...]


def _chunk(output: Fields, raw: str) -> _Chunk:
    unfolded = unfold_output(raw)
    text = ""
    raw_map: list[RawRange] = []
    for part in unfolded.parts:
        shift = len(text) + (2 if text else 0)
        text = f"{text}\n\n{part.text}" if text else part.text
        raw_map.extend(_shifted(place, shift, 0) for place in part.raw_map)
    size = len(raw.encode("utf-8", "replace"))
    if not unfolded.changed and text:
        raw_map = [RawRange(text=Span(start=0, end=len(text)), raw_start=0, raw_end=size)]
    given = output.optional_string("status")
    status, reason = status_of(raw, text, unfolded, False, False)
    if given in {"error", "empty", "truncated", "not_captured", "echo"}:
        status, reason = SourceStatus(given), reason or output.optional_string("note")
    return _Chunk(
        text=text,
        raw_map=tuple(raw_map),
        raw_bytes=size,
        structured=any(part.structured for part in unfolded.parts),
        status=status,
        notes=tuple(note for note in (*unfolded.notes, reason) if note),
    )


def _joined(chunks: Sequence[_Chunk], shown: Sequence[_Chunk]) -> tuple[str, tuple[RawRange, ...]]:
    """The text of the chunks that count, and where it is in the raw text of all of them."""
    text, raw_at = "", 0
    raw_map: list[RawRange] = []
    for chunk in chunks:
        if chunk in shown:
            text += "\n\n" if text else ""
            raw_map.extend(_shifted(place, len(text), raw_at) for place in chunk.raw_map)
            text += chunk.text
        raw_at += chunk.raw_bytes + 2
    return text, tuple(raw_map)


def _shifted(place: RawRange, by: int, raw_by: int) -> RawRange:
    return RawRange(
        text=Span(start=place.text.start + by, end=place.text.end + by),
        raw_start=place.raw_start + raw_by,
        raw_end=place.raw_end + raw_by,
    )


def _seriousness(status: SourceStatus) -> int:
    return list(SourceStatus).index(status) if status is not SourceStatus.TRUNCATED else 1


def _outputs(sources: Sequence[Source]) -> list[object]:
    """The outputs of the sources, at the places where they were read."""
    placed: dict[int, object] = {}
    loose: list[object] = []
    for source in sources:
        chunks = source.extra.get(AS_READ)
        if not isinstance(chunks, list | tuple):
            loose.append(_output(source))
            continue
        raw, at = source.raw if source.raw is not None else source.text, 0
        for chunk in chunks:
            end = at + chunk["characters"]
            placed[chunk["index"]] = {**chunk["fields"], "text": raw[at:end]}
            at = end + 2
    for index in sorted(placed):
        loose.insert(index, placed[index])
    return loose


def _output(source: Source) -> dict[str, object]:
    whole = source.raw if source.raw is not None and source.uri is None else source.text
    output: dict[str, object | None] = {
        "tool_name": source.tool_name,
        "source_id": source.source_id,
        "source_role": source.source_role,
        "chunk_count": source.chunk_count,
        "text": whole,
        "server": source.server,
        "call_id": source.call_id,
        "arguments": source.arguments if source.call_place is None else None,
        "uri": source.uri,
        "status": None if source.status is SourceStatus.OK else source.status.value,
    }
    return {
        **{key: value for key, value in output.items() if value is not None},
        **{key: value for key, value in source.extra.items() if key != AS_READ},
    }


def _with_as_read(trace: Trace, record: JsonObject) -> Trace:
    """The trace with what ``export_native`` would otherwise get wrong about its record."""
    exported = export_native(trace)
    changed = {key: item for key, item in record.items() if exported.get(key, ...) != item}
    absent = [key for key in exported if key not in record]
    if not changed and not absent:
        return trace
    return dataclasses.replace(
        trace, extra={**trace.extra, AS_READ: {"changed": changed, "absent": absent}}
    )


def is_answer_record(value: object) -> TypeGuard[JsonObject]:
    """Whether a value is an answer with its outputs, as the services take it, and no native record."""
    told = isinstance(at(value, "answer"), str) and isinstance(at(value, _OUTPUTS_AT), list)
    return told and "full_tool_outputs" not in mapping(value)


def native_of(record: JsonObject) -> JsonObject:
    """The native record of such an answer: each output is a source of its own, unless ids join them.

    Raises BadRecord naming the path of a wrong value.
    """
    native = {_SERVICE_NAMES.get(key, key): item for key, item in record.items()}
    own = id_key(record)
    if own is not None and native.keys().isdisjoint(_NAMED):
        native["question_id"] = str(native.pop(own))
    seen: set[str] = set()
    outputs = []
    for output in Fields(record, "").objects(_OUTPUTS_AT):
        given = output.optional_string("source_id")
        tool = output.string("tool_name")
        output.read(SourceStatus | None, "status")
        name = given or output.optional_string("call_id") or tool
        numbered = chain([name], (f"{name}#{number}" for number in count(2)))
        source_id = next(x for x in numbered if given is not None or x not in seen)
        seen.add(source_id)
        fields = {key: item for key, item in output.value.items() if item is not None}
        for key in ("text", "arguments"):
            if isinstance(fields.get(key), Mapping | list):
                fields[key] = written(fields[key])
            elif key == "text":
                output.string(key)
        outputs.append({**fields, "source_id": source_id})
    return {**native, "full_tool_outputs": outputs}
