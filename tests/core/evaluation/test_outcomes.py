"""The three outcomes against deciding each claim and each answer by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.outcomes import (
    Outcomes,
    Sorted3,
    Weights,
    Workload,
    cheapest,
    daily_cost,
    outcomes_at,
)
from core.evaluation.threshold_view import costs_at, view_claims

claims = st.lists(
    st.tuples(st.integers(0, 100), st.booleans(), st.booleans(), st.integers(0, 5)),
    min_size=1,
    max_size=60,
)
places = st.integers(0, 100).map(lambda n: n / 100)


def view_of(found):
    trace = np.unique([trace for *_, trace in found], return_inverse=True)[1]
    return view_claims(
        np.array([p / 100 for p, *_ in found]),
        np.array([bad for _, bad, *_ in found], dtype=bool),
        np.array([forced for _, _, forced, _ in found], dtype=bool),
        trace.astype(np.int64),
    )


def decided(found, threshold: float, review_from: float):
    for p, bad, forced, trace in found:
        if forced or p / 100 < min(review_from, threshold):
            yield "blocked", bad, trace
        else:
            yield ("person" if p / 100 < threshold else "passed"), bad, trace


def counted(outcomes: list[str]) -> Sorted3:
    return Sorted3(
        passed=outcomes.count("passed"),
        person=outcomes.count("person"),
        blocked=outcomes.count("blocked"),
    )


@given(claims, places, places)
def test_claims_and_answers_are_sorted_as_deciding_each_would(found, threshold, review_from):
    view = view_of(found)

    (one,) = outcomes_at(view, [threshold], review_from)

    said = list(decided(found, threshold, review_from))
    assert one.good == counted([what for what, bad, _ in said if not bad])
    assert one.bad == counted([what for what, bad, _ in said if bad])
    answers: dict[int, list[tuple[str, bool]]] = {}
    for what, bad, trace in said:
        answers.setdefault(trace, []).append((what, bad))
    worst = ["blocked", "person", "passed"]
    for gold, told in ((True, one.bad_answers), (False, one.good_answers)):
        wanted = [
            min((what for what, _ in each), key=worst.index)
            for each in answers.values()
            if any(bad for _, bad in each) is gold
        ]
        assert told == counted(wanted)
    assert abs(sum(one.shares) - 1.0) < 1e-9


@given(claims, places, places)
def test_allow_and_block_stay_what_the_gate_says(found, threshold, review_from):
    view = view_of(found)

    (one,) = outcomes_at(view, [threshold], review_from)
    (cost,) = costs_at(view, [threshold])

    assert one.bad.passed == cost.bad_passed
    assert one.good.person + one.good.blocked == cost.good_blocked


def an_outcome(threshold: float, passed: int, person: int, lost: int) -> Outcomes:
    nothing = Sorted3(passed=0, person=0, blocked=0)
    return Outcomes(
        threshold=threshold,
        review_from=0.1,
        good=Sorted3(passed=50, person=person, blocked=lost),
        bad=Sorted3(passed=passed, person=0, blocked=50 - passed - person - lost),
        good_answers=nothing,
        bad_answers=nothing,
    )


def test_the_cost_counts_each_outcome_once_at_its_weight():
    outcomes = an_outcome(0.5, 5, 20, 10)
    workload = Workload(claims_a_day=1_000, minutes_a_claim=3.0)

    cost = daily_cost(outcomes, workload, Weights(bad_passed=10, good_blocked=1, hour_of_review=2))

    a_day = 1_000 / outcomes.claims
    assert cost == 5 * a_day * 10 + 10 * a_day * 1 + 20 * a_day * 3 / 60 * 2


def test_the_cheapest_point_is_the_strictest_of_equals():
    same = [an_outcome(threshold, 5, 0, 10) for threshold in (0.4, 0.6)]
    dear = an_outcome(0.9, 5, 0, 11)
    workload = Workload(claims_a_day=100, minutes_a_claim=1.0)

    found = cheapest(
        [*same, dear], workload, Weights(bad_passed=1, good_blocked=1, hour_of_review=0)
    )

    assert found.threshold == 0.6
