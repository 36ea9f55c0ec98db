"""Below a disagreement: the judgement form, why the two differed, and whether the guideline did."""

from __future__ import annotations

import streamlit as st

from pages.screens.adjudicate.decided import open_decided
from pages.screens.adjudicate.disagreement import (
    Disagreement,
    answer,
    keep_note,
    save,
    set_cause,
    toggle_fix,
)
from pages.widgets.judgement_form import (
    bar,
    choice,
    key_button,
    question,
    row,
    show_note,
    show_questions,
    toggle_note,
)
from pages.widgets.review_layout import CAUSES
from pages.widgets.shortcuts import FIX_GUIDELINE, NOTES, SAVE
from storage.reviews import ReviewSession

LINES = 5


def show_bar(held: Disagreement, session: ReviewSession) -> None:
    """Show the questions for the disagreement, what is chosen, and what happens next."""
    with bar():
        show_questions(held, answer, session)
        _show_cause(held)
        if held.form.noting:
            _show_notes(held, session)
        _show_next(held, session)


def _show_cause(held: Disagreement) -> None:
    with row("row-cause"):
        question("Why did they differ?", "cause")
        for cause, words in CAUSES.items():
            choice(
                held, words, f"cause_{cause.value}", held.form.keys.of(cause.value), set_cause,
                held.form.nonce, cause, chosen=held.cause is cause,
            )  # fmt: skip


def _show_next(held: Disagreement, session: ReviewSession) -> None:
    with row("row-next"):
        st.text(held.form.message or _what_next(held), width="stretch")
        choice(
            held, "Guideline needs a fix", FIX_GUIDELINE, held.form.keys.of(FIX_GUIDELINE),
            toggle_fix, chosen=held.fix_guideline,
        )  # fmt: skip
        st.button(
            "Decided before", key="to-decided", help="A list of them, each to be taken up again",
            on_click=open_decided,
        )  # fmt: skip
        key_button(held, "Reason", "notes", held.form.keys.of(NOTES), toggle_note)
        key_button(
            held, "Save my decision", "save", held.form.keys.of(SAVE), save, held.form.nonce,
            session, kind="primary", disabled=held.missing > 0,
        )  # fmt: skip


def _what_next(held: Disagreement) -> str:
    if held.missing:
        return f"{held.missing} of 4 answers to go. Both annotations stay as they are."
    return "Save it, and the next disagreement comes."


def _show_notes(held: Disagreement, session: ReviewSession) -> None:
    lines = [line.strip() for line in held.form.guideline.text.splitlines()]
    rules = [line for line in lines if line[:1].isdigit()]
    with row("row-notes"):
        question("Reason, if you like", "notes")
        show_note(held, "Why? Escape leaves the field.", keep_note, session)
        held.rule = st.selectbox(
            "The rule that settles it", rules, index=None, placeholder="None",
            key=f"rule-{held.item.assignment_id}", width=360,
        )  # fmt: skip
