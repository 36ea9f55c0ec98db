"""The whole verifier with real weights: the paper's examples, and what must hold for every trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_source, a_trace
from real_models import real_models

from core.capture.reading import read_traces
from core.codec import verdict_document
from core.config import Config
from core.pipeline import Models, verify, verify_all
from core.ports import NliModel
from core.records import (
    AttributionStatus,
    Decision,
    Judged,
    NliScore,
    Probabilities,
    SourceStatus,
    Trace,
    Unjudged,
    Verification,
)

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS.parent / "sample_data" / "traces.jsonl"


@pytest.fixture(scope="module")
def models() -> Models:
    return real_models()


@pytest.fixture(scope="module")
def samples() -> list[Trace]:
    found = [
        trace for trace in read_traces([SAMPLES], "auto", Config()) if isinstance(trace, Trace)
    ]
    # Short ones of several shapes keep this under half a minute; the whole corpus is `make check-all`.
    return sorted(found, key=lambda t: sum(len(s.text) for s in t.sources))[:6]


@pytest.fixture(scope="module")
def verified(models: Models, samples: list[Trace]) -> list[Verification]:
    return list(verify_all(samples, models, Config()))


def _without_latency(verification: Verification) -> str:
    document = verdict_document(verification)
    document.pop("latency_seconds")
    return json.dumps(document, sort_keys=True)


def _appendix_c(credit: str) -> Trace:
    record = json.loads((TESTS / "golden" / "paper" / "appendix_c.json").read_text("utf-8"))
    sources = [
        a_source(o["text"], source_id=o["source_id"], tool_name=o["tool_name"])
        for o in record["full_tool_outputs"]
    ]
    answer = record["final_reply_to_user"].replace("According to PubMed evidence", credit)
    return a_trace(answer, *sources, trace_id="appendix-c", category=record["category"])


class Contrary:
    """The real reader, that denies whatever it reads."""

    def __init__(self, nli: NliModel) -> None:
        self.nli = nli
        self.name, self.precision, self.max_tokens = "contrary", nli.precision, nli.max_tokens

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        denied = Probabilities(entailment=0.05, neutral=0.05, contradiction=0.9)
        return [each and replace(each, probabilities=denied) for each in self.nli.read(pairs)]


def test_semantic_drift_stands_in_the_verdict_and_moves_nothing(models: Models) -> None:
    told = "Oral vaccination protected the animals of the treated group from the viral challenge."
    said = "Oral vaccination of the treated group left the animals open to the viral challenge."
    trace = a_trace(said, a_source(told, source_id="paper", tool_name="search_papers"))

    [claim] = verify(trace, replace(models, nli=Contrary(models.nli)), Config()).claims

    assert isinstance(claim.outcome, Judged)
    assert "semantic drift" in {check.check for check in claim.outcome.checks}
    assert claim.outcome.features.numeric["distortions_n"] == 0
    assert not any("drift" in reason.lower() for reason in claim.reasons)


def test_appendix_cs_claim_is_a_conflation_and_its_chart_twin_is_not(models: Models) -> None:
    [wrong] = verify(_appendix_c("According to PubMed evidence"), models, Config()).claims
    [right] = verify(_appendix_c("According to the patient's chart"), models, Config()).claims

    assert isinstance(wrong.outcome, Judged) and isinstance(right.outcome, Judged)
    assert wrong.outcome.route.source_id == "tool_output::load_patient_history"
    assert wrong.outcome.attribution.status is AttributionStatus.CONFLATION
    assert wrong.decision is Decision.BLOCK
    assert right.outcome.attribution.status is AttributionStatus.MATCH


def test_batches_and_order_do_not_show_in_any_byte(
    models: Models, samples: list[Trace], verified: list[Verification]
) -> None:
    forwards = {v.trace.trace_id: _without_latency(v) for v in verified}
    backwards = {
        v.trace.trace_id: _without_latency(v) for v in verify_all(samples[::-1], models, Config())
    }
    alone = _without_latency(verify(samples[2], models, Config()))

    assert forwards == backwards
    assert forwards[samples[2].trace_id] == alone


def test_what_is_said_and_what_it_rests_on_are_exact(verified: list[Verification]) -> None:
    judged = 0
    for verification in verified:
        trace = verification.trace
        for verdict in verification.claims:
            assert verdict.claim.said == verdict.claim.span.cut(trace.answer or "")
            if isinstance(verdict.outcome, Judged):
                judged += 1
                premise = verdict.outcome.premise
                text = trace.source(premise.source_id).text
                cut = [span.cut(text) for span in premise.spans]
                assert premise.text == "\n".join([premise.call] * bool(premise.call) + cut)
                assert {r.source_id for r in verdict.outcome.route.ranking} == {
                    s.source_id
                    for s in trace.sources
                    # Failed and empty calls too: they are evidence of their failure.
                    if s.status is not SourceStatus.NOT_CAPTURED
                }

    assert judged > 10


def test_a_failed_tools_output_is_never_evidence(models: Models) -> None:
    failed = a_source("Felipe Costa has asthma.", status=SourceStatus.ERROR)

    verification = verify(a_trace("Felipe Costa has asthma.", failed), models, Config())

    [verdict] = verification.claims
    assert isinstance(verdict.outcome, Unjudged)
    assert verification.answer.decision is Decision.BLOCK


def test_a_claim_too_long_to_be_read_whole_blocks_with_the_reason(models: Models) -> None:
    words = " ".join(f"finding{n} improved," for n in range(900))
    answer = f"Felipe Costa reports that {words} and asthma."

    verification = verify(a_trace(answer, a_source("name: Felipe Costa")), models, Config())

    assert verification.answer.decision is Decision.BLOCK
    assert any("not judged as one" in reason for v in verification.claims for reason in v.reasons)


def test_claims_beyond_the_limit_are_unjudged_and_say_so(models: Models) -> None:
    answer = "\n".join(f"- Sodium was {130 + n} mmol/L." for n in range(5))
    config = replace(Config(), max_claims=2)

    verification = verify(a_trace(answer, a_source("Sodium: 131 mmol/L")), models, config)

    unjudged = [v for v in verification.claims if isinstance(v.outcome, Unjudged)]
    assert len(unjudged) == 3
    assert verification.answer.decision is Decision.BLOCK


def test_another_patients_chart_never_supports_a_claim(models: Models) -> None:
    chart = "name: Ana Ruiz\nid: SYN-1\nmedication: metformin 500 mg twice daily; status: active"
    trace = a_trace(
        "Patient Omar Haddad (SYN-2) takes metformin 500 mg twice daily.", a_source(chart)
    )

    verification = verify(trace, models, Config())

    assert verification.answer.decision is Decision.BLOCK
    assert "SYN-2" in verification.answer.reasons[0] or "Haddad" in verification.answer.reasons[0]


@pytest.mark.stress
def test_ten_thousand_outputs_are_ranked_without_reading_them_all(models: Models) -> None:
    noise = [
        a_source(f"record {n}: nothing of note", source_id=f"s{n}", tool_name="get_record")
        for n in range(10_000)
    ]
    found = a_source("name: Ana Ruiz\ndrug: metformin 500 mg", source_id="right")
    trace = a_trace("Ana Ruiz takes metformin 500 mg.", *noise, found)

    [verdict] = verify(trace, models, Config()).claims

    assert isinstance(verdict.outcome, Judged)
    assert verdict.outcome.route.source_id == "right"
