"""Workers: of one file and of the queue; one process' verdicts, whatever happens meanwhile; one cache."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from lexical import lexical_models
from serving import ANSWER, OUTPUTS
from typer.testing import CliRunner

from cli import app
from core.capture.native_record import read_trace
from core.codec import verdict_document
from core.config import Config
from core.errors import Busy, ComponentUnavailable, Overdue
from core.records import Judged, Trace, Verification
from core.records.jobs import JOBS_AT_ONCE
from core.records.judge import JudgeFailure, JudgeFor, JudgeRequest
from core.workflows.batching import Allowed, BatchingVerifier, Step
from core.workflows.cache import Shelf
from core.workflows.queue_worker import work_off
from core.workflows.verify import Judge, pipeline_judge, run_key
from core.workflows.workers import ATTEMPTS, Crew
from storage.jobs import Jobs
from storage.store import SqlStore, unverified

COUNT = 6


def _records() -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"t{n}",
            "full_tool_outputs": [
                *OUTPUTS,
                {"tool_name": "note", "text": f"Room {n}: weight {n} kg"},
            ],
            "assistant_answer": f"{ANSWER} She weighs {n} kg and is in room {n + 1}.",
        }
        for n in range(COUNT)
    ]


def _timeless(document: Any) -> str:
    return json.dumps({**document, "latency_seconds": None, "line_sha256": None})


@pytest.mark.stress
@pytest.mark.usefixtures("weights_loaded_once")
def test_workers_write_what_one_process_writes_with_and_without_a_cache(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in _records()))
    options = {
        "one": [],
        "two": ["--workers", "2", "--cache", str(tmp_path / "kept")],
        "again": ["--cache", str(tmp_path / "kept")],
    }
    written: dict[str, list[str]] = {}
    for name, more in options.items():
        out = tmp_path / f"{name}.jsonl"
        result = CliRunner().invoke(app, ["verify", str(file), "--out", str(out), *more])
        assert result.exit_code == 0, result.output
        written[name] = [_timeless(json.loads(line)) for line in out.read_text().splitlines()]

    assert len(written["one"]) == COUNT
    assert written["two"] == written["one"]
    assert written["again"] == written["one"]
    assert (tmp_path / "kept" / "readings.db").stat().st_size > 0


@pytest.mark.stress
def test_a_killed_worker_loses_nothing_and_one_that_keeps_dying_is_named() -> None:
    traces = [read_trace(record, None) for record in _records()[:6]]
    with Crew(2) as crew:
        judge = crew.judge()
        undisturbed = [_timeless(verdict_document(one)) for one in judge.verify(traces)]
        before = [_pid(crew, n) for n in range(2)]
        # Killed while it has traces in hand: nobody knows how many it has judged by then.
        killing = threading.Timer(0.2, os.kill, (before[0], signal.SIGKILL))
        killing.start()
        disturbed = [_timeless(verdict_document(one)) for one in judge.verify(traces)]
        killing.join()
        assert disturbed == undisturbed

        asked: list[Trace] = []
        original = type(crew.workers[0]).judge

        def dies(worker: Any, given: Any) -> Any:
            asked.extend(given)
            os.kill(worker.process.pid, signal.SIGKILL)
            return original(worker, given)

        crew.workers = crew.workers[:1]
        crew.workers[0].judge = lambda given: dies(crew.workers[0], given)  # type: ignore[method-assign]
        with pytest.raises(ComponentUnavailable, match=f"t0: {ATTEMPTS} workers ended"):
            list(judge.verify(traces[:1]))
        assert [trace.trace_id for trace in asked] == ["t0"] * ATTEMPTS


def _pid(crew: Crew, number: int) -> int:
    process = crew.workers[number].process
    assert process is not None
    return process.pid


JOBS = 20


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlStore]:
    opened = a_store(tmp_path / "w.db")
    opened.put_traces(
        a_trace(f"Weight {n} kg.", a_source(f"Weight {n} kg."), trace_id=f"t{n}")
        for n in range(JOBS)
    )
    yield opened
    opened.close()


@pytest.fixture
def jobs(store: SqlStore) -> Jobs:
    queue = workspace_of(store).jobs
    assert queue.put(unverified(store)) == JOBS
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
    jobs.put(list(range(1, JOBS + 1)))
    second = work_off(jobs, judge, "a", until_empty=True)

    assert (first.verified, first.kept) == (JOBS, 0)
    assert (second.verified, second.kept) == (0, JOBS)
    assert store.count_without_run(run_key(judge.versions)) == 0
    assert (jobs.counts().done, jobs.counts().open) == (JOBS, 0)
    assert store.verify_chain().problems == ()


def test_a_trace_that_no_worker_can_judge_takes_no_other_with_it(
    store: SqlStore, jobs: Jobs
) -> None:
    judge = _judge(stumbles_over="t3")

    first = work_off(jobs, judge, "a", until_empty=True)
    waiting = jobs.failing()
    with store.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE job SET due = '2026-01-01 00:00:00'")
    again = work_off(jobs, judge, "a", until_empty=True)

    assert first.verified == JOBS - len(waiting) == JOBS - JOBS_AT_ONCE
    assert all(one.next_at is not None for one in waiting), "they are tried again, later"
    assert again.verified == JOBS_AT_ONCE - 1, "each alone"
    (failing,) = jobs.failing()
    assert (failing.trace_id, failing.attempts) == ("t3", 2)
    assert failing.reason.startswith("a fault in this program: TypeError in ")
    assert "secret" not in failing.reason


def test_a_model_that_is_not_there_is_no_trace_s_fault(jobs: Jobs) -> None:
    with pytest.raises(ComponentUnavailable, match="no weights"):
        work_off(jobs, _judge(unavailable=True), "a", until_empty=True)

    assert jobs.counts().waiting == JOBS
    assert jobs.failing() == ()
    assert work_off(jobs, _judge(), "b", until_empty=True).verified == JOBS


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
    assert jobs.counts().done == JOBS - 8


def _wait_and_take(jobs: Jobs, seconds: float) -> list[object]:
    threading.Event().wait(seconds)
    return list(jobs.take("thief", 60.0, 8))


CHART = a_source("Patient: Rosa Lindqvist. Medications: metformin 500 mg twice daily. eGFR 58.")
SHORT = a_trace("She takes metformin 500 mg twice daily.", CHART)
# Minutes of work: each line is a claim of its own.
LONG = a_trace("\n".join(f"- The level of drug{n} is {n} mg." for n in range(400)), CHART)


def test_what_takes_too_long_or_is_given_up_ends_and_its_neighbour_is_judged() -> None:
    with BatchingVerifier(lexical_models(), Config(), latency_bound_seconds=0.2) as verifier:
        verifier.submit(SHORT).result(300)  # everything is loaded
        begun = time.process_time()
        given_up = Allowed()
        late = verifier.submit(LONG, allowed=Allowed(1.0))
        beside = verifier.submit(SHORT)
        with pytest.raises(Overdue, match="within 1 s"):
            late.result(300)
        assert len(beside.result(300).claims) == 1

        left = verifier.submit(LONG, allowed=given_up)
        given_up.end()
        with pytest.raises(Overdue):
            left.result(300)
        assert len(verifier.submit(SHORT).result(300).claims) == 1

    assert time.process_time() - begun < 20  # the whole of it takes several times as long


OPENERS, ROUNDS = 8, 4


class _SecondReleasesFirst:
    """A judge whose first reply comes only when it is asked about another answer."""

    name = "slow"

    def __init__(self) -> None:
        self.asked, self.second = threading.Event(), threading.Event()

    def judge(self, request: JudgeRequest) -> JudgeFailure:
        if self.asked.is_set():
            self.second.set()
        self.asked.set()
        return JudgeFailure(reason="late" if self.second.wait(60) else "nobody else came")


def test_a_judge_that_takes_its_time_holds_up_nobody_elses_answer() -> None:
    judge = _SecondReleasesFirst()
    models = replace(lexical_models(), judge=judge, judge_for=JudgeFor.ALL)
    with BatchingVerifier(models, Config()) as verifier:
        first = verifier.submit(SHORT)
        assert judge.asked.wait(60)
        assert verifier.waiting == 1
        second = verifier.submit(SHORT)
        notices = [
            claim.outcome.judge and claim.outcome.judge.notice
            for answer in (first.result(120), second.result(120))
            for claim in answer.claims
            if isinstance(claim.outcome, Judged)
        ]

    assert notices == ["late", "late"] and not verifier.waiting


def test_whoever_would_wait_longer_than_is_allowed_is_told_at_once_to_come_back() -> None:
    released = threading.Event()

    def first(step: Step) -> None:
        if step is Step.JUDGING:
            released.wait(60)

    with BatchingVerifier(lexical_models(), Config()) as verifier:
        begun = verifier.submit(SHORT, first)
        while verifier.waiting < 3:
            verifier.submit(SHORT, allowed=Allowed(60))
        with pytest.raises(Busy) as refused:
            verifier.submit(SHORT, allowed=Allowed(2.5))
        released.set()

        assert begun.result(60).claims and refused.value.retry_seconds >= 2


def test_workers_that_open_a_new_file_at_once_all_have_it(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        together = threading.Barrier(OPENERS)

        def opened(
            worker: int, file: Path = tmp_path / f"{number}.db", start: threading.Barrier = together
        ) -> None:
            start.wait()
            shelf = Shelf(file, identity="models", most_bytes=1 << 20)
            shelf.put([(f"key {worker}", b"value")])
            shelf.close()

        with ThreadPoolExecutor(OPENERS) as pool:
            list(pool.map(opened, range(OPENERS)))

        shelf = Shelf(tmp_path / f"{number}.db", identity="models", most_bytes=1 << 20)
        assert len(shelf.get([f"key {worker}" for worker in range(OPENERS)])) == OPENERS
        shelf.close()
