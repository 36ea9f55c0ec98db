"""A worker of the queue: what it keeps, what it gives back, and what becomes of a trace that fails."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from lexical import lexical_models

from core.config import Config
from core.errors import ComponentUnavailable
from core.records import Trace, Verification
from core.workflows.queue_worker import work_off
from core.workflows.verify import Judge, pipeline_judge, run_key
from storage.jobs import Jobs
from storage.store import SqlStore, unverified

COUNT = 20


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlStore]:
    opened = a_store(tmp_path / "w.db")
    opened.put_traces(
        a_trace(f"Weight {n} kg.", a_source(f"Weight {n} kg."), trace_id=f"t{n}")
        for n in range(COUNT)
    )
    yield opened
    opened.close()


@pytest.fixture
def jobs(store: SqlStore) -> Jobs:
    queue = workspace_of(store).jobs
    assert queue.put(unverified(store)) == COUNT
    return queue


def _judge(*, stumbles_over: str = "", unavailable: bool = False) -> Judge:
    real = pipeline_judge(lexical_models(), Config())

    def verify(traces: Sequence[Trace]) -> Iterable[Verification]:
        if unavailable:
            raise ComponentUnavailable("no weights")
        if stumbles_over in [trace.trace_id for trace in traces]:
            raise TypeError(f"secret of {stumbles_over}")
        return real.verify(traces)

    return Judge(versions=real.versions, verify=verify)


def test_a_worker_judges_all_that_waits_and_a_second_round_judges_nothing(
    store: SqlStore, jobs: Jobs
) -> None:
    judge = _judge()

    first = work_off(jobs, judge, "a", until_empty=True)
    jobs.put(list(range(1, COUNT + 1)))
    second = work_off(jobs, judge, "a", until_empty=True)

    assert (first.verified, first.kept) == (COUNT, 0)
    assert (second.verified, second.kept) == (0, COUNT)
    assert store.count_without_run(run_key(judge.versions)) == 0
    assert (jobs.counts().done, jobs.counts().open) == (COUNT, 0)
    assert store.verify_chain().problems == ()


def test_a_trace_that_no_worker_can_judge_takes_no_other_with_it(
    store: SqlStore, jobs: Jobs
) -> None:
    report = work_off(jobs, _judge(stumbles_over="t3"), "a", until_empty=True)

    assert report.verified == COUNT - 1
    (failing,) = jobs.failing()
    assert (failing.trace_id, failing.attempts) == ("t3", 1)
    assert failing.next_at is not None, "it is tried again, later"
    assert failing.reason.startswith("a fault in this program: TypeError in ")
    assert "secret" not in failing.reason


def test_a_model_that_is_not_there_is_no_trace_s_fault(jobs: Jobs) -> None:
    with pytest.raises(ComponentUnavailable, match="no weights"):
        work_off(jobs, _judge(unavailable=True), "a", until_empty=True)

    assert jobs.counts().waiting == COUNT
    assert jobs.failing() == ()
    assert work_off(jobs, _judge(), "b", until_empty=True).verified == COUNT


def test_a_worker_that_takes_long_keeps_its_lease(jobs: Jobs) -> None:
    real, stolen = _judge(), []

    def slow(traces: Sequence[Trace]) -> Iterable[Verification]:
        if not stolen:
            # Longer than the lease: without renewing, the other would take them.
            stolen.append(_wait_and_take(jobs, 1.6))
        return real.verify(traces)

    work_off(
        jobs, Judge(versions=real.versions, verify=slow), "a", lease_seconds=1.0, until_empty=True
    )

    taken = {job.position for job in stolen[0]}
    assert len(taken) == 8 and taken.isdisjoint(range(1, 9))
    assert jobs.counts().done == COUNT - 8


def _wait_and_take(jobs: Jobs, seconds: float) -> list[object]:
    threading.Event().wait(seconds)
    return list(jobs.take("thief", 60.0, 8))
