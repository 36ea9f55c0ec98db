"""The stages of seed 001 over claims that cite: each stage, its switch, and what it may see."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.citations.claim_stages import (
    Action,
    Confidence,
    EvidenceSpan,
    Stages,
    check_claims,
    citable_spans,
    classify_confidence,
    correct_citation,
    parts_of,
    select_spans,
    verify_isolated,
)
from core.citations.numeric import FiveWay, numeric_questions, value_score, verify_numbers
from core.records import Probabilities, Source, Span
from core.text.tokens import content_terms, overlap

BEES = "Mountain bees foraged until midnight under the lamps of the upper village. "
BEES += "Nectar intake rose by 18 percent in the lit fields. "
MOSS = "Moss roofs held back 62 percent of the storm water in the old town centre. "
SOURCES = (
    Source(source_id="bees", tool_name="search", text=BEES),
    Source(source_id="moss", tool_name="search", text=MOSS),
)
POOL = tuple(
    EvidenceSpan(source_id=s.source_id, span=Span(start=0, end=len(s.text)), quote=s.text)
    for s in SOURCES
)
INTAKE = "Nectar intake rose in the lit fields."


def by_words(claim: str, quote: str) -> Probabilities:
    """A judge that says yes when all content words are there: another named model, and no mock."""
    shared = overlap(content_terms(claim), content_terms(quote))
    denied = "never" in claim.split() and shared > 0.5
    yes = 0.0 if denied else (0.9 if shared == 1.0 else 0.1)
    return Probabilities(entailment=yes, neutral=1 - yes - 0.9 * denied, contradiction=0.9 * denied)


@given(st.text(max_size=1500))
def test_001_stage_1_spans_have_their_length_and_their_place(text: str) -> None:
    for span in citable_spans(text):
        assert 50 <= span.end - span.start <= 500
        assert span.cut(text).strip()


def test_001_stage_1_numbers_rank_higher_and_sources_are_capped() -> None:
    text = "The bees of the hill forage at night in summer months.\n" * 3
    text += "The bees of the hill forage at night in 4 summer months.\n"
    source = Source(source_id="s", tool_name="t", text=text)

    spans = select_spans([source], "bees forage at night", per_source=2)

    assert len(spans) == 2
    assert "4 summer" in spans[0].quote
    assert [one.span.cut(text) for one in spans] == [one.quote for one in spans]
    assert [one.quote for one in select_spans(SOURCES, "bees", enabled=False)] == [BEES, MOSS]


@cases
def test_001_stage_3_levels(claim: str, low: float, high: float) -> None:
    assert low <= classify_confidence(claim, BEES)[0] <= high


def test_001_stage_3_a_quotation_that_the_evidence_lacks_proves_nothing() -> None:
    quoted = classify_confidence('They saw "nectar intake" grow', BEES)[0]
    typed = classify_confidence('They saw "honey intake" grow', BEES)[0]

    assert quoted - typed == pytest.approx(0.3)


def test_001_stage_4_the_judge_sees_claim_and_quote_and_nothing_else() -> None:
    seen: list[tuple[str, str]] = []

    def watching(claim: str, quote: str) -> Probabilities:
        seen.append((claim, quote))
        return by_words(claim, quote)

    check_claims([("Nectar intake rose.", POOL[0]), ("SECRET", None)], SOURCES, watching)

    assert [pair for pair in seen if "SECRET" not in pair[0]]
    assert all("SECRET" not in pair[0] for pair in seen if pair[0] != "SECRET")
    assert list(inspect.signature(verify_isolated).parameters)[:3] == ["claim", "quote", "judge"]


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        (INTAKE, BEES, FiveWay.SUPPORTED),
        ("Nectar intake rose and whales sang loudly.", BEES, FiveWay.PARTIAL),
        ("Nectar intake fell in lit valleys.", BEES, FiveWay.UNSUPPORTED),
        ("Nectar intake never rose in fields.", BEES, FiveWay.CONTRADICTED),
        ("Nectar intake rose by 40 percent.", BEES, FiveWay.CONTRADICTED),
        ("Whales sing in cold harbours.", BEES, FiveWay.NEI),
        ("Nectar intake rose.", "", FiveWay.NEI),
    ],
)
def test_001_stage_4_the_decision_tree(claim: str, quote: str, verdict: FiveWay) -> None:
    assert verify_isolated(claim, quote, by_words)[0] is verdict


def test_001_stage_4_only_a_full_look_asks_and_says_what_is_not_there() -> None:
    asked = {
        depth: verify_isolated("Whales of Port Ansgar weigh 40 tons.", BEES, by_words, depth=depth)
        for depth in Confidence
    }

    assert "NOT FOUND IN EVIDENCE" in [one.reply for one in asked[Confidence.LOW][2]]
    assert asked[Confidence.HIGH][2] == asked[Confidence.MEDIUM][2] == ()


def test_parts_carry_the_subject() -> None:
    assert parts_of("The mill was built in 1901 and burned in 1954.") == (
        "The mill was built in 1901",
        "The mill burned in 1954",
    )
    assert parts_of("The mill burned.") == ()


@pytest.mark.parametrize(
    ("claim", "cited", "verdict", "action"),
    [
        (INTAKE, 1, FiveWay.CONTRADICTED, Action.REPLACE),
        (INTAKE, 1, FiveWay.PARTIAL, Action.ADD_ALTERNATE),
        ("Whales sing in harbours.", 0, FiveWay.NEI, Action.REMOVE),
        ("Whales sing in harbours.", 0, FiveWay.CONTRADICTED, Action.KEEP),
    ],
)
def test_001_stage_5_each_action(claim: str, cited: int, verdict: FiveWay, action: Action) -> None:
    stages = Stages(alternates=True)

    found, better = correct_citation(claim, POOL[cited], verdict, POOL, by_words, stages)

    assert found is action
    assert (better == POOL[0]) == (action in (Action.REPLACE, Action.ADD_ALTERNATE))


def test_001_stage_5_a_judge_refuses_evidence_that_is_only_alike() -> None:
    def no(claim: str, quote: str) -> Probabilities:
        return Probabilities(entailment=0.1, neutral=0.9, contradiction=0.0)

    found = correct_citation(INTAKE, POOL[1], FiveWay.UNSUPPORTED, POOL, no, Stages())

    assert found == (Action.REMOVE, None)


@pytest.mark.parametrize("name", Stages.__dataclass_fields__)
def test_001_every_stage_runs_both_ways(name: str) -> None:
    claims = [(INTAKE, POOL[1]), ("Whales sing.", None)]

    for on in (False, True):
        checked = check_claims(claims, SOURCES, by_words, stages=replace(Stages(), **{name: on}))
        assert [(one.text, one.evidence) for one in checked] == claims
        if name == "correction":
            assert (checked[0].action is Action.REPLACE) == on
        if name == "nei":
            assert (checked[1].verdict is FiveWay.NEI) == on
        if name == "retrieval":
            assert (checked[0].verdict is FiveWay.SUPPORTED) == on
        if name == "confidence" and not on:
            assert {(one.confidence, one.depth) for one in checked} == {(0.3, Confidence.LOW)}


# -- stage 6 ---------------------------------------------------------------------------------------

QUARTERS = "Q1: $2M, Q2: $3M, Q3: $2.5M, Q4: $2.5M"


@pytest.mark.parametrize(
    ("claim", "evidence", "verdict"),
    [
        (
            "Revenue was $3.2B in Q4 2024",
            "The company reported Q4 2024 revenues of $3.2 billion",
            FiveWay.SUPPORTED,
        ),
        (
            "About 500 employees work there",
            "The company employs 498 full-time staff",
            FiveWay.SUPPORTED,
        ),
        ("Revenue was $3.2B", "Profit was $3.2 billion", FiveWay.CONTRADICTED),
        (
            "Apple's Q4 2024 revenue was $95 billion",
            "Apple reported Q4 2024 profit of $95B",
            FiveWay.CONTRADICTED,
        ),
        (
            "The nectar intake was 18 grams",
            "Bees took in 18 grams of nectar.",
            FiveWay.SUPPORTED,
        ),
        ("Total annual revenue was $10M", QUARTERS, FiveWay.SUPPORTED),
        ("Total annual revenue was $11M", QUARTERS, FiveWay.CONTRADICTED),
        (
            "2024 revenue was $5B",
            "The company reported $5B revenue in fiscal year 2023",
            FiveWay.CONTRADICTED,
        ),
        ("Revenue was $3M in Q4", "Revenue was $3M in Q3", FiveWay.CONTRADICTED),
        ("Revenue was $3.2 million", "Revenue was $3.2 billion", FiveWay.CONTRADICTED),
        ("Revenue was $3.2 million", "Revenue was €3.2 million", FiveWay.CONTRADICTED),
        (
            "About 500 employees work there",
            "The company employs 450 staff",
            FiveWay.CONTRADICTED,
        ),
    ],
)
def test_001_7_3_6_golden_numeric_cases(claim: str, evidence: str, verdict: FiveWay) -> None:
    assert [one.verdict for one in verify_numbers(claim, evidence)] == [verdict]


def test_001_the_computed_sum_shows_its_derivation() -> None:
    (finding,) = verify_numbers("Total annual revenue was $10M", QUARTERS)

    assert finding.reason == "$2M + $3M + $2.5M + $2.5M = $10M"
    assert [one.span.cut(QUARTERS) for one in finding.inputs] == ["$2M", "$3M", "$2.5M", "$2.5M"]


def test_001_formula_of_the_value_score() -> None:
    assert [value_score(amount, 500) for amount in (500, 525, 510, 600, 6000)] == pytest.approx(
        [1.0, 0.9, 0.96, 0.5, 0.0]
    )
    assert (value_score(0, 0), value_score(1, 0)) == (1.0, 0.0)


def test_questions_are_answered_from_the_evidence_alone() -> None:
    (same,) = numeric_questions("Nectar intake was 40 grams", "The nectar intake was 18 grams.")
    (none,) = numeric_questions("Nectar intake was 40 grams", "Nobody weighed anything.")

    assert (same.expected, same.reply, same.agrees) == ("40 grams", "18 grams", False)
    assert none.reply == "NOT FOUND IN EVIDENCE"
    assert verify_numbers("Bees fly at night.", "Bees fly 3 times at night.") == ()


def test_001_over_synthesis_is_marked_with_what_it_was_made_from() -> None:
    claim = "Nectar intake rose by 18 percent and moss roofs held back 62 percent of storm water."

    together, *others = check_claims([(claim, None), (INTAKE, None)], SOURCES, by_words)
    alone = check_claims([(claim, None)], SOURCES[:1], by_words)

    assert {span.source_id for span in together.across} == {"bees", "moss"}
    assert together.verdict is not FiveWay.SUPPORTED
    assert [one.across for one in (*others, *alone)] == [(), ()]
