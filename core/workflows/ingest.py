"""Files into the database, with a report of what was understood and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from pathlib import Path

from core.capture.reading import read_traces
from core.codec import content_hash
from core.config import Config
from core.errors import InputError
from core.ports import Progress, Store
from core.records import FileCount, IngestReport, Source, SourceStatus, ToolCount, Trace

_BATCH_TRACES = 64
_BATCH_CHARACTERS = 16 * 1024 * 1024
_REASONS_KEPT = 1_000


class SameId(StrEnum):
    """What becomes of a trace whose id another file has used for other content."""

    APART = "apart"  # two traces: the later one is told apart by its own id or its file
    VERSION = "version"  # a new version of the one trace


def ingest(
    paths: Sequence[Path],
    store: Store,
    config: Config,
    progress: Progress | None = None,
    format: str = "auto",
    same_id: SameId = SameId.APART,
) -> IngestReport:
    """Read the files and keep their traces; the same files twice change nothing.

    ``same_id`` says what becomes of a trace whose id another file has used for other content.
    """
    tally = _Tally()
    traces = tally.watch(read_traces(paths, format, config))
    new = changed = unchanged = done = 0
    for batch in _batches(traces):
        count = store.put_traces(_told_apart(batch, store, same_id, tally))
        new, changed, unchanged = (
            new + count.new,
            changed + count.changed,
            unchanged + count.unchanged,
        )
        done += len(batch)
        if progress is not None:
            progress(done, None, "traces")
    return tally.report(new, changed, unchanged)


def preview(
    paths: Sequence[Path], config: Config, format: str = "auto", store: Store | None = None
) -> IngestReport:
    """The report of an import that keeps nothing: every trace counts as new.

    With a ``store``, ids that clash with those in it are counted.
    """
    tally = _Tally()
    read = 0
    for batch in _batches(tally.watch(read_traces(paths, format, config))):
        read += len(batch)
        if store is not None:
            _told_apart(batch, store, SameId.APART, tally)
    return tally.report(read, 0, 0)


# What a record calls itself beside its task: no two runs share it.
_OWN_IDS = ("run_id", "uuid", "id", "session_id")


def _told_apart(
    batch: Sequence[Trace], store: Store, same_id: SameId, tally: _Tally
) -> list[Trace]:
    """The batch with ids of their own for traces whose id is another file's trace.

    The file that used an id first keeps it, and its later content is a new version. Another file's
    trace gets its record's own id behind it, or the file's name, so that reading it again changes
    nothing.
    """
    here = {
        trace_id: dict(versions)
        for trace_id, versions in store.files_of([each.trace_id for each in batch]).items()
    }
    kept = []
    for trace in batch:
        file = trace.origin.file if trace.origin else None
        known = here.setdefault(trace.trace_id, {})
        if known and file not in known.values() and content_hash(trace) not in known:
            tally.clashes += 1
            if same_id is SameId.APART:
                trace = _renamed(trace, file)
        else:
            known[content_hash(trace)] = file
        kept.append(trace)
    return kept


def _renamed(trace: Trace, file: str | None) -> Trace:
    own = next(
        (
            str(each)
            for each in map(trace.extra.get, _OWN_IDS)
            if isinstance(each, str | int) and not isinstance(each, bool) and each != ""
        ),
        file or "another file",
    )
    notice = f"another file has a trace with the id {trace.trace_id}; this one is kept apart"
    return replace(trace, trace_id=f"{trace.trace_id} · {own}", notices=(*trace.notices, notice))


class _Tally:
    """Counts what passes by."""

    def __init__(self) -> None:
        self.files: Counter[tuple[str, str, str | None]] = Counter()
        self.calls: Counter[tuple[str | None, str]] = Counter()
        self.not_evidence: Counter[tuple[str | None, str]] = Counter()
        self.skipped: list[str] = []
        self.clashes = 0
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
            clashes=self.clashes,
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
