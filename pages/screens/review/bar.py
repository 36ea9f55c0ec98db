"""Below a claim under review: the judgement form, and what a reviewer can do besides."""

from __future__ import annotations

import weakref

import streamlit as st

from core.review.assignment import contradiction
from pages.screens.review.assignment import (
    Assignment,
    answer,
    decide_again,
    decline,
    keep,
    keep_note,
    set_declining,
    undo,
)
from pages.screens.review.mine import offer_mine
from pages.widgets.judgement_form import (
    bar,
    key_button,
    question,
    row,
    show_note,
    show_questions,
    toggle_note,
)
from pages.widgets.presses import changed
from pages.widgets.review_layout import CONFIDENCE
from pages.widgets.shortcuts import DECLINE, DECLINE_KEYS, KEEP, NOTES, UNDO
from storage.reviews import ReviewSession
from storage.store import SqlStore

LINES = 4


def show_bar(held: Assignment, session: ReviewSession, store: SqlStore) -> None:
    """Show the questions for the assigned claim, what is chosen, and what happens next."""
    with bar():
        if held.declining:
            _show_declining(held, session)
            return
        show_questions(held, answer, session, store)
        if held.form.noting:
            _show_notes(held, session)
        _show_next(held, session, store)


def _show_next(held: Assignment, session: ReviewSession, store: SqlStore) -> None:
    """What happens next, on the left; the other keys and the one primary action on the right."""
    form, decided = held.form, held.said is not None
    changed = decided and form.judgement != held.said
    with row("row-next"):
        st.text(form.message or _what_next(held), width="stretch")
        key_button(held, "Note", "notes", form.keys.of(NOTES), toggle_note)
        key_button(
            held, "Pass", "decline", form.keys.of(DECLINE), set_declining, True, disabled=decided,
            hint="Give this claim back, with a reason; somebody else will get it",
        )  # fmt: skip
        key_button(
            held, "Undo", "undo", form.keys.of(UNDO), undo, session,
            hint="Take back my last verdict or pass; both stay in the trail",
        )  # fmt: skip
        offer_mine()
        if (held.item.reconsidered or form.judgement is not None) and not decided:
            key_button(
                held, "Save my answers", "keep", form.keys.of(KEEP), decide_again, form.nonce,
                session, store, kind="primary", disabled=form.judgement is None,
            )  # fmt: skip
        elif held.decide_first:
            key_button(
                held, "Save my change, next claim" if changed else "Keep my answer, next claim",
                "keep", form.keys.of(KEEP), keep, form.nonce, session, kind="primary",
                disabled=not decided or form.judgement is None,
            )  # fmt: skip


def _what_next(held: Assignment) -> str:
    if held.said is not None and held.form.missing:
        return f"{held.form.missing} to go: then save your change."
    if held.said is not None:
        return "Saved. Above is the verifier's view: keep your answer, or change one first."
    missing, judgement = held.form.missing, held.form.judgement
    if judgement is not None and (refused := contradiction(judgement)):
        return refused
    then = "shows the verifier's view" if held.decide_first else "brings the next claim"
    if held.form.unfit:
        return f"Nothing more is asked. Save it, which {then}."
    if held.item.reconsidered:
        return _what_next_again(held, then)
    if held.early:
        left = f"{missing} to go. " if missing else ""
        return f"{left}A key came as soon as the claim did, and is marked: look, then save, which {then}."
    if not missing:
        return f"All three are answered: save them, which {then}."
    if missing == 3:
        return f"Answer all three, in any order: the last answer saves, and {then}."
    return f"{missing} to go: the last answer saves, and {then}."


def _what_next_again(held: Assignment, then: str) -> str:
    if missing := held.form.missing:
        return f"{missing} to go: then save, which {then}."
    note = " and your note" if held.form.draft.rationale else ""
    return f"Your answers{note} are back: change what you like, then save, which {then}."


def _show_notes(held: Assignment, session: ReviewSession) -> None:
    with row("row-notes"):
        question("Note, if you like", "notes")
        show_note(
            held,
            "Why? Rules of the guideline can be cited by number. Escape leaves the field.",
            keep_note,
            session,
        )
        st.segmented_control(
            "How sure?", list(CONFIDENCE), format_func=CONFIDENCE.__getitem__,
            default=held.form.draft.confidence, key=held.sure_key, on_change=changed,
            args=(weakref.ref(held), keep_note, session),
        )  # fmt: skip


def _show_declining(held: Assignment, session: ReviewSession) -> None:
    """Why it is given back; the answers are away meanwhile, so no key can decide the claim."""
    with row("row-decline"):
        question("Why give it back?", "decline")
        for words, number in DECLINE_KEYS.items():
            key_button(
                held, words, f"decline_{number}", held.form.keys.of(words), decline, session, words
            )
    with row("row-decline-own"):
        question("Or in your words", "decline-own")
        own_words = st.text_input(
            "Reason", key=f"decline-{held.item.assignment_id}", max_chars=500,
            label_visibility="collapsed", placeholder="Another reason", width="stretch",
        )  # fmt: skip
        key_button(held, "Give it back", "decline_own", None, decline, session, own_words or "")
        key_button(
            held, "Do not give it back", "decline_not", held.form.keys.of(DECLINE), set_declining,
            False,
        )  # fmt: skip
    with row("row-next"):
        st.text(held.form.message or "Somebody else will get it; Undo takes it back.")
