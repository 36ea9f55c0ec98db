"""Captured formats to traces: ``read_traces`` finds the format of each file and streams its traces.

One format a module, with ``detect(values)`` and ``read(records, file, config)``; nothing else in the
project knows how a format spells its fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from core.capture.answers import is_earlier_answer
from core.capture.files import FileRecord, read_records
from core.capture.formats import (
    anthropic_reader as anthropic,
)
from core.capture.formats import (
    chat_reader as chat,
)
from core.capture.formats import (
    inspect_ai_reader as inspect_ai,
)
from core.capture.formats import (
    langfuse_reader as langfuse,
)
from core.capture.formats import (
    langsmith_reader as langsmith,
)
from core.capture.formats import (
    mcp_reader as mcp,
)
from core.capture.formats import (
    native_reader as native,
)
from core.capture.formats import (
    openinference_reader as openinference,
)
from core.capture.formats import (
    otel_reader as otel,
)
from core.capture.formats import (
    responses_reader as responses,
)
from core.capture.nearest import what_is_missing
from core.config import Config
from core.errors import InputError, UnknownFormat
from core.records import Trace

_SAMPLE_RECORDS = 5
_SAMPLE_LINES = 50


class Importer(Protocol):
    """What a module of this package offers."""

    NAME: str

    def detect(self, values: Sequence[object], /) -> float:
        """How sure it is, from 0 to 1, that these first records are of its format."""
        ...

    def read(
        self, records: Iterable[FileRecord | InputError], file: str, config: Config, /
    ) -> Iterator[Trace | InputError]:
        """The traces of one file, and in the place of each that cannot be read, why."""
        ...


# In the order of preference when two are equally sure.
_MODULES: tuple[Importer, ...] = (
    native,
    mcp,
    inspect_ai,
    anthropic,
    responses,
    openinference,
    otel,
    langsmith,
    langfuse,
    chat,
)
# The spans of one trace may be spread over files, so these are read together.
_TOGETHER = (openinference.NAME, otel.NAME, langsmith.NAME, langfuse.NAME)
FORMATS: Mapping[str, Importer] = {module.NAME: module for module in _MODULES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """The format of a file and how sure we are, from 0 to 1."""

    format: str
    confidence: float


def detect_format(path: Path, config: Config | None = None) -> Detected:
    """The format of a file, from its first records; UnknownFormat or UnreadableFile when none is."""
    limit = (config or Config()).max_record_bytes
    values: list[object] = []
    problem: InputError | None = None
    for record in islice(read_records(path, limit), _SAMPLE_LINES):
        if isinstance(record, InputError):
            problem = problem or record
            continue
        values.append(record.value)
        if len(values) == _SAMPLE_RECORDS:
            break
    if not values:
        raise problem or UnknownFormat("no record in it", file=path.name)
    return _format_of(values, path.name)


def _format_of(values: Sequence[object], file: str) -> Detected:
    scores = [(module.detect(values), module.NAME) for module in _MODULES]
    best = max(score for score, _ in scores)
    if best <= 0:
        raise UnknownFormat(
            f"no known trace format; {what_is_missing(values[0])}; known formats: {', '.join(FORMATS)}",
            file=file,
        )
    name = next(name for score, name in scores if score == best)
    return Detected(format=name, confidence=best)


def read_records_of(
    records: Sequence[FileRecord], format: str = "auto", config: Config | None = None
) -> Iterator[Trace | InputError]:
    """The traces of records that are no file: what a caller sent; errors name the record as a line.

    Raises UnknownFormat when no format recognises them.
    """
    config = config or Config()
    if format != "auto" and format not in FORMATS:
        raise UnknownFormat(f"unknown format {format!r}; known formats: {', '.join(FORMATS)}")
    if not records:
        raise UnknownFormat("no record in it")
    if format == "auto":
        format = _format_of([record.value for record in records[:_SAMPLE_RECORDS]], "").format
    if format != mcp.NAME:
        yield from _told_apart(FORMATS[format].read(records, "", config))
        return
    log: list[mcp.LoggedCall] = []
    for item in mcp.read_log(iter(records), ""):
        if isinstance(item, InputError):
            yield item
        else:
            log.append(item)
    yield from _told_apart(mcp.traces_of_log(log))


def read_traces(
    paths: Sequence[Path], format: str = "auto", config: Config | None = None
) -> Iterator[Trace | InputError]:
    """Every trace of the files in order, and in the place of each that cannot be read, why.

    MCP logs given together with transcripts are joined to them. Two records of one file with the
    same id stay apart: the second becomes ``id~2``. Raises UnknownFormat for an unknown ``format``.
    """
    config = config or Config()
    if format != "auto" and format not in FORMATS:
        raise UnknownFormat(f"unknown format {format!r}; known formats: {', '.join(FORMATS)}")
    chosen: list[tuple[Path, str]] = []
    for path in files_in(paths):
        try:
            found = detect_format(path, config).format if format == "auto" else format
        except InputError as error:
            yield error
        else:
            chosen.append((path, found))
    logs = [path for path, name in chosen if name == mcp.NAME]
    others = [(path, name) for path, name in chosen if name != mcp.NAME]
    log: list[mcp.LoggedCall] = []
    for path in logs:
        for item in mcp.read_log(read_records(path, config.max_record_bytes), path.name):
            if isinstance(item, InputError):
                yield item
            else:
                log.append(item)
    yield from _joined(_each(others, config), log)


def _each(files: Sequence[tuple[Path, str]], config: Config) -> Iterator[Trace | InputError]:
    limit = config.max_record_bytes
    for path, name in files:
        if name not in _TOGETHER:
            records = read_records(path, limit)
            yield from _told_apart(FORMATS[name].read(records, path.name, config))
    for name in _TOGETHER:
        parts = [path for path, found in files if found == name]
        if parts:
            records = chain.from_iterable(read_records(path, limit) for path in parts)
            label = " + ".join(path.name for path in parts)
            yield from _told_apart(FORMATS[name].read(records, label, config))


def _joined(
    items: Iterator[Trace | InputError], log: list[mcp.LoggedCall]
) -> Iterator[Trace | InputError]:
    """The traces with what the logs say about their calls, then what no trace took up."""
    held: Trace | None = None
    several = False
    for item in items:
        if isinstance(item, InputError) or not log:
            yield item
            several = several or isinstance(item, Trace)
            continue
        if is_earlier_answer(item.trace_id):
            # The last answer of the conversation takes the same calls out of the log.
            yield mcp.join_log(item, list(log), only=False)
            continue
        if held is not None:
            several = True
            yield mcp.join_log(held, log, only=False)
        held = item
    if held is not None:
        yield mcp.join_log(held, log, only=not several) if log else held
    yield from _told_apart(mcp.traces_of_log(log))


def _told_apart(
    items: Iterator[Trace] | Iterator[Trace | InputError],
) -> Iterator[Trace | InputError]:
    """Traces of one file with ids of their own."""
    names = Names()
    for item in items:
        yield numbered(item, names.number(item.trace_id)) if isinstance(item, Trace) else item


class Names:
    """The ids of one file so far: which number of its id a record is."""

    def __init__(self) -> None:
        self._seen: set[int] = set()  # hashes, so that a million ids take little memory
        self._counts: dict[str, int] = {}

    def number(self, trace_id: str) -> int:
        """1 for the first record with this id, and the first number that is free for another."""
        count = 1
        if hash(trace_id) in self._seen:
            count = self._counts.get(trace_id, 1) + 1
            while hash(f"{trace_id}~{count}") in self._seen:
                count += 1
            self._counts[trace_id] = count
        self._seen.add(hash(trace_id if count == 1 else f"{trace_id}~{count}"))
        return count


def numbered(trace: Trace, number: int) -> Trace:
    """The trace under an id of its own, where it is not the first with its id."""
    if number == 1:
        return trace
    notice = f"another record of this file has the id {trace.trace_id}; this is number {number}"
    return dataclasses.replace(
        trace, trace_id=f"{trace.trace_id}~{number}", notices=(*trace.notices, notice)
    )


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """The files given, and the files in the folders given, by name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.iterdir() if file.is_file() and file.name[0] != "."
            )
        else:
            yield path
