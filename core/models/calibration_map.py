"""Calibration, the last step from a score to a probability (III.5): Platt's map.

Unlike the paper, which takes the forest's vote for the probability. The map is fitted on scores of rows
whose trace the forest had not seen; it is strictly increasing, so that no ranking and no decision at the
mapped threshold changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.models.heard import log_odds

CALIBRATION = "calibration"  # the card's entry

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMap:
    """``probability = 1 / (1 + exp(-(slope * log-odds + intercept)))``.

    ``base`` is the share of supported claims among the ``claims`` that it was fitted on, in (0, 1): the
    prior that its probabilities hold.
    """

    slope: float
    intercept: float
    base: float
    claims: int

    def __call__(self, score: Array) -> Array:
        """The calibrated probabilities of scores in [0, 1]; the shape stays."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * log_odds(score) + self.intercept))))
