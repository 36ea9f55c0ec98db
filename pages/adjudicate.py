"""A claim that two people read differently: both readings, the sources, and the third decision."""

from __future__ import annotations

import streamlit as st

from core.errors import NotAllowed, ProvenanceGuardError
from core.workflows.review import open_review_session
from pages.components.plain import show_notice
from pages.components.review_bar import height_taken, own
from pages.components.review_hand import show_told
from pages.components.review_layout import guideline_data, lay_out_blind
from pages.components.review_view import show_review
from pages.components.routing import ensure_routed
from pages.components.session import open_workspace
from pages.components.shortcuts import Page
from pages.components.tie_bar import LINES, show_tie_bar
from pages.components.tie_hand import answer_tie, lay_out_mine, lay_out_readings, take_tie
from pages.components.who import current_person, show_person

ensure_routed(__file__)
st.set_page_config(page_title="Adjudicate · ProvenanceGuard")

person = current_person()
workspace = open_workspace()
desk = open_review_session(workspace, workspace.project(), person)


@st.fragment
def work() -> None:
    """The tie in hand; a decision brings the next one."""
    _show_tie()
    show_told()  # last: what a drawing shows that a key press cuts short never arrives


def _show_tie() -> None:
    try:
        hand = take_tie(desk, workspace)
    except NotAllowed as error:
        show_notice("This page is for adjudicators", str(error), key="not-an-adjudicator")
        return
    except ProvenanceGuardError as error:
        show_notice("There is no tie to show", str(error), key="no-tie", tone="bad")
        return
    if hand is None:
        st.title("Adjudicate", anchor=False)
        show_notice(
            "No tie waits for you",
            "When two people read a claim differently, it comes to a third who has not read it. "
            "With one reading a claim there are no ties: a lead sets that on the page People.",
            key="no-ties",
            tone="good",
        )
        return
    waiting = hand.item.waiting
    wanted = show_review(
        {
            **lay_out_blind(hand.trace, hand.claim, page=Page.ADJUDICATE, opened=hand.opened),
            "key": f"tie-{hand.item.assignment_id}",
            "title": "Adjudicate",
            "taken": height_taken(LINES, noting=hand.noting),
            "progress": {
                "words": f"{waiting:,} tie{'' if waiting == 1 else 's'} to decide",
                "share": 0.0,
            },
            "guideline": guideline_data(hand.guideline),
            "owner": hand.draft.source_id,
            "readings": lay_out_readings(hand),
            "mine": lay_out_mine(hand),
        },
        key="tie-view",
    )
    if wanted.fetch is not None and wanted.fetch not in hand.opened:
        hand.opened.append(wanted.fetch)
        st.rerun(scope="fragment")
    if wanted.own is not None:
        answer_tie(hand, hand.nonce, desk, own(wanted.own))
        st.rerun(scope="fragment")
    with st.bottom:
        show_tie_bar(hand, desk)


show_person(person)
work()
