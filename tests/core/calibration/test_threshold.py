"""The support threshold: what the sweep counts, what each rule chooses, and what the bound promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration.threshold import (
    GRID,
    block_below,
    by_block_f1,
    by_block_recall,
    by_budget,
    by_false_block,
    by_false_pass,
    by_risk,
    sweep,
    upper_rate,
)
from core.errors import ConfigError

claims = st.lists(
    st.tuples(st.integers(0, 10_000).map(lambda p: p / 10_000), st.booleans(), st.booleans()),
    min_size=1,
    max_size=60,
)


def arrays(found):
    return (
        np.array([p for p, _, _ in found]),
        np.array([bad for _, bad, _ in found]),
        np.array([forced for _, _, forced in found]),
    )


@given(claims)
def test_the_sweep_counts_what_deciding_each_claim_would_count(found) -> None:
    points = sweep(*arrays(found))

    for point in points:
        blocked = [forced or p < point.threshold for p, _, forced in found]
        pairs = list(zip(blocked, [bad for _, bad, _ in found], strict=True))
        assert point.blocked_bad == pairs.count((True, True))
        assert point.blocked_good == pairs.count((True, False))
        assert point.passed_bad == pairs.count((False, True))
        assert point.passed_good == pairs.count((False, False))


@given(claims)
def test_a_higher_threshold_never_allows_more(found) -> None:
    points = sweep(*arrays(found))

    for lower, higher in zip(points, points[1:], strict=False):
        assert higher.blocked_bad >= lower.blocked_bad
        assert higher.blocked_good >= lower.blocked_good


def test_the_grid_is_the_papers() -> None:
    assert len(GRID) == 99 and GRID[0] == 0.01 and GRID[-1] == 0.99


@given(claims)
def test_block_f1_with_accuracy_as_tie_break_beats_every_other_threshold(found) -> None:
    points = sweep(*arrays(found))

    best = by_block_f1(points).point

    def key(p):
        return (p.block_f1 or 0.0, p.block_accuracy or 0.0)

    assert key(best) == max(key(p) for p in points)


@given(claims, st.sampled_from([0.0, 0.025, 0.1, 0.5]))
def test_the_false_pass_limit_holds_and_no_threshold_blocks_fewer_good_claims(found, limit) -> None:
    points = sweep(*arrays(found))

    choice = by_false_pass(points, limit)

    allowed = [p for p in points if (p.false_pass_rate or 0.0) <= limit]
    assert choice.met == bool(allowed)
    if allowed:
        assert (choice.point.false_pass_rate or 0.0) <= limit
        assert (choice.point.false_block_rate or 0.0) == min(
            p.false_block_rate or 0.0 for p in allowed
        )
    else:
        assert choice.point.passed_bad == min(p.passed_bad for p in points)


@given(claims, st.sampled_from([0.0, 0.1, 0.3]))
def test_the_false_block_limit_holds_and_no_threshold_passes_fewer_bad_claims(found, limit) -> None:
    points = sweep(*arrays(found))

    choice = by_false_block(points, limit)

    allowed = [p for p in points if (p.false_block_rate or 0.0) <= limit]
    assert choice.met == bool(allowed)
    if allowed:
        assert choice.point.passed_bad == min(p.passed_bad for p in allowed)


@given(claims, st.integers(0, 100))
def test_a_budget_is_never_overrun_when_it_can_be_kept(found, reviews: int) -> None:
    points = sweep(*arrays(found))

    choice = by_budget(points, claims_a_day=100, reviews_a_day=reviews)

    load = [(p.blocked_share or 0.0) * 100 for p in points]
    assert choice.met == (min(load) <= reviews)
    if choice.met:
        assert (choice.point.blocked_share or 0.0) * 100 <= reviews


@given(claims)
def test_the_high_recall_choice_keeps_its_recall(found) -> None:
    choice = by_block_recall(sweep(*arrays(found)), 0.9)

    assert not choice.met or (choice.point.block_recall or 0.0) >= 0.9


def test_rates_without_anything_to_count_are_not_zero() -> None:
    point = sweep(np.array([0.4]), np.array([True]), np.array([False]))[0]

    assert point.false_block_rate is None
    assert point.false_pass_rate == 1.0


def test_no_claims_or_a_wrong_limit_is_refused() -> None:
    nothing = sweep(np.array([]), np.array([], dtype=bool), np.array([], dtype=bool))

    with pytest.raises(ConfigError, match="no claims"):
        by_block_f1(nothing)
    with pytest.raises(ConfigError, match="max_false_pass"):
        by_false_pass(nothing, 2.5)
    with pytest.raises(ConfigError, match="budget"):
        by_budget(nothing, claims_a_day=0, reviews_a_day=10)


@given(st.integers(1, 40), st.integers(60, 99), st.integers(1, 20))
def test_between_well_parted_claims_the_middle_of_the_gap_is_chosen(
    bad_at: int, good_at: int, each: int
) -> None:
    probability = np.array([bad_at / 100] * each + [good_at / 100] * each)
    bad = np.array([True] * each + [False] * each)

    chosen = by_false_pass(sweep(probability, bad, np.zeros(2 * each, dtype=bool))).point

    assert (chosen.passed_bad, chosen.blocked_good) == (0, 0)
    assert abs(chosen.threshold - (bad_at + good_at) / 200) < 0.011


RESAMPLED = 200


def _claims(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    bad = draw.random(count) < 0.3
    score = np.clip(draw.normal(np.where(bad, 0.4, 0.65), 0.17), 0.0, 1.0)
    return np.round(score, 4), bad


@pytest.mark.parametrize("risk", [0.05, 0.1])
def test_the_bound_holds_on_resampled_splits(risk: float) -> None:
    score, bad = _claims(7, 6_000)
    draw = np.random.default_rng(11)
    broken = 0
    for _ in range(RESAMPLED):
        half = draw.permutation(len(score))
        chosen, rest = half[:900], half[900:]
        choice = by_risk(score[chosen], bad[chosen], np.zeros(900, dtype=bool), risk=risk)
        assert choice.met
        passed = score[rest][bad[rest]] >= choice.point.threshold
        broken += passed.mean() > risk
    # 5 % are allowed; two in a hundred more is the noise of 200 draws.
    assert broken / RESAMPLED <= 0.05 + 0.03


def test_few_labels_show_nothing_and_fail_closed() -> None:
    score, bad = _claims(3, 40)
    choice = by_risk(score, bad, np.zeros(40, dtype=bool), risk=0.05)
    assert not choice.met
    assert choice.point.passed_bad == 0


def test_what_needs_a_person_lies_below_what_passes() -> None:
    score, bad = _claims(5, 2_000)
    choice = by_risk(score, bad, np.zeros(2_000, dtype=bool), risk=0.05)
    assert 0.0 < block_below(score, bad, risk=0.05) < choice.point.threshold


def test_the_upper_bound_is_the_exact_one() -> None:
    """No error among 59 is the smallest sample that shows a rate of 5 % with 95 % confidence."""
    assert upper_rate(0, 59, 0.95) <= 0.05 < upper_rate(0, 58, 0.95)
    assert upper_rate(0, 0, 0.95) == 1.0
