"""Threshold bands against resampling the claims themselves, and their speed on a large packet."""

from __future__ import annotations

import time

import numpy as np
import pytest

from core.bootstrap import resampled_counts
from core.calibration.threshold import GRID, sweep
from core.evaluation.sweep import sweep_bands


def claims(count: int, traces: int, seed: int):
    rng = np.random.default_rng(seed)
    bad = rng.uniform(size=count) < 0.6
    probability = np.round(np.clip(rng.normal(0.7 - 0.4 * bad, 0.2), 0, 1), 4)
    forced = rng.uniform(size=count) < 0.1
    return probability, bad, forced, rng.integers(0, traces, size=count)


def test_bands_are_the_quantiles_of_counting_each_resample() -> None:
    probability, bad, forced, trace = claims(80, 20, 1)
    grid = (0.1, 0.35, 0.5, 0.9)

    bands = sweep_bands(probability, bad, forced, trace, grid, resamples=60, seed=5)

    counts = np.concatenate(list(resampled_counts(int(trace.max()) + 1, resamples=60, seed=5)))
    for band, threshold in zip(bands, grid, strict=True):
        rates = []
        for count in counts:
            drawn = [i for i in range(80) for _ in range(count[trace[i]])]
            (point,) = sweep(probability[drawn], bad[drawn], forced[drawn], (threshold,))
            rates.append((point.false_block_rate, point.false_pass_rate, point.block_f1))
        for place, name in enumerate(("false_block_rate", "false_pass_rate", "block_f1")):
            expected = np.quantile([rate[place] for rate in rates], [0.025, 0.975])
            assert band[name] == pytest.approx(expected, abs=2e-6)


def test_a_threshold_on_a_probability_blocks_only_what_lies_below_it() -> None:
    probability = np.array([0.5, 0.5])

    bands = sweep_bands(
        probability, np.array([True, False]), np.array([False, False]), np.array([0, 0]),
        (0.5, 0.51), resamples=5,
    )  # fmt: skip

    assert bands[0]["false_pass_rate"] == [1.0, 1.0] and bands[0]["false_block_rate"] == [0.0, 0.0]
    assert bands[1]["false_pass_rate"] == [0.0, 0.0] and bands[1]["false_block_rate"] == [1.0, 1.0]


def test_all_thresholds_of_a_hundred_thousand_claims_are_swept_at_once() -> None:
    probability, bad, forced, _ = claims(100_000, 10, 2)
    start = time.process_time()

    points = sweep(probability, bad, forced)

    assert len(points) == len(GRID)
    assert time.process_time() - start < 0.2  # a page redraws with it; measured 0.03 s
