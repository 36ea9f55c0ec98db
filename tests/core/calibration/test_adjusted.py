"""A handful of labels moves the calibration the way that they say, once, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.calibration.fit import adjusted, fit_calibration, settings_of
from core.calibration.rows import TrainingRow, read_training_rows
from core.errors import InputError
from core.models.forest import Forest, load_forest

MADE = {"pair_reader": "reader"}
ROWS = read_training_rows().train[::97]


def labels(rows: Sequence[TrainingRow], right: int) -> list[TrainingRow]:
    return [
        replace(row, supported_by_route=at < right, should_block=at >= right)
        for at, row in enumerate(rows)
    ]


def moved(forest: Forest) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    features = [row.features for row in ROWS]
    return forest.probabilities(features) - load_forest().probabilities(features)


def test_labels_that_say_too_much_is_stopped_raise_no_threshold_and_every_probability() -> None:
    shipped = load_forest()
    low = [r for r in ROWS if shipped.probabilities([r.features])[0] < shipped.threshold][:13]

    found = adjusted(shipped, labels(low, right=10), MADE).forest()

    assert found.threshold == shipped.threshold
    assert (moved(found) >= 0.0).all() and (moved(found) > 0.0).any()


def test_labels_of_bad_claims_lower_it_no_labels_nothing_and_the_same_twice_no_more(
    tmp_path: Path,
) -> None:
    shipped = load_forest()
    bad = labels(ROWS[:13], right=0)
    once = adjusted(shipped, bad, MADE)

    assert (moved(once.forest()) <= 0.0).all()
    assert not moved(adjusted(shipped, [], MADE).forest()).any()
    once.save(tmp_path)
    again = adjusted(load_forest(tmp_path), bad, MADE).forest()
    assert np.abs(moved(again) - moved(once.forest())).max() < 0.002
    assert settings_of(again.card) == settings_of(shipped.card)


def test_one_kind_of_label_and_scores_that_rank_backwards_are_refused() -> None:
    rows = [r for r in ROWS if not r.features.numeric["checks_vetoes"]]
    rows = [r for r in rows if r.features.numeric["source_shown"] < 1.0]

    with pytest.raises(InputError, match="the same target"):
        fit_calibration(labels(rows, right=0), np.linspace(0.1, 0.9, len(rows)))
    with pytest.raises(InputError, match="backwards"):
        fit_calibration(labels(rows, right=len(rows) // 2), np.linspace(0.1, 0.9, len(rows)))
