"""Bootstrap bands for the threshold sweep, for every threshold at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import SEED, resampled_sums

Band = dict[str, list[float] | None]  # rate → [low, high]; None where no resample defines it


def sweep_bands(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    forced: NDArray[np.bool_],
    trace: NDArray[np.int64],
    thresholds: Sequence[float],
    *,
    resamples: int = 1_000,
    seed: int = SEED,
) -> list[Band]:
    """95 % trace-bootstrap bands of block F1, false-block and false-pass rate a threshold.

    All arrays have shape (claims,); ``trace`` numbers the traces from 0.
    """
    grid = np.asarray(thresholds, dtype=np.float64)
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
    blocked = np.cumsum(table, axis=2)[:, :, :-1]
    good, poor = table.sum(axis=2).T[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = {
            "block_f1": _ends(2 * blocked[:, 1] / (poor + blocked[:, 0] + blocked[:, 1])),
            "false_block_rate": _ends(blocked[:, 0] / good),
            "false_pass_rate": _ends(1.0 - blocked[:, 1] / poor),
        }
    return [{name: ends[place] for name, ends in rates.items()} for place in range(len(grid))]


def _ends(drawn: NDArray[np.float64]) -> list[list[float] | None]:
    """The middle 95 % of each column of (resamples, thresholds)."""
    found: list[list[float] | None] = []
    for column in drawn.T:
        defined = column[np.isfinite(column)]
        if len(defined):
            low, high = np.quantile(defined, [0.025, 0.975])
            found.append([round(float(low), 6), round(float(high), 6)])
        else:
            found.append(None)
    return found
