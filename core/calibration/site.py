"""How far a site is from what the shipped forest saw, and what it errs by on the site's own labels.

Drift is the Kolmogorov-Smirnov distance of each number that the forest is told, between the site's
claims and the rows that it was fitted on: 0 where both are spread alike, 1 where they never meet.
Errors have the intervals of Evaluation and of Compare: over resampled traces, exact (Clopper and
Pearson) where no claim or every claim is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import Interval, share_interval, trace_numbers
from core.calibration.guarantee import bad_labels_needed
from core.calibration.rows import TrainingRow
from core.calibration.threshold import DEFAULT_RISK
from core.ports import Calibrator

Flags = NDArray[np.bool_]

FAR, SOME = 0.3, 0.15  # distances that are called far, and some


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One feature: its distance, and its mean here and among the rows that the forest was fitted on."""

    feature: str
    distance: float
    here: float
    there: float

    @property
    def words(self) -> str:
        """How far it is, in a word."""
        return "far" if self.distance >= FAR else "some" if self.distance >= SOME else "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Errors among labelled claims, with the 95 % interval over resampled traces; None among none."""

    errors: int
    among: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        """The share of errors."""
        return self.errors / self.among if self.among else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteErrors:
    """What the calibrator does with the site's labels at its threshold, and how many are needed."""

    bad_passed: Rate
    good_blocked: Rate
    needed: int
    risk: float

    @property
    def enough(self) -> bool:
        """Whether the labels could bound the bad-pass rate at all."""
        return self.bad_passed.among >= self.needed

    @property
    def words(self) -> str:
        """Plainly, whether the labels are enough to say anything of bad claims that pass."""
        bad = self.bad_passed.among
        labels = bad + self.good_blocked.among
        limit = f"at most {100 * self.risk:g} % of the bad claims pass"
        have = f"{labels:,} {_noun(labels, 'label')}, {bad:,} of {_noun(bad, 'a bad claim', 'bad claims')}"
        if self.enough:
            return f"{have}: enough to try whether {limit} ({self.needed} bad ones are the least)."
        return (
            f"{have}: too few. At least {self.needed} bad claims must be labelled, "
            f"{self.needed - bad} more, before anything can show that {limit}."
        )


def site_errors(
    rows: Sequence[TrainingRow], calibrator: Calibrator, *, risk: float = DEFAULT_RISK
) -> SiteErrors:
    """Both error rates of the calibrator on the site's labelled rows, at its own threshold."""
    chances = calibrator.probabilities([row.features for row in rows]) if rows else np.zeros(0)
    forced = np.array([row.forced for row in rows], dtype=np.bool_)
    passes = ~forced & (chances >= calibrator.threshold)
    bad = np.array([row.should_block for row in rows], dtype=np.bool_)
    trace = trace_numbers([row.trace_id for row in rows])
    return SiteErrors(
        bad_passed=_rate(passes, bad, trace),
        good_blocked=_rate(~passes, ~bad, trace),
        needed=bad_labels_needed(risk),
        risk=risk,
    )


def whole_traces(rows: Sequence[TrainingRow], at_most: int) -> Sequence[TrainingRow]:
    """All rows, or of more than ``at_most`` those of traces drawn by the hash of their id, about as many.

    The same labels give the same draw, whatever their order.
    """
    if len(rows) <= at_most:
        return rows
    of_trace: dict[str, list[TrainingRow]] = {}
    for row in rows:
        of_trace.setdefault(row.trace_id, []).append(row)
    drawn: list[TrainingRow] = []
    for trace_id in sorted(of_trace, key=lambda each: sha256(each.encode()).digest()):
        if drawn and len(drawn) + len(of_trace[trace_id]) > at_most:
            break
        drawn += of_trace[trace_id]
    return drawn


def _rate(wrong: Flags, among: Flags, trace: NDArray[np.int64]) -> Rate:
    return Rate(
        errors=int((wrong & among).sum()),
        among=int(among.sum()),
        interval=share_interval(wrong, among, trace),
    )


def drift_of(
    site: Sequence[TrainingRow], shipped: Sequence[TrainingRow], features: Sequence[str]
) -> tuple[Drift, ...]:
    """The drift of each feature that both have, the farthest first; nothing where one side is empty."""
    if not site or not shipped:
        return ()
    found = []
    for name in features:
        if name not in site[0].features.numeric or name not in shipped[0].features.numeric:
            continue
        here = np.array([row.features.numeric[name] for row in site])
        there = np.array([row.features.numeric[name] for row in shipped])
        found.append(
            Drift(
                feature=name,
                distance=round(_distance(here, there), 4),
                here=round(float(here.mean()), 4),
                there=round(float(there.mean()), 4),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.distance))


def _distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The largest difference between two cumulative shares (Kolmogorov-Smirnov)."""
    one, other = np.sort(one), np.sort(other)
    at = np.concatenate([one, other])
    shares = (np.searchsorted(side, at, side="right") / len(side) for side in (one, other))
    return float(np.abs(next(shares) - next(shares)).max())


def _noun(count: int, one: str, many: str | None = None) -> str:
    return one if count == 1 else many or f"{one}s"
