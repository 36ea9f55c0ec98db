"""What a reviewer sees when no claim waits: why, and what can be done instead."""

from __future__ import annotations

import streamlit as st

from core.review.records import Person, Role
from pages.screens.review.assignment import undo
from pages.screens.review.mine import offer_mine
from pages.widgets.plain import show_notice
from pages.widgets.shortcuts import UNDO, Keymap
from storage.reviews import ReviewSession

TRACES, ADJUDICATE, RECALIBRATE = ("pages/traces.py", "pages/adjudicate.py", "pages/recalibrate.py")


def show_nothing_to_review(session: ReviewSession, person: Person, keys: Keymap) -> None:
    """Say that nothing waits, and where to go from here."""
    progress = session.progress()
    st.title("Review", anchor=False)
    if progress.total == 0:
        show_notice(
            "No claims to review yet",
            "Claims come from verified traces: add some, verify them, and the claims that are worth "
            "a person's time come here by themselves.",
        )
        st.page_link(TRACES, label="Go to the traces", icon=":material/list_alt:")
        return
    show_notice(
        "Nothing waits for you",
        f"You have read {progress.mine_done:,} claims; the team has settled "
        f"{progress.team_done:,} of {progress.total:,}. New claims come with every verification.",
        tone="good",
    )
    with st.container(horizontal=True):
        st.button(
            "Undo my last verdict or pass",
            key="undo",
            shortcut=keys.of(UNDO),
            on_click=undo,
            args=(None, session),
        )
        offer_mine()
        if progress.ties and Role.ADJUDICATOR in person.roles:
            noun = "disagreement" if progress.ties == 1 else "disagreements"
            st.page_link(
                ADJUDICATE, label=f"Decide {progress.ties:,} {noun}", icon=":material/balance:"
            )
        if Role.LEAD in person.roles:
            st.page_link(
                RECALIBRATE, label="Recalibrate on the labels", icon=":material/model_training:"
            )
