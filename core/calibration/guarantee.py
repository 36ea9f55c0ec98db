"""Operating points with a guarantee: the lowest threshold whose bad-pass rate is bounded (III.5).

The method is fixed-sequence testing of Angelopoulos et al., "Learn then test" (2022): thresholds are
tried from the highest down and the walk ends at the first that cannot be shown to be safe, so that
trying many costs no confidence. Conformal risk control (Angelopoulos et al., 2024) would bound the
*mean* over calibration sets; a lead who sets 5 % is owed a bound that holds with 95 % confidence, so
each threshold is tested with an exact upper bound (Clopper and Pearson) instead.

Claims of one answer are right or wrong together. The bound therefore counts effective labels, as
Korn and Graubard (1998) do for clustered samples: the errors and the labels are divided by the
design effect, never below 1. With one claim a trace it is Clopper and Pearson's to the digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from core.calibration.threshold import DEFAULT_RISK, GRID
from core.errors import ConfigError

CONFIDENCE = 0.95

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledScores:
    """Labelled claims of a calibration split; every array has shape (claims,).

    ``probability`` of support; ``bad`` should be blocked; ``forced`` is blocked by something else
    whatever the threshold; ``trace`` numbers the traces; ``family`` is the kind of source routed to.
    """

    probability: Array
    bad: Flags
    forced: Flags
    trace: NDArray[np.int64]
    family: tuple[str, ...]

    def where(self, kept: Flags) -> LabelledScores:
        """Those claims alone."""
        return LabelledScores(
            probability=self.probability[kept],
            bad=self.bad[kept],
            forced=self.forced[kept],
            trace=self.trace[kept],
            family=tuple(one for one, keep in zip(self.family, kept, strict=True) if keep),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedPoint:
    """The lowest threshold that is shown to keep the bad-pass rate at most ``risk``.

    ``threshold`` is None where no threshold can be shown to; ``upper`` is the bound there.
    ``bad`` of the labels and their ``bad_traces`` are what the bound rests on; ``needed`` is how
    many bad ones it takes at the very least, each in a trace of its own and none of them passing.
    """

    threshold: float | None
    risk: float
    confidence: float
    upper: float | None
    labels: int
    bad: int
    bad_traces: int
    bad_passed: int
    good_blocked: int
    needed: int

    @property
    def enough(self) -> bool:
        """Whether there are as many bad labels as the bound takes at the very least."""
        return self.bad >= self.needed


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoints:
    """The point of all claims, and each kind of source's own where its labels are enough.

    Each bound holds on its own with the confidence asked for, not all of them at once.
    """

    pooled: GuaranteedPoint
    families: Mapping[str, GuaranteedPoint]

    def of(self, family: str) -> tuple[GuaranteedPoint, bool]:
        """What decides for a family, and whether that is its own point rather than the pooled one."""
        own = self.families.get(family)
        return (
            (own, True) if own is not None and own.threshold is not None else (self.pooled, False)
        )


def bad_labels_needed(risk: float, confidence: float = CONFIDENCE) -> int:
    """How many bad labels, none of them passing, bound the rate by ``risk``: 59 for 5 % at 95 %."""
    _shares(risk, confidence)
    return math.ceil(math.log(1.0 - confidence) / math.log1p(-risk) - 1e-9)


def upper_bounds(passed: Array, confidence: float = CONFIDENCE) -> Array:
    """Upper bounds on the share that passes, at each threshold; shape (thresholds,).

    ``passed`` has shape (traces, thresholds + 1): of each trace with bad claims how many of them
    pass, and in the last column how many there are. The bound is 1 where nothing can be said.
    """
    counts, whole = passed[:, :-1], passed[:, -1]
    bad, errors = float(whole.sum()), counts.sum(axis=0)
    if not bad:
        return np.ones(counts.shape[1])
    effect = _design_effect(counts, whole)
    errors, labels = errors / effect, bad / effect
    found = np.ones(counts.shape[1])
    some = errors < labels
    found[some] = beta.ppf(confidence, errors[some] + 1.0, labels[some] - errors[some])
    return found


def _design_effect(counts: Array, whole: Array) -> Array:
    """How many times as uncertain the rate is as with claims drawn alike; at least 1."""
    traces, bad = len(whole), whole.sum()
    rate = counts.sum(axis=0) / bad
    if traces < 2:
        return np.full(counts.shape[1], float(bad))  # one trace is one draw
    left = ((counts - rate * whole[:, None]) ** 2).sum(axis=0) * traces / (traces - 1)
    alike = rate * (1.0 - rate) * bad
    effect: Array = np.divide(left, alike, out=np.ones_like(left), where=alike > 0)
    return np.asarray(np.maximum(1.0, effect), dtype=np.float64)


def guaranteed_point(
    labels: LabelledScores, *, risk: float = DEFAULT_RISK, confidence: float = CONFIDENCE
) -> GuaranteedPoint:
    """The lowest threshold of the grid whose upper bound, and all above it, is at most ``risk``."""
    needed = bad_labels_needed(risk, confidence)
    grid = np.asarray(GRID)
    deciding = np.where(labels.forced, -np.inf, labels.probability)
    passed = _passed_by_trace(deciding[labels.bad], labels.trace[labels.bad], grid)
    bounds = upper_bounds(passed, confidence)
    unsafe = np.flatnonzero(bounds > risk)
    first = int(unsafe[-1]) + 1 if len(unsafe) else 0
    found = first if first < len(grid) else None
    return GuaranteedPoint(
        threshold=None if found is None else float(grid[found]),
        risk=risk,
        confidence=confidence,
        upper=None if found is None else float(bounds[found]),
        labels=len(labels.bad),
        bad=int(labels.bad.sum()),
        bad_traces=len(passed),
        bad_passed=0 if found is None else int(passed[:, found].sum()),
        good_blocked=_below(deciding[~labels.bad], None if found is None else grid[found]),
        needed=needed,
    )


def operating_points(
    labels: LabelledScores, *, risk: float = DEFAULT_RISK, confidence: float = CONFIDENCE
) -> OperatingPoints:
    """The pooled point, and that of every kind of source that the labels name."""
    names = sorted(set(labels.family))
    inside = {name: np.array([one == name for one in labels.family]) for name in names}
    return OperatingPoints(
        pooled=guaranteed_point(labels, risk=risk, confidence=confidence),
        families={
            name: guaranteed_point(labels.where(kept), risk=risk, confidence=confidence)
            for name, kept in inside.items()
        },
    )


def _passed_by_trace(deciding: Array, trace: NDArray[np.int64], grid: Array) -> Array:
    """Bad claims that pass at each threshold and in all, a row a trace; shape (traces, grid + 1)."""
    places = np.unique(trace, return_inverse=True)[1]
    traces = int(places.max()) + 1 if len(places) else 0
    # How many thresholds a claim passes: it passes the lowest of them.
    passes = np.searchsorted(grid, deciding, side="right")
    table = np.zeros((traces, len(grid) + 1))
    np.add.at(table, (places, passes), 1)
    whole = table.sum(axis=1, keepdims=True)
    blocked = np.cumsum(table, axis=1)[:, :-1]
    return np.hstack([whole - blocked, whole])


def _below(deciding: Array, threshold: float | None) -> int:
    return len(deciding) if threshold is None else int((deciding < threshold).sum())


def _shares(risk: float, confidence: float) -> None:
    for name, value in (("risk", risk), ("confidence", confidence)):
        if not 0.0 < value < 1.0:
            raise ConfigError(f"{name}: expected a number above 0 and below 1, found {value!r}")


# What a bound does not cover, wherever bounds are shown.
COVERS = (
    "A bound holds for claims like these that the calibrator was not fitted on; each on its own, "
    "not all of them at once. The gate has one threshold, and every claim passes by itself, unless "
    "`--whole-answers` or a policy asks for more."
)
HEADER = ("Kind of source", "Threshold", "Upper bound", "Bad labels", "Good stopped", "Note")


def point_words(point: GuaranteedPoint) -> str:
    """The point in one sentence, with what it rests on; or plainly that the labels are too few."""
    rests = f"{point.bad:,} bad claims of {point.bad_traces:,} answers"
    limit = f"at most {100 * point.risk:g} % of the bad claims pass"
    if point.threshold is not None and point.upper is not None:
        return (
            f"From {point.threshold:.2f}: {limit}, with {100 * point.confidence:g} % confidence "
            f"(upper bound {100 * point.upper:.1f} %). It rests on {rests}."
        )
    if not point.enough:
        return (
            f"Too few labels: {rests}; at least {point.needed} bad ones are needed to show that "
            f"{limit}."
        )
    return f"No threshold can be shown to keep this limit ({limit}); tried on {rests}."


def points_report(points: OperatingPoints) -> dict[str, object]:
    """The points as JSON: pooled, each family's own, and what decides for each family."""
    return {
        "risk": points.pooled.risk,
        "confidence": points.pooled.confidence,
        "pooled": _entry(points.pooled),
        "families": {
            name: {**_entry(point), "uses": "its own" if points.of(name)[1] else "the pooled one"}
            for name, point in points.families.items()
        },
    }


def points_table(points: OperatingPoints) -> list[Sequence[str]]:
    """A row a kind of source, the pooled one first: threshold, bound, labels, and in words."""
    rows: list[Sequence[str]] = [("all sources", *_cells(points.pooled, own=True))]
    for name, point in points.families.items():
        rows.append((name.replace("_", " "), *_cells(point, own=points.of(name)[1])))
    return rows


def guarantee_lines(points: OperatingPoints) -> list[str]:
    """The points as lines of a Markdown table that people read."""
    pooled = points.pooled
    return [
        "",
        f"Thresholds that keep the bad-pass rate at most {100 * pooled.risk:g} %, each with "
        f"{100 * pooled.confidence:g} % confidence:",
        "",
        f"| {' | '.join(name.lower() for name in HEADER)} |",
        "|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in points_table(points)),
        "",
        COVERS,
    ]


def _cells(point: GuaranteedPoint, *, own: bool) -> tuple[str, ...]:
    threshold = "–" if point.threshold is None else f"{point.threshold:.2f}"
    upper = "–" if point.upper is None else f"{100 * point.upper:.1f} %"
    good = point.labels - point.bad
    lost = f"{100 * point.good_blocked / good:.0f} % of {good:,}" if good else "–"
    if point.threshold is None:
        lost = "–"
    words = "" if own and point.threshold is not None else "uses that of all sources"
    if not point.enough:
        words = f"too few labels: {point.needed} bad ones needed" + (f"; {words}" if words else "")
    elif point.threshold is None:
        words = "no threshold can be shown to keep this limit" + ("" if own else f"; {words}")
    return threshold, upper, f"{point.bad:,} in {point.bad_traces:,} answers", lost, words


def _entry(point: GuaranteedPoint) -> dict[str, object]:
    return {
        "threshold": point.threshold,
        "upper_bound": None if point.upper is None else round(point.upper, 4),
        "labels": point.labels,
        "bad_labels": point.bad,
        "bad_traces": point.bad_traces,
        "bad_labels_needed": point.needed,
        "bad_passed": point.bad_passed,
        "good_blocked": point.good_blocked,
        "words": point_words(point),
    }
