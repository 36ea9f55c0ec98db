"""A claim's focused premise is read beside the windows, where the NLI model was taught such."""

from __future__ import annotations

import json
from collections.abc import Mapping

from builders import a_claim, a_source, a_trace

from core.config import Config
from core.pipeline import verify_claims
from core.ports import taught_close
from core.records import Judged
from tests.real_models import real_models

CHART = """Patient: Noor Castellan   DOB 4/9/1961
Problems
- Sickle cell disease. Never had acute chest syndrome.
- ?Pulmonary embolism in March: CTPA negative, excluded.
Medication
- Hydroxycarbamide 1 g daily
- Amlodipine 5 mg, stopped 2 May (ankle swelling)
"""
PAPER = """Title: Hydroxycarbamide in adults with sickle cell disease
Abstract: In a randomised trial, hydroxycarbamide lowered the rate of acute chest syndrome by 51 %
(95 % CI 35 to 63; p < 0.001). PMID 90000017."""


def judged(text: str, source: str, tool: str = "get_patient_chart") -> Judged:
    trace = a_trace(text, a_source(source, tool_name=tool))
    [verification] = verify_claims([(trace, (a_claim(text),))], real_models(), Config())
    [verdict] = verification.claims
    assert isinstance(verdict.outcome, Judged)
    return verdict.outcome


def test_the_fields_that_decide_are_read_close() -> None:
    nli = real_models().nli
    assert taught_close(nli)
    text = "Noor Castellan no longer takes amlodipine."

    found = judged(text, CHART)

    told = found.features.numeric
    assert told["close_read"] == 1.0
    least = (
        "Patient: Noor Castellan   DOB 4/9/1961\n- Amlodipine 5 mg, stopped 2 May (ankle swelling)"
    )
    [close] = nli.read([(least, text)])
    assert close is not None
    assert told["entailment_close"] == close.probabilities.entailment != told["entailment_outputs"]


def test_what_the_agent_wrote_is_read_close_where_the_claim_is_about_its_own_work() -> None:
    written = json.dumps(
        {"path": "/root/report.md", "content": "# Tides\n\nHigh water is at 14:20."}
    )
    source = a_source("Saved.", tool_name="write_file", arguments=written)

    def told(text: str) -> Mapping[str, float]:
        [verification] = verify_claims(
            [(a_trace(text, source), (a_claim(text),))], real_models(), Config()
        )
        assert isinstance(outcome := verification.claims[0].outcome, Judged)
        return outcome.features.numeric

    own, world = told("The report says high water is at 14:20."), told("High water is at 14:20.")

    assert own["close_read"] == 1.0 and own["entailment_close"] > 0.5
    assert (world["close_read"], world["entailment_close"]) == (1.0, 0.0)
