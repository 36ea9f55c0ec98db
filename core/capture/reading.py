"""Captured formats to traces: ``read_traces`` finds the format of each file and streams its traces.

One format a module, with ``detect(value)``, ``read(records, file)`` and, where it can carry a trace,
``write(run)``; nothing else in the project knows how a format spells its fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from core.capture.files import FileRecord, read_records
from core.capture.formats import (
    anthropic,
    chat,
    codex,
    inspect_ai,
    langfuse,
    langsmith,
    mcp,
    native,
    openinference,
    otel,
    responses,
)
from core.capture.wire import LoggedCall, joined, traces_of_log
from core.config import Config
from core.errors import InputError, UnknownFormat
from core.records import Trace
from core.site_config import site_config

_SAMPLE_RECORDS = 5
_SAMPLE_LINES = 50


class Importer(Protocol):
    """What a module of this package offers."""

    NAME: str

    def detect(self, value: object, /) -> float:
        """How sure it is, from 0 to 1, that a record is of its format."""
        ...

    def read(
        self, records: Iterable[FileRecord | InputError], file: str, /
    ) -> Iterator[Trace | InputError]:
        """The traces of one file, and in the place of each that cannot be read, why."""
        ...


# In the order of preference when two are equally sure.
_MODULES: tuple[Importer, ...] = (
    native, mcp, inspect_ai, codex, anthropic, responses, openinference, otel, langsmith, langfuse,
    chat,
)  # fmt: skip
# The spans of one trace may be spread over files, so these are read together.
_TOGETHER = (openinference.NAME, otel.NAME, langsmith.NAME, langfuse.NAME)
FORMATS: Mapping[str, Importer] = {module.NAME: module for module in _MODULES}
# What a record of each format has, in the spelling that is met most; the simplest first.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "native, as the services take it": ("answer", "tool_outputs"),
    "native": ("final_reply_to_user", "full_tool_outputs"),
    "chat": ("messages",),
    "responses": ("input", "output"),
    "inspect_ai": ("input", "messages", "epoch"),
    "langsmith": ("id", "run_type", "inputs", "outputs"),
    "langfuse": ("traceId", "type", "input", "output"),
    "otel": ("traceId", "spanId", "attributes"),
    "mcp": ("jsonrpc", "method", "params"),
}
_SIMPLEST = '{"answer": "…", "tool_outputs": [{"tool_name": "…", "text": "…"}]}'


def detect_format(path: Path, config: Config | None = None) -> str:
    """The format of a file, from its first records; UnknownFormat or UnreadableFile when none is."""
    limit = (config or site_config()).max_record_bytes
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


def _format_of(values: Sequence[object], file: str) -> str:
    scores = [(max(map(module.detect, values)), module.NAME) for module in _MODULES]
    best = max(score for score, _ in scores)
    if best <= 0:
        raise UnknownFormat(
            f"no known trace format; {_what_is_missing(values[0])}; known formats: {', '.join(FORMATS)}",
            file=file,
        )
    return next(name for score, name in scores if score == best)


def _what_is_missing(value: object) -> str:
    """What a record has, and which fields it lacks of the format that it comes nearest to."""
    if not isinstance(value, Mapping):
        return f"its first record is a {type(value).__name__}; a record can be {_SIMPLEST}"
    keys = [str(key)[:40] for key in islice(value, 8)]
    has = f"its first record has the fields {', '.join(keys) or '(none)'}"
    lack = {name: [x for x in fields if x not in value] for name, fields in _FIELDS.items()}
    nearest = min(_FIELDS, key=lambda name: len(lack[name]) / len(_FIELDS[name]))
    lacking = lack[nearest]
    if len(lacking) == len(_FIELDS[nearest]):
        return f"{has}; a record can be {_SIMPLEST}"
    if lacking:
        return f"{has}; the nearest format is {nearest}, which lacks {', '.join(lacking)}"
    names = ", ".join(_FIELDS[nearest])
    return f"{has}; the nearest format is {nearest}, but {names} does not hold what it needs"


def read_records_of(
    records: Sequence[FileRecord], format: str = "auto"
) -> Iterator[Trace | InputError]:
    """The traces of records that are no file: what a caller sent; errors name the record as a line.

    Raises UnknownFormat when no format recognises them.
    """
    _known(format)
    if not records:
        raise UnknownFormat("no record in it")
    others: _Others | None = None
    if format == "auto":
        format = _format_of([record.value for record in records[:_SAMPLE_RECORDS]], "")
        others = {}
    yield from _told_apart(_of_formats(records, format, "", others))


def read_traces(
    paths: Sequence[Path], format: str = "auto", config: Config | None = None
) -> Iterator[Trace | InputError]:
    """Every trace of the files in order, and in the place of each that cannot be read, why.

    MCP logs given together with transcripts are joined to them. Two records of one file with the
    same id stay apart: the second becomes ``id~2``. Raises UnknownFormat for an unknown ``format``.
    """
    config = config or site_config()
    _known(format)
    rest: _Others | None = {} if format == "auto" else None
    chosen: list[tuple[Path, str]] = []
    for path in files_in(paths):
        try:
            found = detect_format(path, config) if format == "auto" else format
        except InputError as error:
            yield error
        else:
            chosen.append((path, found))
    logs = [path for path, name in chosen if name == mcp.NAME]
    others = [(path, name) for path, name in chosen if name != mcp.NAME]
    log: list[LoggedCall] = []
    for path in logs:
        records = _mine(read_records(path, config.max_record_bytes), mcp, rest)
        for item in mcp.read_log(records, path.name):
            if isinstance(item, InputError):
                yield item
            else:
                log.append(item)
    label = " + ".join(path.name for path in logs)
    beside = _told_apart(_of_formats((), native.NAME, label, rest)) if rest else iter(())
    yield from joined(chain(beside, _each(others, config, rest)), log)
    yield from _told_apart(traces_of_log(log))


def _known(format: str) -> None:
    if format != "auto" and format not in FORMATS:
        raise UnknownFormat(f"unknown format {format!r}; known formats: {', '.join(FORMATS)}")


def _each(
    files: Sequence[tuple[Path, str]], config: Config, others: _Others | None
) -> Iterator[Trace | InputError]:
    limit = config.max_record_bytes
    for path, name in files:
        if name not in _TOGETHER:
            records = read_records(path, limit)
            yield from _told_apart(_of_formats(records, name, path.name, others))
    for name in _TOGETHER:
        parts = [path for path, found in files if found == name]
        if parts:
            records = chain.from_iterable(read_records(path, limit) for path in parts)
            label = " + ".join(path.name for path in parts)
            yield from _told_apart(_of_formats(records, name, label, others))


# The records of a file that are of another format than the rest of it, by that format.
_Others = dict[str, list[FileRecord]]
_SURE = 0.6  # below it, a record stays with the others of its file
_ALIKE = {chat.NAME, anthropic.NAME}  # either reads the messages of the other


def _of_formats(
    records: Iterable[FileRecord | InputError],
    name: str,
    file: str,
    others: _Others | None,
) -> Iterator[Trace | InputError]:
    """The traces of a file: of its format first, then of others; ``others`` None: of that one alone."""
    yield from FORMATS[name].read(_mine(records, FORMATS[name], others), file)
    if others:
        found = list(others.items())
        others.clear()
        for other, held in found:
            yield from FORMATS[other].read(held, file)


def _mine(
    records: Iterable[FileRecord | InputError], module: Importer, others: _Others | None
) -> Iterator[FileRecord | InputError]:
    """The records that a format reads; those that only another one knows are put aside."""
    for record in records:
        if others is None or isinstance(record, InputError) or module.detect(record.value) > 0:
            yield record
            continue
        sure, name = max(((m.detect(record.value), m.NAME) for m in _MODULES), key=lambda x: x[0])
        if sure >= _SURE and not {name, module.NAME} <= _ALIKE:
            others.setdefault(name, []).append(record)
        else:
            yield record


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
