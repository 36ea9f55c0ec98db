"""A trace as one canonical JSON document and back, and the hash that identifies its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from core.errors import BadRecord
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


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. ValueError on NaN."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def content_hash(trace: Trace) -> str:
    """``sha256:…`` over the trace's canonical document; where it was read from does not count."""
    document = {key: value for key, value in trace_document(trace).items() if key != "origin"}
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("utf-8")).hexdigest()


def trace_document(trace: Trace) -> JsonObject:
    """The whole trace as JSON values; ``trace_from_document`` gives the same trace back."""
    origin = trace.origin
    return {
        "trace_id": trace.trace_id,
        "question": trace.question,
        "answer": trace.answer,
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
    status = read.string("status")
    if status not in {member.value for member in SourceStatus}:
        raise BadRecord(f"unknown status {status!r}", path=read.at("status"))
    return Source(
        source_id=read.string("source_id"),
        tool_name=read.string("tool_name"),
        text=read.string("text"),
        status=SourceStatus(status),
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
    ((start, end),) = [read.integers("span", 2)]
    return Citation(
        span=Span(start=start, end=end),
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


class Fields:
    """Typed access to one JSON object; every refusal names the path and what was found."""

    def __init__(self, value: JsonObject, path: str) -> None:
        self.value, self.path = value, path

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str) -> object:
        return self.value.get(key)

    def wrong(self, key: str, expected: str) -> BadRecord:
        return BadRecord(
            f"expected {expected}, found {json_kind(self.get(key))}", path=self.at(key)
        )

    def string(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def optional_string(self, key: str) -> str | None:
        return None if self.get(key) is None else self.string(key)

    def optional_integer(self, key: str) -> int | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, "a whole number")
        return value

    def optional_number(self, key: str) -> float | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(key, "a number")
        return value

    def sequence(self, key: str) -> Sequence[object]:
        value = self.get(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.wrong(key, "a list")
        return value

    def strings(self, key: str) -> list[str]:
        return [
            Fields({"item": item}, f"{self.at(key)}[{index}]").string("item")
            for index, item in enumerate(self.sequence(key))
        ]

    def objects(self, key: str) -> list[Fields]:
        found = []
        for index, item in enumerate(self.sequence(key)):
            path = f"{self.at(key)}[{index}]"
            if not isinstance(item, Mapping):
                raise BadRecord(f"expected an object, found {json_kind(item)}", path=path)
            found.append(Fields(item, path))
        return found

    def integers(self, key: str, count: int) -> list[int]:
        row = [item for item in self.sequence(key) if isinstance(item, int)]
        if len(row) != count:
            raise self.wrong(key, f"{count} whole numbers")
        return row

    def rows(self, key: str, count: int) -> list[list[int]]:
        return [
            Fields({"row": row}, f"{self.at(key)}[{index}]").integers("row", count)
            for index, row in enumerate(self.sequence(key))
        ]

    def mapping(self, key: str) -> JsonObject:
        value = self.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.wrong(key, "an object")
        return dict(value)

    def optional_object(self, key: str) -> Fields | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.wrong(key, "an object")
        return Fields(value, self.at(key))


def json_kind(value: object) -> str:
    """What a reader calls a JSON value: null, text, a number, a list, an object, true or false."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__
