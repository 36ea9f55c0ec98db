"""Two Ray nodes in network namespaces on this machine, against one process: the same verdicts?

PYTHONPATH=. python bench/ray_nodes.py [--traces 2000] [--variants 100] [--kill]

Needs root, iproute2 and the extra [ray]. Each node has an address of its own and one processor as far
as Ray is told; what they share is the disk. Prints seconds for one process, one Ray worker and two.
With --kill the second node's worker processes are killed once, while they judge.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synthetic import timeless, write_records

PROJECT = Path(__file__).resolve().parents[1]
RAY = Path(sys.executable).with_name("ray")
NODES = {"pg-one": "10.77.0.1", "pg-two": "10.77.0.2"}
PORT = 6399
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(PROJECT),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "HF_HUB_OFFLINE": "1",
    "RAY_AUTH_MODE": "token",  # who has no token is no part of the cluster
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "no_proxy": ",".join(NODES.values()),  # gRPC would ask a proxy for them
}


def main() -> int:
    """Measure, compare, and say so; 1 where a byte differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=2000)
    parser.add_argument("--variants", type=int, default=100)
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pg-ray-") as made:
        folder = Path(made)
        file = folder / "traces.jsonl"
        write_records(file, given.traces, variants=given.variants)
        print(
            f"{given.traces} traces, {file.stat().st_size / 1e6:.1f} MB, load {os.getloadavg()[0]:.0f}"
        )
        one = folder / "one.jsonl"
        report("one process", verify(folder, file, one, []))
        same = True
        with two_nodes(folder):
            for workers in (1, 2):
                out = folder / f"ray-{workers}"
                engine = ["--engine", "ray", "--workers", str(workers)]
                kill = given.kill and workers == 2
                seconds = verify(folder, file, out, engine, node="pg-one", kill=kill)
                report(f"Ray, {workers} worker(s){', one killed' if kill else ''}", seconds)
                same = same and compared(one, out)
            again = verify(folder, file, folder / "ray-2", [*engine], node="pg-one")
            report("the same once more: all kept", again)
    return 0 if same else 1


def report(what: str, seconds: float) -> None:
    """One line of the table."""
    print(f"{what:<40} {seconds:8.1f} s   load {os.getloadavg()[0]:.0f}", flush=True)


def verify(
    folder: Path, file: Path, out: Path, options: list[str], *, node: str = "", kill: bool = False
) -> float:
    """Run the command, on a node where one is named; its seconds. Readings are kept for it alone."""
    cache = folder / f"cache-{out.stem}"
    command = [sys.executable, "-m", "cli", "verify", str(file), "--out", str(out), *options]
    command += ["--cache", str(cache)]
    inside = ["ip", "netns", "exec", node] if node else []
    address = {"RAY_ADDRESS": f"{NODES['pg-one']}:{PORT}"} if node else {}
    started = time.monotonic()
    running = subprocess.Popen(
        [*inside, *command], env=ENVIRONMENT | address, cwd=PROJECT,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    killing = threading.Thread(target=kill_workers, args=(out, running), daemon=True)
    if kill:
        killing.start()
    said = running.communicate()[0]
    if running.returncode:
        raise SystemExit(f"verify ended with {running.returncode}: {said}")
    print("   ", "; ".join(line.strip() for line in said.splitlines()[:3]))
    return time.monotonic() - started


def kill_workers(out: Path, running: subprocess.Popen[str]) -> None:
    """Once verdicts are being written, end the judging processes of the second node."""
    while running.poll() is None and not any(out.glob("part-*")):
        time.sleep(0.1)
    time.sleep(2)
    found = subprocess.run(["ip", "netns", "pids", "pg-two"], capture_output=True, text=True)
    for number in map(int, found.stdout.split()):
        title = Path(f"/proc/{number}/cmdline")
        if title.exists() and b"MapWorker" in title.read_bytes():
            os.kill(number, signal.SIGKILL)
            print(f"    killed worker {number} of the second node", flush=True)


def compared(one: Path, out: Path) -> bool:
    """Whether the parts in order are the one file, seconds apart."""
    parts = sorted(out.glob("part-*.jsonl"))
    each = (line for part in parts for line in part.open(encoding="utf-8"))
    expected = one.open(encoding="utf-8")
    count = 0
    for count, (a, b) in enumerate(zip(expected, each, strict=True), 1):
        if timeless(json.loads(a)) != timeless(json.loads(b)):
            print(f"    line {count} differs")
            return False
    print(f"    {count} verdicts in {len(parts)} parts: the same bytes, seconds apart")
    return True


@contextmanager
def two_nodes(folder: Path) -> Iterator[None]:
    """Two namespaces joined by a pair of virtual cables, with a Ray node in each."""
    nodes = list(NODES)
    run = [
        *(f"ip netns add {node}" for node in nodes),
        f"ip link add pg-a netns {nodes[0]} type veth peer name pg-b netns {nodes[1]}",
        *(
            f"ip -n {node} {what}"
            for node, cable in zip(nodes, ("pg-a", "pg-b"), strict=True)
            for what in (f"addr add {NODES[node]}/24 dev {cable}", f"link set {cable} up",
                         "link set lo up")
        ),
    ]  # fmt: skip
    try:
        for command in run:
            subprocess.run(command.split(), check=True)
        for node, address in NODES.items():
            where = (
                [
                    "--head",
                    f"--port={PORT}",
                    "--include-dashboard=false",
                    f"--temp-dir={folder}/ray",
                ]
                if node == nodes[0]
                else [f"--address={NODES[nodes[0]]}:{PORT}"]
            )
            start = [str(RAY), "start", *where, f"--node-ip-address={address}", "--num-cpus=1",
                     "--object-store-memory=200000000", "--disable-usage-stats"]  # fmt: skip
            subprocess.run(
                ["ip", "netns", "exec", node, *start],
                check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        yield
    finally:
        for node in nodes:
            pids = subprocess.run(["ip", "netns", "pids", node], capture_output=True, text=True)
            for number in map(int, pids.stdout.split()):
                os.kill(number, signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", node])


if __name__ == "__main__":
    sys.exit(main())
