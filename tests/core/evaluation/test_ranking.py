"""AUROC, both error rates at fixed ones, and intervals that hold what was measured."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.ranking import auroc, auroc_interval, bad_passed_at, good_blocked_at
from core.evaluation.sweep import sweep_bands

CLAIMS = st.lists(
    st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 4)), min_size=2, max_size=60
)


def _arrays(claims: list[tuple[int, bool, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    score = np.array([one[0] / 20 for one in claims])
    bad = np.array([one[1] for one in claims])
    trace = np.unique([one[2] for one in claims], return_inverse=True)[1]
    return score, bad, trace


@given(CLAIMS)
def test_auroc_counts_pairs(claims: list[tuple[int, bool, int]]) -> None:
    score, bad, _ = _arrays(claims)
    pairs = [(g, b) for g in score[~bad] for b in score[bad]]
    expected = (
        sum(1.0 if g > b else 0.5 if g == b else 0.0 for g, b in pairs) / len(pairs)
        if pairs
        else None
    )
    found = auroc(score, bad)
    assert (found is None) == (expected is None)
    assert found is None or expected is None or abs(found - expected) < 1e-9


@given(CLAIMS, st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5]))
def test_a_threshold_reaches_what_is_told(claims: list[tuple[int, bool, int]], rate: float) -> None:
    """The told rate is that of some threshold which keeps the other rate, and none does better."""
    score, bad, _ = _arrays(claims)
    good, poor = score[~bad], score[bad]
    if not len(good) or not len(poor):
        assert bad_passed_at(score, bad, rate) is None
        return
    thresholds = [*np.unique(score), 2.0]
    both = [((good < t).mean(), (poor >= t).mean()) for t in thresholds]
    assert bad_passed_at(score, bad, rate) == min(b for g, b in both if g <= rate + 1e-12)
    assert good_blocked_at(score, bad, rate) == min(g for g, b in both if b <= rate + 1e-12)


@given(CLAIMS)
def test_the_interval_holds_the_measured_value(claims: list[tuple[int, bool, int]]) -> None:
    score, bad, trace = _arrays(claims)
    measured, ends = auroc(score, bad), auroc_interval(score, bad, [str(t) for t in trace])
    if measured is not None and ends is not None:
        assert ends[0] - 1e-4 <= measured <= ends[1] + 1e-4


@given(CLAIMS, st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_every_band_holds_its_rate_whatever_the_order(
    claims: list[tuple[int, bool, int]], asked: list[int]
) -> None:
    """Thresholds came unsorted, and intervals were of other thresholds than their rates."""
    score, bad, trace = _arrays(claims)
    thresholds = [one / 20 for one in asked]
    bands = sweep_bands(score, bad, np.zeros(len(bad), dtype=bool), trace, thresholds, resamples=50)
    for threshold, band in zip(thresholds, bands, strict=True):
        for among, rate, name in (
            (score[~bad], (score[~bad] < threshold), "false_block_rate"),
            (score[bad], (score[bad] >= threshold), "false_pass_rate"),
        ):
            ends = band[name]
            if len(among) and ends is not None:
                assert ends[0] - 1e-5 <= rate.mean() <= ends[1] + 1e-5
