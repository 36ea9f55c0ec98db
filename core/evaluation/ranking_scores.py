"""AUROC and each error rate where the other is held fixed, of one score of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import SEED, Interval, interval, resampled_auroc, trace_numbers

RESAMPLES = 500
READING_STEPS = 20
TO_FIND = (0.5, 0.8, 0.95)  # of the errors

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


def reading_entry(score: Array, bad: Flags) -> dict[str, object] | None:
    """Errors found against claims read, the lowest score first and equal ones in part.

    ``curve`` has the share found for every twentieth of the claims; ``to_find`` how many claims are read
    until so much of the errors is found. None without errors.
    """
    errors = int(bad.sum())
    if not errors:
        return None
    levels, place = np.unique(score, return_inverse=True)
    read = np.r_[0.0, np.cumsum(np.bincount(place, minlength=len(levels)))]
    found = np.r_[0.0, np.cumsum(np.bincount(place, weights=bad, minlength=len(levels)))]
    # Levels without an error find nothing: as few claims as find so many.
    first = np.r_[True, np.diff(found) > 0]
    last = np.r_[np.diff(found) > 0, False]
    ends = first | last
    steps = np.arange(READING_STEPS + 1) / READING_STEPS
    shares = np.interp(steps * len(score), read, found) / errors
    return {
        "claims": len(score),
        "errors": errors,
        "curve": [
            {"read": round(float(at), 4), "found": round(float(share), 4)}
            for at, share in zip(steps, shares, strict=True)
        ],
        "to_find": {
            f"{share:g}": int(np.ceil(_first_at(share * errors, found[ends], read[ends]) - 1e-9))
            for share in TO_FIND
        },
    }


def _first_at(wanted: float, found: Array, read: Array) -> float:
    """Where a curve that never falls first reaches a height."""
    at = int(np.searchsorted(found, wanted - 1e-9))
    if at == 0 or found[at] == found[at - 1]:
        return float(read[at])
    share = (wanted - found[at - 1]) / (found[at] - found[at - 1])
    return float(read[at - 1] + share * (read[at] - read[at - 1]))


def reading_words(reading: object) -> str:
    """The curve in words: "read these 96 of 880 claims (11 %) to find 50 % of the 108 errors, …"."""
    if not isinstance(reading, Mapping):
        return "no claim is bad: there is nothing to find"
    claims, parts = int(reading["claims"]), list[str]()
    for share, count in reading["to_find"].items():
        words = "read the first {0:,} of {1:,} claims ({2}) to find {3} of the {4:,} errors"
        if parts:
            words = "{0:,} ({2}) for {3}"
        parts.append(
            words.format(
                count,
                claims,
                share_words(count / claims),
                share_words(float(share)),
                reading["errors"],
            )
        )
    return ", ".join(parts)


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
