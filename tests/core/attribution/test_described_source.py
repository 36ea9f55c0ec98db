"""A credit means the source that its words describe, and none where they describe several."""

from __future__ import annotations

import pytest
from tables import cases

from core.attribution.described_source import DescribedSources
from core.attribution.families import load_families
from core.records import Source

SOURCES = (
    Source(
        source_id="doc",
        tool_name="get_document",
        arguments='{"type": "discharge_summary"}',
        text="DISCHARGE LETTER\nPatient: Bram Visser\nHe goes home on apixaban 5 mg.",
    ),
    Source(
        source_id="fills",
        tool_name="pharmacy_fill_history",
        arguments='{"from": "2025-06-01"}',
        text="fill_date,drug,qty\n2025-06-12,apixaban,60",
    ),
    Source(
        source_id="micro",
        tool_name="micro_results",
        arguments='{"ward": "7"}',
        text="Blood culture 2025-06-03: no growth",
    ),
    Source(
        source_id="auth",
        tool_name="read_file",
        arguments='{"path": "services/auth/README.md"}',
        text="# auth\nIssues tokens.",
    ),
    Source(
        source_id="ledger",
        tool_name="read_file",
        arguments='{"path": "services/ledger/README.md"}',
        text="# ledger\nKeeps postings.",
    ),
)
FAMILIES = load_families()


def described(sources: tuple[Source, ...] = SOURCES) -> DescribedSources:
    return DescribedSources(sources, FAMILIES.families_of(sources), FAMILIES)


@cases
def test_a_credit_means_the_one_source_that_it_describes(credit: str, meant: str | None) -> None:
    assert described().meant(credit) == meant


@pytest.mark.parametrize("credit", ["per the discharge letter", "(microbiology report)"])
def test_the_order_of_the_sources_changes_nothing(credit: str) -> None:
    assert described(SOURCES[::-1]).meant(credit) == described().meant(credit)


def test_where_there_is_one_source_nothing_is_told_apart() -> None:
    assert described(SOURCES[:1]).meant("per the discharge letter") is None


def test_an_output_that_is_no_evidence_is_not_meant() -> None:
    empty = Source(source_id="x", tool_name="billing_export", text="")

    assert described((*SOURCES, empty)).meant("According to billing") is None


def test_a_label_that_is_an_identifier_names_a_thing_and_credits_no_source() -> None:
    ticket = Source(
        source_id="t", tool_name="get_ticket", arguments='{"key": "DSK-1203"}', text="?"
    )

    assert described((*SOURCES, ticket)).called("DSK-1203, late emails") is None
    assert described((*SOURCES, ticket)).called("The ticket DSK-1203") == "t"
