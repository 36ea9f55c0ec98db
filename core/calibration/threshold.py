"""Choosing the support threshold: what each one costs, and five ways to pick (III.5, Fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from core.errors import ConfigError

GRID: tuple[float, ...] = tuple(round(step / 100, 2) for step in range(1, 100))
DEFAULT_RISK = 0.05
DEFAULT_MAX_FALSE_PASS = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """Claim counts at one threshold; block is the positive class."""

    threshold: float
    blocked_bad: int
    blocked_good: int
    passed_bad: int
    passed_good: int

    @property
    def claims(self) -> int:
        """All claims counted."""
        return self.blocked_bad + self.blocked_good + self.passed_bad + self.passed_good

    @property
    def block_precision(self) -> float | None:
        """Share of blocked claims that are bad; None when none is blocked."""
        return _share(self.blocked_bad, self.blocked_bad + self.blocked_good)

    @property
    def block_recall(self) -> float | None:
        """Share of bad claims that are blocked; None when none is bad."""
        return _share(self.blocked_bad, self.blocked_bad + self.passed_bad)

    @property
    def block_f1(self) -> float | None:
        """Harmonic mean of the two; None when no claim is bad or blocked."""
        return _share(
            2 * self.blocked_bad, 2 * self.blocked_bad + self.blocked_good + self.passed_bad
        )

    @property
    def block_accuracy(self) -> float | None:
        """Share of claims rightly blocked or passed."""
        return _share(self.blocked_bad + self.passed_good, self.claims)

    @property
    def false_block_rate(self) -> float | None:
        """Share of good claims that are blocked; None when none is good."""
        return _share(self.blocked_good, self.blocked_good + self.passed_good)

    @property
    def false_pass_rate(self) -> float | None:
        """Share of bad claims that pass; None when none is bad."""
        return _share(self.passed_bad, self.blocked_bad + self.passed_bad)

    @property
    def blocked_share(self) -> float | None:
        """Share of all claims that a reviewer would see."""
        return _share(self.blocked_bad + self.blocked_good, self.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A threshold, the rule that chose it, and whether the rule's limits could be met."""

    point: OperatingPoint
    rule: str
    met: bool


def sweep(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    forced: NDArray[np.bool_],
    thresholds: Sequence[float] = GRID,
) -> tuple[OperatingPoint, ...]:
    """Counts at each threshold; ``forced`` claims block whatever their probability (III.7).

    The arrays have shape (claims,): the support probability, whether the claim should be blocked,
    and whether something else than the probability blocks it.
    """
    grid = np.asarray(thresholds, dtype=np.float64)
    effective = np.where(forced, -np.inf, probability)
    blocked_bad = np.searchsorted(np.sort(effective[bad]), grid, side="left")
    blocked_good = np.searchsorted(np.sort(effective[~bad]), grid, side="left")
    all_bad, all_good = int(bad.sum()), int((~bad).sum())
    return tuple(
        OperatingPoint(
            threshold=float(threshold),
            blocked_bad=int(caught),
            blocked_good=int(lost),
            passed_bad=all_bad - int(caught),
            passed_good=all_good - int(lost),
        )
        for threshold, caught, lost in zip(grid, blocked_bad, blocked_good, strict=True)
    )


def by_block_f1(points: Sequence[OperatingPoint]) -> Choice:
    """The paper's choice: highest block F1, then block accuracy, then the lower threshold."""
    best = max(
        _nonempty(points),
        key=lambda p: (_or_zero(p.block_f1), _or_zero(p.block_accuracy), -p.threshold),
    )
    return Choice(point=best, rule="block F1, then block accuracy", met=True)


def by_false_pass(
    points: Sequence[OperatingPoint], max_false_pass: float = DEFAULT_MAX_FALSE_PASS
) -> Choice:
    """The product's choice: lowest false-block rate with at most ``max_false_pass`` false passes.

    Unlike the paper's, it does not drift towards blocking everything where most claims are bad.
    Where no threshold meets the limit, the one with the fewest false passes is taken: fail closed.
    """
    _rate("max_false_pass", max_false_pass)
    allowed = [p for p in _nonempty(points) if _or_zero(p.false_pass_rate) <= max_false_pass]

    def cost(point: OperatingPoint) -> tuple[float, float]:
        passes, blocks = _or_zero(point.false_pass_rate), _or_zero(point.false_block_rate)
        return (blocks, passes) if allowed else (passes, blocks)

    least = min(cost(point) for point in allowed or points)
    equals = [point for point in allowed or points if cost(point) == least]
    # Few labels leave a wide gap of equals between the claims that pass and those that do not; its
    # middle is as far as can be from both, while its ends would turn on one claim.
    best = equals[len(equals) // 2]
    rule = f"lowest false-block rate at a false-pass rate of at most {max_false_pass:g}"
    return Choice(point=best, rule=rule, met=bool(allowed))


def by_risk(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    forced: NDArray[np.bool_],
    *,
    risk: float = DEFAULT_RISK,
    confidence: float = 0.95,
) -> Choice:
    """The lowest threshold that keeps the bad-pass rate at most ``risk``, with ``confidence``.

    Thresholds are tried from the highest down, and the first whose exact upper bound on the share of
    bad claims that pass exceeds ``risk`` ends the walk (fixed-sequence testing: Bates et al., "Risk-
    controlling prediction sets"; Angelopoulos et al., "Learn then test"). The bound is over bad
    claims drawn alike. Where even blocking nearly everything cannot be shown to be safe, the highest
    threshold is taken and the rule is not met.
    """
    _rate("risk", risk)
    points = _nonempty(sweep(probability, bad, forced))
    chosen: OperatingPoint | None = None
    for point in reversed(points):
        if upper_rate(point.passed_bad, point.passed_bad + point.blocked_bad, confidence) > risk:
            break
        chosen = point
    return Choice(
        point=chosen or points[-1],
        rule=f"bad-pass rate at most {risk:g} with {confidence:.0%} confidence",
        met=chosen is not None,
    )


def block_below(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    *,
    risk: float = DEFAULT_RISK,
    confidence: float = 0.95,
) -> float:
    """The threshold below which good claims fall at most at the rate ``risk``, with ``confidence``.

    Between it and the threshold to pass, neither can be said: these claims need a person.
    """
    _rate("risk", risk)
    found = 0.0
    for point in sweep(probability, bad, np.zeros(len(bad), dtype=np.bool_)):
        if (
            upper_rate(point.blocked_good, point.blocked_good + point.passed_good, confidence)
            > risk
        ):
            break
        found = point.threshold
    return found


def upper_rate(errors: int, among: int, confidence: float) -> float:
    """The exact one-sided upper bound on an error rate (Clopper and Pearson); 1 among none."""
    if errors >= among:
        return 1.0
    return float(beta.ppf(confidence, errors + 1, among - errors))


def by_false_block(points: Sequence[OperatingPoint], max_false_block: float) -> Choice:
    """Lowest false-pass rate with at most ``max_false_block`` good claims blocked."""
    _rate("max_false_block", max_false_block)
    allowed = [p for p in _nonempty(points) if _or_zero(p.false_block_rate) <= max_false_block]
    best = min(
        allowed or points,
        key=lambda p: (
            0.0 if allowed else _or_zero(p.false_block_rate),
            _or_zero(p.false_pass_rate),
            _or_zero(p.false_block_rate),
            -p.threshold,
        ),
    )
    rule = f"lowest false-pass rate at a false-block rate of at most {max_false_block:g}"
    return Choice(point=best, rule=rule, met=bool(allowed))


def by_budget(
    points: Sequence[OperatingPoint], *, claims_a_day: float, reviews_a_day: float
) -> Choice:
    """Lowest false-pass rate whose blocked claims fit what reviewers can read in a day."""
    if claims_a_day <= 0 or reviews_a_day < 0:
        raise ConfigError(
            f"budget: expected claims a day above 0 and reviews of 0 or more, "
            f"found {claims_a_day!r} and {reviews_a_day!r}"
        )
    allowed = [
        p for p in _nonempty(points) if _or_zero(p.blocked_share) * claims_a_day <= reviews_a_day
    ]
    best = min(
        allowed or points,
        key=lambda p: (
            0.0 if allowed else _or_zero(p.blocked_share),
            _or_zero(p.false_pass_rate),
            _or_zero(p.blocked_share),
            -p.threshold,
        ),
    )
    rule = f"lowest false-pass rate at {reviews_a_day:g} reviews for {claims_a_day:g} claims a day"
    return Choice(point=best, rule=rule, met=bool(allowed))


def by_block_recall(points: Sequence[OperatingPoint], min_block_recall: float = 0.99) -> Choice:
    """The paper's high-recall choice: best block F1 among thresholds of enough block recall."""
    _rate("min_block_recall", min_block_recall)
    allowed = [p for p in _nonempty(points) if _or_zero(p.block_recall) >= min_block_recall]
    best = max(
        allowed or points,
        key=lambda p: (
            0.0 if allowed else _or_zero(p.block_recall),
            _or_zero(p.block_f1),
            _or_zero(p.block_accuracy),
            -p.threshold,
        ),
    )
    rule = f"block F1 at a block recall of at least {min_block_recall:g}"
    return Choice(point=best, rule=rule, met=bool(allowed))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None else value


def _nonempty(points: Sequence[OperatingPoint]) -> Sequence[OperatingPoint]:
    if not points or not points[0].claims:
        raise ConfigError("threshold: there are no claims to choose it on")
    return points


def _rate(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name}: expected a number in [0, 1], found {value!r}")
