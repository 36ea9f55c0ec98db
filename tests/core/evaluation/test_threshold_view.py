"""The threshold view against the sweep that calibrators are fitted with, and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from evaluations import packet_records, predict
from hypothesis import given
from hypothesis import strategies as st

from core.calibration.threshold import GRID, sweep
from core.errors import InputError
from core.evaluation.packets import row_from_json
from core.evaluation.predictions import at_threshold
from core.evaluation.threshold_view import (
    ThresholdView,
    bands_of,
    costs_at,
    flips_between,
    only,
    view_claims,
    view_predictions,
)

# Few distinct probabilities, so that ties and thresholds that meet a probability are the rule.
PROBABILITY = st.integers(0, 20).map(lambda twentieth: twentieth / 20)
CLAIM = st.tuples(PROBABILITY, st.booleans(), st.booleans(), st.integers(0, 4))
CLAIMS = st.lists(CLAIM, min_size=1, max_size=40)
THRESHOLD = st.integers(0, 40).map(lambda fortieth: fortieth / 40)


def arrays(claims: list[tuple[float, bool, bool, int]]):
    probability, bad, forced, trace = (np.array(column) for column in zip(*claims, strict=True))
    return probability.astype(float), bad, forced, np.unique(trace, return_inverse=True)[1]


def view_of(claims: list[tuple[float, bool, bool, int]]) -> ThresholdView:
    return view_claims(*arrays(claims))


def blocks(claim: tuple[float, bool, bool, int], threshold: float) -> bool:
    probability, _, forced, _ = claim
    return forced or probability < threshold


@given(CLAIMS)
def test_the_costs_are_those_of_the_sweep_that_chooses_thresholds(claims) -> None:
    probability, bad, forced, _ = arrays(claims)

    costs = costs_at(view_of(claims), GRID)

    for cost, point in zip(costs, sweep(probability, bad, forced), strict=True):
        assert (cost.threshold, cost.good_blocked, cost.bad_passed) == (
            point.threshold, point.blocked_good, point.passed_bad,
        )  # fmt: skip
        assert cost.false_block_rate == point.false_block_rate
        assert cost.false_pass_rate == point.false_pass_rate
        assert cost.blocked_share == point.blocked_share


@given(CLAIMS, THRESHOLD, THRESHOLD)
def test_a_claim_flips_exactly_when_its_decision_differs(claims, current, chosen) -> None:
    flips = flips_between(view_of(claims), current, chosen)

    changed = {
        place
        for place, claim in enumerate(claims)
        if blocks(claim, current) != blocks(claim, chosen)
    }
    assert set(flips.claim.tolist()) == changed
    assert len(flips.claim) == len(changed)
    assert all(blocks(claims[place], chosen) == flips.now_blocked for place in changed)


@given(CLAIMS, THRESHOLD, THRESHOLD)
def test_the_newest_flip_is_the_one_nearest_to_the_chosen_threshold(
    claims, current, chosen
) -> None:
    flips = flips_between(view_of(claims), current, chosen)

    away = [abs(claims[place][0] - chosen) for place in flips.claim.tolist()]
    assert away == sorted(away)


@given(CLAIMS, st.data())
def test_a_slice_costs_what_its_claims_alone_would_cost(claims, data) -> None:
    inside = data.draw(st.lists(st.booleans(), min_size=len(claims), max_size=len(claims)))
    part = [claim for claim, kept in zip(claims, inside, strict=True) if kept]

    sliced = only(view_of(claims), np.array(inside))

    assert len(sliced) == len(part)
    if part:
        assert costs_at(sliced, GRID) == costs_at(view_of(part), GRID)


@given(CLAIMS)
def test_a_higher_threshold_never_passes_more(claims) -> None:
    costs = costs_at(view_of(claims), GRID)

    for low, high in zip(costs, costs[1:], strict=False):
        assert high.good_blocked >= low.good_blocked
        assert high.bad_passed <= low.bad_passed


@given(CLAIMS)
def test_what_another_check_blocks_stays_blocked_at_every_threshold(claims) -> None:
    view = view_of(claims)

    assert view.forced == sum(forced for _, _, forced, _ in claims)
    (lowest,) = costs_at(view, (0.0,))
    assert lowest.blocked == view.forced
    assert set(flips_between(view, 0.0, 1.0).claim.tolist()).isdisjoint(
        place for place, claim in enumerate(claims) if claim[2]
    )


def test_the_bands_hold_the_curves_and_come_out_the_same_twice() -> None:
    rng = np.random.default_rng(3)
    bad = rng.uniform(size=300) < 0.4
    probability = np.round(np.clip(rng.normal(0.7 - 0.4 * bad, 0.2), 0, 1), 4)
    view = view_claims(probability, bad, rng.uniform(size=300) < 0.1, np.arange(300) // 4)

    bands = bands_of(view, GRID, resamples=200)

    assert bands == bands_of(view, GRID, resamples=200)
    for cost, band in zip(costs_at(view, GRID), bands, strict=True):
        for rate in ("false_block_rate", "false_pass_rate"):
            ends = band[rate]
            assert ends is not None
            assert ends[0] <= getattr(cost, rate) <= ends[1]


def test_a_slice_without_bad_claims_has_no_rate_and_no_band_for_them() -> None:
    view = view_claims(
        np.array([0.2, 0.8]), np.array([False, False]), np.array([False, False]), np.array([0, 1])
    )

    (cost,) = costs_at(view, (0.5,))
    (band,) = bands_of(view, (0.5,), resamples=20)

    assert cost.false_pass_rate is None and band["false_pass_rate"] is None
    assert cost.false_block_rate == 0.5


def test_an_empty_slice_costs_nothing_and_says_so() -> None:
    view = only(
        view_claims(np.array([0.5]), np.array([True]), np.array([False]), np.array([0])),
        np.array([False]),
    )

    (cost,) = costs_at(view, (0.5,))

    assert (cost.false_pass_rate, cost.false_block_rate, cost.blocked_share) == (None, None, None)
    assert bands_of(view, (0.5,)) == ({"false_block_rate": None, "false_pass_rate": None},)


def test_the_view_of_a_packet_names_rows_and_agrees_with_deciding_each_claim_anew() -> None:
    records = packet_records(60)
    records[7] = {**records[7], "label": None}  # type: ignore[dict-item]
    rows = [row_from_json(record) for record in records]
    predictions = predict(rows, threshold=0.5)

    view = view_predictions(rows, predictions)

    assert sorted(view.claim.tolist()) == [place for place in range(60) if place != 7]
    for threshold in (0.2, 0.5, 0.71):
        decided = [at_threshold(one, one.probability, threshold) for one in predictions]
        labelled = [(r, d) for r, d in zip(rows, decided, strict=True) if r.scored]
        (cost,) = costs_at(view, (threshold,))
        assert cost.bad_passed == sum(r.should_block and not d.blocked for r, d in labelled)
        assert cost.good_blocked == sum(not r.should_block and d.blocked for r, d in labelled)


def test_a_packet_without_labels_has_nothing_to_sweep() -> None:
    rows = [row_from_json({**record, "label": None}) for record in packet_records(4)]  # type: ignore[dict-item]

    with pytest.raises(InputError, match="nothing to sweep"):
        view_predictions(rows, predict(rows, threshold=0.5))


@given(CLAIMS, THRESHOLD)
def test_an_answer_is_held_back_by_any_of_its_claims(claims, threshold) -> None:
    (cost,) = costs_at(view_of(claims), (threshold,))

    answers: dict[int, list[tuple[float, bool, bool, int]]] = {}
    for claim in claims:
        answers.setdefault(claim[3], []).append(claim)
    held = {name: any(blocks(one, threshold) for one in part) for name, part in answers.items()}
    bad = {name: any(one[1] for one in part) for name, part in answers.items()}
    assert cost.good_answers_held == sum(held[name] and not bad[name] for name in answers)
    assert cost.bad_answers_passed == sum(bad[name] and not held[name] for name in answers)
    assert (cost.good_answers, cost.bad_answers) == (
        len(answers) - sum(bad.values()), sum(bad.values()),
    )  # fmt: skip
