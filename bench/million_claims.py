"""Is memory flat over a million claims? Import, decide, store; resident memory against claims done.

PYTHONPATH=. python bench/million_claims.py [--claims 1000000] [--seconds 0] [--db FILE_OR_URL]

The models are the tests' lexical stand-ins, so that claims pass quickly; everything else is the product:
the file is read record by record, traces are stored by content, judged in batches, and stored with trail
and seals. Ends early after ``--seconds``, and says the slope as far as it came: least squares over what
came after the first tenth.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests")]

from big_database import relax  # noqa: E402
from lexical import lexical_models  # noqa: E402
from synthetic import write_records  # noqa: E402

from core.capture.reading import read_traces  # noqa: E402
from core.config import Config  # noqa: E402
from core.workflows.verify import verify_pending  # noqa: E402
from storage.store import open_store  # noqa: E402

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

    def slope(self) -> str:
        """MB for each 100,000 claims, and how far it came."""
        last = self.seen[-1][0] if self.seen else 0
        kept = [(claims, memory) for claims, memory in self.seen if claims >= last / 10]
        if len(kept) < 3:
            return f"{self.what}: too few samples"
        claims, memory = np.array(kept).T
        slope = np.polyfit(claims, memory, 1)[0] * 100_000
        return (
            f"{self.what}: {last:,} claims, {memory.min():.1f} to {memory.max():.1f} MB, "
            f"{slope:+.2f} MB per 100,000 claims"
        )


def main() -> None:
    """Print the table and the slopes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=0.0, help="of judging; 0: to the end")
    parser.add_argument("--db", help="instead of a new SQLite file")
    given = parser.parse_args()
    traces = given.claims // CLAIMS
    with tempfile.TemporaryDirectory(prefix="pg-million-") as made:
        file = Path(made) / "traces.jsonl"
        write_records(file, traces, variants=10_000, claims=CLAIMS)
        print(
            f"{traces:,} traces, {file.stat().st_size / 1e6:.0f} MB, load {os.getloadavg()[0]:.0f}"
        )
        store = open_store(given.db or str(Path(made) / "million.db"), actor="bench")
        relax(store.database.engine)
        importing = Watch("import", traces, 0)
        store.put_traces(_watched(file, importing))
        judging = Watch("judge", traces, given.seconds)
        try:
            verify_pending(store, lexical_models(), Config(), judging)
        except OutOfTime:
            print("out of time")
        store.close()
    print(importing.slope())
    print(judging.slope())


def _watched(file: Path, watch: Watch):  # type: ignore[no-untyped-def]
    for done, trace in enumerate(read_traces([file]), 1):
        yield trace
        watch(done, None, "traces")


def resident_megabytes() -> float:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
