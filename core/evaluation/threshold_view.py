"""What a threshold costs, at once: claims sorted once, counted by prefix sums, whatever the slider says.

Only the calibrator's gate moves. A claim that another check blocks (a missing value, another
person's record, a contradiction, a wrong credit, too few grounded words, or not being judged)
stays blocked at every threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import RESAMPLES, SEED, trace_numbers
from core.errors import InputError
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.evaluation.sweep import Band, sweep_bands


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThresholdView:
    """Claims by ascending support probability; those that another check blocks come first, at −∞.

    ``claim`` has the place of each in what the view was made from, ``trace`` numbers traces from
    0; both and ``deciding`` and ``bad`` have shape (n,). ``bad_below[i]`` counts the claims to
    block among the first i, shape (n + 1,).
    """

    claim: NDArray[np.int64]
    trace: NDArray[np.int64]
    deciding: NDArray[np.float64]
    bad: NDArray[np.bool_]
    bad_below: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.claim)

    @property
    def forced(self) -> int:
        """How many claims are blocked by another check, whatever the threshold."""
        return int(np.searchsorted(self.deciding, -np.inf, side="right"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one threshold costs; a rate is None where there is nothing to count.

    An answer is held back when one of its claims is; it is ``bad`` when one of them should be.
    """

    threshold: float
    good_blocked: int
    good: int
    bad_passed: int
    bad: int
    good_answers_held: int
    good_answers: int
    bad_answers_passed: int
    bad_answers: int

    @property
    def blocked(self) -> int:
        """Claims that a reviewer would have to read."""
        return self.good_blocked + self.bad - self.bad_passed

    @property
    def false_block_rate(self) -> float | None:
        """Share of good claims that are blocked."""
        return self.good_blocked / self.good if self.good else None

    @property
    def false_pass_rate(self) -> float | None:
        """Share of bad claims that pass."""
        return self.bad_passed / self.bad if self.bad else None

    @property
    def blocked_share(self) -> float | None:
        """Share of all claims that are blocked."""
        claims = self.good + self.bad
        return self.blocked / claims if claims else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flips:
    """Claims whose decision changes between two thresholds, newest flip first.

    ``claim`` has their places in what the view was made from. The newest is the one nearest to the
    chosen threshold: the last to change as the threshold moved there. They change to blocked when
    ``now_blocked``, else to passed.
    """

    claim: NDArray[np.int64]
    now_blocked: bool


def view_predictions(rows: Sequence[PacketRow], predictions: Sequence[Prediction]) -> ThresholdView:
    """The view of a packet's labelled rows; ``claim`` places index ``rows``.

    ``predictions`` are those of the rows, in order. Raises InputError when no row has a label.
    """
    chosen = [place for place, row in enumerate(rows) if row.scored]
    if not chosen:
        raise InputError("the packet has no claim with a label: there is nothing to sweep")
    found = [predictions[place] for place in chosen]
    view = view_claims(
        # An unjudged claim is forced to block, so its probability is never looked at.
        np.array([0.0 if one.probability is None else one.probability for one in found]),
        np.array([rows[place].should_block for place in chosen], dtype=np.bool_),
        np.array([one.forced for one in found], dtype=np.bool_),
        trace_numbers([rows[place].trace_id for place in chosen]),
    )
    return _renamed(view, np.array(chosen, dtype=np.int64))


def view_claims(
    probability: NDArray[np.float64],
    bad: NDArray[np.bool_],
    forced: NDArray[np.bool_],
    trace: NDArray[np.int64],
) -> ThresholdView:
    """Sort the claims once; all arrays have shape (claims,), ``trace`` numbers the traces."""
    deciding = np.where(forced, -np.inf, probability)
    order = np.argsort(deciding, kind="stable")
    return ThresholdView(
        claim=order.astype(np.int64),
        trace=trace[order],
        deciding=deciding[order],
        bad=bad[order],
        bad_below=_running(bad[order]),
    )


def only(view: ThresholdView, wanted: NDArray[np.bool_]) -> ThresholdView:
    """The part of a view whose claims are ``wanted``, shape (rows,), as for one slice; still sorted."""
    kept = wanted[view.claim]
    return ThresholdView(
        claim=view.claim[kept],
        trace=np.unique(view.trace[kept], return_inverse=True)[1].astype(np.int64),
        deciding=view.deciding[kept],
        bad=view.bad[kept],
        bad_below=_running(view.bad[kept]),
    )


def costs_at(view: ThresholdView, thresholds: Sequence[float]) -> tuple[Cost, ...]:
    """The cost of each threshold: a claim is blocked below it, as the calibrator's gate does (III.5)."""
    grid = np.asarray(thresholds, dtype=np.float64)
    blocked = np.searchsorted(view.deciding, grid, side="left")
    caught = view.bad_below[blocked]
    bad = int(view.bad_below[-1])
    good_answers, bad_answers = weakest_of_answers(view)
    held = np.searchsorted(good_answers, grid, side="left")
    stopped_answers = np.searchsorted(bad_answers, grid, side="left")
    return tuple(
        Cost(
            threshold=float(threshold),
            good_blocked=int(below - stopped),
            good=len(view) - bad,
            bad_passed=bad - int(stopped),
            bad=bad,
            good_answers_held=int(held[place]),
            good_answers=len(good_answers),
            bad_answers_passed=len(bad_answers) - int(stopped_answers[place]),
            bad_answers=len(bad_answers),
        )
        for place, (threshold, below, stopped) in enumerate(zip(grid, blocked, caught, strict=True))
    )


def weakest_of_answers(view: ThresholdView) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each answer stands and falls by, its least supported claim, ascending: of the answers
    without a claim to block, and of the others."""
    answers = int(view.trace.max()) + 1 if len(view) else 0
    lowest = np.full(answers, np.inf)
    np.minimum.at(lowest, view.trace, view.deciding)
    bad = np.bincount(view.trace, weights=view.bad, minlength=answers) > 0
    return np.sort(lowest[~bad]), np.sort(lowest[bad])


def flips_between(view: ThresholdView, current: float, chosen: float) -> Flips:
    """The claims that change when the threshold moves from ``current`` to ``chosen``."""
    first, last = np.searchsorted(view.deciding, sorted((current, chosen)), side="left")
    crossed = view.claim[first:last]
    now_blocked = chosen > current
    return Flips(claim=crossed[::-1] if now_blocked else crossed, now_blocked=now_blocked)


def bands_of(
    view: ThresholdView,
    thresholds: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Band, ...]:
    """95 % trace-bootstrap bands of both error rates at each threshold; worth keeping."""
    if not len(view):
        nothing: Band = {"false_block_rate": None, "false_pass_rate": None}
        return (nothing,) * len(thresholds)
    return tuple(
        sweep_bands(
            view.deciding,
            view.bad,
            np.isneginf(view.deciding),
            view.trace,
            thresholds,
            resamples=resamples,
            seed=seed,
        )
    )


def _running(bad: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(bad)]).astype(np.int64)


def _renamed(view: ThresholdView, places: NDArray[np.int64]) -> ThresholdView:
    return ThresholdView(
        claim=places[view.claim],
        trace=view.trace,
        deciding=view.deciding,
        bad=view.bad,
        bad_below=view.bad_below,
    )
