"""Statements about charts of authors whom no reader was taught with, each author's judged without them.

    python bench/charts_bench.py

The shipped calibrator's rows hold what was read of them (`training/pairs/CHARTS.md`). For each author
trees are grown on all rows but that author's; at the shipped threshold, without and with the reading of
what is closest to each claim.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.calibration.crossed import Array, forest_fitter  # noqa: E402
from core.calibration.fit import ForestSettings  # noqa: E402
from core.calibration.rows import TrainingRow, read_training_rows  # noqa: E402
from core.evaluation.ranking_scores import auroc  # noqa: E402
from core.models.forest import load_forest  # noqa: E402
from core.records import CLOSE_READ_FEATURE, VETOES_FEATURE  # noqa: E402
from training.development import DIRECTIONS  # noqa: E402
from training.written import written  # noqa: E402

AUTHORS = ("hf", "ia", "ic")


def main() -> None:
    """Print AUROC and what passes, by author and together."""
    found, threshold = read_training_rows(), load_forest().threshold
    # They are the last of the rows.
    named = [group.author for group in written(AUTHORS)]
    last = list(dict.fromkeys(row.trace_id for row in found.train))[-len(named) :]
    who = dict(zip(last, named, strict=True))
    charts = [row for row in found.train if row.trace_id in who]
    base = [row for row in (*found.train, *found.validation) if row.trace_id not in who]
    fit = forest_fitter(ForestSettings(directions=DIRECTIONS))
    ways: dict[str, list[Array]] = {"trees alone": [], "with the reading": []}
    judged: list[TrainingRow] = []
    print("| author | | AUROC | dangerous passed | true passed |\n|---|---|---|---|---|")
    for name in AUTHORS:
        own = [row for row in charts if who[row.trace_id] == name]
        scores = fit([*base, *(row for row in charts if who[row.trace_id] != name)])
        judged += own
        for way, rows in zip(ways, ([_unread(row) for row in own], own), strict=True):
            ways[way].append(scores(rows))
            print(_line(name, way, own, ways[way][-1], threshold))
    for way, parts in ways.items():
        print(_line("all", way, judged, np.concatenate(parts), threshold))


def _unread(row: TrainingRow) -> TrainingRow:
    numeric = {**row.features.numeric, CLOSE_READ_FEATURE: 0.0}
    return replace(row, features=replace(row.features, numeric=numeric))


def _line(
    name: str, way: str, rows: list[TrainingRow], probability: Array, threshold: float
) -> str:
    bad = np.array([row.should_block for row in rows])
    otherwise = np.array([row.forced and not row.features.numeric[VETOES_FEATURE] for row in rows])
    score = np.where(otherwise, -1.0, probability)
    passed = score >= threshold
    return (
        f"| {name} | {way} | {auroc(score, bad):.3f} | {(passed & bad).sum()} of {bad.sum()} "
        f"| {(passed & ~bad).sum()} of {(~bad).sum()} |"
    )


if __name__ == "__main__":
    main()
