"""A claim that two people read differently: both annotations, the sources, and the third decision."""

from __future__ import annotations

import streamlit as st

from core.errors import NotAllowed, ProvenanceGuardError
from core.review.records import Role
from pages.screens.adjudicate.bar import LINES, show_bar
from pages.screens.adjudicate.decided import open_decided, show_decided, shows_decided
from pages.screens.adjudicate.disagreement import (
    answer,
    current_disagreement,
    lay_out_annotations,
    lay_out_mine,
    named_by,
    passages_of,
)
from pages.widgets.counting import counted
from pages.widgets.judgement_form import show_claim
from pages.widgets.navigation import link_review
from pages.widgets.plain import show_notice
from pages.widgets.presses import carry_out_presses, show_told
from pages.widgets.rebinding import usable
from pages.widgets.routing import begin_page
from pages.widgets.session import open_workspace
from pages.widgets.shortcuts import Page

user = begin_page(__file__, "Adjudicate")
workspace = open_workspace()
session = workspace.reviews(user)
keys = usable(workspace.key_bindings.of(user))
lit_words = list(workspace.word_lists.of(user).all)


@st.fragment
def work() -> None:
    """The disagreement on screen; a decision brings the next one."""
    carry_out_presses()
    if shows_decided():
        st.rerun()  # the other half of this page was asked for
    _show_disagreement()
    show_told()  # last: what a drawing shows that a key press cuts short never arrives


def _show_disagreement() -> None:
    try:
        held = current_disagreement(session, workspace)
    except NotAllowed as error:
        show_notice("This page is for adjudicators", str(error))
        _offer_decided()
        return
    except ProvenanceGuardError as error:
        show_notice("There is no disagreement to show", str(error), tone="bad")
        return
    if held is None:
        st.title("Adjudicate", anchor=False)
        show_notice(
            "No disagreement waits for you",
            "When two people read a claim differently, it comes to a third who has not read it. "
            "Where one person reads each claim there are no disagreements: a lead sets that on the "
            "page Settings.",
            tone="good",
        )
        with st.container(horizontal=True):
            if Role.LEAD in user.roles:
                st.page_link(
                    "pages/settings.py", label="How many read a claim", icon=":material/settings:"
                )
            link_review(user)
            _offer_decided()
        return
    waiting = held.item.waiting
    held.form.keys = keys
    show_claim(
        held,
        {
            "key": f"disagreement-{held.item.assignment_id}",
            "title": "Adjudicate",
            "progress": {"words": f"{counted(waiting, 'disagreement')} to decide"},
            "readings": lay_out_annotations(held),
            "mine": lay_out_mine(held),
            "named": named_by(held),
            "words": lit_words,
        },
        page=Page.ADJUDICATE,
        lines=LINES,
        answer=answer,
        passages=passages_of(held),
        rest=(session,),
    )
    with st.bottom:
        show_bar(held, session)


def _offer_decided() -> None:
    if user.roles & {Role.LEAD, Role.ADJUDICATOR} and Role.AUDITOR not in user.roles:
        st.button(
            "Decided before", icon=":material/history:", key="to-decided", on_click=open_decided
        )


if shows_decided():
    show_decided(workspace, user)
else:
    work()
