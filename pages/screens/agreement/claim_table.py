"""A table of claims of which one can be opened: its annotations, its reasons, and the way to its
verdict."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.review.records import Judgement, ReviewedClaim
from pages.widgets.figures import Cell, by_column, choose_row
from pages.widgets.navigation import link_verdict
from pages.widgets.plain import show_cards


def show_claims(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    claims: Sequence[ReviewedClaim],
    *,
    key: str,
    nothing: str,
) -> None:
    """Show one row a claim; the one that is chosen is opened below with everything said about it."""
    if not claims:
        st.text(nothing)
        return
    chosen = choose_row(
        by_column(header, rows),
        key=key,
        alt=f"{len(claims)} claims; choose a row to see what was said about it",
        hint="Choose a row to read what was said about a claim, and why.",
        height="auto" if len(claims) <= 8 else 320,
    )
    if chosen is None:
        return
    claim = claims[chosen]
    show_cards(_cards(claim), key=f"{key}-said")
    link_verdict("Open its verdict", claim.trace_id, claim.claim_id)


def _answers(judgement: Judgement) -> list[list[str]]:
    said = [["Is it supported", judgement.support.value.replace("_", " ")]]
    if judgement.label is None:
        return [*said, ["It should say", judgement.correction or "not said"]]
    return [*said, ["Who owns it", " and ".join(judgement.source_ids) or "no source"]]


def _cards(claim: ReviewedClaim) -> list[dict[str, object]]:
    cards: list[dict[str, object]] = [
        {
            "title": annotation.reviewer,
            "text": annotation.rationale or "No reason given.",
            "facts": [
                *_answers(annotation.judgement),
                ["Confidence", str(annotation.confidence) if annotation.confidence else "not said"],
                ["When", f"{annotation.at:%Y-%m-%d %H:%M} UTC"],
            ],
        }
        for annotation in claim.annotations
    ]
    if claim.adjudication is not None:
        decided = claim.adjudication
        cards.append(
            {
                "title": f"{decided.reviewer} decides",
                "text": decided.rationale or "No reason given.",
                "facts": [
                    *_answers(decided.judgement),
                    ["Why they differed", decided.cause.value.replace("_", " ")],
                ],
            }
        )
    return cards
