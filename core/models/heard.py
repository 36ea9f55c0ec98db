"""NLI scores that are heard beside the trees of a calibrator, by the weights that its card names
(III.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from core.records import (
    ABSENCE_FEATURE,
    CLOSE_FEATURE,
    CLOSE_READ_FEATURE,
    NLI_FEATURE,
    Features,
)

HEARD = "heard"  # the card's entry
SUREST = 1e-3  # no NLI score and no forest is surer than this

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Of the log-odds of a claim, what the close NLI score and the best of all NLI scores weigh, in [0, 1].

    ``shift`` is added where a claim was read close, so that such claims stand level with others: that
    reading has lower odds than the trees.
    """

    close: float
    shift: float
    reading: float


# What calibrators whose card names nothing were fitted with.
BEFORE = Heard(close=0.4, shift=0.2, reading=0.0)
# The trees learned how the development packets tell right from wrong; on answers by other authors the
# NLI scores alone rank better than they do. Chosen on these packets, where the NLI models of the
# folds had seen none of a claim's trace, and on answers and charts of authors taught to none: on
# each but the charts (AUROC 0.854 to 0.852) the pair ranks better than BEFORE or as well.
NOW = Heard(close=0.3, shift=0.15, reading=0.2)


def heard_card(heard: Heard = NOW) -> dict[str, float]:
    """The weights as a card's entry."""
    return asdict(heard)


def with_nli_scores(found: Array, rows: Sequence[Features], heard: Heard) -> Array:
    """The trees' probabilities, shape (n,), with the best of the NLI scores and the close one beside them.

    Not where a check found that something stands nowhere in a source: what is read is a part of it.
    """
    numeric = [row.numeric for row in rows]
    absent = np.array([one.get(ABSENCE_FEATURE, 0.0) > 0.0 for one in numeric], dtype=bool)
    close = np.array([one.get(CLOSE_READ_FEATURE, 0.0) >= 1.0 for one in numeric], dtype=bool)
    read = np.array([NLI_FEATURE in one for one in numeric], dtype=bool) & (heard.reading > 0)
    weights = heard.close * close, heard.reading * read
    said = [
        np.array([one.get(name, 0.5) for one in numeric]) for name in (CLOSE_FEATURE, NLI_FEATURE)
    ]
    odds = (1.0 - weights[0] - weights[1]) * log_odds(found) + heard.shift * close
    for weight, probability in zip(weights, said, strict=True):
        odds = odds + weight * log_odds(probability)
    return np.where((close | read) & ~absent, 1.0 / (1.0 + np.exp(-odds)), found)


def log_odds(probability: Array) -> Array:
    """The natural logarithm of the odds, of probabilities held ``SUREST`` away from 0 and 1."""
    held = np.clip(probability, SUREST, 1.0 - SUREST)
    return np.asarray(np.log(held) - np.log1p(-held), dtype=np.float64)
