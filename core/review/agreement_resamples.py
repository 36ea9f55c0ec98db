"""Agreement on resampled traces: every coefficient on each draw, for the intervals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import resampled_counts
from core.review.agreement_pairs import Codes, Pairs

Array = NDArray[np.float64]


# As for a fit (Recalibrate): resamples of fewer traces are the same few traces again and again, and
# an interval of them is far too narrow, often without any width.
FEWEST_TRACES = 8
RESAMPLES = 1_000
MOST_CELLS = 20_000_000  # of the table traces × shared labels; a larger one gets no interval
MOST_BLOCKS = 1_000  # of traces: a thousand resamples of as many tell enough


def resampled(pairs: Pairs, choices: int, resamples: int, seed: int) -> Mapping[str, Array] | str:
    """Each coefficient on each resample of traces, shape (resamples,); or why there are none.

    With two ratings a claim, all four follow from the claims, those agreed on, and the sums over
    labels of pooled counts squared and of one rater's counts times the other's.
    """
    traces = _in_order(pairs.traces)
    count = int(traces.max(initial=-1)) + 1
    if count < 2:
        return "all claims are of one trace"
    if count < FEWEST_TRACES:
        return f"{count} traces, and at least {FEWEST_TRACES} are needed"
    # Beyond a thousand traces, blocks of them are drawn: a tenth of the work for the same width.
    blocks = min(count, MOST_BLOCKS)
    place = traces % blocks
    labels = np.stack([pairs.left, pairs.right])
    size = blocks, len(pairs.names)
    at_label = np.unique(labels.ravel() * size[0] + np.tile(place, 2)) // size[0]
    is_shared = np.bincount(at_label, minlength=size[1]) > 1
    shared = int(is_shared.sum())
    if shared * size[0] > MOST_CELLS:
        return "too many different sources"
    agreed = (labels[0] == labels[1]).astype(np.float64)
    sums = np.stack([np.bincount(place, w, size[0]) for w in (np.ones(len(place)), agreed)], axis=1)
    column = np.cumsum(is_shared) - 1
    left, right = (
        np.bincount((place * shared + column[side])[is_shared[side]], minlength=size[0] * shared)
        .reshape(size[0], shared)
        .astype(np.float64)
        for side in labels
    )
    # A label of one trace is drawn as often as its trace, and its square as often squared: sources'
    # names would otherwise need a column each.
    one, two = (np.bincount(side, minlength=size[1]).astype(np.float64) for side in labels)
    home = np.zeros(size[1], dtype=np.int64)
    home[labels.ravel()] = np.tile(place, 2)
    alone = ~is_shared
    squares = np.stack(
        [
            np.bincount(home[alone], weights[alone], size[0]).astype(np.float64)
            for weights in ((one + two) ** 2, one * two)
        ],
        axis=1,
    )
    parts = [
        _coefficients(drawn, sums.astype(np.float64), left, right, squares, choices)
        for drawn in _draws(size[0], resamples, seed)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@lru_cache(maxsize=4)
def _draws(blocks: int, resamples: int, seed: int) -> tuple[Array, ...]:
    """How often each block is drawn: the same for every group of a page that has as many."""
    drawn = resampled_counts(blocks, resamples=resamples, seed=seed)
    return tuple(counts.astype(np.float64) for counts in drawn)


def _in_order(codes: Codes) -> Codes:
    """Codes by first appearance, without gaps."""
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes]


def _coefficients(
    drawn: Array, sums: Array, left: Array, right: Array, squares: Array, choices: int
) -> dict[str, Array]:
    claims, agreed = (drawn @ sums).T
    one, two = drawn @ left, drawn @ right
    none = np.zeros((2, len(drawn)))
    pooled, product = (drawn**2 @ squares).T if squares.any() else none
    pooled = pooled + ((one + two) ** 2).sum(axis=1)
    product = product + (one * two).sum(axis=1)
    raw = agreed / claims
    by_pool = pooled / (2 * claims) ** 2
    by_choice = (1 - by_pool) / (choices - 1) if choices > 1 else np.full_like(raw, np.nan)
    return {
        "raw": raw,
        "cohen": _beyond(raw, product / claims**2),
        "fleiss": _beyond(raw, by_pool),
        "ac1": _beyond(raw, by_choice),
    }


def _beyond(raw: Array, chance: Array) -> Array:
    undefined = chance >= 1.0 - 1e-12
    beyond: Array = np.where(
        undefined, np.nan, (raw - chance) / np.where(undefined, 1.0, 1.0 - chance)
    )
    return beyond
