"""Frozen claims through the real pipeline with real weights: resumed, reordered and rescored alike."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from real_models import uncalibrated_models

from core.config import Config
from core.errors import InputError
from core.evaluation.packets import PacketRow, row_from_json
from core.evaluation.predictions import (
    Cause,
    Prediction,
    at_threshold,
    prediction_from_json,
    prediction_to_json,
)
from core.evaluation.scoring import PredictionFile, Uncalibrated, score_rows
from core.pipeline import Models
from core.records import AttributionStatus, Decision, State, VerdictLabel
from core.workflows.recalibrate import recalibrate, training_rows

CHART = "Patient: Ines Prado. Medications: metformin 500 mg twice daily, started 3 May 2024."
ABSTRACT = "In 412 adults empagliflozin lowered HbA1c by 0.7 percent against placebo over 24 weeks."
LABS = "Patient: Ines Prado. Potassium 4.1 mmol/L on 2 June 2024. Sodium 139 mmol/L."


def row(number: int, claim: str, label: str, gold: str | None, **more: object) -> PacketRow:
    return row_from_json(
        {
            "claim_id": f"c{number}",
            "trace_id": f"t{number % 3}",
            "claim": claim,
            "sources": [
                {"source_id": "chart", "tool_name": "load_patient_history", "text": CHART},
                {"source_id": "search", "tool_name": "search_pubmed", "text": ABSTRACT},
                {"source_id": "labs", "tool_name": "get_labs", "text": LABS},
            ],
            "label": label,
            "relation": "entailment" if label == "supported" else "neutral",
            "gold_source_ids": [gold] if gold else [],
            **more,
        }
    )


ROWS = [
    row(0, "Ines Prado takes metformin 500 mg twice daily.", "supported", "chart"),
    row(1, "Empagliflozin lowered HbA1c by 0.7 percent.", "supported", "search"),
    row(2, "The potassium was 4.1 mmol/L on 2 June 2024.", "supported", "labs"),
    row(3, "Ines Prado takes warfarin.", "not_enough_evidence", None),
    row(4, "Empagliflozin raised HbA1c by 9 percent.", "contradicted", "search"),
    row(5, "The sodium was 120 mmol/L.", "contradicted", "labs"),
]


@pytest.fixture(scope="module")
def models() -> Models:
    return uncalibrated_models()


@pytest.fixture(scope="module")
def scored(models: Models):
    return score_rows(ROWS, models, Config())


def test_every_row_gets_its_prediction_in_order_with_its_measurements(scored) -> None:
    assert [p.claim_id for p in scored.predictions] == [r.claim_id for r in ROWS]
    for prediction in scored.predictions:
        vetoed = prediction.claim_id == "c5"  # held below any threshold
        assert prediction.features is not None
        assert prediction.probability == (0.4999 if vetoed else 1.0)
        assert {r.source_id for r in prediction.ranking} == {"chart", "search", "labs"}
        assert prediction.routed_source_id == prediction.ranking[0].source_id
        assert prediction.blocked == prediction.forced
    assert {"router", "nli", "decide", "total"} <= set(scored.latency_seconds)


def test_a_value_that_is_nowhere_is_told_to_the_calibrator_and_left_to_a_person(scored) -> None:
    by_id = {p.claim_id: p for p in scored.predictions}

    # Findings outrank the support, which is certain here: 9 is nowhere. That the direction of "raised" is
    # the other way round informs, and no more.
    assert by_id["c4"].features.numeric["protected_missing"] > 0
    assert (by_id["c4"].forced, by_id["c4"].cause) == (True, Cause.VALUE)
    assert by_id["c4"].reason.startswith("Needs a person: ")
    assert [by_id[f"c{n}"].forced for n in (0, 1, 2)] == [False] * 3


def test_a_value_that_the_record_states_otherwise_forces_the_claim(scored) -> None:
    by_id = {p.claim_id: p for p in scored.predictions}

    assert by_id["c5"].features.numeric["protected_missing"] > 0
    assert by_id["c5"].features.numeric["checks_vetoes"] > 0
    assert by_id["c5"].forced


def test_order_and_company_of_the_rows_change_no_prediction(models: Models, scored) -> None:
    backwards = score_rows(ROWS[::-1], models, Config()).predictions
    alone = score_rows(ROWS[2:3], models, Config()).predictions

    assert tuple(backwards[::-1]) == scored.predictions
    assert alone[0] == scored.predictions[2]


def test_a_killed_run_goes_on_where_it_stopped(models: Models, scored, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    score_rows(ROWS[:4], models, Config(), kept=PredictionFile(path, models, Config()))
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-200], encoding="utf-8")  # killed while writing the last line
    done: list[int] = []

    resumed = score_rows(
        ROWS,
        models,
        Config(),
        kept=PredictionFile(path, models, Config()),
        progress=lambda n, total, what: done.append(n),
    )

    assert done[0] == 3  # the first three lines were whole
    assert resumed.predictions == scored.predictions
    again = PredictionFile(path, models, Config())
    assert [again.get(r) for r in ROWS] == list(scored.predictions)


def test_what_was_kept_for_another_text_or_config_is_not_taken(
    models: Models, tmp_path: Path
) -> None:
    path = tmp_path / "kept.jsonl"
    score_rows(ROWS[:1], models, Config(), kept=PredictionFile(path, models, Config()))
    changed = dataclasses.replace(ROWS[0], claim="Ines Prado takes metformin 850 mg.")
    other = dataclasses.replace(Config(), premise_characters=700)

    assert PredictionFile(path, models, Config()).get(ROWS[0]) is not None
    assert PredictionFile(path, models, Config()).get(changed) is None
    assert PredictionFile(path, models, other).get(ROWS[0]) is None


def test_labels_are_no_part_of_what_the_verifier_sees(models: Models, scored) -> None:
    hidden = dataclasses.replace(ROWS[1], label=None, gold_source_ids=(), relation=None)

    assert score_rows([hidden], models, Config()).predictions[0] == scored.predictions[1]


def test_deciding_at_another_threshold_is_what_the_pipeline_would_decide(
    models: Models, scored
) -> None:
    class Strict(Uncalibrated):
        name = "strict"
        threshold = 0.9

        def probabilities(self, rows):
            return super().probabilities(rows) * 0.4

    strict = dataclasses.replace(models, calibrator=Strict())

    anew = score_rows(ROWS, strict, Config()).predictions

    moved = [at_threshold(p, 0.4, 0.9) for p in scored.predictions]
    for mine, theirs in zip(moved, anew, strict=True):
        assert (mine.decision, mine.verdict) == (theirs.decision, theirs.verdict)


def test_the_training_target_needs_the_right_source(scored) -> None:
    rows = training_rows(ROWS, scored.predictions)

    for packet_row, training_row, prediction in zip(ROWS, rows, scored.predictions, strict=True):
        right = prediction.routed_source_id in packet_row.gold_source_ids
        supported = packet_row.label is VerdictLabel.SUPPORTED
        assert training_row.supported_by_route == (supported and right)


def test_held_out_rows_are_refused_before_any_model_reads_them(tmp_path: Path) -> None:
    import json

    from core.evaluation.packets import row_to_json

    path = tmp_path / "train.jsonl"
    marked = row_to_json(ROWS[0]) | {"split": "held_out"}
    path.write_text(json.dumps(marked) + "\n" + json.dumps(row_to_json(ROWS[1])) + "\n")
    unread = Models(embedder=None, nli=None, calibrator=Uncalibrated(), families=None)  # type: ignore[arg-type]

    with pytest.raises(InputError, match="held-out.*'c0'"):
        recalibrate(path, None, tmp_path / "out", unread, Config())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, State.NEEDS_REVIEW),
        ({"decision": Decision.ALLOW}, State.ALLOW),
        ({"attribution": AttributionStatus.CONFLATION}, State.BLOCK),
        (
            {"attribution": AttributionStatus.CONFLATION, "probable_credit": True},
            State.NEEDS_REVIEW,
        ),
        ({"if_disputed": VerdictLabel.UNSUPPORTED}, State.BLOCK),
        (
            {"if_disputed": VerdictLabel.UNSUPPORTED, "verdict": VerdictLabel.UNSUPPORTED},
            State.NEEDS_REVIEW,
        ),
        ({"cause": Cause.UNJUDGED, "verdict": VerdictLabel.UNJUDGED}, State.NEEDS_REVIEW),
    ],
)
def test_block_is_for_what_a_check_or_a_credit_shows(more: dict[str, Any], state: State) -> None:
    plain = Prediction(
        claim_id="c",
        decision=Decision.BLOCK,
        verdict=VerdictLabel.CONTRADICTED,
        cause=Cause.SUPPORT,
        forced=False,
        if_supported=VerdictLabel.SUPPORTED,
        if_unsupported=VerdictLabel.CONTRADICTED,
        reason="",
        threshold=0.5,
    )

    found = dataclasses.replace(plain, **more)
    assert found.state is state
    assert prediction_from_json(prediction_to_json(found)) == found
