"""Traces into a file of another captured format, each read back before it counts as exported.

What a format has no field for travels beside its own (``core/capture/carried.py``), so that a native
trace comes back whole. A plain MCP log has neither a question nor an answer and can carry no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.capture.carried import PlainRun, plain_run
from core.capture.files import FileRecord, parse_record, write_json
from core.capture.formats import (
    anthropic,
    chat,
    inspect_ai,
    langfuse,
    langsmith,
    native,
    openinference,
    otel,
    responses,
)
from core.capture.reading import FORMATS as IMPORTERS
from core.codec.traces import AS_READ, trace_document
from core.config import Config
from core.errors import BadRecord, ConfigError, InputError
from core.records import JsonObject, Trace
from core.site_config import site_config


class Exporter(Protocol):
    """What a format that can be written offers."""

    NAME: str

    def write(self, run: PlainRun, /) -> JsonObject:
        """The record that the format makes of one trace."""
        ...


_MODULES: Sequence[Exporter] = (
    native, chat, responses, anthropic, otel, openinference, langsmith, langfuse, inspect_ai,
)  # fmt: skip
FORMATS: Mapping[str, Exporter] = {module.NAME: module for module in _MODULES}
# What stands around and between the records: an Inspect log is one object, others are JSON Lines.
_FRAMES = {inspect_ai.NAME: (inspect_ai.HEAD, ", ", "]}\n")}
# What a trace may lose only by not being exported: without these it is another trace.
# A trace without an id is named by its content: another name means that a text of it is another.
_ESSENTIAL = (
    "trace_id", "question", "answer", "sources[].tool_name", "sources[].text", "sources[].status",
    "sources[].as_read",
)  # fmt: skip
_REASONS_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceExport:
    """What an export did; ``partly`` are the traces that lack something once read back, and what."""

    format: str
    written: int
    partly: tuple[str, ...]
    refused: tuple[str, ...]
    refused_count: int


def export_traces(
    traces: Iterable[Trace | InputError], format: str, out: Path, config: Config | None = None
) -> TraceExport:
    """Write every trace that the format can carry to ``out`` (mode 0600), and say which it cannot.

    ``out`` is replaced when all is written, and left alone when nothing is. Records that could not
    be read in the first place are among the refused. Raises ConfigError for a format that carries
    no traces.
    """
    exporter = FORMATS.get(format)
    if exporter is None:
        raise ConfigError(_no_format(format))
    config = config or site_config()
    head, between, tail = _FRAMES.get(format, ("", "\n", "\n"))
    written = refused_count = 0
    partly: list[str] = []
    refused: list[str] = []
    # Beside the file and then in its place: the traces may be read from that very file.
    part = out.with_name(f"{out.name}.part")
    try:
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(head)
            for item in _written(traces, exporter, config):
                if isinstance(item, InputError):
                    refused_count += 1
                    refused.extend([item.located()] if len(refused) < _REASONS_KEPT else [])
                    continue
                text, lost = item
                file.write((between if written else "") + text)
                written += 1
                partly.extend([lost] if lost and len(partly) < _REASONS_KEPT else [])
            file.write(tail)
        if written:
            part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return TraceExport(
        format=format,
        written=written,
        partly=tuple(partly),
        refused=tuple(refused),
        refused_count=refused_count,
    )


def _written(
    traces: Iterable[Trace | InputError], exporter: Exporter, config: Config
) -> Iterator[tuple[str, str] | InputError]:
    """Each trace as its record's text with what it lost, or why it cannot be written."""
    for trace in traces:
        if isinstance(trace, InputError):
            yield trace
            continue
        place = trace.origin.file if trace.origin else None
        line = trace.origin.line if trace.origin else None
        text = write_json(exporter.write(plain_run(trace)))
        try:
            lost = lost_fields(trace, _read_back(text, exporter.NAME, config))
        except InputError as error:
            yield BadRecord(
                f"{exporter.NAME} cannot carry this trace: {error.message}", file=place, line=line
            )
            continue
        if gone := [name for name in lost if name in _ESSENTIAL]:
            reason = f"{exporter.NAME} cannot carry this trace: its {gone[0]} would be changed"
            yield BadRecord(reason, file=place, line=line)
        else:
            yield text, f"{trace.trace_id}: {', '.join(lost)}" if lost else ""


def _read_back(text: str, format: str, config: Config) -> Trace:
    data = text.encode("utf-8", "replace")
    if len(data) > config.max_record_bytes:
        raise BadRecord(f"its record has {len(data):,} bytes, more than a record may have")
    value, notes = parse_record(data)
    found = list(IMPORTERS[format].read([FileRecord(value, 1, notes)], ""))
    if len(found) != 1 or not isinstance(found[0], Trace):
        errors = [item for item in found if isinstance(item, InputError)]
        raise errors[0] if errors else BadRecord(f"it is read back as {len(found)} traces")
    return found[0]


def lost_fields(trace: Trace, again: Trace) -> list[str]:
    """The names of the fields in which a trace differs from what was read back, origin aside."""
    before, after = trace_document(trace), trace_document(again)
    told = (*before, *(key for key in after if key not in before))  # what is empty may be left out
    lost = [
        key
        for key in told
        if key not in ("origin", "sources") and before.get(key) != after.get(key)
    ]
    ours, theirs = _sources(before), _sources(after)
    if len(ours) != len(theirs):
        return [*lost, "sources[].text"]
    pairs = list(zip(ours, theirs, strict=True))
    differing = {
        f"sources[].{key}"
        for one, other in pairs
        for key in {*one, *other}
        if one.get(key) != other.get(key)
    }
    # The second output of one call is kept aside in a native record, and its text with it.
    if any(_as_read(one) != _as_read(other) for one, other in pairs):
        differing.add("sources[].as_read")
    return [*lost, *sorted(differing)]


def _as_read(source: JsonObject) -> object:
    extra = source["extra"]
    return extra.get(AS_READ) if isinstance(extra, Mapping) else None


def _sources(document: JsonObject) -> list[JsonObject]:
    found = document["sources"]
    return found if isinstance(found, list) else []


def _no_format(format: str) -> str:
    if format == "mcp":
        return "--to: an MCP log holds neither question nor answer, and cannot carry a trace"
    return f"--to: unknown format {format!r}; traces can be written as {', '.join(FORMATS)}"
