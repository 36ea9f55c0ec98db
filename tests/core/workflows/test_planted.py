"""What becomes of planted credits: accused, blocked, repaired, and the figures of Table 20."""

from __future__ import annotations

from dataclasses import replace

from builders import a_source, a_trace
from lexical import lexical_models

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.packets import row_from_json
from core.evaluation.planting import Planted, plant
from core.pipeline import verify
from core.records import Decision, Span
from core.workflows.planted import (
    PlantedOutcome,
    planted_document,
    planted_lines,
    run_planted,
    table_20,
    verify_place,
)

CHART = a_source(
    "Elena Marchetti has type 2 diabetes mellitus.\nResting heart rate was 62 bpm.",
    "chart",
    "load_patient_history",
)
STUDY = a_source(
    "Empagliflozin lowered a mortality endpoint in adults at high risk.",
    "pubmed",
    "search_pubmed_key_words",
)
HEART, DRUG = "The resting heart rate was 62 bpm.", "Empagliflozin lowered a mortality endpoint."
TRACE = a_trace(f"{HEART} {DRUG}", CHART, STUDY)


def label(sentence: str, gold: str) -> object:
    start = (TRACE.answer or "").index(sentence)
    return row_from_json(
        {
            "claim_id": gold,
            "trace_id": "t1",
            "claim": sentence,
            "sources": [{"source_id": "s", "tool_name": "t", "text": "x"}],
            "label": "supported",
            "relation": "entailment",
            "gold_source_ids": [gold],
            "span": [start, start + len(sentence)],
        }
    )


LABELS = {"t1": [label(HEART, "chart"), label(DRUG, "pubmed")]}


def outcomes(*, repair: bool = False) -> list[PlantedOutcome]:
    planted = plant([TRACE], LABELS, load_families(), count=10)  # type: ignore[arg-type]
    return run_planted(planted, [TRACE], lexical_models(), Config(), repair=repair)


def test_a_planted_credit_is_accused_in_both_directions_and_its_twin_is_not() -> None:
    found = outcomes(repair=True)

    assert {one.planted.direction for one in found} == {
        "patient_record → literature",
        "literature → patient_record",
    }
    for one in found:
        assert one.probe.read and one.probe.conflated and one.probe.accused and one.probe.blocked
        assert one.twin.read and not one.twin.accused and not one.twin.blocked
        assert one.mended is not None and one.mended.resolved and not one.mended.retained


def test_a_credit_that_nobody_saw_and_that_stays_is_counted_as_retained() -> None:
    (one, *_) = plant([TRACE], LABELS, load_families(), count=1)  # type: ignore[arg-type]
    unseen = replace(one, wrong_answer=one.right_answer, credited="rate")

    (found,) = run_planted([unseen], [TRACE], lexical_models(), Config(), repair=True)

    assert found.mended is not None and found.mended.allowed and found.mended.retained
    assert not found.mended.resolved


def test_the_counts_of_the_paper_and_both_errors_are_printed_with_exact_intervals() -> None:
    found = outcomes(repair=True)

    assert table_20(found) == {
        "rows": 2,
        "pre_block": 2,
        "explicit_conflation": 2,
        "repair_resolved": 2,
        "terminal_fallback": 0,
        "post_allow": 2,
        "wrong_attribution_retained": 0,
        "twins_pre_block": 0,
    }
    document = planted_document(found)
    every = document["groups"]["all"]  # type: ignore[index]
    assert every["probes_accused"] == {"count": 2, "among": 2, "ci95": [0.1581, 1.0]}
    assert every["twins_accused"] == {"count": 0, "among": 2, "ci95": [0.0, 0.8419]}
    lines = planted_lines(found)
    assert "| here | 2 | 2 | 2 | 2 | 0 | 2 | 0 |" in lines
    assert any(line.startswith("| direction: literature → patient_record | 1 |") for line in lines)


def test_without_repair_its_counts_are_left_open_and_are_not_zero() -> None:
    counts = table_20(outcomes())

    assert counts["repair_resolved"] is None and counts["wrong_attribution_retained"] is None


def test_a_sentence_is_judged_as_it_is_in_the_whole_answer() -> None:
    answer = f"According to the chart, {DRUG} {HEART} Her mood was good. See PMID 12345678."
    trace = a_trace(answer, CHART, STUDY)
    whole = verify(trace, lexical_models(), Config())

    for place in (Span(start=0, end=len(answer)), Span(start=answer.index(HEART), end=len(answer))):
        found = verify_place(trace, place, lexical_models(), Config())

        assert found == tuple(one for one in whole.claims if one.claim.span.overlaps(place))
    assert len(found) < len(whole.claims)


def test_a_sentence_beyond_the_limit_of_claims_is_blocked_as_in_the_whole_answer() -> None:
    answer = f"According to the chart, {DRUG} {HEART} Her mood was good."
    trace, limited = a_trace(answer, CHART, STUDY), Config(max_claims=1)

    found = verify_place(trace, Span(start=0, end=len(answer)), lexical_models(), limited)

    assert found == verify(trace, lexical_models(), limited).claims
    assert {one.decision for one in found[1:]} == {Decision.BLOCK}


def test_the_order_of_probes_changes_no_outcome() -> None:
    planted: list[Planted] = plant([TRACE], LABELS, load_families(), count=10)  # type: ignore[arg-type]

    found = run_planted(planted[::-1], [TRACE], lexical_models(), Config())

    assert {one.planted.probe_id: one.probe for one in found} == {
        one.planted.probe_id: one.probe for one in outcomes()
    }
