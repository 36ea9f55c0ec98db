"""Bootstrap bands for the threshold sweep, for every threshold at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.evaluation.bootstrap import SEED, resampled_counts

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
    cell = passes + width * bad
    drawn_f1, drawn_false_block, drawn_false_pass = [], [], []
    traces = int(trace.max()) + 1
    for counts in resampled_counts(traces, resamples=resamples, seed=seed):
        for drawn in counts:
            table = np.bincount(cell, weights=drawn[trace], minlength=2 * width).reshape(2, width)
            blocked = np.cumsum(table, axis=1)[:, :-1]
            good, poor = table.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                drawn_false_block.append(blocked[0] / good)
                drawn_false_pass.append(1.0 - blocked[1] / poor)
                drawn_f1.append(2 * blocked[1] / (poor + blocked[0] + blocked[1]))
    rates = {
        "block_f1": _ends(drawn_f1),
        "false_block_rate": _ends(drawn_false_block),
        "false_pass_rate": _ends(drawn_false_pass),
    }
    return [{name: ends[place] for name, ends in rates.items()} for place in range(len(grid))]


def _ends(drawn: Sequence[NDArray[np.float64]]) -> list[list[float] | None]:
    table = np.stack(drawn)
    found: list[list[float] | None] = []
    for column in table.T:
        defined = column[np.isfinite(column)]
        if len(defined):
            low, high = np.quantile(defined, [0.025, 0.975])
            found.append([round(float(low), 6), round(float(high), 6)])
        else:
            found.append(None)
    return found
