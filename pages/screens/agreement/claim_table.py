"""A table of claims of which one can be opened: its annotations, its reasons, and the way to its
verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from core.review.agreement_records import Question
from core.review.records import Judgement, ReviewedClaim
from core.review.rounds import RoundLabel
from pages.screens.agreement.view import Names
from pages.widgets.figures import Cell, by_column, choose_row
from pages.widgets.navigation import link_verdict
from pages.widgets.plain import show_cards
from pages.widgets.review_layout import owner_words
from pages.widgets.routing import or_stop
from pages.widgets.session import open_workspace
from pages.widgets.source_view import names_in_trace


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
    with or_stop():
        names = names_in_trace(open_workspace().store, claim.trace_id, claim.content_hash)
    show_cards(_cards(claim, names), key=f"{key}-said")
    link_verdict("Open its verdict", claim.trace_id, claim.claim_id)


def names_by_claim(
    claims: Iterable[ReviewedClaim | RoundLabel], question: Question
) -> tuple[dict[int, Names], Names]:
    """What sources are called, by the key of their claim; and the tool of each, for claims together.

    An id that is another tool's in another trace has both. Nothing for questions that no
    source answers. Raises NotFound, StoreError.
    """
    if question is not Question.SOURCE:
        return {}, {}
    store = open_workspace().store
    traces = {each.claim_key: (each.trace_id, each.content_hash) for each in claims}
    called = {trace: names_in_trace(store, *trace) for trace in dict.fromkeys(traces.values())}
    tools: dict[str, set[str]] = {}
    for names in called.values():
        for source_id, name in names.items():
            tools.setdefault(source_id, set()).add(name.partition(" #")[0])
    return (
        {key: called[trace] for key, trace in traces.items()},
        {source_id: " or ".join(sorted(of)) for source_id, of in tools.items()},
    )


def _answers(judgement: Judgement, names: Mapping[str, str]) -> list[list[str]]:
    said = [["Is it supported", judgement.support.value.replace("_", " ")]]
    if judgement.label is None:
        return [*said, ["It should say", judgement.correction or "not said"]]
    owners = (owner_words(each, names) for each in judgement.source_ids or (None,))
    return [*said, ["Which source says it", " and ".join(owners)]]


def _cards(claim: ReviewedClaim, names: Mapping[str, str]) -> list[dict[str, object]]:
    cards: list[dict[str, object]] = [
        {
            "title": annotation.reviewer,
            "text": annotation.rationale or "No reason given.",
            "facts": [
                *_answers(annotation.judgement, names),
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
                    *_answers(decided.judgement, names),
                    ["Why they differed", decided.cause.value.replace("_", " ")],
                ],
            }
        )
    return cards
