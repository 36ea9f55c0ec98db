"""Files into the database, with a report of what was understood and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from core.capture.reading import read_traces
from core.config import Config
from core.errors import InputError
from core.ports import Progress, Store
from core.records import Source, SourceStatus, Trace

_BATCH_TRACES = 64
_BATCH_CHARACTERS = 16 * 1024 * 1024
_REASONS_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCount:
    """How often one tool of one server was called, and how many outputs are no evidence."""

    server: str | None
    tool: str
    calls: int
    not_evidence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """What one file held: its format and version, and the traces read from it."""

    file: str
    format: str
    version: str | None
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an import did; ``skipped`` holds the first 1,000 reasons, ``skipped_count`` counts all.

    ``unverifiable`` names the traces without an answer or without any evidence.
    """

    files: tuple[FileCount, ...]
    new: int
    changed: int
    unchanged: int
    tools: tuple[ToolCount, ...]
    skipped: tuple[str, ...]
    skipped_count: int
    without_answer: int
    without_evidence: int

    @property
    def traces(self) -> int:
        """How many traces were read."""
        return self.new + self.changed + self.unchanged


def ingest(
    paths: Sequence[Path],
    store: Store,
    config: Config,
    progress: Progress | None = None,
    format: str = "auto",
) -> IngestReport:
    """Read the files and keep their traces; the same files twice change nothing."""
    tally = _Tally()
    traces = tally.watch(read_traces(paths, format, config))
    new = changed = unchanged = done = 0
    for batch in _batches(traces):
        count = store.put_traces(batch)
        new, changed, unchanged = (
            new + count.new,
            changed + count.changed,
            unchanged + count.unchanged,
        )
        done += len(batch)
        if progress is not None:
            progress(done, None, "traces")
    return tally.report(new, changed, unchanged)


def preview(paths: Sequence[Path], config: Config, format: str = "auto") -> IngestReport:
    """The report of an import that keeps nothing: every trace counts as new."""
    tally = _Tally()
    return tally.report(sum(1 for _ in tally.watch(read_traces(paths, format, config))), 0, 0)


class _Tally:
    """Counts what passes by."""

    def __init__(self) -> None:
        self.files: Counter[tuple[str, str, str | None]] = Counter()
        self.calls: Counter[tuple[str | None, str]] = Counter()
        self.not_evidence: Counter[tuple[str | None, str]] = Counter()
        self.skipped: list[str] = []
        self.skipped_count = self.without_answer = self.without_evidence = 0

    def watch(self, items: Iterator[Trace | InputError]) -> Iterator[Trace]:
        for item in items:
            if isinstance(item, InputError):
                self.skipped_count += 1
                if len(self.skipped) < _REASONS_KEPT:
                    self.skipped.append(str(item))
                continue
            self.count(item)
            yield item

    def count(self, trace: Trace) -> None:
        origin = trace.origin
        if origin is not None:
            self.files[(origin.file or "", origin.format, origin.version)] += 1
        for source in trace.sources:
            self.calls[(source.server, source.tool_name)] += 1
            if source.status not in (SourceStatus.OK, SourceStatus.TRUNCATED):
                self.not_evidence[(source.server, source.tool_name)] += 1
        self.without_answer += trace.answer is None
        self.without_evidence += not any(source.is_evidence for source in trace.sources)

    def report(self, new: int, changed: int, unchanged: int) -> IngestReport:
        return IngestReport(
            files=tuple(
                FileCount(file=file, format=format, version=version, traces=count)
                for (file, format, version), count in self.files.items()
            ),
            new=new,
            changed=changed,
            unchanged=unchanged,
            tools=tuple(
                ToolCount(
                    server=key[0], tool=key[1], calls=calls, not_evidence=self.not_evidence[key]
                )
                for key, calls in sorted(
                    self.calls.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1])
                )
            ),
            skipped=tuple(self.skipped),
            skipped_count=self.skipped_count,
            without_answer=self.without_answer,
            without_evidence=self.without_evidence,
        )


def _batches(traces: Iterator[Trace]) -> Iterator[list[Trace]]:
    """Batches of a bounded number of traces and, roughly, a bounded size."""
    while first := list(islice(traces, 1)):
        batch, size = first, _size(first[0].sources)
        while len(batch) < _BATCH_TRACES and size < _BATCH_CHARACTERS:
            more = next(traces, None)
            if more is None:
                break
            batch.append(more)
            size += _size(more.sources)
        yield batch


def _size(sources: Sequence[Source]) -> int:
    return sum(len(source.text) + len(source.raw or "") for source in sources)
