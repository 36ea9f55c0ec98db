"""Is memory flat over a million claims? Import, decide, store; resident memory against claims done.

The models are the tests' lexical stand-ins, so that claims pass quickly; everything else is the product:
the file is read record by record, traces are stored by content, judged in batches, and stored with trail
and seals. Ends early after ``--seconds``, and says the slope as far as it came: least squares over what
came after the first tenth.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from lexical import lexical_models

from bench.big_database import relax
from bench.report import Cell, Report
from bench.synthetic import write_records
from core.capture.reading import read_traces
from core.config import Config
from core.workflows.verify import verify_pending
from storage.store import open_store

CLAIMS = 8  # a trace
LINES = 20  # of the table
SAMPLES = 500


class OutOfTime(Exception):
    """The seconds are over; what was measured counts."""


class Watch:
    """Resident memory against claims done; prints a line now and then."""

    def __init__(self, what: str, traces: int, seconds: float) -> None:
        self.what, self.traces = what, traces
        self.started = time.monotonic()
        self.end = self.started + seconds if seconds else None
        self.seen: list[tuple[int, float]] = []
        self._shown = -1

    def __call__(self, done: int, total: int | None, what: str) -> None:
        """Progress in traces."""
        if done * SAMPLES // self.traces > len(self.seen) or done == total:
            self.seen.append((done * CLAIMS, resident_megabytes()))
        if (step := done * LINES // self.traces) > self._shown:
            self._shown = step
            seconds = time.monotonic() - self.started
            print(
                f"{self.what:<8} {done * CLAIMS:>9,} claims   {resident_megabytes():7.1f} MB   "
                f"{done * CLAIMS / max(seconds, 1e-9):7.0f} claims/s",
                flush=True,
            )
        if self.end is not None and time.monotonic() > self.end:
            raise OutOfTime

    def slope(self) -> tuple[Cell, ...]:
        """How far it came, and MB for each 100,000 claims."""
        last = self.seen[-1][0] if self.seen else 0
        kept = [(claims, memory) for claims, memory in self.seen if claims >= last / 10]
        if len(kept) < 3:
            return self.what, last, None, None, None
        claims, memory = np.array(kept).T
        slope = float(np.polyfit(claims, memory, 1)[0]) * 100_000
        return self.what, last, float(memory.min()), float(memory.max()), slope


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=0.0, help="of judging; 0: to the end")
    parser.add_argument("--db", help="instead of a new SQLite file")


def run(options: argparse.Namespace) -> Report:
    """The slopes of importing and of judging."""
    traces = options.claims // CLAIMS
    with tempfile.TemporaryDirectory(prefix="pg-million-") as made:
        file = Path(made) / "traces.jsonl"
        write_records(file, traces, variants=10_000, claims=CLAIMS)
        store = open_store(options.db or str(Path(made) / "million.db"), actor="bench")
        relax(store.database.engine)
        watches = [Watch("import", traces, 0), Watch("judge", traces, options.seconds)]
        store.put_traces(_watched(file, watches[0]))
        with contextlib.suppress(OutOfTime):
            verify_pending(store, lexical_models(), Config(), watches[1])
        store.close()
    columns = ("", "claims", "from MB", "to MB", "MB per 100,000 claims")
    return Report().table("", columns, (watch.slope() for watch in watches))


def _watched(file: Path, watch: Watch):  # type: ignore[no-untyped-def]
    for done, trace in enumerate(read_traces([file]), 1):
        yield trace
        watch(done, None, "traces")


def resident_megabytes() -> float:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
