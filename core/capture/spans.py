"""Spans of any export (OTLP JSON, SDK exporters, flat tables) as one record, gathered by trace."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.capture.files import FileRecord
from core.capture.steps import Gathered, gathered
from core.capture.values import at, items_of, mapping, parsed, text_in
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin

NAMELESS = "attribute without a name"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """An event of a span, or a log record that belongs to one."""

    name: str
    attributes: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """One span; ``start`` orders the spans of a trace and has no unit of its own.

    ``loose``: it is a log record, an event of the span that it names.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    start: float = 0.0
    attributes: JsonObject = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    failed: bool = False
    line: int = 0
    loose: bool = False


def spans_by_trace(
    records: Iterable[FileRecord | InputError], origin: Origin
) -> Iterator[Gathered[SpanRecord] | InputError]:
    """The spans of every trace in the order in which they started, when all records have been read."""

    def items(record: FileRecord) -> Iterator[tuple[str, SpanRecord] | BadRecord]:
        for item in spans_of(record.value, record.line):
            yield item if isinstance(item, BadRecord) else (item.trace_id, item)

    traces = []
    for one in gathered(records, origin, items, "span"):
        if isinstance(one, InputError):
            yield one
        else:
            traces.append(one)
    # Traces of which nothing but log records is here come last.
    for one in sorted(traces, key=lambda trace: all(item.loose for item in trace.items)):
        spans: dict[str, SpanRecord] = {}
        for item in sorted(one.items, key=lambda item: item.loose):
            if not item.loose:
                spans.setdefault(item.span_id, item)
                continue
            bare = dataclasses.replace(item, start=float(len(spans)), events=())
            span = spans.get(item.span_id, bare)
            spans[item.span_id] = dataclasses.replace(span, events=(*span.events, *item.events))
        one.items = sorted(spans.values(), key=lambda span: span.start)
        one.origin = dataclasses.replace(origin, line=one.items[0].line)
        yield one


def spans_of(value: object, line: int) -> Iterator[SpanRecord | BadRecord]:
    """The spans of one record, its log records, and what should be a span and is none."""
    if isinstance(value, list):
        for item in value:
            found = list(spans_of(item, line))
            yield from found or [BadRecord("this is no span: it has no trace id or no span id")]
        return
    if not isinstance(value, Mapping):
        return
    for key in ("spans", "data", "observations"):
        if isinstance(value.get(key), list) and "attributes" not in value:
            yield from spans_of(value[key], line)
            return
    for group, inner in (("resourceSpans", "scopeSpans"), ("resource_spans", "scope_spans")):
        for place, resource in enumerate(_listed(value, group)):
            for scope in _listed(mapping(resource), inner, f"{group}[{place}]"):
                if isinstance(scope, BadRecord):
                    yield scope
                    continue
                for span in _listed(mapping(scope), "spans", f"{group}[{place}].{inner}"):
                    yield from [span] if isinstance(span, BadRecord) else spans_of([span], line)
    for resource in items_of(value.get("resourceLogs")):
        for scope in items_of(at(resource, "scopeLogs")):
            for entry in items_of(at(scope, "logRecords")):
                yield from _log_record(mapping(entry))
    yield from _span(value, line)


def _span(value: JsonObject, line: int) -> Iterator[SpanRecord]:
    context = mapping(value.get("context")) or mapping(value.get("spanContext"))
    trace_id = text_in(value, "traceId", "trace_id", "context.trace_id") or text_in(
        context, "trace_id", "traceId"
    )
    span_id = text_in(value, "spanId", "span_id", "context.span_id", "id") or text_in(
        context, "span_id", "spanId"
    )
    attributes = _attributes_of(value)
    kind = text_in(value, "span_kind")
    if kind and kind != "UNKNOWN":  # Phoenix's API takes it out of the attributes
        attributes = {"openinference.span.kind": kind, **attributes}
    if trace_id is None or span_id is None or not (attributes or "name" in value):
        return
    parent = text_in(value, "parentSpanId", "parent_span_id", "parent_id", "parentId") or text_in(
        value.get("parentSpanContext"), "spanId"
    )
    status = value.get("status")
    if isinstance(status, Mapping):
        code = status.get("code") or status.get("status_code")
    else:
        code = value.get("status_code") or status
    events = (mapping(event) for event in items_of(_plain(value.get("events"))))
    yield SpanRecord(
        trace_id=trace_id.removeprefix("0x"),
        span_id=span_id.removeprefix("0x"),
        parent_id=parent.removeprefix("0x") if parent else None,
        name=text_in(value, "name", "span_name") or "",
        start=_start(value),
        attributes=attributes,
        events=tuple(
            SpanEvent(
                name=str(event.get("name") or ""),
                attributes={**_attributes_of(event), **mapping(event.get("body"))},
            )
            for event in events
        ),
        failed=code in (2, "ERROR", "STATUS_CODE_ERROR", "error"),
        line=line,
    )


def _log_record(entry: JsonObject) -> Iterator[SpanRecord]:
    trace_id, span_id = text_in(entry, "traceId"), text_in(entry, "spanId")
    fields = _attributes_of(entry)
    name = text_in(entry, "eventName") or fields.get("event.name")
    if trace_id and span_id and isinstance(name, str):
        event = SpanEvent(name=name, attributes={**fields, **mapping(_plain(entry.get("body")))})
        yield SpanRecord(trace_id=trace_id, span_id=span_id, events=(event,), loose=True)


def _attributes_of(value: JsonObject) -> JsonObject:
    """The attributes of a span as plain values under dotted names, however they were exported."""
    given = value.get("attributes", value.get("span_attributes"))
    if isinstance(given, list):  # OTLP: [{key, value: {stringValue: …}}]
        return {text_in(item, "key") or NAMELESS: _plain(at(item, "value")) for item in given}
    given = parsed(given)
    if isinstance(given, Mapping):
        return _flat(given)
    prefix = "attributes."
    return {key.removeprefix(prefix): item for key, item in value.items() if key.startswith(prefix)}


def _flat(value: JsonObject, prefix: str = "") -> dict[str, object]:
    """Nested objects as dotted names; lists stay as they are."""
    found: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, Mapping):
            found.update(_flat(item, f"{prefix}{key}."))
        found[f"{prefix}{key}"] = item
    return found


def _plain(value: object) -> object:
    """An OTLP value without its type wrapper."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        ((kind, inner),) = value.items()
        if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
            return inner
        if kind == "intValue":
            return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdigit() else inner
        values = items_of(at(inner, "values"))
        if kind == "arrayValue":
            return [_plain(item) for item in values]
        if kind == "kvlistValue":
            return {str(at(item, "key")): _plain(at(item, "value")) for item in values}
    return {key: _plain(item) for key, item in value.items()}


def indexed(attributes: JsonObject, prefix: str) -> list[JsonObject]:
    """``prefix.0.role``, ``prefix.0.content`` … as a list of objects with dotted names."""
    whole = parsed(attributes.get(prefix.rstrip(".")))
    if isinstance(whole, list):
        return [_flat(item) for item in whole if isinstance(item, Mapping)]
    rows: dict[int, dict[str, object]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            index, dot, rest = key.removeprefix(prefix).partition(".")
            if dot and index.isdigit():
                rows.setdefault(int(index), {})[rest] = value
    return [rows[index] for index in sorted(rows)]


def _start(value: JsonObject) -> float:
    """When a span began, as a number that orders it; 0 where no finite number can be made of it."""
    try:
        found = _stated_start(value)
    except (OverflowError, ValueError):  # an integer of hundreds of digits, a year before the first
        return 0.0
    return found if math.isfinite(found) else 0.0


def _stated_start(value: JsonObject) -> float:
    for key in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start"):
        match value.get(key):
            case [int() | float() as seconds, int() | float() as nanoseconds]:
                return float(seconds) + float(nanoseconds) / 1e9
            case str() as text if text:
                return float(text) if text.isdigit() else _seconds(text)
            case int() | float() as number if not isinstance(number, bool):
                return float(number)
    return 0.0


def _seconds(text: str) -> float:
    """An ISO time as a number that orders it; its digits, when it is no date that Python knows."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return float("".join(filter(str.isdigit, text))[:17] or 0)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _listed(value: JsonObject, key: str, path: str = "") -> Sequence[object]:
    """The list under a key; a BadRecord in it when something else is there, or nothing at all."""
    found = value.get(key)
    if isinstance(found, list) or (found is None and not path):
        return found or ()
    return [BadRecord("expected a list", path=f"{path}.{key}".lstrip("."))]
