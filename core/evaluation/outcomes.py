"""The three outcomes at two thresholds: pass, needs a person, block (III.7), of claims and of answers.

A claim passes from ``threshold`` up, is blocked below ``review_from``, and needs a person between
them. What another check blocks is blocked at every threshold. An answer passes when all of its
claims do, is blocked when one of them is, and else needs a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.evaluation.threshold_view import ThresholdView, weakest_of_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted3:
    """How many of something pass, need a person, and are blocked."""

    passed: int
    person: int
    blocked: int

    @property
    def all(self) -> int:
        """All of them."""
        return self.passed + self.person + self.blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Claims and answers by outcome; an answer is bad when one of its claims should be blocked."""

    threshold: float
    review_from: float
    good: Sorted3
    bad: Sorted3
    good_answers: Sorted3
    bad_answers: Sorted3

    @property
    def claims(self) -> int:
        """All claims that have a label."""
        return self.good.all + self.bad.all

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of all claims that pass, need a person, and are blocked; they sum to 1."""
        return (
            (self.good.passed + self.bad.passed) / self.claims,
            (self.good.person + self.bad.person) / self.claims,
            (self.good.blocked + self.bad.blocked) / self.claims,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What comes in, and what reading one claim costs."""

    claims_a_day: int
    minutes_a_claim: float

    def hours(self, share: float) -> float:
        """Hours a day of reading that share of all claims."""
        return share * self.claims_a_day * self.minutes_a_claim / 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each outcome costs, in any one unit: only their proportion says which point is cheapest."""

    bad_passed: float
    good_blocked: float
    hour_of_review: float


def outcomes_at(
    view: ThresholdView, thresholds: Sequence[float], review_from: float
) -> tuple[Outcomes, ...]:
    """The outcomes at each threshold; above it ``review_from`` gives way, and no one needs a person."""
    parts = [
        np.sort(view.deciding[~view.bad]),
        np.sort(view.deciding[view.bad]),
        *weakest_of_answers(view),
    ]
    found = []
    for threshold in thresholds:
        lower = min(review_from, threshold)
        good, bad, good_answers, bad_answers = (_sorted(one, lower, threshold) for one in parts)
        found.append(
            Outcomes(
                threshold=float(threshold),
                review_from=float(lower),
                good=good,
                bad=bad,
                good_answers=good_answers,
                bad_answers=bad_answers,
            )
        )
    return tuple(found)


def daily_cost(outcomes: Outcomes, workload: Workload, weights: Weights) -> float:
    """What a day costs when claims come in as they are here, in the unit of the weights."""
    a_claim = workload.claims_a_day / outcomes.claims
    return (
        a_claim * outcomes.bad.passed * weights.bad_passed
        + a_claim * outcomes.good.blocked * weights.good_blocked
        + workload.hours(outcomes.shares[1]) * weights.hour_of_review
    )


def cheapest(found: Sequence[Outcomes], workload: Workload, weights: Weights) -> Outcomes:
    """The point of least cost; of equals the strictest, which passes the fewest bad claims."""
    return min(found, key=lambda one: (daily_cost(one, workload, weights), -one.threshold))


def _sorted(deciding: NDArray[np.float64], lower: float, threshold: float) -> Sorted3:
    blocked, below = np.searchsorted(deciding, [lower, threshold], side="left").tolist()
    return Sorted3(passed=len(deciding) - below, person=below - blocked, blocked=blocked)
