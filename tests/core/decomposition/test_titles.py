"""Headings that only name what stands under them, and headings that claim something."""

from __future__ import annotations

from tables import cases

from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.statements import only_names
from core.records import ClaimType, Trace


@cases
def test_a_title_names_what_stands_under_it(title: str) -> None:
    answer = f"## {title}\n\nThe ferry makes 12 trips.\n"
    trace = Trace(trace_id="t", question="", answer=answer, sources=())

    claims = decompose(trace, Config())

    assert only_names(title)
    assert [c.text for c in claims if c.claim_type is ClaimType.FACTUAL][-1].endswith("12 trips.")
    assert not any(c.claim_type is ClaimType.FACTUAL and c.span.start < len(title) for c in claims)


@cases
def test_a_heading_with_a_verb_or_a_value_of_its_own_is_a_claim(title: str) -> None:
    assert not only_names(title)


def test_a_title_with_nothing_under_it_is_checked() -> None:
    trace = Trace(trace_id="t", question="", answer="# Closed Since 3 May 2019\n", sources=())

    (claim,) = decompose(trace, Config())

    assert claim.claim_type is ClaimType.FACTUAL
