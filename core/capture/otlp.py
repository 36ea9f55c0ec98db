"""Spans written as OTLP JSON, for the exporters whose format is a trace of spans."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.records import JsonObject

_SERVICE = "provenanceguard"
_ERROR = 2


_LONGEST_SECONDS = 1e9  # 30 years


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSpan:
    """One span below the root; the root itself is the first of its trace."""

    name: str
    attributes: Mapping[str, object]
    failed: bool = False


def otlp_record(trace_id: str, spans: Sequence[WrittenSpan], seconds: float | None) -> JsonObject:
    """One trace as an OTLP ``TracesData``: the first span is the root, the others are its children.

    The times are places in the order of the calls, not clock times, which a trace does not hold.
    """
    named = hex_id(trace_id, 32)
    root = hex_id(f"{trace_id}\x1f0", 16)
    written = []
    for index, span in enumerate(spans):
        ends = max(index, _nanoseconds(seconds)) if index == 0 else index
        entry: dict[str, object] = {
            "traceId": named,
            "spanId": root if index == 0 else hex_id(f"{trace_id}\x1f{index}", 16),
            "name": span.name,
            "kind": 1,
            "startTimeUnixNano": str(index),
            "endTimeUnixNano": str(ends),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in span.attributes.items()
                if value is not None
            ],
        }
        if index:
            entry["parentSpanId"] = root
        if span.failed:
            entry["status"] = {"code": _ERROR}
        written.append(entry)
    service = {"key": "service.name", "value": {"stringValue": _SERVICE}}
    scope = {"scope": {"name": _SERVICE}, "spans": written}
    return {"resourceSpans": [{"resource": {"attributes": [service]}, "scopeSpans": [scope]}]}


def hex_id(text: str, digits: int) -> str:
    """An id of so many hexadecimal digits, the same for the same text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:digits]


def _nanoseconds(seconds: float | None) -> int:
    """Whole nanoseconds; 0 where there are none, or more than a file's 64 bits hold."""
    if seconds is None or not 0 <= seconds < _LONGEST_SECONDS:
        return 0
    return round(float(seconds) * 1e9)
