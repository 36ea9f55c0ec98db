"""Rescoring gives what the pipeline would have given, without reading anything again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from builders import a_source, a_trace
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical import lexical_models
from numpy.typing import NDArray

from core.capture.reading import read_traces
from core.codec import verdict_document, verification_from_document
from core.config import Config
from core.judge.replay import Replay, reply_line
from core.judge.request import new_requests
from core.pipeline import verify_all
from core.records import AttributionStatus, Decision, Features, Judged, Trace, Verification
from core.records.judge import JudgeFor, JudgeText, Proved, Unproved
from core.workflows.repair import outcome_of, repair_all
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
    short = sorted(found, key=lambda t: sum(len(s.text) for s in t.sources))[:8]
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
def _verified(calibrator: LinearCalibrator) -> tuple[Verification, ...]:
    """What the pipeline gives, as it is kept: through JSON and back."""
    models = replace(lexical_models(), calibrator=calibrator)
    return tuple(
        verification_from_document(json.loads(json.dumps(verdict_document(verification))))
        for verification in verify_all(_traces(), models, Config())
    )


def _bytes(verified: Sequence[Verification]) -> str:
    documents = [verdict_document(one) for one in verified]
    return json.dumps([{**document, "latency_seconds": None} for document in documents])


def _rescored(verified: Sequence[Verification], calibrator: LinearCalibrator) -> list[Verification]:
    families = lexical_models().families
    return [rescore(one, calibrator, families, Config()) for one in verified]


FIRST = LinearCalibrator(weights=(4.0, 2.0, 1.0, 0.5, -3.0), threshold=0.7)
WEIGHT = st.floats(min_value=-6, max_value=6).map(lambda value: round(value, 2) + 0.0)
CALIBRATORS = st.builds(
    LinearCalibrator,
    weights=st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT, WEIGHT),
    threshold=st.integers(1, 99).map(lambda percent: percent / 100),
)


@given(calibrator=CALIBRATORS)
@settings(max_examples=2)  # each decides a packet twice
def test_rescoring_gives_the_bytes_that_the_pipeline_gives(calibrator: LinearCalibrator) -> None:
    found = _rescored(_verified(FIRST), calibrator)

    assert _bytes(found) == _bytes(_verified(calibrator))


def test_the_same_calibrator_changes_nothing() -> None:
    assert tuple(_rescored(_verified(FIRST), FIRST)) == _verified(FIRST)


def test_the_samples_have_what_the_property_is_about() -> None:
    """Claims with other supporting sources, conflations, missing values and unjudged stretches."""
    claims = [verdict for one in _verified(FIRST) for verdict in one.claims]
    judged = [verdict.outcome for verdict in claims if isinstance(verdict.outcome, Judged)]

    assert any(outcome.others for outcome in judged)
    assert any(outcome.attribution.status is AttributionStatus.CONFLATION for outcome in judged)
    assert any(outcome.literals.identity_mismatches for outcome in judged)
    assert len(judged) < len(claims)


def test_a_higher_threshold_never_allows_more() -> None:
    allowed = []
    for threshold in (0.3, 0.6, 0.9):
        found = _rescored(_verified(FIRST), replace(FIRST, threshold=threshold))
        allowed.append(
            {
                verdict.claim.claim_id
                for one in found
                for verdict in one.claims
                if verdict.decision is Decision.ALLOW
                and not (
                    isinstance(verdict.outcome, Judged)
                    and verdict.outcome.attribution.status is AttributionStatus.MATCH
                )
            }
        )

    assert allowed[0] >= allowed[1] >= allowed[2]
    assert allowed[0] > allowed[2]


def test_a_repair_made_for_other_decisions_is_taken_out() -> None:
    [blocked] = _rescored([_one()], replace(FIRST, threshold=0.9999))
    [same] = _rescored([_one()], FIRST)

    assert blocked.answer.decision is Decision.BLOCK
    assert blocked.repair is None
    assert same.repair == _one().repair is not None


def test_what_a_judge_said_decides_as_it_did(tmp_path: Path) -> None:
    sure = Config(judge_proved_support=0.99995)
    text = "test: HbA1c\nvalue: 7.4\nunit: %"
    trace = a_trace(
        "The HbA1c was 7.4 %. Her ferritin was 31 ng/mL.", a_source(text, tool_name="get_labs")
    )
    models = replace(lexical_models(), calibrator=replace(FIRST, threshold=0.9999))
    [offline] = verify_all([trace], models, sure)
    asked = [one.claim for one in offline.claims if isinstance(one.outcome, Judged)]
    [request] = new_requests(trace, asked, b"a run")
    quoted = {"evidence": [{"source_id": "S1", "quote": text}], "verdict": "supported"}
    reply = json.dumps({"claims": [{"n": n, **quoted} for n in range(1, len(asked) + 1)]})
    kept = tmp_path / "replies.jsonl"
    kept.write_text(reply_line(request, JudgeText(text=reply, model="m")))

    def judged(calibrator: LinearCalibrator) -> tuple[Verification, ...]:
        with_judge = replace(
            models, calibrator=calibrator, judge=Replay(kept), judge_for=JudgeFor.ALL
        )
        return tuple(verify_all([trace], with_judge, sure))

    strict, lax = models.calibrator, replace(FIRST, threshold=0.01)
    proofs = [one.outcome.judge.proof for one in judged(strict)[0].claims]  # type: ignore[union-attr]

    assert [type(proof) for proof in proofs] == [Proved, Unproved]
    assert [one.decision.value for one in offline.claims] == ["block", "block"]
    assert [one.decision.value for one in judged(strict)[0].claims] == ["allow", "block"]
    # A threshold that asks more than the judge is worth: then the offline verdict stands.
    beyond = replace(FIRST, threshold=0.99999)
    assert [one.decision.value for one in judged(beyond)[0].claims] == ["block", "block"]
    for before, after in ((strict, lax), (lax, strict), (strict, strict), (beyond, strict)):
        (found,) = judged(before)
        assert why_not(found, lexical_models().families, sure) is None
        assert _bytes(_rescored([found], after)) == _bytes(judged(after))


def _one() -> Verification:
    trace = a_trace(
        "The dose was 10 mg.", a_source("The dose was 10 mg daily.", tool_name="get_patient_chart")
    )
    models = replace(lexical_models(), calibrator=FIRST)
    [(verification, repair)] = repair_all([trace], models, Config())
    return replace(verification, repair=outcome_of(repair))


def test_a_verdict_under_other_settings_is_not_decided_again() -> None:
    families = lexical_models().families

    assert why_not(_one(), families, Config()) is None
    assert why_not(_one(), families, Config(max_claims=3)) == OTHER_SETTINGS


def test_a_verdict_without_the_other_sources_features_is_not_decided_again() -> None:
    document = json.loads(json.dumps(verdict_document(_one())))
    del document["claims"][0]["rescoring"]
    older = verification_from_document(document)

    assert why_not(older, lexical_models().families, Config()) == WITHOUT_FEATURES
    assert verdict_document(older) == document
