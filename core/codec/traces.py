"""A trace as one canonical JSON document and back, and the hash that identifies its content."""

from __future__ import annotations

import hashlib

from core.codec.fields import Fields, canonical_json
from core.records import (
    Citation,
    JsonObject,
    Origin,
    RawRange,
    Source,
    SourceStatus,
    Span,
    Trace,
)


def content_hash(trace: Trace) -> str:
    """``sha256:…`` over the trace's canonical document; where it was read from does not count."""
    document = {key: value for key, value in trace_document(trace).items() if key != "origin"}
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("utf-8")).hexdigest()


def trace_document(trace: Trace) -> JsonObject:
    """The whole trace as JSON values; ``trace_from_document`` gives the same trace back."""
    origin = trace.origin
    # Left out where there are none, so that the hashes of single answers stay what they were.
    earlier = {"earlier": list(trace.earlier)} if trace.earlier else {}
    return {
        "trace_id": trace.trace_id,
        "question": trace.question,
        "answer": trace.answer,
        **earlier,
        "category": trace.category,
        "route": trace.route,
        "tool_calls": list(trace.tool_calls),
        "sources": [_source_document(source) for source in trace.sources],
        "citations": [
            {
                "span": [citation.span.start, citation.span.end],
                "text": citation.text,
                "source_id": citation.source_id,
                "url": citation.url,
            }
            for citation in trace.citations
        ],
        "elapsed_seconds": trace.elapsed_seconds,
        "origin": None
        if origin is None
        else {
            "format": origin.format,
            "version": origin.version,
            "file": origin.file,
            "line": origin.line,
        },
        "notices": list(trace.notices),
        "extra": dict(trace.extra),
    }


def trace_from_document(document: JsonObject) -> Trace:
    """The trace that ``trace_document`` wrote; raises BadRecord naming the path of a wrong value."""
    read = Fields(document, "")
    origin = read.optional_object("origin")
    return Trace(
        trace_id=read.string("trace_id"),
        question=read.string("question"),
        answer=read.optional_string("answer"),
        earlier=tuple(read.strings("earlier")),
        category=read.optional_string("category"),
        route=read.optional_string("route"),
        tool_calls=tuple(read.strings("tool_calls")),
        sources=tuple(_source(source) for source in read.objects("sources")),
        citations=tuple(_citation(citation) for citation in read.objects("citations")),
        elapsed_seconds=read.optional_number("elapsed_seconds"),
        origin=None if origin is None else _origin(origin),
        notices=tuple(read.strings("notices")),
        extra=read.mapping("extra"),
    )


def _source_document(source: Source) -> JsonObject:
    return {
        "source_id": source.source_id,
        "tool_name": source.tool_name,
        "text": source.text,
        "status": source.status.value,
        "server": source.server,
        "call_id": source.call_id,
        "arguments": source.arguments,
        "source_role": source.source_role,
        "chunk_count": source.chunk_count,
        "uri": source.uri,
        "structured": source.structured,
        "raw": source.raw,
        "raw_map": [
            [place.text.start, place.text.end, place.raw_start, place.raw_end]
            for place in source.raw_map
        ],
        "note": source.note,
        "extra": dict(source.extra),
    }


def _source(read: Fields) -> Source:
    return Source(
        source_id=read.string("source_id"),
        tool_name=read.string("tool_name"),
        text=read.string("text"),
        status=read.choice(SourceStatus, "status"),
        server=read.optional_string("server"),
        call_id=read.optional_string("call_id"),
        arguments=read.optional_string("arguments"),
        source_role=read.optional_string("source_role"),
        chunk_count=read.optional_integer("chunk_count"),
        uri=read.optional_string("uri"),
        structured=read.get("structured") is True,
        raw=read.optional_string("raw"),
        raw_map=tuple(
            RawRange(text=Span(start=a, end=b), raw_start=c, raw_end=d)
            for a, b, c, d in read.rows("raw_map", 4)
        ),
        note=read.optional_string("note"),
        extra=read.mapping("extra"),
    )


def _citation(read: Fields) -> Citation:
    return Citation(
        span=read.span("span"),
        text=read.string("text"),
        source_id=read.optional_string("source_id"),
        url=read.optional_string("url"),
    )


def _origin(read: Fields) -> Origin:
    return Origin(
        format=read.string("format"),
        version=read.optional_string("version"),
        file=read.optional_string("file"),
        line=read.optional_integer("line"),
    )
