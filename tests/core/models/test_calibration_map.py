"""The step from score to probability keeps every ranking; the prior moves odds and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration.rows import read_training_rows
from core.models.calibration_map import CalibrationMap
from core.models.forest import load_forest
from core.records import Features, Support

shares = st.floats(0.01, 0.99)


@given(st.floats(0.05, 5), st.floats(-3, 3), st.lists(st.floats(0.002, 0.998), min_size=2))
def test_the_map_keeps_the_order_and_stays_a_probability(
    slope: float, intercept: float, scores: list[float]
) -> None:
    mapped = CalibrationMap(slope=slope, intercept=intercept, base=0.7, claims=100)(
        np.array(sorted(scores))
    )

    assert ((mapped > 0.0) & (mapped < 1.0)).all()
    assert (np.diff(mapped) >= 0.0).all()


@given(shares, shares, shares, shares)
def test_a_prior_moves_the_odds_by_its_own_and_is_undone_by_the_way_back(
    one: float, other: float, base: float, prior: float
) -> None:
    def at_prior(chance: float, base_rate: float, wanted: float) -> float:
        support = Support(probability=chance, threshold=0.5, base_rate=base_rate)
        return support.at_prior(wanted) or 0.0

    moved, more = at_prior(one, base, prior), at_prior(other, base, prior)

    assert at_prior(moved, prior, base) == pytest.approx(one)
    assert at_prior(base, base, prior) == pytest.approx(prior)
    assert (one < other) <= (moved <= more + 1e-12)


def test_the_shipped_forest_moves_with_its_signals_and_a_label_cannot_move_it() -> None:
    """No more of what speaks for a claim lowers its support, whatever the label that a pair was given:
    a surer contradiction raises nothing, and a lexical rescue, which changes the label alone, nothing."""
    forest = load_forest()
    rows = [row.features for row in read_training_rows().train[::40]]
    before = forest.probabilities(rows)
    signs = dict(forest.card["settings"]["directions"])  # type: ignore[index, call-overload]

    for name, sign in signs.items():
        if not sign:
            continue
        more = [
            Features(
                categorical=row.categorical, numeric={**row.numeric, name: row.numeric[name] + 0.3}
            )
            for row in rows
        ]
        assert ((forest.probabilities(more) - before) * sign >= -1e-9).all(), name
    label = {"pred_score": 0.99, "score_x_route": 0.99, "score_x_route_squared": 0.99}
    surer = [
        Features(
            categorical={**row.categorical, "verifier_label": "contradiction"},
            numeric={**row.numeric, "contradiction": 0.99, **label},
        )
        for row in rows
    ]
    assert (forest.probabilities(surer) == before).all()
