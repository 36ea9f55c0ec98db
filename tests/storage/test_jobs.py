"""The queue of jobs: taken once, given back when a worker is gone, given up with its reason."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from builders import a_source, a_trace
from verdicts import VERSIONS, Said, a_verification

from core.codec import content_hash
from core.records import Trace, VerdictLabel, Verification
from core.records.jobs import ATTEMPTS, Job, backoff
from core.workflows.verify import run_key
from storage.jobs import ENDED, Jobs
from storage.store import SqlStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = 60.0


class Clock:
    """A time that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at

    def on(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(store: SqlStore, clock: Clock) -> Jobs:
    queue = Jobs(store=dataclasses.replace(store, now=clock))
    queue.store.put_traces(_trace(n) for n in range(6))
    assert queue.put(list(range(1, 7))) == 6
    return queue


def _trace(number: int) -> Trace:
    return a_trace(f"Weight {number} kg.", a_source(f"Weight {number} kg."), trace_id=f"t{number}")


def _verdict(trace: Trace) -> Verification:
    said = Said(
        said=trace.answer or "", verdict=VerdictLabel.SUPPORTED, source="chart",
        premise=trace.answer or "", probability=0.9, reasons=("Supported.",),
    )  # fmt: skip
    found = a_verification(trace, {"chart": "patient_record"}, [said])
    return dataclasses.replace(found, content_hash=content_hash(trace))


def _finish(jobs: Jobs, worker: str, taken: list[Job]) -> int:
    key = run_key(VERSIONS)
    return jobs.finish(
        worker, key, [(job, _verdict(trace)) for job, trace in jobs.traces_of(taken, key)]
    )


def test_two_workers_never_hold_the_same_job(jobs: Jobs) -> None:
    first, second = jobs.take("a", LEASE, 4), jobs.take("b", LEASE, 4)

    assert [job.position for job in first] == [1, 2, 3, 4]
    assert [job.position for job in second] == [5, 6]
    assert jobs.take("c", LEASE, 4) == []
    assert (jobs.counts().taken, jobs.counts().workers) == (6, 2)


def test_many_threads_at_once_take_every_job_exactly_once(jobs: Jobs) -> None:
    together = threading.Barrier(4)

    def taking(name: str) -> list[int]:
        together.wait()
        mine: list[int] = []
        while found := jobs.take(name, LEASE, 1):
            mine += [job.position for job in found]
        return mine

    with ThreadPoolExecutor(4) as pool:
        taken = [at for mine in pool.map(taking, "abcd") for at in mine]

    assert sorted(taken) == [1, 2, 3, 4, 5, 6]


def test_a_row_that_another_transaction_holds_is_passed_over_on_postgresql(jobs: Jobs) -> None:
    if jobs.store.database.engine.dialect.name != "postgresql":
        pytest.skip("SQLite has one writer: nobody is ever passed over")
    with jobs.store.database.engine.begin() as other:
        other.exec_driver_sql("SELECT * FROM job WHERE position <= 2 FOR UPDATE")

        taken = jobs.take("a", LEASE, 8)

    assert [job.position for job in taken] == [3, 4, 5, 6]


def test_what_a_silent_worker_had_comes_back_one_at_a_time_when_its_lease_ends(
    jobs: Jobs, clock: Clock
) -> None:
    jobs.take("gone", LEASE, 4)
    jobs.take("alive", LEASE, 4)
    clock.on(LEASE / 2)
    assert jobs.renew("alive", [5, 6], LEASE) == 2
    clock.on(LEASE / 2)

    again = [jobs.take("next", LEASE, 8) for _ in range(5)]

    assert [[job.position for job in each] for each in again] == [[1], [2], [3], [4], []]
    assert {job.attempts for each in again for job in each} == {2}


def test_a_verdict_that_comes_after_the_lease_is_left_to_who_has_the_job_now(
    jobs: Jobs, clock: Clock
) -> None:
    late = jobs.take("late", LEASE, 1)
    clock.on(LEASE)
    now_with = [job for _ in range(6) for job in jobs.take("now", LEASE, 1) if job.position == 1]
    before = jobs.store.count_without_run(run_key(VERSIONS))

    assert _finish(jobs, "late", late) == 0
    assert jobs.store.count_without_run(run_key(VERSIONS)) == before
    assert _finish(jobs, "now", now_with) == 1
    assert jobs.traces_of(now_with, run_key(VERSIONS)) == [], "it is judged, and never twice"
    assert jobs.store.count_without_run(run_key(VERSIONS)) == before - 1
    assert jobs.store.verify_chain().problems == ()


def test_what_fails_waits_longer_each_time_and_is_given_up_with_its_reason(
    jobs: Jobs, clock: Clock
) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        (job,) = jobs.take("a", LEASE, 1)
        assert job == Job(position=1, attempts=attempt)
        assert len(jobs.take("b", 1e6, 8)) == (5 if attempt == 1 else 0), "the rest does not wait"
        assert jobs.fail("a", job, "TypeError in routing.py, line 7")
        if attempt < ATTEMPTS:
            (failing,) = jobs.failing()
            assert failing.next_at == clock.at + backoff(attempt)
            clock.on(backoff(attempt).total_seconds() - 1)
            assert jobs.take("a", LEASE, 1) == []
            clock.on(1)

    (given_up,) = jobs.failing()
    assert (given_up.trace_id, given_up.reason) == ("t0", "TypeError in routing.py, line 7")
    assert given_up.next_at is None and jobs.counts().given_up == 1
    assert jobs.try_again() == 1
    assert jobs.take("a", LEASE, 1) == [Job(position=1, attempts=1)]


def test_a_trace_that_ends_every_worker_is_given_up_and_says_so(jobs: Jobs, clock: Clock) -> None:
    jobs.take("others", 1e6, 8)
    jobs.give_back("others", [1])
    for _ in range(ATTEMPTS):
        assert [job.position for job in jobs.take("victim", LEASE, 8)] == [1]
        clock.on(LEASE)

    assert jobs.take("victim", LEASE, 8) == []
    assert [(one.trace_id, one.reason) for one in jobs.failing()] == [("t0", ENDED)]


def test_asked_for_again_a_job_begins_anew_only_when_it_had_ended(jobs: Jobs) -> None:
    taken = jobs.take("a", LEASE, 2)

    assert jobs.put([1, 2, 3]) == 0
    assert _finish(jobs, "a", taken) == 2
    assert jobs.put([1, 2, 3]) == 2
    assert jobs.take_out() == 6
    assert (jobs.counts().open, jobs.counts().done) == (0, 0)


def test_a_queue_that_was_worked_off_begins_anew(jobs: Jobs) -> None:
    while taken := jobs.take("a", LEASE, 8):
        _finish(jobs, "a", taken)
    assert jobs.counts().done == 6

    assert jobs.put([1]) == 1
    assert (jobs.counts().open, jobs.counts().done) == (1, 0)
