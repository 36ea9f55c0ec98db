"""A candidate is better where labels show it, and never for letting more pass alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.calibration.gain import gain_of
from core.calibration.rows import TrainingRow
from core.ports import CalibratorPolicy
from core.records import Features


class Says:
    """A calibrator whose probability of a claim is a function of its one feature."""

    name, threshold = "says", 0.5

    def __init__(self, of: Callable[[float], bool]) -> None:
        self.of = of

    @property
    def policy(self) -> CalibratorPolicy:
        return CalibratorPolicy(threshold=self.threshold)

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        return np.array([float(self.of(row.numeric["x"])) for row in rows])


NOTHING, ALL = Says(lambda x: False), Says(lambda x: True)
RIGHT, WRONG = Says(lambda x: x > 0), Says(lambda x: x <= 0)


def rows(good: int, bad: int, *, per_trace: int = 1) -> list[TrainingRow]:
    """Good claims have x = 1, bad ones x = 0."""
    return [
        TrainingRow(
            claim_id=f"c{at}",
            trace_id=f"t{at // per_trace}",
            features=Features(categorical={}, numeric={"x": float(at < good)}),
            supported_by_route=at < good,
            should_block=at >= good,
            forced=False,
            contradicted=False,
            held_out=False,
        )
        for at in range(good + bad)
    ]


def test_who_lets_the_good_claims_pass_and_no_bad_one_is_shown_to_be_better() -> None:
    found = gain_of(rows(30, 20), RIGHT, NOTHING)

    assert found.shown and found.value > 0.8 and found.claims == 50
    assert not gain_of(rows(30, 20), NOTHING, RIGHT).shown
    assert not gain_of(rows(30, 20), RIGHT, RIGHT).shown


@given(good=st.integers(0, 40), bad=st.integers(0, 40))
def test_letting_everything_pass_is_never_shown_to_be_better(good: int, bad: int) -> None:
    assert not gain_of(rows(good, bad), ALL, NOTHING).shown
    assert not gain_of(rows(good, bad), WRONG, NOTHING).shown


def test_labels_without_a_bad_claim_show_nothing_and_one_long_answer_is_one_draw() -> None:
    assert not gain_of(rows(200, 0), RIGHT, NOTHING).shown
    many, one = rows(30, 10), rows(30, 10, per_trace=40)
    half = Says(lambda x: x > 0 or x < 0)

    assert gain_of(many, half, NOTHING).low < gain_of(one, half, NOTHING).value
    assert gain_of([], ALL, NOTHING).claims == 0


def test_labels_of_one_answer_show_nothing() -> None:
    found = gain_of(rows(30, 20, per_trace=50), RIGHT, NOTHING)

    assert found.value > 0.8 and not found.shown
