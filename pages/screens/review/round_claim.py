"""A claim of an agreement round in an annotator's hands: answered, saved once, and then the next one.

The verifier's view never comes here: a round measures how people read a guideline.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import streamlit as st

from core.errors import Conflict, InputError, ProvenanceGuardError
from core.review.items import Draft
from core.review.records import Person
from core.review.rounds import RoundItem
from pages.widgets.current_user import OF_USER
from pages.widgets.judgement_form import (
    Change,
    JudgementForm,
    bar,
    key_button,
    question,
    row,
    show_claim,
    show_note,
    show_questions,
    toggle_note,
)
from pages.widgets.presses import IGNORED, tell
from pages.widgets.shortcuts import DECLINE, KEEP, NOTES, UNDO, Keymap, Page
from storage.workspace import Workspace

LINES = 4
_HELD = f"{OF_USER}round-claim"


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class RoundAnnotation:
    """A round's claim on screen; it is dropped when it was saved."""

    form: JudgementForm
    item: RoundItem
    user: Person
    arrived: float  # on this process's own clock


def current_round_claim(workspace: Workspace, user: Person) -> RoundAnnotation | None:
    """The claim of the open round that comes next to this person; None: none does."""
    held = st.session_state.get(_HELD)
    item = workspace.rounds.next_item(user)
    if item is None:
        drop()
        return None
    if isinstance(held, RoundAnnotation) and (held.user.person_id, held.item) == (
        user.person_id,
        item,
    ):
        return held
    held = RoundAnnotation(
        form=JudgementForm(
            user_id=user.person_id,
            assignment_id=-item.claim_key,  # a round's claim is nobody's assignment
            nonce=secrets.token_urlsafe(12),
            trace=workspace.store.get_trace(item.trace_id, item.content_hash).trace,
            claim=item,
            draft=Draft(),
            guideline=workspace.guidelines.current(),
        ),
        item=item,
        user=user,
        arrived=time.monotonic(),
    )
    st.session_state[_HELD] = held
    return held


def drop() -> None:
    """Forget what is held; the database knows what was read."""
    st.session_state.pop(_HELD, None)


def show_round_claim(
    held: RoundAnnotation, workspace: Workspace, keys: Keymap, words: list[str]
) -> None:
    """The claim with its sources and the guideline beside it, and the questions below."""
    item, held.form.keys = held.item, keys
    show_claim(
        held,
        {
            "key": f"round-{item.round_id}-{item.position}",
            "title": "Review",
            "progress": {
                "words": f"Round {item.number}, {item.position} of {item.total}",
                "share": (item.position - 1) / item.total,
            },
            "words": words,
            "guideline_beside": True,
            "help": keys.help_sheet(
                Page.REVIEW, sources=len(held.form.trace.sources), without=(UNDO, DECLINE)
            ),
        },
        page=Page.REVIEW,
        lines=LINES,
        answer=answer,
        rest=(),
    )
    with st.bottom, bar():
        show_questions(held, answer)
        if held.form.noting:
            with row("row-notes"):
                question("Note, if you like", "notes")
                show_note(held, "Why? Rules can be cited by number. Escape leaves.", keep_note)
        _show_next(held, workspace)


def _show_next(held: RoundAnnotation, workspace: Workspace) -> None:
    form = held.form
    with row("row-next"):
        st.text(form.message or _what_next(held), width="stretch")
        key_button(held, "Note", "notes", form.keys.of(NOTES), toggle_note)
        key_button(
            held,
            "Save, next claim" if held.item.position < held.item.total else "Save, the last one",
            "keep", form.keys.of(KEEP), save, form.nonce, workspace, kind="primary",
            disabled=form.judgement is None,
        )  # fmt: skip


def _what_next(held: RoundAnnotation) -> str:
    missing = held.form.missing
    if missing:
        return (
            "Everybody reads these same claims, by the guideline on the left. "
            f"{missing} of 3 answers to go."
        )
    return "Save it: once saved, it stays."


# ---------------------------------------------------------------- key presses


def answer(held: RoundAnnotation, nonce: str, change: Change) -> None:
    """Take one more answer; nothing is written before it is saved."""
    held.form.message = "" if nonce == held.form.nonce else IGNORED
    if not held.form.message:
        held.form.take(change)


def keep_note(held: RoundAnnotation) -> None:
    """Take in what was typed about the claim."""
    held.form.take()


def save(held: RoundAnnotation, nonce: str, workspace: Workspace) -> None:
    """Keep what was said; the next claim comes."""
    form = held.form
    form.take()
    judgement = form.judgement
    if judgement is None or nonce != form.nonce:
        form.message = IGNORED
        return
    try:
        workspace.rounds.label(
            held.item, judgement, by=held.user, rationale=form.draft.rationale,
            seconds=time.monotonic() - held.arrived,
        )  # fmt: skip
    except InputError as error:
        form.message = error.message
        return
    except Conflict as error:
        tell(str(error))
    except ProvenanceGuardError as error:
        form.message = str(error)
        return
    drop()
