"""A worker killed every ten seconds while many traces are judged: the bytes of an undisturbed run?

First one process, undisturbed; then ``verify --workers`` with SIGKILL to a worker drawn at random
every so many seconds, from the first verdict to the last. Both keep what they read (``--cache``), each
for itself: the variants are read by the models, the rest goes the whole way without them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import Report
from bench.synthetic import write_records
from bench.verdicts import PROJECT, read_lines, without_identity

ENVIRONMENT = os.environ | {"PYTHONPATH": str(PROJECT), "HF_HUB_OFFLINE": "1"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--variants", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=float, default=10.0)


def run(options: argparse.Namespace) -> Report:
    """Measure and compare; failed where a byte differs."""
    with tempfile.TemporaryDirectory(prefix="pg-killed-") as made:
        folder = Path(made)
        file, quiet, killed = (folder / f"{n}.jsonl" for n in ("traces", "quiet", "killed"))
        write_records(file, options.traces, variants=options.variants)
        alone, _ = _finished(_verifying(folder, file, quiet, 1), quiet)
        running = _verifying(folder, file, killed, options.workers)
        together, kills = _finished(running, killed, every=options.every)
        verdicts = [list(map(without_identity, read_lines(path))) for path in (quiet, killed)]
    differing = sum(one != other for one, other in zip(*verdicts, strict=True))
    report = Report(failed=bool(differing))
    report.notes.append(f"{len(verdicts[0])} verdicts, {differing} differ but for times")
    return report.table("", ("run", "seconds", "workers killed"), (
        ("one process, undisturbed", alone, 0),
        (f"{options.workers} workers, a kill every {options.every:.0f} s", together, kills),
    ))  # fmt: skip


def _verifying(folder: Path, file: Path, out: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cli", "verify", str(file), "--out", str(out)]
    command += ["--workers", str(workers), "--cache", str(folder / f"cache-{out.stem}")]
    return subprocess.Popen(
        command, cwd=PROJECT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )


def _finished(
    running: subprocess.Popen[str], out: Path, every: float | None = None
) -> tuple[float, int]:
    """Seconds until it ended, and how many of its workers were killed meanwhile."""
    started, kills, generator = time.monotonic(), 0, random.Random(20260309)
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
    return time.monotonic() - started, kills


def _children(process: int) -> list[int]:
    """The worker processes of a run."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(number) for number in task.read_text().split()]
        except OSError:
            continue  # that thread has ended
    return found
