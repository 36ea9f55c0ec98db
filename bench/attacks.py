"""The table of attacks: what each came to before it was defended, and what it comes to now.

    make check-all                                   # this table, the generators, and the fuzzing
    PYTHONPATH=. python bench/attacks.py          # the table alone

"Before" is what was measured when the attack was first made. "Now" is run: the named tests make the
attack again, and each that fails is an attack that succeeds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack: what it is, what it once came to, and the tests that make it again."""

    name: str
    before: str
    tests: tuple[str, ...]


ATTACKS = (
    Attack(
        name="tools that repeat the claim, or what the agent itself wrote, as evidence",
        before="9 of 9 pass",
        tests=("tests/core/judging/test_own_words.py",),
    ),
    Attack(
        name="unreadable traces, full disks, forged or stored verdicts at the gate",
        before="exit 0; a poisoned database: 72 of 72 allowed",
        tests=("tests/test_cli_gate.py", "tests/core/workflows/test_verdict_file.py"),
    ),
    Attack(
        name="rows changed, cut or re-dated behind the program's back",
        before="“nothing was changed or removed”",
        tests=(
            "tests/storage/test_seals.py",
            "tests/storage/test_seal_cover.py",
            "tests/storage/test_audit.py",
        ),
    ),
    Attack(
        name="a past written anew under an own key, triggers dropped, only the file written",
        before="“seals of a key that is not here: not checked … intact”",
        tests=("tests/storage/test_seals.py",),
    ),
    Attack(
        name="a packet written anew: unsigned, or signed by a stranger under a known name",
        before="intact; 14 annotations taken",
        tests=("tests/storage/test_packets.py",),
    ),
    Attack(
        name="costly answers: 400 values in a line, `[a](` 32,000 times, one sentence of 36 kB",
        before="128 s, 57 s, 149 s",
        tests=("tests/core/test_bounded_work.py", "tests/core/workflows/test_batching.py"),
    ),
    Attack(
        name="600 connections that say nothing, tokens for another use",
        before="503 for everybody; one token for all",
        tests=("tests/service/test_http.py",),
    ),
    Attack(
        name="signatures forged, removed, foreign, or of another packet",
        before="a name without a key",
        tests=("tests/storage/test_signatures.py", "tests/test_cli_export.py"),
    ),
    Attack(
        name="pages, commands and writes without a role, or as an auditor",
        before="not measured",
        tests=("tests/storage/test_writers.py", "tests/pages/test_access.py"),
    ),
    Attack(
        name="numbers without end as times, log lines, broken records",
        before="not measured",
        tests=("tests/core/capture/test_hostile_times.py",),
    ),
)
COUNTS = re.compile(r"(\d+) (passed|failed|errors?)")


def run(attack: Attack) -> tuple[int, int]:
    """How many attempts were held off, and how many were made."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
         "--override-ini", "addopts=--import-mode=importlib", *attack.tests],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    counts = {word.rstrip("s"): int(number) for number, word in COUNTS.findall(done.stdout)}
    held = counts.get("passed", 0)
    return held, held + counts.get("failed", 0) + counts.get("error", 0)


def main() -> int:
    """Print the table; 1 when an attack succeeds or none was made."""
    succeeded = 0
    print("| attack | before | now: attempts that come through |\n|---|---|---|", flush=True)
    for attack in ATTACKS:
        held, made = run(attack)
        succeeded += made - held if made else 1
        print(f"| {attack.name} | {attack.before} | {made - held} of {made} |", flush=True)
    return int(succeeded > 0)


if __name__ == "__main__":
    sys.exit(main())
