"""One claim to read: the claim in its answer, the sources behind it, and two questions."""

from __future__ import annotations

import streamlit as st

from core.errors import NotAllowed, ProvenanceGuardError
from pages.screens.review.assignment import answer, collect, current_assignment
from pages.screens.review.bar import LINES, show_bar
from pages.screens.review.mine import show_mine, shows_mine
from pages.screens.review.nothing_left import show_nothing_to_review
from pages.screens.review.round_claim import current_round_claim, show_round_claim
from pages.widgets.forms import show_saved
from pages.widgets.judgement_form import show_claim
from pages.widgets.plain import show_notice
from pages.widgets.presses import carry_out_presses, show_told
from pages.widgets.rebinding import usable
from pages.widgets.review_layout import progress_data
from pages.widgets.routing import begin_page
from pages.widgets.session import open_workspace
from pages.widgets.shortcuts import Page

# The trace is not named: ids and categories may tell how a trace was made.
user = begin_page(__file__, "Review")
workspace = open_workspace()
session = workspace.reviews(user)
keys = usable(workspace.key_bindings.of(user))
lit_words = list(workspace.word_lists.of(user).all)


@st.fragment
def work() -> None:
    """The assigned claim with its questions; a verdict brings the next one without a new page."""
    carry_out_presses()
    if shows_mine():
        st.rerun()  # the list of one's own was asked for
    _show_claim()
    show_told()  # last: what a drawing shows that a key press cuts short never arrives


def _show_claim() -> None:
    try:
        if of_round := current_round_claim(workspace, user):
            show_round_claim(of_round, workspace, keys, lit_words)
            return
        held = current_assignment(session, workspace)
        if held is None:
            show_nothing_to_review(session, user, keys)
            return
    except NotAllowed as error:
        show_notice("This page is for reviewers", str(error))
        return
    except ProvenanceGuardError as error:
        show_notice("There is no claim to show", str(error), tone="bad")
        return
    held.form.keys = keys
    show_claim(
        held,
        {
            "key": f"{held.item.assignment_id}",
            "title": "Review",
            "progress": progress_data(held.item, held.progress),
            "machine": held.machine,
            "words": lit_words,
        },
        page=Page.REVIEW,
        lines=LINES,
        answer=answer,
        collect=collect,
        rest=(session, workspace.store),
    )
    with st.bottom:
        show_bar(held, session, workspace.store)


show_saved()
if shows_mine():
    show_mine(session, workspace)
else:
    work()
