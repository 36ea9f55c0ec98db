"""work_off: one worker of the queue: takes jobs, judges them in a batch, keeps verdicts, renews leases.

Whatever ends it, nothing is lost: what it had in hand comes back when its lease ends. Nothing is judged
twice: a verdict and the end of its job are one transaction, and a lease that ran out keeps nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from core.errors import ComponentUnavailable, fault_words
from core.records import Trace, Verification
from core.records.jobs import JOBS_AT_ONCE, LEASE_SECONDS, Job
from core.workflows.verify import Judge, VerifyReport, by_run, count_verdicts, judge_window, run_key

IDLE_SECONDS = 1.0  # between two looks at an empty queue
_log = logging.getLogger(__name__)


class Queue(Protocol):
    """What a worker asks of the queue (storage/jobs.py)."""

    def take(self, worker: str, lease_seconds: float, most: int) -> list[Job]: ...
    def renew(self, worker: str, positions: Sequence[int], lease_seconds: float) -> int: ...
    def give_back(self, worker: str, positions: Sequence[int]) -> int: ...
    def fail(self, worker: str, job: Job, reason: str) -> bool: ...
    def traces_of(self, jobs: Sequence[Job], run_key: str) -> list[tuple[Job, Trace]]: ...
    def finish(
        self, worker: str, run_key: str, judged: Sequence[tuple[Job, Verification]]
    ) -> int: ...
    def finish_judged(self, worker: str, positions: Sequence[int]) -> int: ...


def work_off(
    queue: Queue,
    judge: Judge,
    worker: str,
    *,
    lease_seconds: float = LEASE_SECONDS,
    stop: Callable[[], bool] = lambda: False,
    wait: Callable[[float], None] = time.sleep,
    progress: Callable[[VerifyReport], None] = lambda report: None,
    until_empty: bool = False,
) -> VerifyReport:
    """Judge what the queue holds, until ``stop`` says so, or nothing can be taken any more.

    Raises ComponentUnavailable when a model fails: that is no trace's fault, and what is in hand is
    given back.
    """
    report = VerifyReport(versions=judge.versions)
    key = run_key(judge.versions)
    while not stop():
        jobs = queue.take(worker, lease_seconds, JOBS_AT_ONCE)
        if not jobs:
            if until_empty:
                break
            wait(IDLE_SECONDS)
            continue
        positions = [job.position for job in jobs]
        try:
            with _held(queue, worker, positions, lease_seconds):
                _judged(queue, judge, worker, key, jobs, report)
        except (KeyboardInterrupt, ComponentUnavailable):
            queue.give_back(worker, positions)  # only those that have not ended
            raise
        progress(report)
    return report


def _judged(
    queue: Queue, judge: Judge, worker: str, key: str, jobs: Sequence[Job], report: VerifyReport
) -> None:
    waiting = queue.traces_of(jobs, key)
    wanted = {job.position for job, _ in waiting}
    report.kept += queue.finish_judged(
        worker, [job.position for job in jobs if job.position not in wanted]
    )
    try:
        verified = judge_window(judge, [trace for _, trace in waiting])
    except ComponentUnavailable:
        raise
    except Exception as error:
        # The pipeline tells its own bugs in the verdict. What failed is taken again, each alone.
        reason = fault_words(error)
        _log.error("a batch failed: %s", reason)
        for job, _ in waiting:
            queue.fail(worker, job, reason)
        return
    jobs_left = iter(waiting)
    for run, group in by_run(verified):
        if queue.finish(worker, run, [(next(jobs_left)[0], one) for one in group]):
            count_verdicts(report, group)


@contextmanager
def _held(
    queue: Queue, worker: str, positions: Sequence[int], lease_seconds: float
) -> Iterator[None]:
    """Renew the lease while the block runs, three times as often as it ends."""
    over = threading.Event()

    def renewing() -> None:
        while not over.wait(lease_seconds / 3):
            try:
                queue.renew(worker, positions, lease_seconds)
            except (
                Exception
            ) as error:  # the next time may go better; if none does, others take over
                _log.warning("a lease was not renewed: %s", type(error).__name__)

    thread = threading.Thread(target=renewing, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
