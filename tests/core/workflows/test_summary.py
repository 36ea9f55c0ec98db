"""Counting a verdict document."""

from __future__ import annotations

import copy

import pytest
from builders import a_source, a_trace
from verdicts import Said, a_verification

from core.errors import BadRecord
from core.records import ClaimType, Decision, VerdictLabel
from core.stages.report import verdict_document
from core.workflows.summary import summarise


def a_document() -> dict[str, object]:
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
    return verdict_document(a_verification(trace, families, said))


def test_every_claim_is_counted_once_where_it_belongs() -> None:
    summary = summarise(a_document())

    assert summary.decision is Decision.BLOCK
    assert summary.by_verdict[VerdictLabel.SUPPORTED] == 2
    assert summary.by_verdict[VerdictLabel.CONTRADICTED] == 1
    assert sum(summary.by_verdict.values()) + summary.set_aside == 4
    assert (summary.blocked, summary.conflations) == (2, 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("decision",), "maybe", "decision: expected one of allow, block, unavailable"),
        (("claims",), None, "claims: expected a list"),
        (("claims", 2, "verdict"), None, r"claims\[2\]\.verdict: expected text, found None"),
        (("claims", 0, "attribution"), None, r"claims\[0\]\.attribution\.status: expected text"),
        (("versions", "calibrator"), 3, r"versions\.calibrator: expected text, found 3"),
    ],
)
def test_a_document_that_is_no_verdict_says_where(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    document = copy.deepcopy(a_document())
    holder: object = document
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]
    holder[path[-1]] = value  # type: ignore[index]

    with pytest.raises(BadRecord, match=message):
        summarise(document)
