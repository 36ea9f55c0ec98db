"""What an answer cites stands under its claim: where it leads, and what should be cited instead."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from verdicts import HOSTILE, METADATA, PATIENT, showcase, with_citations

from core.codec import verdict_document, verification_from_document
from core.records import (
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
    Decision,
    Span,
    VerdictLabel,
    Verification,
)
from pages.widgets.citation_chips import LOOKS
from pages.widgets.palette import Kind
from pages.widgets.verdict_view import lay_out

View = dict[str, Any]


def laid_out(verification: Verification) -> View:
    """The view's data as the browser gets it: stored, read again, laid out, as JSON."""
    stored = verification_from_document(json.loads(json.dumps(verdict_document(verification))))
    view = lay_out(stored, verification.trace, verified_at=datetime(2026, 3, 1, tzinfo=UTC))
    return cast(View, json.loads(json.dumps(view)))


def cited(outcome: CitationOutcome, **more: Any) -> CitationFinding:
    """A citation of the mark ``[7]``."""
    return CitationFinding(
        **{
            "text": "[7]",
            "span": Span(start=0, end=3),
            "covers": Span(start=0, end=3),
            "kind": CitationKind.NUMBER,
            "outcome": outcome,
            "reason": "it is not in the list of references",
            **more,
        }
    )


def place(verification: Verification, words: str, source_id: str) -> CitedPlace:
    """Where a source says these words."""
    at = verification.trace.source(source_id).text.index(words)
    return CitedPlace(source_id=source_id, span=Span(start=at, end=at + len(words)))


@pytest.mark.parametrize("outcome", CitationOutcome)
def test_every_outcome_has_a_mark_and_words(outcome: CitationOutcome) -> None:
    view = laid_out(with_citations(showcase(), 1, cited(outcome)))

    (chip,) = view["claims"][0]["citations"]
    assert (chip["mark"], chip["word"]) == LOOKS[outcome]
    assert chip["reason"] == "it is not in the list of references"
    assert len({mark for mark, _ in LOOKS.values()}) == len(LOOKS) == len(CitationOutcome)


def test_the_cited_place_and_the_better_one_are_exactly_their_words() -> None:
    base = showcase()
    finding = cited(
        CitationOutcome.SAYS_OTHERWISE,
        text=HOSTILE,
        resolves_to=place(base, "Invented Heart", METADATA),
        better=place(base, "HbA1c 7.4 %", PATIENT),
        instead="[1]",
    )

    view = laid_out(with_citations(base, 2, finding))

    (chip,) = view["claims"][1]["citations"]
    assert chip["sources"] == [METADATA, PATIENT]
    assert (chip["text"], chip["instead"]) == (HOSTILE, "[1]")
    shown = [
        view["texts"][one["source"]]["readable"]["parts"][0]["text"]
        .encode("utf-16-le")[2 * one["start"] : 2 * one["end"]]
        .decode("utf-16-le")
        for one in chip["places"]
    ]
    assert shown == ["Invented Heart", "HbA1c 7.4 %"]


def test_a_supported_claim_with_an_invented_citation_says_so_in_its_headline() -> None:
    base = with_citations(showcase(), 1, cited(CitationOutcome.RESOLVES_TO_NOTHING))
    claim = replace(
        base.claims[0],
        verdict=VerdictLabel.SUPPORTED,
        decision=Decision.BLOCK,
        reasons=("[7] leads to nothing: it is not in the list of references.",),
    )

    view = laid_out(replace(base, claims=(claim, *base.claims[1:])))

    assert view["claims"][0]["kind"] == Kind.CONFLATION.value
    assert view["claims"][0]["headline"] == "Supported, but [7] leads to nothing"
    assert view["claims"][0]["because"] == "it is not in the list of references"  # said once


def test_a_verdict_from_before_citations_has_no_chips() -> None:
    assert all(claim["citations"] == [] for claim in laid_out(showcase())["claims"])
