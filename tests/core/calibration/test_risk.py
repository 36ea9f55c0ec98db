"""The guarantee of the threshold: over resampled splits it is broken hardly more often than said."""

from __future__ import annotations

import numpy as np
import pytest

from core.calibration.threshold import block_below, by_risk, upper_rate

SPLITS = 200


def _claims(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    bad = draw.random(count) < 0.3
    score = np.clip(draw.normal(np.where(bad, 0.4, 0.65), 0.17), 0.0, 1.0)
    return np.round(score, 4), bad


@pytest.mark.parametrize("risk", [0.05, 0.1])
def test_the_bound_holds_on_resampled_splits(risk: float) -> None:
    score, bad = _claims(7, 6_000)
    draw = np.random.default_rng(11)
    broken = 0
    for _ in range(SPLITS):
        half = draw.permutation(len(score))
        chosen, rest = half[:900], half[900:]
        choice = by_risk(score[chosen], bad[chosen], np.zeros(900, dtype=bool), risk=risk)
        assert choice.met
        passed = score[rest][bad[rest]] >= choice.point.threshold
        broken += passed.mean() > risk
    # 5 % are allowed; two in a hundred more is the noise of 200 draws.
    assert broken / SPLITS <= 0.05 + 0.03


def test_few_labels_show_nothing_and_fail_closed() -> None:
    score, bad = _claims(3, 40)
    choice = by_risk(score, bad, np.zeros(40, dtype=bool), risk=0.05)
    assert not choice.met
    assert choice.point.passed_bad == 0


def test_what_needs_a_person_lies_below_what_passes() -> None:
    score, bad = _claims(5, 2_000)
    choice = by_risk(score, bad, np.zeros(2_000, dtype=bool), risk=0.05)
    assert 0.0 < block_below(score, bad, risk=0.05) < choice.point.threshold


def test_the_upper_bound_is_the_exact_one() -> None:
    """No error among 59 is the smallest sample that shows a rate of 5 % with 95 % confidence."""
    assert upper_rate(0, 59, 0.95) <= 0.05 < upper_rate(0, 58, 0.95)
    assert upper_rate(0, 0, 0.95) == 1.0
