"""Trace-level resampling: intervals that respect that claims of one answer belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RESAMPLES = 5_000  # of every figure that stands on a page or in a report beside another one's
SEED = 20260607
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % percentile interval; resamples that had nothing to count were left out."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """First system minus second on the same resamples, with a bootstrap p-value."""

    value: float
    interval: Interval
    p_two_sided: float


def trace_numbers(trace_ids: Sequence[str]) -> NDArray[np.int64]:
    """Each claim's trace by its place among the sorted ids, from 0: the same claims draw the same."""
    return np.unique(np.array(trace_ids, dtype=np.str_), return_inverse=True)[1].astype(np.int64)


def resampled_counts(
    traces: int, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[NDArray[np.int64]]:
    """How often each trace is drawn in each resample, in blocks of shape (b, traces).

    The draws depend on ``traces``, ``resamples`` and ``seed`` alone.
    """
    rng = np.random.default_rng(seed)
    block = max(1, CELLS_AT_ONCE // max(1, traces))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(0, traces, size=(size, traces))
        drawn += np.arange(size)[:, None] * traces
        yield np.bincount(drawn.ravel(), minlength=size * traces).reshape(size, traces)


def resampled_sums(per_trace: Array, *, resamples: int = RESAMPLES, seed: int = SEED) -> Array:
    """Sums of ``per_trace`` (traces, k) over drawn traces, shape (resamples, k)."""
    blocks = [
        counts.astype(np.float64) @ per_trace
        for counts in resampled_counts(len(per_trace), resamples=resamples, seed=seed)
    ]
    return np.concatenate(blocks)


def share_interval(
    errors: NDArray[np.bool_], among: NDArray[np.bool_], trace: NDArray[np.int64]
) -> Interval | None:
    """The interval of the share of ``errors`` in ``among``, claims both; None among none."""
    if not among.any():
        return None
    counted = [np.bincount(trace, weights=flags) for flags in (errors & among, among)]
    drawn = resampled_sums(np.stack(counted, axis=1))
    shares = np.full(len(drawn), np.nan)
    np.divide(drawn[:, 0], drawn[:, 1], out=shares, where=drawn[:, 1] > 0)
    return interval(shares, float(errors[among].mean()))


def interval(
    values: Array, measured: float | None = None, *, level: float = 0.95
) -> Interval | None:
    """The percentile interval of resampled values, widened to what was measured; None of none defined."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(defined, [tail, 1.0 - tail])
    if measured is not None and np.isfinite(measured):
        low, high = min(low, measured), max(high, measured)
    return Interval(low=round(float(low), 6), high=round(float(high), 6))


def paired_difference(
    first: Array,
    second: Array,
    metric: Callable[[Array], Array],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairedDifference | None:
    """Compare two systems' per-trace sums (traces, k) on the same draws; None when undefined.

    ``metric`` maps sums of shape (n, k) to n values. The p-value counts resamples in which the first
    is not better, plus one in numerator and denominator, so that none is reported as 0.
    """
    if first.shape != second.shape:
        raise ValueError(f"systems differ in shape: {first.shape} and {second.shape}")
    both = resampled_sums(np.hstack([first, second]), resamples=resamples, seed=seed)
    width = first.shape[1]
    difference = metric(both[:, :width]) - metric(both[:, width:])
    found = interval(difference)
    value = float(metric(first.sum(axis=0)[None])[0] - metric(second.sum(axis=0)[None])[0])
    if found is None or not np.isfinite(value):
        return None
    defined = difference[np.isfinite(difference)]
    below = (float((defined <= 0).sum()) + 1) / (len(defined) + 1)
    above = (float((defined >= 0).sum()) + 1) / (len(defined) + 1)
    return PairedDifference(
        value=round(value, 6),
        interval=found,
        p_two_sided=round(min(1.0, 2 * min(below, above)), 6),
    )


def resampled_auroc(
    score: Array,
    truth: NDArray[np.bool_],
    trace: NDArray[np.int64],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Array:
    """AUROC of ``score`` on each resample of traces, ties counted half, NaN where undefined."""
    if not len(score):
        return np.full(resamples, np.nan)
    levels, place = np.unique(score, return_inverse=True)
    width = len(levels)
    traces = int(trace.max()) + 1
    found = []
    for counts in resampled_counts(traces, resamples=resamples, seed=seed):
        for drawn in counts:
            weight = drawn[trace].astype(np.float64)
            good = np.bincount(place[truth], weights=weight[truth], minlength=width)
            poor = np.bincount(place[~truth], weights=weight[~truth], minlength=width)
            below = np.cumsum(poor) - poor
            pairs = good.sum() * poor.sum()
            wins = float((good * (below + 0.5 * poor)).sum())
            found.append(wins / pairs if pairs else np.nan)
    return np.array(found)
