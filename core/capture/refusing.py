"""A record that holds no trace: the reason, with the file and line that it stands in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from core.errors import BadRecord, InputError
from core.records import Origin, Trace

ReadTraces = Callable[[object, Origin, Sequence[str]], Iterable[Trace]]
ReadTrace = Callable[[object, Origin, Sequence[str]], Trace]


def trace_or_error(
    read_trace: ReadTrace, value: object, origin: Origin, notes: Sequence[str]
) -> Trace | InputError:
    """The trace of one record, or why there is none."""
    try:
        return read_trace(value, origin, notes)
    except BadRecord as error:
        return BadRecord(error.message, file=origin.file, line=origin.line, path=error.path)


def traces_or_error(
    read_traces: ReadTraces, value: object, origin: Origin, notes: Sequence[str]
) -> Iterator[Trace | InputError]:
    """The traces of one record, or why there is none."""
    try:
        yield from read_traces(value, origin, notes)
    except BadRecord as error:
        yield BadRecord(error.message, file=origin.file, line=origin.line, path=error.path)
