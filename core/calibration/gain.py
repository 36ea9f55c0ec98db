"""Whether a candidate is better than what decides now, shown on labels, or worse in both errors (III.5).

The gain of a candidate is how much more of the good claims pass, less how much more of the bad ones do.
A handful of labels says little of bad claims: two more of them are taken to pass as the good ones do, so
that letting more pass is no gain until labels show that the bad ones stay out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import resampled_sums, trace_numbers
from core.calibration.rows import TrainingRow
from core.ports import Calibrator

PRESUMED_BAD = 2.0  # claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """In [-2, 2], with the lower end of the one-sided 95 % interval over resampled traces."""

    value: float
    low: float
    claims: int

    @property
    def shown(self) -> bool:
        """Whether the labels show that the candidate is better: else what decides is kept."""
        return self.low > 0.0


def gain_of(rows: Sequence[TrainingRow], candidate: Calibrator, current: Calibrator) -> Gain:
    """The candidate's gain on labelled claims, each calibrator at its own threshold; 0 without claims."""
    if not rows:
        return Gain(value=0.0, low=0.0, claims=0)
    more = passes(rows, candidate).astype(float) - passes(rows, current)
    bad = np.array([row.should_block for row in rows])
    trace = trace_numbers([row.trace_id for row in rows])
    parts = np.stack([more * ~bad, ~bad, more * bad, bad]).astype(float)
    counted = [np.bincount(trace, weights=part) for part in parts]
    per_trace: NDArray[np.float64] = np.stack(counted, axis=1).astype(np.float64)
    # One answer drawn again is always itself: it would show whatever it says.
    drawn = _gains(resampled_sums(per_trace)) if len(per_trace) > 1 else np.array([-2.0])
    return Gain(
        value=round(float(_gains(per_trace.sum(axis=0, keepdims=True))[0]), 4),
        low=round(float(np.quantile(drawn, 0.05)), 4),
        claims=len(rows),
    )


def passes(rows: Sequence[TrainingRow], calibrator: Calibrator) -> NDArray[np.bool_]:
    """Which claims pass; what something else than the probability blocks never does."""
    chance = calibrator.probabilities([row.features for row in rows])
    forced = np.array([row.forced for row in rows], dtype=np.bool_)
    return np.asarray((chance >= calibrator.threshold) & ~forced, dtype=np.bool_)


def _gains(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of sums over traces, shape (n, 4): newly passing good, good, newly passing bad, bad claims."""
    good = sums[:, 0] / np.maximum(sums[:, 1], 1.0)
    bad = (sums[:, 2] + PRESUMED_BAD * np.maximum(good, 0.0)) / (sums[:, 3] + PRESUMED_BAD)
    return np.asarray(good - bad, dtype=np.float64)
