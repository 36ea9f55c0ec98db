"""The words to be lit: one's own, and those that a lead chose for everybody."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.review.records import Person, Role
from core.review.word_lists import MOST_WORDS, read_words
from pages.widgets.forms import save
from pages.widgets.plain import show_card
from storage.workspace import Workspace

WORDS, WORDS_LINK = "Highlighted words", "words"
_HOW = (
    "One word or phrase a line. Whole words are highlighted in any case, in the claim and the sources, on "
    "Review, Adjudicate and Verdict. They are no evidence, and change no verdict."
)


def show_words(workspace: Workspace, me: Person) -> None:
    """Show both lists, each to be changed by whoever may."""
    lists, held = workspace.word_lists, workspace.word_lists.of(me)
    st.text(_HOW)
    left, right = st.columns(2, gap="large")
    with left:
        _show_list(
            "My words",
            "own-words",
            held.mine,
            lambda words: lists.keep_own(words, by=me),
            fixed=Role.AUDITOR in me.roles,
        )
    with right:
        if Role.LEAD in me.roles:
            _show_list(
                "Everybody's words",
                "team-words",
                held.team,
                lambda words: lists.keep_for_project(words, by=me),
            )
        else:
            show_card(
                key="team-words",
                title="Everybody's words",
                aside="chosen by a lead",
                text="\n".join(held.team) or "None yet.",
            )


def _show_list(
    title: str,
    key: str,
    words: tuple[str, ...],
    keep: Callable[[tuple[str, ...]], None],
    *,
    fixed: bool = False,
) -> None:
    with st.form(key, clear_on_submit=False):
        text = st.text_area(
            f"{title} (up to {MOST_WORDS})",
            "\n".join(words),
            height=260,
            key=f"{key}-text",
            disabled=fixed,
        )
        if st.form_submit_button("Highlight these words", key=f"{key}-save", disabled=fixed):
            save(lambda: keep(read_words(text)), f"{title} were saved.")
