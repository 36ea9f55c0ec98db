"""Rescoring gives what the pipeline would have given, without reading anything again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from builders import a_source, a_trace
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical import lexical_models
from numpy.typing import NDArray

from core.capture.reading import read_traces
from core.config import Config
from core.errors import BadRecord
from core.pipeline import verify_all
from core.records import Decision, Features, JsonObject, Trace
from core.stages.report import verdict_document
from core.workflows.rescore import OTHER_SETTINGS, WITHOUT_FEATURES, rescore, why_not

SAMPLES = Path(__file__).parents[3] / "sample_data" / "traces.jsonl"


@dataclass(frozen=True)
class LinearCalibrator:
    """Any weighing of the features; its name says which."""

    weights: tuple[float, ...]
    threshold: float

    @property
    def name(self) -> str:
        return f"linear-{self.weights}-{self.threshold}"

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        columns = ("entailment", "term_overlap", "route_score", "pred_score", "protected_missing")
        scores = [
            sum(w * row.numeric[name] for w, name in zip(self.weights, columns, strict=True))
            for row in rows
        ]
        return np.round(1 / (1 + np.exp(-np.array(scores))), 4)


@lru_cache(maxsize=1)
def _traces() -> tuple[Trace, ...]:
    """The sample traces with several sources, and hand-made ones that credit sources."""
    found = [t for t in read_traces([SAMPLES], "auto", Config()) if isinstance(t, Trace)]
    short = sorted(found, key=lambda t: sum(len(s.text) for s in t.sources))[:18]
    chart = "Patient: Ilse Varga (bench-7)\nMedications\n- metformin 500 mg twice daily"
    return (
        *short,
        a_trace(
            "The patient Marisol Okafor (bench-14) takes metformin 500 mg twice daily. Ms Varga "
            "(bench-7) takes metformin 500 mg twice daily.",
            a_source(chart, source_id="chart", tool_name="get_patient_chart"),
            trace_id="wrong-chart",
        ),
    )


@lru_cache(maxsize=32)
def _verified(calibrator: LinearCalibrator) -> str:
    models = replace(lexical_models(), calibrator=calibrator)
    return json.dumps(
        [_plain(verdict_document(v)) for v in verify_all(_traces(), models, Config())]
    )


def _plain(document: JsonObject) -> JsonObject:
    return {name: value for name, value in document.items() if name != "latency_seconds"}


FIRST = LinearCalibrator(weights=(4.0, 2.0, 1.0, 0.5, -3.0), threshold=0.7)
WEIGHT = st.floats(min_value=-6, max_value=6).map(lambda value: round(value, 2) + 0.0)
CALIBRATORS = st.builds(
    LinearCalibrator,
    weights=st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT, WEIGHT),
    threshold=st.integers(1, 99).map(lambda percent: percent / 100),
)


@given(calibrator=CALIBRATORS)
@settings(max_examples=12, deadline=None)
def test_rescoring_gives_the_bytes_that_the_pipeline_gives(calibrator: LinearCalibrator) -> None:
    stored = json.loads(_verified(FIRST))

    found = rescore(stored, calibrator, lexical_models().families, Config())

    assert json.dumps([_plain(d) for d in found]) == _verified(calibrator)


def test_the_same_calibrator_changes_no_byte() -> None:
    stored = _verified(FIRST)

    found = rescore(json.loads(stored), FIRST, lexical_models().families, Config())

    assert json.dumps(found) == stored


def test_the_samples_have_what_the_property_is_about() -> None:
    """Claims with other supporting sources, conflations, missing values and unjudged stretches."""
    documents = json.loads(_verified(FIRST))
    claims = [claim for document in documents for claim in document["claims"]]
    judged = [claim for claim in claims if claim["calibrator_input"] is not None]

    assert any(claim["rescoring"]["others"] for claim in judged)
    assert any(claim["attribution"]["status"] == "conflation" for claim in judged)
    assert any(claim["rescoring"]["identity_mismatches"] for claim in judged)
    assert len(judged) < len(claims)


def test_a_higher_threshold_never_allows_more() -> None:
    stored = json.loads(_verified(FIRST))
    families = lexical_models().families
    allowed = []
    for threshold in (0.3, 0.6, 0.9):
        found = rescore(stored, replace(FIRST, threshold=threshold), families, Config())
        allowed.append(
            {
                claim["claim_id"]
                for document in found
                for claim in document["claims"]  # type: ignore[attr-defined]
                if claim["decision"] == Decision.ALLOW and claim["attribution"]["status"] != "match"
            }
        )

    assert allowed[0] >= allowed[1] >= allowed[2]
    assert allowed[0] > allowed[2]


def test_a_repair_made_for_other_decisions_is_taken_out() -> None:
    [document] = rescore(
        _one(), replace(FIRST, threshold=0.9999), lexical_models().families, Config()
    )
    [same] = rescore(_one(), FIRST, lexical_models().families, Config())

    assert document["decision"] == "block"
    assert document["repair"] is None
    assert same["repair"] == {"status": "not_needed"}


def _one() -> list[JsonObject]:
    trace = a_trace(
        "The dose was 10 mg.", a_source("The dose was 10 mg daily.", tool_name="get_patient_chart")
    )
    models = replace(lexical_models(), calibrator=FIRST)
    [verification] = verify_all([trace], models, Config())
    return [{**verdict_document(verification), "repair": {"status": "not_needed"}}]


def test_a_verdict_under_other_settings_is_not_decided_again() -> None:
    [document] = _one()

    assert why_not(document, lexical_models().families, Config()) is None
    assert why_not(document, lexical_models().families, Config(max_claims=3)) == OTHER_SETTINGS


def test_a_verdict_without_the_other_sources_features_is_not_decided_again() -> None:
    [document] = json.loads(json.dumps(_one()))
    del document["claims"][0]["rescoring"]

    assert why_not(document, lexical_models().families, Config()) == WITHOUT_FEATURES


def test_a_damaged_verdict_is_named_without_quoting_it() -> None:
    [document] = json.loads(json.dumps(_one()))
    document["claims"][0]["nli"]["relation"] = "secret words of a patient"

    with pytest.raises(BadRecord, match="cannot be decided again") as caught:
        rescore([document], FIRST, lexical_models().families, Config())

    assert "secret" not in str(caught.value)
