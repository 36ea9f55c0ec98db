"""Exact intervals, McNemar and agreement against scipy, scikit-learn and published examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from core.statistics import (
    cohen_kappa,
    exact_binomial_interval,
    fleiss_kappa,
    gwet_ac1,
    mcnemar,
)


@given(st.integers(0, 400), st.integers(1, 400))
def test_the_exact_interval_is_scipys(successes: int, trials: int) -> None:
    successes = min(successes, trials)

    low, high = exact_binomial_interval(successes, trials)

    theirs = binomtest(successes, trials).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-7)


def test_fifty_of_fifty_is_the_papers_interval() -> None:
    low, high = exact_binomial_interval(50, 50)

    assert (round(low, 2), high) == (0.93, 1.0)


def test_no_trials_have_no_interval() -> None:
    assert exact_binomial_interval(0, 0) is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200))
def test_mcnemar_is_the_exact_binomial_test_on_what_only_one_got_right(pairs) -> None:
    first, second = zip(*pairs, strict=True)
    only_first = sum(a and not b for a, b in pairs)
    discordant = sum(a != b for a, b in pairs)

    found = mcnemar(first, second)

    expected = binomtest(only_first, discordant).pvalue if discordant else 1.0
    assert found == pytest.approx(expected, abs=1e-9)
    assert found == pytest.approx(mcnemar(second, first))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=80))
def test_cohens_kappa_is_scikit_learns_where_it_is_defined(pairs) -> None:
    first, second = zip(*pairs, strict=True)

    found = cohen_kappa(first, second)

    if len({*first, *second}) < 2:
        assert found.value is None and found.reason
    else:
        assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


# Fleiss 1971's layout: ten subjects, fourteen raters, five categories (a much copied example).
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def test_fleiss_kappa_gives_the_well_known_example() -> None:
    ratings = [[label for label, n in enumerate(row) for _ in range(n)] for row in FLEISS]

    assert fleiss_kappa(ratings).value == pytest.approx(0.210, abs=5e-4)


def test_skewed_labels_sink_kappa_and_leave_ac1_standing() -> None:
    pairs = [("yes", "yes")] * 118 + [("yes", "no")] * 5 + [("no", "yes")] * 2

    kappa, ac1 = cohen_kappa(*zip(*pairs, strict=True)), gwet_ac1(pairs)

    assert kappa.raw == ac1.raw == pytest.approx(118 / 125)
    assert kappa.value is not None and kappa.value < 0.0
    # Gwet 2008, two raters, two labels: chance is 2π(1-π).
    share = (118 * 2 + 7) / 250
    chance = 2 * share * (1 - share)
    assert ac1.value == pytest.approx((118 / 125 - chance) / (1 - chance))
    assert ac1.value > 0.9


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=3, max_size=3), min_size=1, max_size=40))
def test_agreement_ignores_the_order_of_raters_and_the_names_of_labels(ratings) -> None:
    renamed = [
        [{"a": "z", "b": "y", "c": "x", "d": "w"}[x] for x in item[::-1]] for item in ratings
    ]

    for measure in (fleiss_kappa, gwet_ac1):
        left, right = measure(ratings), measure(renamed)
        assert (left.value is None) == (right.value is None)
        if left.value is not None:
            assert left.value == pytest.approx(right.value)
            assert left.value <= 1.0 + 1e-12


def test_full_agreement_on_two_labels_is_one() -> None:
    ratings = [["a", "a"], ["b", "b"], ["a", "a"]]

    assert fleiss_kappa(ratings).value == gwet_ac1(ratings).value == pytest.approx(1.0)
    assert cohen_kappa("aba", "aba").value == pytest.approx(1.0)


def test_random_raters_agree_as_chance_would() -> None:
    rng = np.random.default_rng(1)
    ratings = rng.choice(["a", "b", "c"], size=(4_000, 3), p=[0.5, 0.3, 0.2]).tolist()

    assert abs(fleiss_kappa(ratings).value) < 0.03


def test_nothing_judged_has_no_agreement_and_says_so() -> None:
    for found in (cohen_kappa([], []), fleiss_kappa([]), gwet_ac1([["a"]])):
        assert found.value is None and found.reason and math.isnan(found.raw)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_items_given_once_with_how_often_they_occur_are_as_good_as_all_of_them(pairs) -> None:
    kinds = sorted(set(pairs))
    times = [pairs.count(kind) for kind in kinds]

    for once, whole in (
        (fleiss_kappa(kinds, times), fleiss_kappa(pairs)),
        (gwet_ac1(kinds, "abc", times), gwet_ac1(pairs, "abc")),
        (cohen_kappa(*zip(*kinds, strict=True), times), cohen_kappa(*zip(*pairs, strict=True))),
    ):
        assert (once.items, once.reason) == (whole.items, whole.reason)
        assert once.raw == pytest.approx(whole.raw)
        assert once.value == (None if whole.value is None else pytest.approx(whole.value))
