"""wrk at many connections against ``serve http``: statuses, latency, and the server's memory over time.

Fails when anything but 200, or 429 and 503 with Retry-After, came back. wrk must be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench.report import Report

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--most-waiting", type=int, default=64)


def run(options: argparse.Namespace) -> Report:
    """Serve, load, and report."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        server = subprocess.Popen(
            [
                sys.executable, "-m", "cli", "serve", "http", "--at", "127.0.0.1:0",
                "--tokens", str(tokens), "--most-waiting", str(options.most_waiting),
            ],
            cwd=ROOT, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stderr is not None
            address = next(
                line.split()[-1] for line in server.stderr if line.startswith("serving ")
            )
            memory = Memory(server.pid, options.seconds)
            found = loaded(address, tokens.read_text().strip(), options)
            memory.stop()
        finally:
            server.terminate()
            server.wait(60)
    over_time = ", ".join(f"{seconds:.0f} s {size:.0f}" for seconds, size in memory.megabytes)
    times = (f"{found[key]:,.0f}" for key in ("p50_ms", "p95_ms", "p99_ms", "slowest_ms"))
    answers = (str(found[key]) for key in ("ok", "busy", "late", "other"))
    failed = found["other"] or found["without_retry_after"] or found["socket_errors"]
    return Report(failed=bool(failed)).table("", ("", "found"), (
        ("seconds, connections", f"{found['seconds']:.0f}, {options.connections}"),
        ("load of the machine before", f"{before:.0f}"),
        ("200, 429, 503, anything else", ", ".join(answers)),
        ("refusals without Retry-After, socket errors",
         f"{found['without_retry_after']}, {found['socket_errors']}"),
        ("verdicts a second", f"{found['ok'] / found['seconds']:.1f}"),
        ("p50, p95, p99, slowest (ms)", ", ".join(times)),
        ("memory (MB)", over_time),
    ))  # fmt: skip


def loaded(address: str, token: str, given: argparse.Namespace) -> dict[str, float]:
    """What wrk counted."""
    told = subprocess.run(
        [
            "wrk", "--threads", "2", "--connections", str(given.connections),
            "--duration", f"{given.seconds}s", "--timeout", "90s",
            "--script", str(ROOT / "bench" / "load.lua"), address, "--", token,
        ],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(told.stdout.strip().splitlines()[-1])
    return found


class Memory:
    """Resident megabytes of a process, sampled evenly until it is stopped."""

    def __init__(self, pid: int, seconds: int) -> None:
        self.megabytes: list[tuple[float, float]] = []
        self._over = threading.Event()
        self._pid, self._every, self._started = pid, seconds / SAMPLES, time.monotonic()
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()

    def _watch(self) -> None:
        while True:
            pages = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
            size = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            self.megabytes.append((time.monotonic() - self._started, size))
            if self._over.wait(self._every):
                return

    def stop(self) -> None:
        """Sample no more."""
        self._over.set()
        self._watching.join()
