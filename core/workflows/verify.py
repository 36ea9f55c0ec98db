"""verify_pending and verify_file: many traces to verdicts, window by window, so that a run can stop.

Each window of traces is judged in one batch and its verdicts are kept together. A run that was
killed starts again where it stopped: what is kept under the same versions is not judged again.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.codec import canonical_json, content_hash
from core.config import Config
from core.errors import InputError
from core.ports import Progress, Store
from core.records import (
    Decision,
    State,
    Trace,
    VerdictLabel,
    VerdictSummary,
    Verification,
    Versions,
    summarise,
)
from core.workflows.verdict_file import VerdictFile, verdict_file

if TYPE_CHECKING:
    from core.pipeline import Models

BATCH_TRACES = 8
BATCH_CHARACTERS = 8_000_000  # a window of huge traces is cut earlier
REASONS_KEPT = 1_000  # of skipped records; all of them are counted


class VerificationStore(Store, Protocol):
    """A store that can also say how much work is waiting."""

    def count_without_run(self, run_key: str) -> int:
        """How many traces ``traces_without_run`` would give."""

    def newest_traces(self) -> Iterator[Trace]:
        """The newest version of each trace, whatever is stored about it, in import order."""

    def count_traces(self) -> int:
        """How many traces ``newest_traces`` would give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What turns traces into verifications, one each and in order, and what it is made of."""

    versions: Versions
    verify: Callable[[Sequence[Trace]], Iterable[Verification]]


def pipeline_judge(models: Models, config: Config) -> Judge:
    """The pipeline with these models, as a judge."""
    from core.pipeline import verify_all, versions

    def verify(traces: Sequence[Trace]) -> Iterator[Verification]:
        return verify_all(traces, models, config)

    return Judge(versions=versions(models, config), verify=verify)


def run_key(versions: Versions) -> str:
    """``sha256:…`` of the versions: verdicts with one run key can stand for each other."""
    text = canonical_json(dataclasses.asdict(versions))
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


@dataclass(slots=True, kw_only=True)
class VerifyReport:
    """What a run did: ``verified`` now, ``kept`` from before, and what all of these say.

    ``skipped`` counts records that could not be read, ``skipped_in`` by their file; ``reasons`` has
    the first of them.
    """

    versions: Versions
    verified: int = 0
    kept: int = 0
    by_decision: Counter[Decision] = field(default_factory=Counter)
    by_state: Counter[State] = field(default_factory=Counter)
    by_claim_state: Counter[State] = field(default_factory=Counter)
    by_verdict: Counter[VerdictLabel] = field(default_factory=Counter)
    set_aside: int = 0
    blocked_claims: int = 0
    conflations: int = 0
    skipped: int = 0
    skipped_in: Counter[str | None] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)

    @property
    def traces(self) -> int:
        """Verdicts in all, kept and new."""
        return self.verified + self.kept

    def add(self, summary: VerdictSummary) -> None:
        """Count one verdict."""
        self.by_decision[summary.decision] += 1
        self.by_state[summary.state] += 1
        self.by_claim_state.update(summary.by_claim_state)
        self.by_verdict.update(summary.by_verdict)
        self.set_aside += summary.set_aside
        self.blocked_claims += summary.blocked
        self.conflations += summary.conflations

    def skip(self, error: InputError) -> None:
        """Count one record that could not be read."""
        self.skipped += 1
        self.skipped_in[error.file] += 1
        if len(self.reasons) < REASONS_KEPT:
            self.reasons.append(error.located())


def silent(done: int, total: int | None, what: str) -> None:
    """Tells nobody."""


def states_in_words(counts: Mapping[State, int]) -> str:
    """``5 allow, 11 needs review, 8 block``."""
    return ", ".join(f"{counts.get(state, 0)} {state.value.replace('_', ' ')}" for state in State)


def verify_pending(
    store: VerificationStore,
    models: Models,
    config: Config,
    progress: Progress = silent,
    batch: int = BATCH_TRACES,
    *,
    judged_by: Callable[[Models, Config], Judge] = pipeline_judge,
    anew: bool = False,
) -> VerifyReport:
    """Verify every stored trace that has no verdict of these models and this config.

    ``anew`` judges every trace and reports what this run says: a stored verdict may be anybody's.
    Each window of ``batch`` traces commits its verdicts in one transaction.
    """
    judge = judged_by(models, config)
    key = run_key(judge.versions)
    report = VerifyReport(versions=judge.versions)
    total = store.count_traces() if anew else store.count_without_run(key)
    progress(0, total, "traces")
    for window in _windows(store.newest_traces() if anew else store.traces_without_run(key), batch):
        verified = judge_window(judge, window)
        for made, group in by_run(verified):
            store.put_verdicts(made, group)
        count_verdicts(report, verified)
        progress(report.verified, max(total, report.verified), "traces")
    return report


def verify_file(
    captured: Iterable[Trace | InputError],
    out: Path | None,
    models: Models,
    config: Config,
    progress: Progress = silent,
    batch: int = BATCH_TRACES,
    *,
    total: int | None = None,
    skipped: Callable[[InputError], None] = lambda error: None,
    judged_by: Callable[[Models, Config], Judge] = pipeline_judge,
    anew: bool = False,
    shown: Callable[[Verification], None] = lambda verified: None,
) -> VerifyReport:
    """Verify traces in order and write one verdict a line to ``out`` (None: only count them).

    Verdicts that ``out`` already holds for the first traces, under the same versions, are kept
    (none of them where ``anew`` is asked for); what follows them is written anew. Records that could
    not be read are handed to ``skipped``, new verdicts to ``shown``. Raises InputError when ``out`` is
    not ours to overwrite.
    """
    judge = judged_by(models, config)
    report = VerifyReport(versions=judge.versions)
    traces = _readable(captured, report, skipped)
    with ExitStack() as stack:
        file = stack.enter_context(verdict_file(out)) if out is not None else None
        if file is not None:
            traces = _after_kept(file, traces, report, None if anew else judge.versions)
        for window in _windows(traces, batch):
            verified = judge_window(judge, window)
            if file is not None:
                file.append(verified)
            count_verdicts(report, verified)
            for one in verified:
                shown(one)
            progress(report.traces, total, "traces")
    return report


def _after_kept(
    file: VerdictFile, traces: Iterator[Trace], report: VerifyReport, versions: Versions | None
) -> Iterator[Trace]:
    """The traces that the file holds no verdict of these versions for; others count as kept."""
    pending = list(islice(traces, 1))

    def stands_for_the_next(kept: Verification) -> bool:
        return versions is not None and bool(pending) and _stands_for(kept, pending[0], versions)

    for kept in file.keep_while(stands_for_the_next):
        report.kept += 1
        report.add(summarise(kept))
        pending = list(islice(traces, 1))
    return chain(pending, traces)


def _readable(
    captured: Iterable[Trace | InputError],
    report: VerifyReport,
    skipped: Callable[[InputError], None],
) -> Iterator[Trace]:
    for one in captured:
        if isinstance(one, InputError):
            report.skip(one)
            skipped(one)
        else:
            yield one


def _windows(traces: Iterable[Trace], batch: int) -> Iterator[list[Trace]]:
    window: list[Trace] = []
    characters = 0
    for trace in traces:
        window.append(trace)
        characters += len(trace.answer or "") + sum(len(s.text) for s in trace.sources)
        if len(window) >= batch or characters >= BATCH_CHARACTERS:
            yield window
            window, characters = [], 0
    if window:
        yield window


def judge_window(judge: Judge, window: Sequence[Trace]) -> list[Verification]:
    """One a trace, naming the content that it is about: two versions share a trace_id."""
    return [
        dataclasses.replace(verification, content_hash=content_hash(trace))
        for trace, verification in zip(window, judge.verify(window), strict=True)
    ]


def by_run(verified: Iterable[Verification]) -> Iterator[tuple[str, list[Verification]]]:
    """The verdicts by the key of their run: what a judge did not read is of another."""
    for made, group in groupby(verified, key=lambda one: one.versions):
        yield run_key(made), list(group)


def count_verdicts(report: VerifyReport, verified: Sequence[Verification]) -> None:
    """Count verdicts that were given now."""
    report.verified += len(verified)
    for verification in verified:
        report.add(summarise(verification))


def _stands_for(kept: Verification, trace: Trace, versions: Versions) -> bool:
    return kept.content_hash == content_hash(trace) and kept.versions == versions
