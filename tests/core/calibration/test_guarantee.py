"""The bad-pass guarantee: exact where it can be worked out, and kept over resampled splits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from core.calibration.crossed import forest_fitter, out_of_fold
from core.calibration.fit import ForestSettings
from core.calibration.guarantee import (
    LabelledScores,
    bad_labels_needed,
    guaranteed_point,
    operating_points,
    point_words,
    points_report,
    points_table,
    upper_bounds,
)
from core.calibration.rows import read_training_rows
from core.calibration.threshold import by_risk
from core.errors import ConfigError
from core.models.forest import DEFAULT_FOLDER

SPLITS = 200
# 200 splits of which 5 % may break the bound: more than this happens in one run of a hundred.
MOST_BROKEN = int(binom.ppf(0.99, SPLITS, 0.05))


def scores(probability, bad, trace=None, forced=None, family=None) -> LabelledScores:
    claims = len(probability)
    return LabelledScores(
        probability=np.asarray(probability, dtype=float),
        bad=np.asarray(bad, dtype=bool),
        forced=np.zeros(claims, dtype=bool) if forced is None else np.asarray(forced, dtype=bool),
        trace=np.arange(claims) if trace is None else np.asarray(trace),
        family=("other",) * claims if family is None else tuple(family),
    )


def true_rate(world: LabelledScores, threshold: float) -> float:
    passes = (world.probability >= threshold) & ~world.forced
    return float(passes[world.bad].mean())


def broken_splits(world: LabelledScores, traces_a_split: int, risk: float) -> tuple[int, int]:
    """(splits whose chosen threshold passes too many of the world's bad claims, splits that chose)."""
    draw = np.random.default_rng(7)
    places = [np.flatnonzero(world.trace == trace) for trace in range(world.trace.max() + 1)]
    broken = chosen = 0
    for _ in range(SPLITS):
        drawn = draw.integers(0, len(places), traces_a_split)
        claims = np.concatenate([places[one] for one in drawn])
        trace = np.concatenate([np.full(len(places[one]), n) for n, one in enumerate(drawn)])
        split = scores(world.probability[claims], world.bad[claims], trace, world.forced[claims])
        found = guaranteed_point(split, risk=risk)
        if found.threshold is not None:
            chosen += 1
            broken += true_rate(world, found.threshold) > risk
    return broken, chosen


@pytest.mark.parametrize("risk", [0.05, 0.15])
@pytest.mark.parametrize("alike_in_a_trace", [0.0, 0.8, 1.6])
def test_the_bound_holds_on_resampled_splits_of_claims_that_go_together(
    risk: float, alike_in_a_trace: float
) -> None:
    draw = np.random.default_rng(20260607)
    trace = np.repeat(np.arange(2_000), draw.poisson(6, 2_000) + 1)
    of_trace = draw.normal(0, 1, 2_000)[trace] * alike_in_a_trace
    bad = draw.random(len(trace)) < 0.25
    said = np.where(bad, -0.6, 0.6) + of_trace + draw.normal(0, 0.8, len(trace))
    world = scores(1 / (1 + np.exp(-said)), bad, trace)

    broken, chosen = broken_splits(world, 120, risk)

    assert chosen > SPLITS / 2  # a bound that nothing can meet is kept by not choosing
    assert broken <= MOST_BROKEN


@pytest.mark.parametrize(
    "risk", [0.1, *(pytest.param(risk, marks=pytest.mark.stress) for risk in (0.05, 0.2))]
)
def test_the_bound_holds_on_resampled_splits_of_the_shipped_rows(risk: float) -> None:
    kept = read_training_rows()
    rows = [*kept.train, *kept.validation]
    card = json.loads((DEFAULT_FOLDER / "calibrator.json").read_text(encoding="utf-8"))
    directions = tuple((name, sign) for name, sign in card["settings"]["directions"])
    fitter = forest_fitter(ForestSettings(directions=directions, trees=40))
    numbers = {trace: n for n, trace in enumerate(dict.fromkeys(row.trace_id for row in rows))}
    world = scores(
        out_of_fold(rows, fitter, folds=5),
        [row.should_block for row in rows],
        [numbers[row.trace_id] for row in rows],
        [row.forced for row in rows],
    )

    broken, chosen = broken_splits(world, len(numbers), risk)

    assert chosen == SPLITS
    assert broken <= MOST_BROKEN


@given(st.integers(1, 200), st.data())
def test_with_one_claim_a_trace_the_bound_is_clopper_and_pearsons(bad: int, data) -> None:
    passed = data.draw(st.integers(0, bad))
    # An odd claim out of a trace of its own leaves the design effect at n / (n - 1) at most.
    rows = np.array([[1.0, 1.0]] * passed + [[0.0, 1.0]] * (bad - passed))

    found = upper_bounds(rows)[0]

    exact = 1.0 if passed == bad else float(beta.ppf(0.95, passed + 1, bad - passed))
    assert exact - 1e-9 <= found <= exact + 1.5 / bad


def test_claims_that_stand_and_fall_together_count_once() -> None:
    apart = np.array([[1.0, 1.0]] * 10 + [[0.0, 1.0]] * 90)
    together = np.array([[10.0, 10.0]] + [[0.0, 10.0]] * 9)

    assert upper_bounds(together)[0] > 1.5 * upper_bounds(apart)[0]


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.booleans(), st.booleans(), st.integers(0, 9)),
        min_size=1,
        max_size=150,
    ),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_what_is_chosen_is_the_lowest_of_an_unbroken_run_of_safe_thresholds(found, risk) -> None:
    labels = scores(
        [p / 100 for p, *_ in found],
        [bad for _, bad, *_ in found],
        [trace for *_, trace in found],
        [forced for _, _, forced, _ in found],
    )

    point = guaranteed_point(labels, risk=risk)

    if point.threshold is None:
        assert point.upper is None and point.good_blocked == int((~labels.bad).sum())
        return
    assert point.upper is not None and point.upper <= risk
    assert point.bad_passed <= risk * point.bad
    passes = labels.bad & ~labels.forced & (labels.probability >= point.threshold)
    assert point.bad_passed == passes.sum()


def test_fewer_than_59_bad_labels_are_too_few_for_five_per_cent_and_it_says_so() -> None:
    assert bad_labels_needed(0.05) == 59
    few, enough = (scores([0.1] * n + [0.9] * 40, [True] * n + [False] * 40) for n in (58, 59))

    short, long = guaranteed_point(few), guaranteed_point(enough)

    assert short.threshold is None and not short.enough
    assert point_words(short).startswith("Too few labels: 58 bad claims of 58 answers; at least 59")
    assert long.threshold == 0.11 and long.good_blocked == 0
    assert point_words(long).startswith("From 0.11: at most 5 % of the bad claims pass, with 95 %")


def test_a_kind_of_source_with_too_few_labels_uses_the_pooled_point() -> None:
    labels = scores(
        [0.3] * 100 + [0.6] * 20 + [0.9] * 50,
        [True] * 120 + [False] * 50,
        family=["literature"] * 100 + ["patient_record"] * 20 + ["literature"] * 50,
    )

    points = operating_points(labels)
    report = points_report(points)

    assert points.of("literature") == (points.families["literature"], True)
    assert points.of("patient_record") == (points.pooled, False)
    assert points.pooled.threshold == 0.61 and points.families["literature"].threshold == 0.31
    assert report["families"]["patient_record"]["uses"] == "the pooled one"
    assert report["families"]["patient_record"]["bad_labels"] == 20
    notes = {row[0]: row[-1] for row in points_table(points)}
    assert notes["patient record"].startswith("too few labels: 59 bad ones needed")
    assert notes["literature"] == notes["all sources"] == ""


def test_it_never_allows_what_the_bound_over_claims_alone_would_not() -> None:
    draw = np.random.default_rng(3)
    probability, bad = draw.random(800), draw.random(800) < 0.5
    labels = scores(np.where(bad, probability * 0.8, probability), bad, draw.integers(0, 60, 800))

    point = guaranteed_point(labels, risk=0.15)
    alike = by_risk(labels.probability, labels.bad, labels.forced, risk=0.15)

    assert point.threshold is not None and point.threshold >= alike.point.threshold


@pytest.mark.parametrize("risk", [0.0, 1.0, -0.1, 5.0])
def test_a_rate_that_cannot_be_bounded_is_refused(risk: float) -> None:
    with pytest.raises(ConfigError, match="risk"):
        guaranteed_point(scores([0.5], [True]), risk=risk)
