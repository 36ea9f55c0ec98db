"""Many callers and many slow connections at ``serve http``: statuses, latency, and its memory over time.

Answers come at a rate, whether or not earlier ones are done, so that waiting counts; each asks anew. The
slow connections send one byte of a header every few seconds and have no token. Fails where anything but
200 came, or 429 with Retry-After.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.report import Report

ROOT = Path(__file__).resolve().parents[1]
SAMPLE_SECONDS, SAMPLES = 0.25, 12
BYTE_SECONDS = 3.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--answers", type=Path, default=ROOT / "bench/sets/pairs_b.jsonl.gz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rate", type=float, default=5, help="answers a second, together")
    parser.add_argument("--serve", default="", help="further options of `serve http`, as one text")
    parser.add_argument("--slow", type=int, default=600, help="connections that only stand there")


def run(options: argparse.Namespace) -> Report:
    """Serve, load, and report."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        serve = [sys.executable, "-m", "cli", "serve", "http", "--at", "127.0.0.1:0"]
        server = subprocess.Popen(
            [*serve, "--tokens", str(tokens), *shlex.split(options.serve)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stderr is not None
            said = iter(server.stderr)
            address = next(line.split()[-1] for line in said if line.startswith("serving "))
            threading.Thread(target=list, args=(said,), daemon=True).start()  # it is never full
            load = Load(address, tokens.read_text().strip(), options.answers, server.pid)
            asyncio.run(load.put(options))
        finally:
            server.terminate()
            server.wait(60)
    bad = sum(count for status, count in load.statuses.items() if status not in (200, 429))
    times = [f"{each:,.0f}" for each in np.percentile(load.milliseconds or [0], (50, 95, 99, 100))]
    statuses = ", ".join(f"{count} × {status}" for status, count in load.statuses.most_common())
    some = load.megabytes[:: -(-len(load.megabytes) // SAMPLES)]
    return Report(failed=bool(bad or not load.milliseconds)).table("", ("", "found"), (
        ("seconds, clients, answers a second, slow connections",
         f"{options.seconds:g}, {options.clients}, {options.rate:g}, {options.slow}"),
        ("load of the machine before, after", f"{before:.1f}, {os.getloadavg()[0]:.1f}"),
        ("statuses (or what went wrong)", statuses),
        ("slow connections cut off", load.cut),
        ("p50, p95, p99, slowest of 200 (ms)", ", ".join(times)),
        ("memory (MB)", ", ".join(f"{at:.0f} s {size:.0f}" for at, size in some)),
        ("memory at most (MB)", f"{max(size for _, size in load.megabytes):.0f}"),
    ))  # fmt: skip


@dataclass(slots=True)
class Load:
    """The callers of one server, and what they saw."""

    address: str
    token: str
    answers: Path
    pid: int
    statuses: Counter[int | str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    megabytes: list[tuple[float, float]] = field(default_factory=list)
    cut: int = 0

    async def put(self, options: argparse.Namespace) -> None:
        """Ask for so long, and wait for the last answers."""
        due: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()
        started = time.monotonic()
        slow = [asyncio.create_task(self._stand()) for _ in range(options.slow)]
        sample = asyncio.create_task(self._sample(started))
        clients = [asyncio.create_task(self._ask(due)) for _ in range(options.clients)]
        for number, request in enumerate(self._requests()):
            at = started + number / options.rate
            if at > started + options.seconds:
                break
            await asyncio.sleep(at - time.monotonic())
            due.put_nowait((at, request))
        for _ in clients:
            due.put_nowait(None)
        await asyncio.gather(*clients)
        for task in (*slow, sample):
            task.cancel()
        await asyncio.gather(*slow, sample, return_exceptions=True)

    def _requests(self) -> Iterator[bytes]:
        with gzip.open(self.answers, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        for number, row in enumerate(itertools.cycle(rows)):
            outputs = [
                {"tool_name": o["tool_name"], "text": o["text"]} for o in row["tool_outputs"]
            ]
            asked = {"question": f"{row['question']} ({number})", "answer": row["answer"]}
            body = json.dumps({**asked, "tool_outputs": outputs}).encode()
            head = (
                "POST /v1/verify_answer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            yield head.encode() + body

    async def _ask(self, due: asyncio.Queue[tuple[float, bytes] | None]) -> None:
        while (one := await due.get()) is not None:
            at, request = one
            try:
                reader, writer = await self._opened()
                writer.write(request)
                reply = await reader.read()
                writer.close()
                status = int(reply.split(b" ", 2)[1])
            except (OSError, IndexError, ValueError) as error:
                self.statuses[type(error).__name__] += 1
                continue
            told = status == 200 or b"retry-after" in reply.partition(b"\r\n\r\n")[0].lower()
            self.statuses[status if told else f"{status} without Retry-After"] += 1
            if status == 200:
                self.milliseconds.append(1000 * (time.monotonic() - at))

    async def _stand(self) -> None:
        while True:
            try:
                _, writer = await self._opened()
                for byte in b"POST /v1/verify_answer HTTP/1.1":
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(BYTE_SECONDS)
            except OSError:
                self.cut += 1

    async def _sample(self, started: float) -> None:
        while True:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
            size = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            self.megabytes.append((time.monotonic() - started, size))
            await asyncio.sleep(SAMPLE_SECONDS)

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self.address.removeprefix("http://").rpartition(":")
        return await asyncio.open_connection(host, int(port))
