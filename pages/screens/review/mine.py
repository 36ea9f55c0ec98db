"""One's own annotations: found again, and opened to be mended."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from pages.screens.review.assignment import undo
from pages.widgets.counting import counted
from pages.widgets.days import moments
from pages.widgets.figures import choose_row, widths
from pages.widgets.plain import show_notice
from pages.widgets.review_layout import answer_words
from pages.widgets.source_view import names_in_trace
from storage.annotations import Mine
from storage.reviews import ReviewSession
from storage.workspace import Workspace

SHOW, MINE = "show", "mine"  # ?show=mine


def offer_mine() -> None:
    """A button that leads to one's own annotations."""
    st.button(
        "My annotations",
        key="to-mine",
        help="Find what I said before, and mend it",
        on_click=st.query_params.__setitem__,
        args=(SHOW, MINE),
    )


def shows_mine() -> bool:
    """Whether the page shows one's own annotations, instead of the claim to read."""
    return st.query_params.get(SHOW) == MINE


def show_mine(session: ReviewSession, workspace: Workspace) -> None:
    """What the user said of claims, the latest first, each to be mended."""
    left, right = st.columns([4, 1.4], vertical_alignment="center")
    left.title("My annotations", anchor=False)
    right.button("Back to reading", key="to-reading", on_click=_leave, width="stretch")
    try:
        every = session.mine()
    except ProvenanceGuardError as error:
        show_notice("Your annotations cannot be shown", str(error), tone="bad")
        return
    if not every:
        show_notice("Nothing of yours yet", "What you say of claims is listed here.")
        return
    words = st.text_input(
        "Find", key="mine-search", placeholder="Words of the claim, question, note, answer or trace"
    ).casefold()
    told = [
        (
            each,
            answer_words(
                each.judgement, names_in_trace(workspace.store, each.trace_id, each.content_hash)
            ),
        )
        for each in every
    ]
    listed = [one for one in told if all(word in _text(*one) for word in words.split())]
    chosen = choose_row(
        {
            "Claim": [each.text for each, _ in listed],
            "My answer": [answer for _, answer in listed],
            "When": [each.at for each, _ in listed],
            "My note": [each.rationale for each, _ in listed],
            "Trace": [each.trace_id for each, _ in listed],
            "Question": [each.question for each, _ in listed],
        },
        column_config={
            **widths({"Claim": 330, "My answer": 310, "My note": 120, "Trace": 90}),
            **widths({"Question": 150}),
            "When": moments("When"),
        },
        alt=f"{counted(len(listed), 'annotation')} of mine, the latest first; tick one to mend it",
        key=f"mine-{words}",
    )
    st.caption(
        f"{len(listed):,} of {counted(len(every), 'annotation')}, yours alone. Tick a row to mend "
        "it. What was read in an agreement round is not among them."
    )
    if chosen is not None:
        _show_mending(listed[chosen][0], session)


def _show_mending(one: Mine, session: ReviewSession) -> None:
    if one.adjudicated:
        show_notice(
            "A third person has decided this claim",
            "What you said stays as it is. If it was wrong, tell a lead: they can reopen the decision.",
        )
    elif one.open:
        show_notice("It is in your hands already", "It waits on Review.")
    else:
        st.text(f"“{one.text}”")
        st.button(
            "Mend this one",
            type="primary",
            key="mend",
            help="It comes on screen as you answered it. Until you save, what you said counts; both "
            "stay in the trail.",
            on_click=_mend,
            args=(one, session),
        )


def _mend(one: Mine, session: ReviewSession) -> None:
    undo(None, session, one.claim_key)
    _leave()


def _leave() -> None:
    st.query_params.pop(SHOW, None)


def _text(one: Mine, answer: str) -> str:
    said = (one.text, one.question, one.trace_id, one.rationale, answer)
    return "\n".join(said).casefold()
