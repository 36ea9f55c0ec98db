"""Spans of any export (OTLP JSON, SDK exporters, flat tables) as one record, gathered by trace."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall
from core.capture.span_attributes import (
    Attributes,
    attributes_of,
    items_of,
    mapping,
    parsed,
    plain,
)
from core.capture.turns import Called, Returned, Said, Turn, pair_calls
from core.errors import BadRecord, InputError

_DIFFERENT = "the log holds two different outputs of this call; one of them is shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """An event of a span, or a log record that belongs to one."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """One span; ``start`` orders the spans of a trace and has no unit of its own."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: float
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    failed: bool
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanCall:
    """A tool call that a span describes; ``span_id`` finds the other description of the same call."""

    call: CapturedCall
    span_id: str
    parent_id: str | None
    wire: bool = False  # seen on the wire (MCP), not by the agent


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpans:
    """All spans of one trace, in the order in which they started."""

    trace_id: str
    spans: tuple[SpanRecord, ...]
    notes: tuple[str, ...]

    @property
    def root(self) -> SpanRecord:
        """The first span that no other span of the trace holds."""
        return (*self._roots, self.spans[0])[0]

    @property
    def rooted(self) -> bool:
        """Whether one span holds all others: only then is its output that of the run."""
        return len(self._roots) == 1

    @property
    def _roots(self) -> list[SpanRecord]:
        ids = {span.span_id for span in self.spans}
        return [span for span in self.spans if span.parent_id not in ids]


def gather_spans(
    records: Iterable[FileRecord | InputError], file: str
) -> Iterator[TraceSpans | InputError]:
    """Every trace of the records, when all have been read: the spans of a trace may be far apart."""
    spans: dict[str, dict[str, SpanRecord]] = {}
    loose: list[tuple[str, str, SpanEvent]] = []
    notes: dict[str, dict[str, None]] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        found = False
        for item in spans_of(record.value, record.line):
            found = True
            if isinstance(item, BadRecord):
                yield BadRecord(item.message, file=file, line=record.line, path=item.path)
            elif isinstance(item, SpanRecord):
                spans.setdefault(item.trace_id, {}).setdefault(item.span_id, item)
                notes.setdefault(item.trace_id, {}).update(dict.fromkeys(record.notes))
            else:
                loose.append(item)
        if not found:
            yield BadRecord("no span in this record", file=file, line=record.line)
    for trace_id, span_id, event in loose:
        _attach(spans, trace_id, span_id, event)
    for trace_id, members in spans.items():
        ordered = sorted(members.values(), key=lambda span: span.start)
        yield TraceSpans(
            trace_id=trace_id, spans=tuple(ordered), notes=tuple(notes.get(trace_id, {}))
        )


def _attach(
    spans: dict[str, dict[str, SpanRecord]], trace_id: str, span_id: str, event: SpanEvent
) -> None:
    """Give a log record to its span; one whose span was not exported makes a span of its own."""
    known = spans.setdefault(trace_id, {})
    span = known.get(span_id) or SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=None,
        name="",
        start=float(len(known)),
        attributes={},
        events=(),
        failed=False,
        line=0,
    )
    known[span_id] = SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=span.parent_id,
        name=span.name,
        start=span.start,
        attributes=span.attributes,
        events=(*span.events, event),
        failed=span.failed,
        line=span.line,
    )


def spans_of(
    value: object, line: int
) -> Iterator[SpanRecord | tuple[str, str, SpanEvent] | BadRecord]:
    """The spans of one record, its log records with their trace and span ids, and what is neither."""
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
        for at, resource in enumerate(_listed(value, group)):
            for scope in _listed(mapping(resource), inner, f"{group}[{at}]"):
                if isinstance(scope, BadRecord):
                    yield scope
                    continue
                for span in _listed(mapping(scope), "spans", f"{group}[{at}].{inner}"):
                    yield from [span] if isinstance(span, BadRecord) else spans_of([span], line)
    for resource in items_of(value.get("resourceLogs")):
        for scope in items_of(mapping(resource).get("scopeLogs")):
            for entry in items_of(mapping(scope).get("logRecords")):
                yield from _log_record(mapping(entry))
    span = _span(value, line)
    if span is not None:
        yield span


def _span(value: Mapping[str, object], line: int) -> SpanRecord | None:
    context = mapping(value.get("context")) or mapping(value.get("spanContext"))
    trace_id = _first(value, "traceId", "trace_id", "context.trace_id") or _first(
        context, "trace_id", "traceId"
    )
    span_id = _first(value, "spanId", "span_id", "context.span_id", "id") or _first(
        context, "span_id", "spanId"
    )
    attributes = attributes_of(value)
    if trace_id is None or span_id is None or not (attributes or "name" in value):
        return None
    parent = _first(value, "parentSpanId", "parent_span_id", "parent_id", "parentId") or _first(
        mapping(value.get("parentSpanContext")), "spanId"
    )
    status = value.get("status")
    code = (
        status.get("code") or status.get("status_code")
        if isinstance(status, Mapping)
        else (value.get("status_code") or status)
    )
    return SpanRecord(
        trace_id=trace_id.removeprefix("0x"),
        span_id=span_id.removeprefix("0x"),
        parent_id=parent.removeprefix("0x") if parent else None,
        name=_first(value, "name", "span_name") or "",
        start=_start(value),
        attributes=attributes,
        events=tuple(
            SpanEvent(name=str(mapping(event).get("name") or ""), attributes=_event(mapping(event)))
            for event in items_of(plain(value.get("events")))
        ),
        failed=code in (2, "ERROR", "STATUS_CODE_ERROR", "error"),
        line=line,
    )


def _event(event: Mapping[str, object]) -> Attributes:
    fields = dict(attributes_of(event))
    body = event.get("body")
    return {**fields, **body} if isinstance(body, Mapping) else fields


def _log_record(entry: Mapping[str, object]) -> Iterator[tuple[str, str, SpanEvent]]:
    trace_id, span_id = _first(entry, "traceId"), _first(entry, "spanId")
    fields = dict(attributes_of(entry))
    name = _first(entry, "eventName") or fields.get("event.name")
    body = plain(entry.get("body"))
    if trace_id and span_id and isinstance(name, str):
        fields.update(body if isinstance(body, Mapping) else {})
        yield trace_id, span_id, SpanEvent(name=name, attributes=fields)


def new_turns(turns: Sequence[Turn], seen: dict[object, int]) -> list[Turn]:
    """What a span adds to the spans before it, which repeat the conversation each time.

    ``seen`` counts how often each turn has stood in one span, and is brought up to date.
    """
    here: dict[object, int] = {}
    added = []
    for turn in turns:
        key = _turn_key(turn)
        here[key] = here.get(key, 0) + 1
        if here[key] > seen.get(key, 0):
            seen[key] = here[key]
            added.append(turn)
    return added


def _turn_key(turn: Turn) -> object:
    if isinstance(turn, Said):
        return "said", turn.role, turn.text.strip()
    if isinstance(turn, Called):
        return "called", turn.call_id or (turn.tool, turn.arguments)
    return "returned", turn.call_id or (turn.tool, turn.output)


def merge_calls(turns: Sequence[Turn], described: Sequence[SpanCall]) -> list[CapturedCall]:
    """One call for each that was made, however often messages, tool spans and wire spans tell of it."""
    merging = _Merging(turns)
    for span_call in sorted(described, key=lambda item: item.wire):
        merging.add(span_call)
    return merging.calls


class _Merging:
    """The calls known so far, and where to find one by its id, its span, or its tool."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.calls = list(pair_calls(turns))
        self.ids = {turn.call_id for turn in turns if isinstance(turn, Called | Returned)}
        self.by_id: dict[str | None, int] = {}
        self.owners: dict[str, int] = {}  # span id to call
        self.spoken: dict[str, list[int]] = {}  # by tool: calls that only messages told of so far
        self.unowned: dict[str, list[int]] = {}  # by tool: calls that no wire span was found for
        for place, call in enumerate(self.calls):
            self.by_id.setdefault(call.call_id, place)
            self.spoken.setdefault(call.tool, []).append(place)
            self.unowned.setdefault(call.tool, []).append(place)

    def add(self, span_call: SpanCall) -> None:
        call = span_call.call
        place = self.on_the_wire(span_call) if span_call.wire else self.told(call)
        if place is None:
            place = len(self.calls)
            named = call if call.call_id else dataclasses.replace(call, call_id=span_call.span_id)
            self.calls.append(named)
            if not span_call.wire:
                self.by_id.setdefault(named.call_id, place)
                self.unowned.setdefault(call.tool, []).append(place)
        else:
            self.calls[place] = _merged(self.calls[place], call, span_call.wire)
            self.drop(self.spoken, place)
        self.owners[span_call.span_id] = place
        if span_call.wire:
            self.drop(self.unowned, place)

    def told(self, call: CapturedCall) -> int | None:
        """The call of that id, or the first of that tool and those arguments."""
        if call.call_id and (call.call_id in self.ids or call.call_id in self.by_id):
            return self.by_id.get(call.call_id)
        for place in self.spoken.get(call.tool, ()):
            known = self.calls[place]
            same = known.arguments == call.arguments or parsed(known.arguments) == parsed(
                call.arguments
            )
            if same and not (call.call_id and known.call_id in self.ids):
                return place
        return None

    def on_the_wire(self, span_call: SpanCall) -> int | None:
        """The call whose span holds this one, or the first of that tool without a wire span."""
        if span_call.parent_id is not None and span_call.parent_id in self.owners:
            place = self.owners[span_call.parent_id]
            return place if self.calls[place].tool == span_call.call.tool else None
        places = self.unowned.get(span_call.call.tool)
        return places[0] if places else None

    def drop(self, index: dict[str, list[int]], place: int) -> None:
        places = index.get(self.calls[place].tool, [])
        if place in places:
            places.remove(place)


def _merged(known: CapturedCall, call: CapturedCall, wire: bool) -> CapturedCall:
    output, note = _told_twice(known.output, call.output, wire)
    return CapturedCall(
        tool=known.tool if known.tool != "unknown tool" else call.tool,
        call_id=known.call_id or call.call_id,
        server=known.server or call.server,
        arguments=known.arguments if known.arguments is not None else call.arguments,
        output=output,
        failed=known.failed or call.failed,
        truncated=known.truncated or call.truncated,
        note=known.note or call.note or note,
        extra={**known.extra, **call.extra},
    )


def _told_twice(known: str | None, span: str | None, wire: bool) -> tuple[str | None, str | None]:
    """One output of two descriptions: the longer of two that agree, else the span's, with a note."""
    if not known or not span:
        return known or span or (span if known is None else known), None  # empty is not unknown
    if span.strip() in known or parsed(known) == parsed(span):
        return known, None
    if known.strip() in span:
        return span, None
    return (known if wire else span), _DIFFERENT


def _start(value: Mapping[str, object]) -> float:
    """When a span began, as a number that orders it; 0 where no finite number can be made of it."""
    try:
        found = _stated_start(value)
    except (OverflowError, ValueError):  # an integer of hundreds of digits, a year before the first
        return 0.0
    return found if math.isfinite(found) else 0.0


def _stated_start(value: Mapping[str, object]) -> float:
    for key in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start"):
        found = value.get(key)
        if (
            isinstance(found, list)
            and len(found) == 2
            and all(isinstance(x, int | float) for x in found)
        ):
            return float(found[0]) + float(found[1]) / 1e9
        if isinstance(found, str) and found.isdigit():
            return float(found)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        if isinstance(found, str) and found:
            return _seconds(found)
    return 0.0


def _seconds(text: str) -> float:
    """An ISO time as a number that orders it; its digits, when it is no date that Python knows."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return float("".join(filter(str.isdigit, text))[:17] or 0)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _first(value: Mapping[str, object], *keys: str) -> str | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
    return None


def _listed(value: Mapping[str, object], key: str, path: str = "") -> Sequence[object]:
    """The list under a key; a BadRecord in it when something else is there, or nothing at all."""
    found = value.get(key)
    if isinstance(found, list) or (found is None and not path):
        return found or ()
    return [BadRecord("expected a list", path=f"{path}.{key}".lstrip("."))]
