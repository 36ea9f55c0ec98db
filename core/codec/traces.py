"""A trace as one canonical JSON document and back, and the hash that identifies its content."""

from __future__ import annotations

import hashlib

from core.codec.fields import canonical_json, read_record, record_document
from core.records import JsonObject, Trace


def content_hash(trace: Trace) -> str:
    """``sha256:…`` over the trace's canonical document; where it was read from does not count."""
    document = {key: value for key, value in trace_document(trace).items() if key != "origin"}
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("utf-8")).hexdigest()


def trace_document(trace: Trace) -> JsonObject:
    """The whole trace as JSON values; ``trace_from_document`` gives the same trace back."""
    return record_document(trace)


def trace_from_document(document: JsonObject) -> Trace:
    """The trace that ``trace_document`` wrote; raises BadRecord naming the path of a wrong value."""
    return read_record(Trace, document)
