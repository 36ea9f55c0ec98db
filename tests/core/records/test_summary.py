"""Counting a verification."""

from __future__ import annotations

from builders import a_source, a_trace
from verdicts import Said, a_verification

from core.records import ClaimType, Decision, VerdictLabel, Verification, summarise


def a_verdict() -> Verification:
    trace = a_trace(
        "He takes 10 mg. The chart says it lowers deaths. He is 80. Ask your doctor.",
        a_source("Takes 10 mg daily. Aged 70."),
        a_source("It lowers deaths.", "abstract", "search_pubmed"),
    )
    said = [
        Said(
            said="He takes 10 mg.",
            verdict=VerdictLabel.SUPPORTED,
            source="chart",
            premise="Takes 10 mg daily.",
        ),
        Said(
            said="The chart says it lowers deaths.",
            verdict=VerdictLabel.SUPPORTED,
            source="abstract",
            premise="It lowers deaths.",
            credits="The chart",
            credited="patient_record",
            conflation=True,
        ),
        Said(
            said="He is 80.", verdict=VerdictLabel.CONTRADICTED, source="chart", premise="Aged 70."
        ),
        Said(
            said="Ask your doctor.", verdict=None, claim_type=ClaimType.ADVICE, reasons=("advice",)
        ),
    ]
    families = {"chart": "patient_record", "abstract": "literature"}
    return a_verification(trace, families, said)


def test_every_claim_is_counted_once_where_it_belongs() -> None:
    summary = summarise(a_verdict())

    assert summary.decision is Decision.BLOCK
    assert summary.by_verdict[VerdictLabel.SUPPORTED] == 2
    assert summary.by_verdict[VerdictLabel.CONTRADICTED] == 1
    assert sum(summary.by_verdict.values()) + summary.set_aside == 4
    assert (summary.blocked, summary.conflations) == (2, 1)
