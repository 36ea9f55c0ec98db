"""The bar below a tie: what holds, who says it, why the two differed, and whether the guideline did."""

from __future__ import annotations

import weakref
from dataclasses import replace
from functools import partial

import streamlit as st

from core.review.records import Cause
from core.workflows.review import ReviewSession
from pages.components.review_bar import (
    STYLE,
    choice,
    key_button,
    own,
    question,
    row,
    show_owner_beyond,
)
from pages.components.review_hand import pressed
from pages.components.review_layout import SUPPORT_WORDS, source_buttons
from pages.components.shortcuts import (
    CAUSE_KEYS,
    FIX_GUIDELINE,
    NO_SOURCE_KEY,
    NOTES,
    RIGHTLY_CREDITED,
    SAVE,
    SUPPORT_KEYS,
    WRONGLY_CREDITED,
    Page,
    key_of,
)
from pages.components.tie_hand import (
    TieHand,
    answer_tie,
    keep_tie_note,
    save_tie,
    set_cause,
    toggle_fix,
)

LINES = 5
CAUSES = {
    Cause.AMBIGUOUS_CLAIM: "Claim ambiguous",
    Cause.GUIDELINE_GAP: "Guideline silent",
    Cause.REVIEWER_ERROR: "Reviewer error",
    Cause.DECOMPOSITION_ERROR: "Claim cut wrongly",
    Cause.AMBIGUOUS_SOURCE: "Source ambiguous",
}


def show_tie_bar(hand: TieHand, desk: ReviewSession) -> None:
    """Show the questions for the tie in hand, what is chosen, and what happens next."""
    st.html(STYLE)
    with st.container(key="bar"):
        _show_questions(hand, desk)
        _show_cause(hand)
        if hand.noting:
            _show_notes(hand, desk)
        _show_next(hand, desk)


def _show_questions(hand: TieHand, desk: ReviewSession) -> None:
    draft, nonce = hand.draft, hand.nonce
    with row("row-support"):
        question("Is it supported?", "support")
        for label, key in SUPPORT_KEYS.items():
            choice(
                SUPPORT_WORDS[label],
                key=key,
                name=f"v_{label.value}",
                chosen=draft.support is label,
                on_click=answer_tie,
                args=(hand, nonce, desk, partial(replace, support=label)),
            )
    with row("row-owner"):
        question("Which source says it?", "owner")
        for number, each in enumerate(source_buttons(hand.trace), 1):
            choice(
                each.words,
                key=each.key or "",
                name=f"own_{number}",
                chosen=draft.source_answered and draft.source_id == each.source_id,
                on_click=answer_tie,
                args=(hand, nonce, desk, own(each.source_id)),
            )
        choice(
            "None",
            key=NO_SOURCE_KEY,
            name="own_none",
            chosen=draft.source_answered and draft.source_id is None,
            on_click=answer_tie,
            args=(hand, nonce, desk, own(None)),
        )
        show_owner_beyond(draft, hand.trace)
    with row("row-credit"):
        question("Credited rightly?", "credit")
        for words, name, conflated in (
            ("Yes, or no source named", RIGHTLY_CREDITED, False),
            ("No, to another source", WRONGLY_CREDITED, True),
        ):
            choice(
                words,
                key=key_of(name),
                name=name,
                chosen=draft.conflation is conflated,
                on_click=answer_tie,
                args=(hand, nonce, desk, partial(replace, conflation=conflated)),
            )


def _show_cause(hand: TieHand) -> None:
    with row("row-cause"):
        question("Why did they differ?", "cause")
        for cause, words in CAUSES.items():
            choice(
                words,
                key=CAUSE_KEYS[cause],
                name=f"cause_{cause.value}",
                chosen=hand.cause is cause,
                on_click=set_cause,
                args=(hand, hand.nonce, cause),
            )


def _show_next(hand: TieHand, desk: ReviewSession) -> None:
    with row("row-next"):
        st.text(hand.message or _what_next(hand), width="stretch")
        choice(
            "Guideline needs a fix",
            key=key_of(FIX_GUIDELINE, Page.ADJUDICATE),
            name=FIX_GUIDELINE,
            chosen=hand.fix_guideline,
            on_click=toggle_fix,
            args=(hand,),
        )
        key_button("Reason", name="notes", shortcut=key_of(NOTES), on_click=_toggle, args=(hand,))
        key_button(
            "Save my decision",
            name="save",
            shortcut=key_of(SAVE, Page.ADJUDICATE),
            type="primary",
            disabled=hand.missing > 0,
            on_click=save_tie,
            args=(hand, hand.nonce, desk),
        )


def _what_next(hand: TieHand) -> str:
    if hand.missing:
        return f"{hand.missing} of 4 answers to go. Both readings stay as they are."
    return "Save it, and the next tie comes."


def _show_notes(hand: TieHand, desk: ReviewSession) -> None:
    lines = [line.strip() for line in hand.guideline.text.splitlines()]
    rules = [line for line in lines if line[:1].isdigit()]
    with row("row-notes"):
        question("Reason, if you like", "notes")
        st.session_state.setdefault(hand.note_key, hand.draft.rationale)
        st.text_area(
            "Why? Escape leaves the field.",
            key=hand.note_key,
            height=68,
            max_chars=4_000,
            on_change=pressed,
            args=(weakref.ref(hand), keep_tie_note, desk),
            width="stretch",
        )
        hand.rule = st.selectbox(
            "The rule that settles it",
            rules,
            index=None,
            placeholder="None",
            key=f"rule-{hand.item.assignment_id}",
            width=360,
        )


def _toggle(hand: TieHand) -> None:
    hand.noting = not hand.noting
