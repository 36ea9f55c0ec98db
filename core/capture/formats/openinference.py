"""OpenInference spans (Phoenix, Arize): LLM messages, TOOL spans and retrieved documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.capture.carried import PlainRun
from core.capture.files import FileRecord
from core.capture.span_steps import kind_of, read_spans, write_spans
from core.capture.spans import SpanRecord, spans_of
from core.errors import InputError
from core.records import JsonObject, Trace

NAME = "openinference"


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record holds OpenInference spans."""
    spans = (item for item in spans_of(value, 0) if isinstance(item, SpanRecord))
    return 0.95 if any(map(kind_of, spans)) else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each trace id, when all spans have been read."""
    yield from read_spans(records, file, NAME)


def write(run: PlainRun) -> JsonObject:
    """An AGENT span with a TOOL span for each call."""
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": run.question or None,
        "input.mime_type": "text/plain" if run.question else None,
        "output.value": run.answer,
        "output.mime_type": None if run.answer is None else "text/plain",
    }
    tool = {"openinference.span.kind": "TOOL"}
    return write_spans(run, "agent", agent, "openinference", tool)
