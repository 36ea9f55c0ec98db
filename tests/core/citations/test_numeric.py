"""Numeric claims: the golden cases of seed 001, section 7.3.6."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.citations.claim_records import FiveWay
from core.citations.numeric import numeric_questions, value_score, verify_numbers

S, C = FiveWay.SUPPORTED, FiveWay.CONTRADICTED
GOLDEN = [
    (
        "direct",
        "Revenue was $3.2B in Q4 2024",
        "The company reported Q4 2024 revenues of $3.2 billion",
        S,
    ),
    ("rounded", "About 500 employees work there", "The company employs 498 full-time staff", S),
    ("wrong entity", "Revenue was $3.2B", "Profit was $3.2 billion", C),
    ("computed", "Total annual revenue was $10M", "Q1: $2M, Q2: $3M, Q3: $2.5M, Q4: $2.5M", S),
    (
        "wrong period",
        "2024 revenue was $5B",
        "The company reported $5B revenue in fiscal year 2023",
        C,
    ),
    ("wrong quarter", "Revenue was $3M in Q4", "Revenue was $3M in Q3", C),
    ("wrong unit", "Revenue was $3.2 million", "Revenue was $3.2 billion", C),
    ("wrong currency", "Revenue was $3.2 million", "Revenue was €3.2 million", C),
    ("beyond tolerance", "About 500 employees work there", "The company employs 450 staff", C),
    ("wrong sum", "Total annual revenue was $11M", "Q1: $2M, Q2: $3M, Q3: $2.5M, Q4: $2.5M", C),
]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case[0])
def test_001_7_3_6_golden_numeric_cases(case: tuple[str, str, str, FiveWay]) -> None:
    _, claim, evidence, expected = case

    findings = verify_numbers(claim, evidence)

    assert [one.verdict for one in findings] == [expected], findings


def test_001_the_computed_sum_shows_its_derivation() -> None:
    evidence = GOLDEN[3][2]

    (finding,) = verify_numbers(GOLDEN[3][1], evidence, source_id="report")

    assert finding.derivation is not None
    assert finding.derivation.operation == "sum"
    assert finding.derivation.text == "$2M + $3M + $2.5M + $2.5M = $10M"
    cut = [place.span.cut(evidence) for place in finding.derivation.inputs if place.span]
    assert cut == ["$2M", "$3M", "$2.5M", "$2.5M"]


def test_001_the_flags_of_entity_and_period() -> None:
    entity = verify_numbers(GOLDEN[2][1], GOLDEN[2][2])[0]
    period = verify_numbers(GOLDEN[4][1], GOLDEN[4][2])[0]

    assert (entity.entity_match, entity.period_match) == (False, True)
    assert (period.entity_match, period.period_match) == (True, False)
    assert entity.score == 0.8  # the seed's sum, which alone would say partial


def test_001_formula_of_the_value_score() -> None:
    assert value_score(500, 500) == 1.0
    assert value_score(525, 500) == pytest.approx(0.9)
    assert value_score(510, 500) == pytest.approx(0.96)
    assert value_score(600, 500) == 0.5
    assert value_score(6000, 500) == 0.0
    assert (value_score(0, 0), value_score(1, 0)) == (1.0, 0.0)


@given(st.floats(1, 1e9), st.floats(0, 0.05))
def test_the_value_score_falls_with_the_distance(amount: float, off: float) -> None:
    assert 0.9 - 1e-9 <= value_score(amount * (1 + off), amount) <= 1.0


def test_questions_are_answered_from_the_evidence_alone() -> None:
    (same,) = numeric_questions(
        "Nectar intake was 40 grams", "The nectar intake was 18 grams a night."
    )
    (none,) = numeric_questions("Nectar intake was 40 grams", "Nobody weighed anything.")

    assert (same.expected, same.told, same.agrees) == ("40 grams", "18 grams", False)
    assert none.told == "NOT FOUND IN EVIDENCE"


def test_a_claim_without_amounts_has_no_finding() -> None:
    assert verify_numbers("Bees fly at night.", "Bees fly 3 times at night.") == ()
