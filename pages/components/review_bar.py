"""The bar below a claim, always in view: the questions as buttons with their keys, and what follows.

Labels hold words of ours, and tool names reduced to letters and digits: a label is read as markup.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.records import Trace
from core.review.assignment import UNOWNED
from core.review.items import Draft
from core.workflows.review import ReviewSession
from pages.components.review_hand import (
    Change,
    Hand,
    answer,
    decline,
    keep,
    keep_note,
    pressed,
    undo,
)
from pages.components.review_layout import (
    CONFIDENCE,
    SUPPORT_WORDS,
    SourceButton,
    owner_words,
    source_buttons,
)
from pages.components.shortcuts import (
    DECLINE,
    DECLINE_KEYS,
    KEEP,
    NO_SOURCE_KEY,
    NOTES,
    RIGHTLY_CREDITED,
    SUPPORT_KEYS,
    UNDO,
    WRONGLY_CREDITED,
    key_of,
)
from storage.store import SqlStore

# Of the window's height: the page's frame and this bar, in rem.
FRAME_REM, LINE_REM, NOTES_REM = 7.0, 2.36, 6.4
LINES = 4
# One dense bar that never moves: Streamlit keeps room for a chat below it, and spaces rows widely.
STYLE = """<style>
[data-testid="stBottomBlockContainer"] { padding: .3rem 5rem .6rem; }
.st-key-bar { gap: .35rem; }
[class*="st-key-row-"] { flex-wrap: nowrap; overflow-x: auto; }
.st-key-bar button { min-height: 2rem; padding: .05rem .6rem; }
.st-key-bar button kbd { color: inherit; opacity: 1; }
[class*="st-key-ask-"] p { font-weight: 600; }
</style>"""


def show_bar(hand: Hand, desk: ReviewSession, store: SqlStore) -> None:
    """Show the questions for the claim in hand, what is chosen, and what happens next."""
    st.html(STYLE)
    with st.container(key="bar"):
        if hand.declining:
            _show_declining(hand, desk)
            return
        _show_support(hand, desk, store)
        _show_owner(hand, desk, store)
        if hand.noting:
            _show_notes(hand, desk)
        _show_next(hand, desk)


def height_taken(lines: int, *, noting: bool) -> str:
    """What the view above leaves free for the page's frame and a bar of that many lines."""
    return f"{FRAME_REM + lines * LINE_REM + (NOTES_REM if noting else 0):.2f}rem"


def question(words: str, name: str) -> None:
    """The words of one question, in a column of their own."""
    with st.container(key=f"ask-{name}", width=170):
        st.markdown(words)


def choice(words: str, *, key: str, name: str, chosen: bool, **more: object) -> None:
    """One answer as a button; the chosen one is marked by more than its colour."""
    key_button(
        f"● {words}" if chosen else words,
        name=name,
        shortcut=key,
        type="primary" if chosen else "secondary",
        **more,  # type: ignore[arg-type]
    )


def key_button(
    words: str,
    *,
    name: str,
    on_click: Callable[..., None],
    args: tuple[Any, ...],
    **more: object,
) -> None:
    """A button for the hand that comes first in ``args``, and for this drawing of its claim alone."""
    hand, *rest = args
    with st.container(key=name, width="content"):
        st.button(
            words,
            key=f"{name}-{hand.nonce}",
            on_click=pressed,
            args=(weakref.ref(hand), on_click, *rest),
            **more,  # type: ignore[arg-type]
        )


def row(name: str) -> object:
    """One line of the bar."""
    return st.container(key=name, horizontal=True, vertical_alignment="center", gap="small")


def _show_support(hand: Hand, desk: ReviewSession, store: SqlStore) -> None:
    draft = hand.draft
    with row("row-support"):
        question("Is it supported?", "support")
        for label, key in SUPPORT_KEYS.items():
            choice(
                SUPPORT_WORDS[label],
                key=key,
                name=f"v_{label.value}",
                chosen=draft.support is label,
                on_click=answer,
                args=(hand, hand.nonce, desk, store, partial(replace, support=label)),
            )


def _show_owner(hand: Hand, desk: ReviewSession, store: SqlStore) -> None:
    draft = hand.draft
    with row("row-owner"):
        question("Which source says it?", "owner")
        for number, each in enumerate(source_buttons(hand.trace), 1):
            _show_source(number, each, hand, desk, store)
        choice(
            "None",
            key=NO_SOURCE_KEY,
            name="own_none",
            chosen=draft.source_answered and draft.source_id is None,
            on_click=answer,
            args=(hand, hand.nonce, desk, store, own(None)),
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
                on_click=answer,
                args=(hand, hand.nonce, desk, store, partial(replace, conflation=conflated)),
            )


def _show_source(
    number: int, each: SourceButton, hand: Hand, desk: ReviewSession, store: SqlStore
) -> None:
    draft = hand.draft
    choice(
        each.words,
        key=each.key or "",
        name=f"own_{number}",
        chosen=draft.source_answered and draft.source_id == each.source_id,
        on_click=answer,
        args=(hand, hand.nonce, desk, store, own(each.source_id)),
    )


def show_owner_beyond(draft: Draft, trace: Trace) -> None:
    """The chosen source where it has no button of its own."""
    with_buttons = {each.source_id for each in source_buttons(trace)}
    if draft.source_id is not None and draft.source_id not in with_buttons:
        st.text(f"● {owner_words(draft.source_id, trace)}", width="content")


def own(source_id: str | None) -> Change:
    """The answer to who owns the claim; None: no source does."""
    return partial(replace, source_id=source_id, source_answered=True)


def _show_next(hand: Hand, desk: ReviewSession) -> None:
    """What happens next, on the left; the other keys and the one primary action on the right."""
    decided = hand.said is not None
    changed = decided and hand.judgement != hand.said
    with row("row-next"):
        st.text(hand.message or _what_next(hand), width="stretch")
        key_button(
            "Note", name="notes", shortcut=key_of(NOTES), on_click=_toggle_notes, args=(hand,)
        )
        key_button(
            "Pass",
            name="decline",
            shortcut=key_of(DECLINE),
            disabled=decided,
            on_click=_set_declining,
            args=(hand, True),
            help="Give this claim back, with a reason; somebody else will get it",
        )
        key_button(
            "Undo",
            name="undo",
            shortcut=key_of(UNDO),
            on_click=undo,
            args=(hand, desk),
            help="Open my last verdict again; both stay in the trail",
        )
        if hand.decide_first:
            key_button(
                "Save my change, next claim" if changed else "Keep my answer, next claim",
                name="keep",
                shortcut=key_of(KEEP),
                type="primary",
                disabled=not decided,
                on_click=keep,
                args=(hand, hand.nonce, desk),
            )


def _what_next(hand: Hand) -> str:
    if hand.said is not None:
        return "Saved. Above is the verifier's view: keep your answer, or change one first."
    left = sum(
        (
            hand.draft.support is None,
            not hand.draft.source_answered,
            hand.draft.conflation is None,
        )
    )
    if not left:
        return UNOWNED  # complete, and not saved: the one thing that is refused
    then = "shows the verifier's view" if hand.decide_first else "brings the next claim"
    if left == 3:
        return f"Answer all three, in any order: the last answer saves, and {then}."
    return f"{left} to go: the last answer saves, and {then}."


# ---------------------------------------------------------------- notes, and giving back


def _show_notes(hand: Hand, desk: ReviewSession) -> None:
    with row("row-notes"):
        question("Note, if you like", "notes")
        st.session_state.setdefault(hand.note_key, hand.draft.rationale)
        st.text_area(
            "Why? Rules of the guideline can be cited by number. Escape leaves the field.",
            key=hand.note_key,
            height=68,
            max_chars=4_000,
            on_change=pressed,
            args=(weakref.ref(hand), keep_note, desk),
            width="stretch",
        )
        st.segmented_control(
            "How sure?",
            list(CONFIDENCE),
            format_func=CONFIDENCE.__getitem__,
            default=hand.draft.confidence,
            key=hand.sure_key,
            on_change=pressed,
            args=(weakref.ref(hand), keep_note, desk),
        )


def _toggle_notes(hand: Hand) -> None:
    hand.noting = not hand.noting


def _show_declining(hand: Hand, desk: ReviewSession) -> None:
    """Why it is given back; the answers are away meanwhile, so no key can decide the claim."""
    with row("row-decline"):
        question("Why give it back?", "decline")
        for words, key in DECLINE_KEYS.items():
            key_button(
                words,
                name=f"decline_{key}",
                shortcut=key,
                on_click=decline,
                args=(hand, desk, words),
            )
    with row("row-decline-own"):
        question("Or in your words", "decline-own")
        own_words = st.text_input(
            "Reason",
            key=f"decline-{hand.item.assignment_id}",
            max_chars=500,
            label_visibility="collapsed",
            placeholder="Another reason",
            width="stretch",
        )
        key_button(
            "Give it back",
            name="decline_own",
            on_click=decline,
            args=(hand, desk, own_words or ""),
        )
        key_button(
            "Do not give it back",
            name="decline_not",
            shortcut=key_of(DECLINE),
            on_click=_set_declining,
            args=(hand, False),
        )
    with row("row-next"):
        st.text(hand.message or "Somebody else will get it; you will not see it again.")


def _set_declining(hand: Hand, declining: bool) -> None:
    hand.declining, hand.message = declining, ""
