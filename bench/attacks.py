"""The table of attacks: what each came to before it was defended, and what it comes to now.

"Before" is what was measured when the attack was first made. "Now" is run: the named tests make the
attack again, and each that fails is an attack that succeeds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from bench.report import Report

ROOT = Path(__file__).resolve().parents[1]


# What it is, what it once came to, and the tests that make it again.
ATTACKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "tools that repeat the claim, or what the agent itself wrote, as evidence",
        "9 of 9 pass",
        ("tests/core/evidence/test_own_words.py",),
    ),
    (
        "unreadable traces, full disks, forged or stored verdicts at the gate",
        "exit 0; a poisoned database: 72 of 72 allowed",
        ("tests/test_cli_gate.py", "tests/core/workflows/test_verify.py"),
    ),
    (
        "rows changed, cut or re-dated behind the program's back",
        "“nothing was changed or removed”",
        (
            "tests/storage/test_seals.py",
            "tests/storage/test_seal_cover.py",
            "tests/storage/test_audit.py",
        ),
    ),
    (
        "a past written anew under an own key, triggers dropped, only the file written",
        "“seals of a key that is not here: not checked … intact”",
        ("tests/storage/test_seals.py",),
    ),
    (
        "a packet written anew: unsigned, or signed by a stranger under a known name",
        "intact; 14 annotations taken",
        ("tests/storage/test_packets.py",),
    ),
    (
        "costly answers: 400 values in a line, `[a](` 32,000 times, one sentence of 36 kB",
        "128 s, 57 s, 149 s",
        ("tests/core/test_bounded_work.py", "tests/core/workflows/test_batching.py"),
    ),
    (
        "600 connections that say nothing, tokens for another use",
        "503 for everybody; one token for all",
        ("tests/service/test_http.py",),
    ),
    (
        "signatures forged, removed, foreign, or of another packet",
        "a name without a key",
        ("tests/storage/test_signatures.py", "tests/test_cli_export.py"),
    ),
    (
        "pages, commands and writes without a role, or as an auditor",
        "not measured",
        ("tests/storage/test_writers.py", "tests/pages/test_access.py"),
    ),
    (
        "numbers without end as times, log lines, broken records",
        "not measured",
        ("tests/core/capture/test_hostile_times.py",),
    ),
)
COUNTS = re.compile(r"(\d+) (passed|failed|errors?)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(options: argparse.Namespace) -> Report:
    """The table; failed when an attack succeeds or none was made."""
    report, rows = Report(), []
    for name, before, tests in ATTACKS:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
             "--override-ini", "addopts=--import-mode=importlib", *tests],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        counts = {word.rstrip("s"): int(number) for number, word in COUNTS.findall(done.stdout)}
        succeeded = counts.get("failed", 0) + counts.get("error", 0)
        made = counts.get("passed", 0) + succeeded
        report.failed |= bool(succeeded) or not made
        rows.append((name, before, f"{succeeded} of {made}"))
    return report.table("", ("attack", "before", "now: attempts that come through"), rows)
