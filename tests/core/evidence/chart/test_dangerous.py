"""Dangerous minimal pairs: the checks alone contradict them and leave their true twins alone."""

from __future__ import annotations

from collections import Counter

import pytest

from core.evaluation.frozen import readable
from core.evaluation.packets import row_from_json
from core.evidence.chart.checks import chart_checks, read_chart_facts
from core.records import Claim, Outcome, Span, Trace
from training.packets import FORMATS, Pair, chart_row, pairs

SAMPLE = (*pairs("looked_at"), *pairs("kept", seed=12))


def contradicted(pair: Pair) -> bool:
    row = row_from_json(chart_row(0, pair))
    sources = tuple(readable(source) for source in row.sources)
    trace = Trace(trace_id="pair", question="", answer=pair.claim, sources=sources)
    claim = Claim(
        claim_id="pair::c01",
        text=pair.claim,
        span=Span(start=0, end=len(pair.claim)),
        said=pair.claim,
    )
    checks = chart_checks(claim, read_chart_facts(trace))
    return any(check.outcome is Outcome.CONTRADICTS for check in checks)


@pytest.fixture(scope="module")
def judged() -> list[tuple[Pair, bool]]:
    return [(pair, contradicted(pair)) for pair in SAMPLE]


@pytest.mark.stress
def test_at_most_three_in_a_hundred_dangerous_claims_pass(judged):
    dangerous = [blocked for pair, blocked in judged if pair.dangerous]

    assert dangerous.count(False) <= 0.03 * len(dangerous)


def test_at_least_ninety_five_in_a_hundred_true_twins_are_allowed(judged):
    twins = [blocked for pair, blocked in judged if not pair.dangerous]

    assert twins.count(False) >= 0.95 * len(twins)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_more_than_one_in_nine_pass(judged, form):
    found = Counter(blocked for pair, blocked in judged if pair.dangerous and pair.format == form)

    assert found[False] <= found.total() / 9


def test_a_swapped_drug_in_a_letter_does_not_pass(judged):
    swapped = [
        blocked
        for pair, blocked in judged
        if pair.dangerous and pair.format == "letter" and pair.kind == "swapped drug"
    ]

    assert swapped and all(swapped)
