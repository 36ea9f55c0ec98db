"""A site's labels: errors whose intervals hold them, labels that are too few, and drift."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from core.calibration.rows import KeptRows, TrainingRow
from core.calibration.site import drift_of, site_errors, whole_traces
from core.records import Features
from core.workflows.retraining import Material, Side, compare


class Told:
    """A calibrator that says the probability that a row holds."""

    def __init__(self, threshold: float, name: str = "told") -> None:
        self.threshold, self.name = threshold, name

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        """The feature itself."""
        return np.array([row.numeric["p"] for row in rows])


ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.booleans(), st.booleans(), st.integers(0, 5)),
    min_size=1,
    max_size=40,
)


def rows_of(found: Sequence[tuple[int, bool, bool, int]]) -> list[TrainingRow]:
    return [
        TrainingRow(
            claim_id=f"c{at}",
            trace_id=f"t{trace}",
            features=Features(categorical={}, numeric={"p": p / 20, "x": float(at)}),
            supported_by_route=not bad,
            should_block=bad,
            forced=forced,
        )
        for at, (p, bad, forced, trace) in enumerate(found)
    ]


@given(ROWS, st.integers(1, 40), st.randoms())
def test_a_draw_of_labels_is_of_whole_traces_and_the_same_in_any_order(
    found, most: int, by
) -> None:
    rows = rows_of(found)

    drawn = {row.claim_id for row in whole_traces(rows, most)}

    traces = {row.trace_id for row in rows if row.claim_id in drawn}
    assert drawn == {row.claim_id for row in rows if row.trace_id in traces}
    assert len(drawn) <= most or len(traces) == 1
    assert drawn == {row.claim_id for row in whole_traces(by.sample(rows, len(rows)), most)}


@given(ROWS, st.integers(0, 20))
def test_errors_are_counted_as_the_gate_decides_and_intervals_hold_them(found, at: int) -> None:
    rows = rows_of(found)

    errors = site_errors(rows, Told(at / 20))

    passed = [(bad, not forced and p >= at) for p, bad, forced, _ in found]
    assert errors.bad_passed.errors == sum(bad and passes for bad, passes in passed)
    assert errors.good_blocked.errors == sum(not bad and not passes for bad, passes in passed)
    for rate in (errors.bad_passed, errors.good_blocked):
        if rate.interval is not None and rate.value is not None:
            assert rate.interval.low - 1e-6 <= rate.value <= rate.interval.high + 1e-6


@given(ROWS, st.integers(0, 20), st.integers(0, 20))
def test_every_interval_of_the_comparison_holds_its_point(found, one: int, other: int) -> None:
    """Thresholds in use stand beside the sweep's, unsorted: intervals were once of other ones."""
    nothing = Material(train=(), validation=(), held_out=(), left_out={}, made_by=None)
    shipped = KeptRows(train=(), validation=tuple(rows_of(found)))

    compared = compare(nothing, shipped, Told(one / 20), Told(other / 20))

    side = compared["sides"][Side.SHIPPED.value]
    for which in ("candidate", "current"):
        for point in (side[which]["at"], *side[which]["curve"]):
            for rate in ("false_block", "false_pass"):
                value, ends = point[f"{rate}_rate"], point[f"{rate}_ci95"]
                if value is not None and ends is not None:
                    assert ends[0] - 1e-5 <= value <= ends[1] + 1e-5


def test_25_labels_are_too_few_and_it_says_how_many_are_needed() -> None:
    few = site_errors(rows_of([(2, at < 8, False, at) for at in range(25)]), Told(0.5))

    assert not few.enough
    assert few.words == (
        "25 labels, 8 of bad claims: too few. At least 59 bad claims must be labelled, 51 more, "
        "before anything can show that at most 5 % of the bad claims pass."
    )
    assert site_errors(rows_of([(2, True, False, at) for at in range(59)]), Told(0.5)).enough
    assert site_errors([], Told(0.5)).words.startswith("0 labels, 0 of bad claims: too few.")


@given(ROWS, ROWS)
def test_drift_is_kolmogorov_and_smirnovs_distance(here, there) -> None:
    (drift,) = drift_of(rows_of(here), rows_of(there), ["p"])

    expected = ks_2samp([p for p, *_ in here], [p for p, *_ in there]).statistic
    assert drift.distance == pytest.approx(expected, abs=1e-4)
    assert drift.words == (
        "far" if drift.distance >= 0.3 else "some" if drift.distance >= 0.15 else "near"
    )


def test_the_farthest_feature_is_named_first_and_what_one_side_lacks_is_left_out() -> None:
    here = rows_of([(10, False, False, 0)] * 5)
    there = rows_of([(10, False, False, 0)] * 50)

    assert [one.feature for one in drift_of(here, there, ["p", "x", "unknown"])] == ["x", "p"]
    assert drift_of(here, [], ["p"]) == ()
