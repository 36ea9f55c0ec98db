"""Worker processes that are killed again and again: every trace has one verdict, and the trail holds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import workspace_of
from sqlalchemy import func, select
from sqlmodel import col

from storage.store import SqlStore, unverified
from storage.tables import Verdict

PROCESS = Path(__file__).parents[1] / "queue_process.py"
TRACES, WORKERS, SECONDS = 300, 3, 240


@pytest.mark.stress
def test_killed_workers_lose_nothing_and_judge_nothing_twice(
    store: SqlStore, database_address: str
) -> None:
    store.put_traces(
        a_trace(f"Weight {n} kg.", a_source(f"Weight {n} kg."), trace_id=f"t{n}")
        for n in range(TRACES)
    )
    jobs = workspace_of(store).jobs
    jobs.put(unverified(store))
    running = [_worker(database_address) for _ in range(WORKERS)]
    generator, killed, end = random.Random(7), 0, time.monotonic() + SECONDS

    while (counts := jobs.counts()).open and time.monotonic() < end:
        time.sleep(0.5)
        if counts.workers and killed < 12:
            at = generator.randrange(WORKERS)
            os.kill(running[at].pid, signal.SIGKILL)
            running[at].wait()
            running[at] = _worker(database_address)
            killed += 1
            # Twelve kills are as many as four traces could be given up for: they are tried again.
        jobs.try_again()

    for one in running:
        one.kill()
        one.wait()
    with store.database.reading() as connection:
        verdicts = connection.execute(
            select(func.count(), func.count(col(Verdict.position).distinct()))
        )
        assert tuple(verdicts.one()) == (TRACES, TRACES)
    assert killed > 2
    assert jobs.failing() == ()
    assert store.verify_chain().problems == ()


def _worker(database_address: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(PROCESS), database_address], stdout=subprocess.DEVNULL
    )
