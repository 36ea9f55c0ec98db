"""The labelled answers that no code and no threshold has seen, opened once a release.

    python bench/sealed_test.py              the figures of this release, which are written to the log; both
                                             readers in one opening, where the accurate one is installed
    python bench/sealed_test.py --verify     whether the sealed file is still the one that was sealed

The digest of the test answers is committed before anything is run on them (`labelled/SEALED`). Each
opening is a line of `labelled/OPENED.jsonl`: who reads a figure can count how often it was looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from core.config import Config
from core.evaluation.ranking import ranking_table
from core.models.loading import ACCURATE, BUNDLED, is_here
from core.workflows.compare import Options, evaluate_with
from core.workflows.models import load_models

LABELLED = Path(__file__).resolve().parents[1] / "sample_data" / "labelled"
SEALED, OPENED = LABELLED / "SEALED", LABELLED / "OPENED.jsonl"
TEST = LABELLED / "test.jsonl"


def main() -> int:
    """Open the test answers once for this release, and write down that it was done."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--verify", action="store_true", help="only compare the digest")
    parser.add_argument("--again", help="open them once more for the same release; say why")
    options = parser.parse_args()
    digest = hashlib.sha256(TEST.read_bytes()).hexdigest()
    if SEALED.read_text(encoding="utf-8").split()[0] != digest:
        print("the test answers are not the ones that were sealed", file=sys.stderr)
        return 1
    release = version("provenanceguard-workbench")
    before = _openings()
    if options.verify:
        print(f"sealed {digest[:12]}, opened {len(before)} times")
        return 0
    if any(one["release"] == release for one in before) and not options.again:
        print(
            f"already opened for {release}; another look makes it a development set: "
            "--again 'why' writes that down",
            file=sys.stderr,
        )
        return 1
    report = _measured(None)
    here = is_here(ACCURATE)
    line = {
        "release": release,
        "opened": datetime.now(UTC).date().isoformat(),
        "sha256": digest,
        "times_before": len(before),
        "why_again": options.again,
        "versions": report["versions"],
        "ranking": report["ranking"],
        "accurate": _measured(ACCURATE)["ranking"] if here else None,
    }
    with OPENED.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    return 0


def _openings() -> list[dict[str, object]]:
    if not OPENED.exists():
        return []
    return [json.loads(line) for line in OPENED.read_text(encoding="utf-8").splitlines()]


def _measured(reader: str | None) -> dict[str, object]:
    config = Config()
    models = load_models(config, pair_reader=reader)
    report, _ = evaluate_with(TEST, models, config, Options())
    ranking = report["ranking"]
    assert isinstance(ranking, dict)
    name = f"labelled test, {reader or BUNDLED} reader"
    print("\n".join(ranking_table(name, ranking)))
    return report


if __name__ == "__main__":
    sys.exit(main())
