"""One claim to read: the claim in its answer, the sources behind it, and two questions."""

from __future__ import annotations

import streamlit as st

from core.errors import NotAllowed, ProvenanceGuardError
from core.workflows.review import open_review_session
from pages.components.plain import show_notice
from pages.components.review_bar import LINES, height_taken, own, show_bar
from pages.components.review_done import show_nothing_to_review
from pages.components.review_hand import answer, show_told, take_hand
from pages.components.review_layout import guideline_data, lay_out_blind, progress_data
from pages.components.review_view import show_review
from pages.components.routing import ensure_routed
from pages.components.session import open_workspace
from pages.components.shortcuts import Page
from pages.components.who import current_person, show_person

ensure_routed(__file__)
# The trace is not named: ids and categories may tell how a trace was made.
st.set_page_config(page_title="Review · ProvenanceGuard")

person = current_person()
workspace = open_workspace()
desk = open_review_session(workspace, workspace.project(), person)


@st.fragment
def work() -> None:
    """The claim in hand with its questions; a verdict brings the next one without a new page."""
    _show_claim()
    show_told()  # last: what a drawing shows that a key press cuts short never arrives


def _show_claim() -> None:
    try:
        hand = take_hand(desk, workspace)
        if hand is None:
            show_nothing_to_review(desk, person)
            return
    except NotAllowed as error:
        show_notice("This page is for reviewers", str(error), key="not-a-reviewer")
        return
    except ProvenanceGuardError as error:
        show_notice("There is no claim to show", str(error), key="no-claim", tone="bad")
        return
    wanted = show_review(
        {
            **lay_out_blind(hand.trace, hand.claim, page=Page.REVIEW, opened=hand.opened),
            "key": hand.key,
            "title": "Review",
            "taken": height_taken(LINES, noting=hand.noting),
            "progress": progress_data(hand.item, hand.progress),
            "guideline": guideline_data(hand.guideline),
            "owner": hand.draft.source_id,
            "machine": hand.machine,
        },
        key="review-view",
    )
    if wanted.fetch is not None and wanted.fetch not in hand.opened:
        hand.opened.append(wanted.fetch)
        st.rerun(scope="fragment")
    if wanted.own is not None:
        answer(hand, hand.nonce, desk, workspace.store, own(wanted.own))
        st.rerun(scope="fragment")
    with st.bottom:
        show_bar(hand, desk, workspace.store)


show_person(person)
work()
