"""Reliability, confused sources and the list of errors, against plain counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from evaluations import packet_records, predict

from core.attribution.families import load_families
from core.evaluation.columns import is_target, pair_columns
from core.evaluation.findings import (
    BINS,
    NO_SOURCE,
    Mistake,
    confused_families,
    list_errors,
    reliability_bins,
)
from core.evaluation.packets import row_from_json
from core.records import AttributionStatus

ROWS = [row_from_json(record) for record in packet_records(120)]
FOUND = predict(ROWS, threshold=0.5)


def test_each_bin_holds_the_claims_of_its_probabilities_and_their_share_of_truth() -> None:
    bins = reliability_bins(pair_columns(ROWS, FOUND), resamples=100)

    assert sum(each.claims for each in bins) == len(ROWS)
    for at, each in enumerate(bins):
        inside = [
            (row, one)
            for row, one in zip(ROWS, FOUND, strict=True)
            if min(int(one.probability * BINS), BINS - 1) == at
        ]
        assert each.claims == len(inside)
        if inside:
            assert each.said == pytest.approx(np.mean([one.probability for _, one in inside]))
            assert each.true == pytest.approx(np.mean([is_target(*pair) for pair in inside]))
            assert each.interval.low <= each.true <= each.interval.high
        else:
            assert (each.said, each.true, each.interval) == (None, None, None)


def test_the_curve_does_not_depend_on_how_the_packet_is_sorted() -> None:
    backwards = pair_columns(ROWS[::-1], FOUND[::-1])

    assert reliability_bins(backwards, resamples=50) == reliability_bins(
        pair_columns(ROWS, FOUND), resamples=50
    )


def test_sources_are_confused_by_the_family_of_a_right_source_and_of_the_routed_one() -> None:
    counts = confused_families(ROWS, FOUND, load_families())

    expected = Counter(
        {"chart": "patient_record", "pubmed": "literature"}[one.routed_source_id]
        for row, one in zip(ROWS, FOUND, strict=True)
        if row.gold_source_ids
    )
    assert counts == {("patient_record", family): count for family, count in expected.items()}


def test_a_claim_without_a_route_is_confused_with_no_source() -> None:
    (row,) = [row for row in ROWS if row.claim_id == "c0000"]
    unrouted = replace(FOUND[0], routed_source_id=None)

    assert confused_families([row], [unrouted], load_families()) == {
        ("patient_record", NO_SOURCE): 1
    }


def test_errors_are_exactly_the_claims_that_were_judged_otherwise_than_labelled() -> None:
    errors = {error.place: set(error.mistakes) for error in list_errors(ROWS, FOUND)}

    for place, (row, said) in enumerate(zip(ROWS, FOUND, strict=True)):
        mistakes = errors.get(place, set())
        assert (Mistake.PASSED in mistakes) == (row.should_block and not said.blocked)
        assert (Mistake.BLOCKED in mistakes) == (said.blocked and not row.should_block)
        assert (Mistake.VERDICT in mistakes) == (said.verdict is not row.label)
        assert (Mistake.SOURCE in mistakes) == (
            bool(row.gold_source_ids) and said.routed_source_id not in row.gold_source_ids
        )


def test_the_costliest_errors_come_first() -> None:
    order = [list(Mistake).index(error.mistakes[0]) for error in list_errors(ROWS, FOUND)]

    assert order == sorted(order)
    assert list_errors(ROWS, FOUND)[0].mistakes[0] is Mistake.PASSED


def test_a_missed_wrong_credit_and_a_false_alarm_are_told_apart() -> None:
    credited = ROWS[0]
    conflated = replace(credited, gold_attribution=AttributionStatus.CONFLATION)
    alarmed = replace(FOUND[0], attribution=AttributionStatus.CONFLATION)

    missed = list_errors([conflated], [FOUND[0]])[0].mistakes
    alarm = list_errors([credited], [alarmed])[0].mistakes

    assert Mistake.CREDIT in missed and Mistake.ALARM not in missed
    assert Mistake.ALARM in alarm and Mistake.CREDIT not in alarm


def test_a_claim_without_a_label_is_no_error() -> None:
    assert list_errors([replace(row, label=None) for row in ROWS], FOUND) == ()
