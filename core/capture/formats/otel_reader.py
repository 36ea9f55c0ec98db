"""OpenTelemetry GenAI spans: attributes since 1.37, message events before, MCP and AI SDK spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.capture.files import FileRecord
from core.capture.span_steps import kind_of, read_named
from core.capture.spans import SpanRecord, spans_of
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Trace

NAME = "otel"

_MARKS = (
    "gen_ai.", "mcp.method.name", "ai.operationId", "traceloop.", "ai.toolCall.",
    "gcp.vertex.agent.", "langfuse.observation.",
)  # fmt: skip


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are GenAI spans."""
    best = 0.0
    for value in values:
        for item in spans_of(value, 0):
            if isinstance(item, BadRecord):
                continue
            if not isinstance(item, SpanRecord):
                best = max(best, 0.7 if item[2].name.startswith("gen_ai.") else 0.1)
                continue
            if kind_of(item):
                return 0.0
            known = any(key.startswith(_MARKS) for key in item.attributes) or any(
                event.name.startswith("gen_ai.") for event in item.events
            )
            best = max(best, 0.9 if known else 0.1)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each trace id, when all spans have been read."""
    yield from read_named(records, file, NAME)
