"""Fit what ships anew from its own rows: forest, calibration, thresholds and card, by one command.

    python -m training.refit                 both calibrators, in place (make refit)
    python -m training.refit --check         print the figures, write nothing

The rows lie beside the weights (``training_rows.npz``); new packets become rows by
``python -m training.development``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from core.calibration.crossed import fit_crossed
from core.calibration.fit import FittedCalibrator, ForestSettings
from core.calibration.rows import ROWS_FILE, read_training_rows
from core.models.forest import ACCURATE_FOLDER, CARD_FILE, DEFAULT_FOLDER
from training.development import DIRECTIONS


def refit(folder: Path) -> FittedCalibrator:
    """The calibrator of a folder's rows, with the risk and the makers that its card names.

    The rows that thresholds rest on come first among those that were kept for training; how many there
    are stands in the card.
    """
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    kept = read_training_rows(folder / ROWS_FILE)
    rows = [*kept.validation, *kept.train]
    measured = int(card["data"]["validation"]["rows"])
    made = ("embedder", "pair_reader", "precision", "config_sha256", "packets")
    return fit_crossed(
        rows,
        [at < measured for at in range(len(rows))],
        settings=ForestSettings(directions=DIRECTIONS),
        risk=float(card["settings"]["risk"]),
        made_with={name: card["made_by"][name] for name in made if name in card["made_by"]},
    )


def main() -> None:
    """Fit, print each card's figures, and write unless asked only to check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[DEFAULT_FOLDER, ACCURATE_FOLDER])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        fitted = refit(folder)
        card: dict[str, Any] = fitted.card
        told = {name: card[name] for name in ("threshold", "review_from", "calibration", "crossed")}
        print(folder.name, json.dumps(told), json.dumps(card["metrics"]["validation_at_threshold"]))
        if not options.check:
            print(fitted.save(folder))


if __name__ == "__main__":
    main()
