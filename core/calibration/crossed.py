"""A calibrator whose threshold rests on every row: cross-fitted by trace (III.5, IV.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from core.calibration.fit import (
    FittedCalibrator,
    ForestSettings,
    assemble,
    data_card,
    fit_calibration,
    flatten,
    grow,
    probability_metrics,
    scored_freely,
)
from core.calibration.label_card import judging_card, labels_card
from core.calibration.rows import TrainingRow
from core.calibration.threshold import DEFAULT_RISK, block_below, by_risk
from core.errors import InputError
from core.models.calibration_map import CALIBRATION, CalibrationMap
from core.models.forest import Forest

Array = NDArray[np.float64]
Fitter = Callable[[Sequence[TrainingRow]], Callable[[Sequence[TrainingRow]], Array]]

FOLDS = 10


def out_of_fold(
    rows: Sequence[TrainingRow], fit: Fitter, *, folds: int = FOLDS, seed: int = 20260607
) -> Array:
    """Each row's probability by a model that saw no claim of its trace; shape (rows,)."""
    traces = np.array([row.trace_id for row in rows])
    if len(set(traces)) < folds:
        raise InputError(f"cross-validation in {folds} folds needs as many traces")
    strata = np.array([row.should_block for row in rows])
    found = np.zeros(len(rows))
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(strata, strata, traces):
        scores = fit([rows[i] for i in train])
        found[test] = scores([rows[i] for i in test])
    return found


def forest_fitter(settings: ForestSettings) -> Fitter:
    """Table 1's forest as something that ``out_of_fold`` can fit."""

    def fit(rows: Sequence[TrainingRow]) -> Callable[[Sequence[TrainingRow]], Array]:
        encoding, grown = grow(rows, settings)
        forest = Forest(encoding, flatten(grown), 0.5, judging_card(rows))
        return lambda others: forest.probabilities([row.features for row in others])

    return fit


def calibrated(rows: Sequence[TrainingRow], score: Array, found: CalibrationMap) -> Array:
    """The scores as probabilities, to 4 decimals; what a count of labels set stays as it is."""
    return np.where(scored_freely(rows), np.round(found(score), 4), score)


def crossed_metrics(rows: Sequence[TrainingRow], score: Array) -> dict[str, float]:
    """How well the calibration holds where neither the forest nor the map had seen a row's trace."""
    traces = np.array([row.trace_id for row in rows])
    truth = np.array([row.supported_by_route for row in rows])
    said = np.zeros(len(rows))
    splitter = StratifiedGroupKFold(n_splits=FOLDS, shuffle=True, random_state=1)
    for train, test in splitter.split(truth, truth, traces):
        found = fit_calibration([rows[i] for i in train], score[train])
        said[test] = calibrated([rows[i] for i in test], score[test], found)
    return probability_metrics(said, truth)


def fit_crossed(
    rows: Sequence[TrainingRow],
    measured: Sequence[bool],
    *,
    settings: ForestSettings,
    risk: float = DEFAULT_RISK,
    made_with: Mapping[str, str] | None = None,
) -> FittedCalibrator:
    """The forest on all rows, its threshold on what forests that had not seen a trace said of it.

    ``measured`` marks the rows that the threshold and the card's figures rest on: those of answers
    like the ones that will be judged; the others only help to grow the trees.
    """
    settings = replace(settings, risk=risk)  # a site's fit takes the guarantee from the card
    score = out_of_fold(rows, forest_fitter(settings))
    encoding, grown = grow(rows, settings)
    kept = np.array(measured, dtype=np.bool_)
    judged = [row for row, one in zip(rows, kept, strict=True) if one]
    found = fit_calibration(judged, score[kept])
    probability = calibrated(rows, score, found)
    judging = {**judging_card(rows), CALIBRATION: asdict(found)}
    forest = Forest(encoding, flatten(grown), 0.5, judging)
    bad = np.array([row.should_block for row in judged])
    forced = np.array([row.forced for row in judged])
    choice = by_risk(probability[kept], bad, forced, risk=risk)
    review_from = min(block_below(probability[kept], bad, risk=risk), choice.point.threshold)
    return assemble(
        forest,
        grown,
        judged,
        probability[kept],
        choice,
        settings,
        {
            "train": data_card(rows),
            "validation": data_card(judged),
            "validation_is": f"out of fold, {FOLDS} folds by trace",
            "labels_for_threshold": {"bad": int(bad.sum()), "good": int((~bad).sum())},
        },
        made_with,
        {
            "review_from": review_from,
            **labels_card(judged, probability[kept], judged, probability[kept]),
            **judging,
            "crossed": crossed_metrics(judged, score[kept]),
        },
    )
