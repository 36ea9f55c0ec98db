"""The claim-level pipeline of seed 001: each stage, its switch, and what it may see."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.citations.claim_pipeline import (
    Switches,
    check_claims,
    saved_share,
    write_interleaved,
)
from core.citations.claim_records import (
    Action,
    CitedClaim,
    Confidence,
    Correction,
    Depth,
    EvidenceSpan,
    FiveWay,
    Judge,
    Ranking,
)
from core.citations.confidence import classify_confidence, routing_curve
from core.citations.correction import correct_citation, tally_corrections
from core.citations.isolated import parts_of, verify_isolated
from core.citations.preselection import alike, bert_score, citable_spans, select_spans
from core.records import Probabilities, Source, Span
from core.text.tokens import content_terms, overlap

BEES = "Mountain bees foraged until midnight under the lamps of the upper village. "
BEES += "Nectar intake rose by 18 percent in the lit fields. "
MOSS = "Moss roofs held back 62 percent of the storm water in the old town centre. "
SOURCES = (
    Source(source_id="bees", tool_name="search", text=BEES),
    Source(source_id="moss", tool_name="search", text=MOSS),
)


def by_words(claim: str, quote: str) -> Probabilities:
    """A judge that says yes when all content words are there: another named model, and no mock."""
    shared = overlap(content_terms(claim), content_terms(quote))
    denied = "never" in claim.split() and shared > 0.5
    yes = 0.0 if denied else (0.9 if shared == 1.0 else 0.1)
    return Probabilities(entailment=yes, neutral=1 - yes - 0.9 * denied, contradiction=0.9 * denied)


def _evidence(source: Source) -> EvidenceSpan:
    span = Span(start=0, end=len(source.text))
    return EvidenceSpan(
        source_id=source.source_id, span=span, quote=source.text, score=1.0, has_numeric=True
    )


# -- stage 1 ---------------------------------------------------------------------------------------


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
    assert spans[0].has_numeric
    assert [one.span.cut(text) for one in spans] == [one.quote for one in spans]


def test_001_stage_1_switched_off_every_source_is_one_span() -> None:
    spans = select_spans(SOURCES, "bees", enabled=False)

    assert [one.quote for one in spans] == [BEES, MOSS]


def test_001_a_strategy_that_needs_a_similarity_says_so() -> None:
    assert alike("a bee", "the bee", Ranking.KEYWORD) == 1.0
    assert alike("a bee", "the bee", Ranking.HYBRID, lambda a, b: 0.5) == pytest.approx(0.9)
    for ranking in (Ranking.SEMANTIC, Ranking.BERT_SCORE, Ranking.EDITOR, Ranking.HYBRID):
        with pytest.raises(ValueError, match=ranking.value):
            alike("a", "b", ranking)


def test_001_bert_score_is_one_for_the_same_tokens_and_zero_for_orthogonal_ones() -> None:
    tokens = np.eye(4)

    assert bert_score(tokens[:2], tokens[:2]) == 1.0
    assert bert_score(tokens[:2], tokens[2:]) == 0.0
    assert bert_score(tokens[:1], tokens[:2]) == pytest.approx(2 / 3)
    assert bert_score(tokens[:0], tokens) == 0.0


# -- stage 2 ---------------------------------------------------------------------------------------


def test_001_stage_2_each_sentence_is_written_from_its_evidence_alone() -> None:
    shown: list[str] = []

    def writes(quote: str, topic: str) -> str:
        shown.append(quote)
        return quote.split(". ")[0] + "."

    pool = select_spans(SOURCES, "bees moss")
    claims = list(write_interleaved(pool, ["mountain bees", "moss roofs"], writes, by_words))

    assert claims
    assert all(claim.evidence is not None and claim.evidence.quote in shown for claim in claims)
    assert len({claim.evidence for claim in claims}) == len(claims)


def test_001_stage_2_a_sentence_that_its_evidence_does_not_say_is_left_out() -> None:
    pool = select_spans(SOURCES, "bees moss")

    invented = list(
        write_interleaved(pool, ["mountain bees"], lambda q, t: "Whales sing.", by_words)
    )
    later = list(
        write_interleaved(
            pool, ["mountain bees"], lambda q, t: "Whales sing.", by_words, enabled=False
        )
    )

    assert invented == []
    assert len(later) == 1  # generate first, cite afterwards: what the stage is there against


# -- stage 3 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        ('Intake rose by 18 percent, a "nectar intake" record', Confidence.HIGH),
        ("Nectar intake rose in fields", Confidence.MEDIUM),
        ("Nectar intake may have risen", Confidence.LOW),
        ("Intake was more than expected", Confidence.LOW),
        ("Combined intake totalling much", Confidence.LOW),
        ("A significant intake", Confidence.LOW),
        ("The largest intake", Confidence.LOW),
    ],
)
def test_001_stage_3_levels(claim: str, level: Confidence) -> None:
    assert classify_confidence(claim, BEES).level is level


def test_001_stage_3_a_quotation_that_the_evidence_lacks_proves_nothing() -> None:
    held = classify_confidence('They saw "nectar intake" grow', BEES).score
    typed = classify_confidence('They saw "honey intake" grow', BEES).score

    assert held - typed == pytest.approx(0.3)


def test_001_stage_3_switched_off_everything_is_low() -> None:
    signals = classify_confidence("18 percent", BEES, enabled=False)

    assert (signals.score, signals.level) == (0.3, Confidence.LOW)


def test_001_stage_3_other_methods() -> None:
    assert (
        classify_confidence("x", "y", method=Ranking.SEMANTIC, similarity=lambda a, b: 0.9).score
        == 0.9
    )
    hybrid = classify_confidence("x", "y", method=Ranking.HYBRID, similarity=lambda a, b: 0.8)
    assert hybrid.score == pytest.approx((0.5 + 0.8) / 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_a_higher_threshold_saves_less_and_misses_less(scored: list[tuple[float, bool]]) -> None:
    curve = routing_curve(scored, [0.0, 0.25, 0.5, 0.75, 1.01])

    assert [one.saved for one in curve] == sorted((one.saved for one in curve), reverse=True)
    assert [one.missed for one in curve] == sorted((one.missed for one in curve), reverse=True)
    assert (curve[0].saved, curve[-1].saved) == (1.0, 0.0)


# -- stage 4 ---------------------------------------------------------------------------------------


def test_001_stage_4_the_judge_sees_claim_and_quote_and_nothing_else() -> None:
    seen: list[tuple[str, str]] = []

    def watching(claim: str, quote: str) -> Probabilities:
        seen.append((claim, quote))
        return by_words(claim, quote)

    claims = [CitedClaim(text="Nectar intake rose.", evidence=_evidence(SOURCES[0]))]
    check_claims(claims, SOURCES, watching, query="SECRET QUESTION")

    assert seen
    assert all("SECRET" not in text for pair in seen for text in pair)
    assert list(inspect.signature(verify_isolated).parameters)[:3] == ["claim", "quote", "judge"]


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Nectar intake rose in the lit fields.", BEES, FiveWay.SUPPORTED),
        ("Nectar intake rose and whales sang loudly.", BEES, FiveWay.PARTIAL),
        ("Nectar intake fell in lit valleys.", BEES, FiveWay.UNSUPPORTED),
        ("Nectar intake never rose in fields.", BEES, FiveWay.CONTRADICTED),
        ("Nectar intake rose by 40 percent.", BEES, FiveWay.CONTRADICTED),
        ("Whales sing in cold harbours.", BEES, FiveWay.NEI),
        ("Nectar intake rose.", None, FiveWay.NEI),
    ],
)
def test_001_stage_4_the_decision_tree(claim: str, quote: str | None, verdict: FiveWay) -> None:
    assert verify_isolated(claim, quote, by_words).verdict is verdict


@pytest.mark.parametrize(
    ("level", "depth"),
    [
        (Confidence.HIGH, Depth.QUICK),
        (Confidence.MEDIUM, Depth.STANDARD),
        (Confidence.LOW, Depth.CHAIN),
    ],
)
def test_001_stage_4_depth_follows_confidence(level: Confidence, depth: Depth) -> None:
    found = verify_isolated("Nectar intake rose by 18 percent.", BEES, by_words, confidence=level)

    assert found.depth is depth
    assert bool(found.answers) == (depth is Depth.CHAIN)


def test_001_stage_4_a_question_without_answer_is_told() -> None:
    found = verify_isolated("Whales of Port Ansgar weigh 40 tons.", BEES, by_words)

    assert "NOT FOUND IN EVIDENCE" in [one.told for one in found.answers]


@pytest.mark.parametrize("off", [{"nei": False}, {"abstain": False}])
def test_001_stage_4_without_nei_or_abstention_it_is_unsupported(off: dict[str, bool]) -> None:
    found = verify_isolated("Whales sing in harbours.", BEES, by_words, **off)  # type: ignore[arg-type]

    assert found.verdict is FiveWay.UNSUPPORTED


def test_parts_carry_the_subject() -> None:
    assert parts_of("The mill was built in 1901 and burned in 1954.") == (
        "The mill was built in 1901",
        "The mill burned in 1954",
    )
    assert parts_of("The mill burned.") == ()


# -- stage 5 ---------------------------------------------------------------------------------------

WRONG = CitedClaim(text="Nectar intake rose in the lit fields.", evidence=_evidence(SOURCES[1]))
POOL = tuple(_evidence(source) for source in SOURCES)


@pytest.mark.parametrize("method", list(Ranking))
def test_001_stage_5_every_strategy_finds_the_right_source(method: Ranking) -> None:
    def similarity(claim: str, quote: str) -> float:
        return overlap(content_terms(claim), content_terms(quote))

    found = correct_citation(WRONG, FiveWay.UNSUPPORTED, POOL, method=method, similarity=similarity)

    assert (found.action, found.method) == (Action.REPLACE, method)
    assert found.evidence is not None
    assert found.evidence.source_id == "bees"


def _corrected(claim: CitedClaim, verdict: FiveWay, **more: object) -> Correction:
    return correct_citation(claim, verdict, POOL, method=Ranking.KEYWORD, **more)  # type: ignore[arg-type]


def test_001_stage_5_each_action() -> None:
    right = replace(WRONG, evidence=POOL[0])
    whales = CitedClaim(text="Whales sing in harbours.", evidence=POOL[0])

    assert _corrected(right, FiveWay.SUPPORTED).action is Action.KEEP
    assert _corrected(WRONG, FiveWay.CONTRADICTED).action is Action.REPLACE
    assert _corrected(whales, FiveWay.NEI).action is Action.REMOVE
    assert _corrected(whales, FiveWay.CONTRADICTED).action is Action.KEEP
    assert _corrected(WRONG, FiveWay.PARTIAL, alternates=True).action is Action.ADD_ALTERNATE
    assert _corrected(WRONG, FiveWay.UNSUPPORTED, enabled=False).action is Action.KEEP


def test_001_stage_5_a_judge_refuses_evidence_that_is_only_alike() -> None:
    no: Judge = lambda claim, quote: Probabilities(entailment=0.1, neutral=0.9, contradiction=0.0)  # noqa: E731

    assert _corrected(WRONG, FiveWay.UNSUPPORTED, judge=no).action is Action.REMOVE


def test_001_stage_5_success_is_tallied_by_method() -> None:
    right = replace(WRONG, evidence=POOL[0])
    gold = frozenset({"bees"})
    log = [
        (WRONG, _corrected(WRONG, FiveWay.UNSUPPORTED), gold),
        (right, _corrected(right, FiveWay.SUPPORTED), gold),
        (right, Correction(action=Action.REMOVE, method=Ranking.KEYWORD), gold),
    ]

    tally = tally_corrections(Ranking.KEYWORD, log)

    assert (tally.accuracy, tally.false_positive_rate) == (1.0, 0.5)
    assert tally_corrections(Ranking.KEYWORD, []).accuracy is None


# -- switches --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "switch",
    ["preselection", "confidence", "correction", "numeric", "abstention", "nei", "retrieval"],
)
def test_001_every_switch_runs_both_ways(switch: str) -> None:
    claims = [WRONG, CitedClaim(text="Whales sing.", evidence=None)]

    for on in (False, True):
        checked = check_claims(
            claims, SOURCES, by_words, switches=replace(Switches(), **{switch: on})
        )  # type: ignore[arg-type]
        assert [one.claim for one in checked] == claims
        if switch == "correction":
            assert (checked[0].correction.action is Action.REPLACE) == on
        if switch == "nei":
            assert (checked[1].verdict.verdict is FiveWay.NEI) == on
        if switch == "retrieval":
            assert (checked[0].verdict.verdict is FiveWay.SUPPORTED) == on
        if switch == "confidence" and not on:
            assert saved_share(checked) == 0.0
