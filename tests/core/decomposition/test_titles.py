"""Headings that only name what stands under them, and headings that claim something."""

from __future__ import annotations

import pytest

from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.titles import only_names
from core.records import ClaimType, Trace


@pytest.mark.parametrize(
    "title",
    [
        "Technical Issues Encountered",
        "What We Found",
        "Key Features of the Ferry",
        "Early Departures (6:00-9:00 AM)",
        "Estimated Weekly Cost",
        "Day 4 - July 26, 2025 - Return Journey",
    ],
)
def test_a_title_names_what_stands_under_it(title: str) -> None:
    answer = f"## {title}\n\nThe ferry makes 12 trips.\n"
    trace = Trace(trace_id="t", question="", answer=answer, sources=())

    claims = decompose(trace, Config())

    assert only_names(title)
    assert [c.text for c in claims if c.claim_type is ClaimType.FACTUAL][-1].endswith("12 trips.")
    assert not any(c.claim_type is ClaimType.FACTUAL and c.span.start < len(title) for c in claims)


@pytest.mark.parametrize(
    "title",
    [
        "Share prices fell sharply after the merger",
        "Metformin Cures Kidney Failure",
        "The Bridge Has Collapsed",
        "Lipids: LDL 190 mg/dL",
        "Final Stop: Ode (~1,798km)",
        "Arvi (unit ID 7)",
        "Total Cost: $400",
    ],
)
def test_a_heading_with_a_verb_or_a_value_of_its_own_is_a_claim(title: str) -> None:
    assert not only_names(title)


def test_a_title_with_nothing_under_it_is_checked() -> None:
    trace = Trace(trace_id="t", question="", answer="# Closed Since 3 May 2019\n", sources=())

    (claim,) = decompose(trace, Config())

    assert claim.claim_type is ClaimType.FACTUAL
