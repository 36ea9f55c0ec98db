"""Verdicts as a checkout of the project gives them, by its own commands and without run identity."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
# What names the run or its time. All else of a verdict must be the same, byte for byte.
RUN_IDENTITY = frozenset({"versions", "latency_seconds", "line_sha256", "seconds", "identity"})

Row = dict[str, Any]


def verify(files: list[Path], out: Path, checkout: Path = PROJECT, *more: str) -> list[Row]:
    """The lines that ``verify`` of the checkout writes for these traces, in order."""
    _command(checkout, "verify", *map(str, files), "--out", str(out), *more)
    return read_lines(out) if out.exists() else []


def evaluate(packet: Path, out: Path, checkout: Path = PROJECT, *more: str) -> list[Row]:
    """The predictions that ``evaluate`` of the checkout keeps for these claims, in order."""
    _command(checkout, "evaluate", str(packet), "--keep", str(out), *more)
    return [row["prediction"] for row in read_lines(out)]


def read_lines(path: Path) -> list[Row]:
    """The records of a JSON Lines file, compressed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def without_identity(value: Any) -> Any:
    """The same value without what names the run."""
    if isinstance(value, dict):
        return {k: without_identity(v) for k, v in value.items() if k not in RUN_IDENTITY}
    if isinstance(value, list):
        return [without_identity(each) for each in value]
    return value


def _command(checkout: Path, *arguments: str) -> None:
    """Run a command of the checkout; one that read nothing, or whose gate failed, is no error."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=checkout,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 2):
        raise SystemExit(
            f"{checkout}: {' '.join(arguments)} ended with {done.returncode}\n{done.stderr}"
        )


def fresh(folder: Path) -> Path:
    """The folder, emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
