"""AUROC and each error rate where the other is held fixed, of one score of claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import SEED, Interval, interval, resampled_auroc, trace_numbers

RESAMPLES = 500

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


def auroc(score: Array, bad: Flags) -> float | None:
    """The chance that a good claim scores above a bad one, ties half; None without both kinds."""
    good, poor = np.sort(score[~bad]), score[bad]
    if not len(good) or not len(poor):
        return None
    below = np.searchsorted(good, poor, side="left")
    within = np.searchsorted(good, poor, side="right")
    above = len(good) - within + 0.5 * (within - below)
    return float(above.sum() / (len(good) * len(poor)))


def bad_passed_at(score: Array, bad: Flags, good_blocked: float) -> float | None:
    """The lowest share of bad claims that pass with at most this share of good ones blocked."""
    good, poor = np.sort(score[~bad]), score[bad]
    if not len(good) or not len(poor):
        return None
    # Claims below the threshold are blocked; equal scores stand and fall together.
    threshold = good[min(int(good_blocked * len(good)), len(good) - 1)]
    return float((poor >= threshold).mean())


def good_blocked_at(score: Array, bad: Flags, bad_passed: float) -> float | None:
    """The lowest share of good claims that is blocked with at most this share of bad ones passed."""
    good, poor = score[~bad], np.sort(score[bad])[::-1]
    if not len(good) or not len(poor):
        return None
    highest_bad_kept_out = poor[min(int(bad_passed * len(poor)), len(poor) - 1)]
    return float((good <= highest_bad_kept_out).mean())


def bad_found_in_first(score: Array, bad: Flags, share: float) -> float | None:
    """The share of the bad claims among the ``share`` of claims with the lowest scores, ties in part."""
    if not bad.any():
        return None
    read = share * len(score)
    last = np.sort(score)[max(int(np.ceil(read)) - 1, 0)]
    below, level = score < last, score == last
    in_level = (read - below.sum()) / level.sum()
    return float((bad[below].sum() + in_level * bad[level].sum()) / bad.sum())


def auroc_spread(
    score: Array, bad: Flags, trace: NDArray[np.int64], *, resamples: int, seed: int = SEED
) -> Interval | None:
    """The middle 95 % over resampled traces, with the measured value; None where none has both kinds."""
    measured = auroc(score, bad)
    if measured is None:
        return None
    return interval(resampled_auroc(score, ~bad, trace, resamples=resamples, seed=seed), measured)


def auroc_interval(
    score: Array, bad: Flags, trace: Sequence[str], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[float] | None:
    """``auroc_spread`` as reports give it, for traces by name."""
    found = auroc_spread(score, bad, trace_numbers(trace), resamples=resamples, seed=seed)
    return None if found is None else [round(found.low, 4), round(found.high, 4)]


def rounded(value: float | None) -> float | None:
    """Four decimals of a figure, as reports give it."""
    return None if value is None else round(value, 4)


def share_words(value: object) -> str:
    """A share as whole per cent; a dash where there is none."""
    return f"{100 * value:.0f} %" if isinstance(value, float) else "–"
