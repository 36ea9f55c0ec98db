"""Bootstrap bands for the threshold sweep, for every threshold at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import RESAMPLES, SEED, interval, resampled_sums

Band = dict[str, list[float] | None]  # rate → [low, high]; None where no resample defines it


def sweep_bands(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    forced: NDArray[np.bool_],
    trace: NDArray[np.int64],
    thresholds: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Band]:
    """95 % trace-bootstrap bands of block F1, false-block and false-pass rate a threshold.

    All arrays have shape (claims,); ``trace`` numbers the traces from 0. The bands come in the order
    of ``thresholds``, which need not be sorted, and each holds the rate that was measured.
    """
    asked = np.asarray(thresholds, dtype=np.float64)
    order = np.argsort(asked, kind="stable")
    grid = asked[order]
    # A claim is blocked at every threshold above its probability: count claims by the number of
    # thresholds that let them pass, and a running sum gives the counts at each threshold.
    passes = np.where(forced, 0, np.searchsorted(grid, probability, side="right"))
    width = len(grid) + 1
    traces = int(trace.max()) + 1
    # Summing within traces first makes every resample one row of a matrix product.
    cell = trace * (2 * width) + passes + width * bad
    per_trace = np.bincount(cell, minlength=traces * 2 * width).reshape(traces, 2 * width)
    drawn = resampled_sums(per_trace.astype(np.float64), resamples=resamples, seed=seed)
    table = drawn.reshape(resamples, 2, width)
    measured = _rates(per_trace.sum(axis=0).reshape(1, 2, width))
    ends = {name: _ends(rate, measured[name][0]) for name, rate in _rates(table).items()}
    bands: list[Band] = [{} for _ in asked]
    for place, index in enumerate(order):
        bands[index] = {name: found[place] for name, found in ends.items()}
    return bands


def _rates(table: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The rates of each resample (first axis) at each threshold, from counts of good and bad."""
    blocked = np.cumsum(table, axis=2)[:, :, :-1]
    good, poor = table.sum(axis=2).T[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "block_f1": 2 * blocked[:, 1] / (poor + blocked[:, 0] + blocked[:, 1]),
            "false_block_rate": blocked[:, 0] / good,
            "false_pass_rate": 1.0 - blocked[:, 1] / poor,
        }


def _ends(drawn: NDArray[np.float64], measured: NDArray[np.float64]) -> list[list[float] | None]:
    """The middle 95 % of each column of (resamples, thresholds), widened to what was measured."""
    found = (
        interval(column, float(point)) for column, point in zip(drawn.T, measured, strict=True)
    )
    return [None if each is None else [each.low, each.high] for each in found]
