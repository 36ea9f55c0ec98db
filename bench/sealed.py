"""The labelled answers that no code and no threshold has seen, opened once a release.

    python -m bench sealed              the figures of this release, which are written to the log; both
                                        NLI models in one opening, where the accurate one is installed
    python -m bench sealed --verify     whether the sealed file is still the one that was sealed

The digest of the test answers is committed before anything is run on them (`labelled/SEALED`). Each
opening is a line of `labelled/OPENED.jsonl`: who reads a figure can count how often it was looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.report import Report
from core.config import Config
from core.evaluation.ranking import ranking_table
from core.models.loading import ACCURATE, BUNDLED, is_here
from core.workflows.compare import Options, evaluate_with
from core.workflows.models import load_models

LABELLED = Path(__file__).resolve().parents[1] / "sample_data" / "labelled"
SEALED, OPENED = LABELLED / "SEALED", LABELLED / "OPENED.jsonl"
TEST = LABELLED / "test.jsonl"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--verify", action="store_true", help="only compare the digest")
    parser.add_argument("--again", help="open them once more for the same release; say why")


def run(options: argparse.Namespace) -> Report:
    """Open the test answers once for this release, and write down that it was done."""
    digest = hashlib.sha256(TEST.read_bytes()).hexdigest()
    if SEALED.read_text(encoding="utf-8").split()[0] != digest:
        return Report(notes=["the test answers are not the ones that were sealed"], failed=True)
    release = version("provenanceguard-workbench")
    before = _openings()
    if options.verify:
        return Report(notes=[f"sealed {digest[:12]}, opened {len(before)} times"])
    if any(one["release"] == release for one in before) and not options.again:
        again = (
            f"already opened for {release}; another look makes it a development set: "
            "--again 'why' writes that down"
        )
        return Report(notes=[again], failed=True)
    measured = {name: _measured(name) for name in (BUNDLED, ACCURATE) if is_here(name)}
    line = {
        "release": release,
        "opened": datetime.now(UTC).date().isoformat(),
        "sha256": digest,
        "times_before": len(before),
        "why_again": options.again,
        "versions": measured[BUNDLED]["versions"],
        "ranking": measured[BUNDLED]["ranking"],
        "accurate": measured[ACCURATE]["ranking"] if ACCURATE in measured else None,
    }
    with OPENED.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    report = Report()
    for name, found in measured.items():
        report.notes += ranking_table(f"labelled test, {name} NLI model", found["ranking"])
    return report


def _openings() -> list[dict[str, object]]:
    if not OPENED.exists():
        return []
    return [json.loads(line) for line in OPENED.read_text(encoding="utf-8").splitlines()]


def _measured(nli: str) -> dict[str, Any]:
    models = load_models(Config(), nli_model=None if nli == BUNDLED else nli)
    return evaluate_with(TEST, models, Config(), Options())[0]
