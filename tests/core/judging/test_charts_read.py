"""What stands in a chart is read by what the reader learned on charts, and nothing else is."""

from __future__ import annotations

from builders import a_claim, a_source, a_trace

from core.config import Config
from core.pipeline import verify_claims
from core.ports import ReadsCharts
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


def test_a_chart_is_read_as_the_reader_was_taught_on_charts() -> None:
    reader = real_models().reader
    assert isinstance(reader, ReadsCharts)
    text = "Noor Castellan no longer takes amlodipine."

    found = judged(text, CHART)

    premise = found.premise.text
    [charted], [plain] = reader.read_charts([(premise, text)]), reader.read([(premise, text)])
    assert charted is not None and plain is not None
    told = found.features.numeric
    assert told["entailment_charted"] >= charted.probabilities.entailment
    assert told["entailment_outputs"] == plain.probabilities.entailment
    assert told["entailment_charted"] != told["entailment_outputs"]
    assert told["chart_read"] == 1.0


def test_a_paper_is_read_as_everything_is() -> None:
    told = judged(
        "Hydroxycarbamide lowered the rate of acute chest syndrome by 51 %.", PAPER, "pubmed_fetch"
    ).features.numeric

    assert told["entailment_charted"] == told["entailment_outputs"] > 0.5
    assert told["chart_read"] == 0.0
