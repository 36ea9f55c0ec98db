"""A trace as one canonical JSON document and back, and the hash that identifies its content."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence

from core.codec.fields import canonical_json, read_record, record_document
from core.records import JsonObject, Source, Trace

# What a record or an output held beyond what a Trace can say, so that export gives it back.
AS_READ = "provenanceguard:as_read"
APART = "what some tools were asked is not shown: the record does not say which output answers which call"


def content_hash(trace: Trace) -> str:
    """``sha256:…`` over the trace's canonical document; where it was read from does not count."""
    document = {key: value for key, value in trace_document(trace).items() if key != "origin"}
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("utf-8")).hexdigest()


def trace_document(trace: Trace) -> JsonObject:
    """The whole trace as JSON values; ``trace_from_document`` gives the same trace back.

    Arguments that were joined to their outputs stand in the record's calls alone, as they were read.
    """
    sources = tuple(
        each
        if each.call_place is None
        else dataclasses.replace(each, arguments=None, call_place=None)
        for each in trace.sources
    )
    notices = tuple(notice for notice in trace.notices if notice != APART)
    return record_document(dataclasses.replace(trace, sources=sources, notices=notices))


def trace_from_document(document: JsonObject) -> Trace:
    """The trace that ``trace_document`` wrote; raises BadRecord naming the path of a wrong value."""
    trace: Trace = read_record(Trace, document)
    as_read = trace.extra.get(AS_READ)
    changed = as_read.get("changed") if isinstance(as_read, Mapping) else None
    calls = changed.get("tool_calls") if isinstance(changed, Mapping) else ()
    sources, apart = with_arguments(trace.sources, calls)
    notices = (*trace.notices, APART) if apart else trace.notices
    return dataclasses.replace(trace, sources=sources, notices=notices)


def with_arguments(sources: Sequence[Source], calls: object) -> tuple[tuple[Source, ...], bool]:
    """The sources with what a record's ``tool_calls`` say that each was asked, and whether some stay apart.

    A call's output is the one whose ``source_id`` it names; where no call of a tool names one, the n-th
    call gave the n-th of as many outputs. An output's own arguments stay, and two answers to one are none.
    """
    outputs: dict[object, dict[object, Source]] = {}
    for source in sources:
        outputs.setdefault(source.tool_name, {})[source.source_id] = source
    made: dict[str, list[tuple[int, JsonObject]]] = {}
    for place, call in enumerate(calls if isinstance(calls, list | tuple) else ()):
        fields = call if isinstance(call, Mapping) else {"name": call}
        tool = fields.get("name") or fields.get("tool_name")
        made.setdefault(tool if isinstance(tool, str) else "", []).append((place, fields))
    asked: dict[str, dict[str | None, int]] = {}  # by source: what it was asked, in which call
    apart = False
    for tool, of_tool in made.items():
        here = outputs.get(tool, {})
        named = [fields.get("source_id") for _, fields in of_tool]
        if named == [None] * len(here) and not any(map(_chunked, here.values())):
            named = list(here)
        for source_id, (place, fields) in zip(named, of_tool, strict=True):
            text = _text(fields.get("arguments"))
            if isinstance(source_id, str) and source_id in here:
                asked.setdefault(source_id, {}).setdefault(text, place)
            else:
                apart |= text is not None
    joined = []
    for source in sources:
        texts, text, at = asked.get(source.source_id, {}), source.arguments, None
        apart |= text is None and len(texts) > 1
        if text is None and len(texts) == 1:
            ((text, place),) = texts.items()
            at = None if text is None else place
        joined.append(dataclasses.replace(source, arguments=text, call_place=at))
    return tuple(joined), apart


def _chunked(source: Source) -> bool:
    """Whether several outputs were read as this one source."""
    chunks = source.extra.get(AS_READ)
    return isinstance(chunks, list | tuple) and len(chunks) > 1


def _text(arguments: object) -> str | None:
    """Arguments as text, the same whether read or stored; None without any, or for what is no JSON."""
    if isinstance(arguments, str) or arguments is None:
        return arguments or None
    try:
        return canonical_json(arguments)
    except (TypeError, ValueError, RecursionError):
        return None
