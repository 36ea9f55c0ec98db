"""A worker killed every ten seconds while many traces are judged: the bytes of an undisturbed run?

PYTHONPATH=. python bench/killed_workers.py [--traces 10000] [--variants 100] [--workers 2] [--every 10]

First one process, undisturbed; then ``verify --workers`` with SIGKILL to a worker drawn at random
every so many seconds, from the first verdict to the last. Both keep what they read (``--cache``), each
for itself: the variants are read by the models, the rest goes the whole way without them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from synthetic import timeless, write_records

PROJECT = Path(__file__).resolve().parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(PROJECT), "HF_HUB_OFFLINE": "1"}


def main() -> int:
    """Measure and compare; 1 where a byte differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--variants", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=float, default=10.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pg-killed-") as made:
        folder = Path(made)
        file = folder / "traces.jsonl"
        write_records(file, given.traces, variants=given.variants)
        quiet, killed = folder / "quiet.jsonl", folder / "killed.jsonl"
        seconds = _finished(_verifying(folder, file, quiet, 1), quiet)
        print(f"{given.traces} traces, undisturbed: {seconds:.0f} s", flush=True)
        running = _verifying(folder, file, killed, given.workers)
        seconds = _finished(running, killed, every=given.every)
        print(f"{given.workers} workers, one killed every {given.every:.0f} s: {seconds:.0f} s")
        return 0 if _same(quiet, killed) else 1


def _verifying(folder: Path, file: Path, out: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cli", "verify", str(file), "--out", str(out)]
    command += ["--workers", str(workers), "--cache", str(folder / f"cache-{out.stem}")]
    return subprocess.Popen(
        command, cwd=PROJECT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )


def _finished(running: subprocess.Popen[str], out: Path, every: float | None = None) -> float:
    """Seconds until it ended; meanwhile one of its workers is killed every so many of them."""
    started = time.monotonic()
    generator = random.Random(20260309)
    kills = 0
    while every is not None and running.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(every)
        workers = _children(running.pid)
        if out.exists() and out.stat().st_size and workers:
            os.kill(generator.choice(workers), signal.SIGKILL)
            kills += 1
    said = running.communicate()[0]
    if running.returncode:
        raise SystemExit(f"verify ended with {running.returncode}: {said}")
    if every is not None:
        print(f"{kills} workers killed")
    return time.monotonic() - started


def _children(process: int) -> list[int]:
    """The worker processes of a run."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(number) for number in task.read_text().split()]
        except OSError:
            continue  # that thread has ended
    return found


def _same(quiet: Path, killed: Path) -> bool:
    """Whether both files hold the same verdicts in the same order, each once, seconds apart."""
    with quiet.open(encoding="utf-8") as first, killed.open(encoding="utf-8") as second:
        count = 0
        for count, (a, b) in enumerate(zip(first, second, strict=True), 1):
            if timeless(json.loads(a)) != timeless(json.loads(b)):
                print(f"line {count} differs")
                return False
    print(f"{count} verdicts: the same bytes, seconds apart")
    return True


if __name__ == "__main__":
    sys.exit(main())
