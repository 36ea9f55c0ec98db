"""Forms of several pages: a write with what came of it said once, and the guideline's next version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.items import Guideline
from core.review.records import Person
from pages.widgets.plain import show_notice, show_toast
from storage.guidelines import Guidelines

Choice = TypeVar("Choice")
_SAVED, _SAVED_FORMS = "people_saved", "people_forms_saved"


def show_saved(*, stays: bool = False) -> None:
    """Say once what the last form or press did, or why it was refused; ``stays``: until the next press."""
    said = st.session_state.pop(_SAVED, None)
    if isinstance(said, ProvenanceGuardError):
        show_notice("That was not done", str(said), tone="bad")
    elif said and stays:
        show_notice(said, "", tone="good")
    elif said:
        show_toast(said)


def do(act: Callable[[], object], said: str | Callable[[Any], str] = "") -> None:
    """What a press calls: act; ``show_saved`` tells of it, or why it was refused."""
    try:
        done = act()
    except ProvenanceGuardError as error:
        st.session_state[_SAVED] = error
    else:
        st.session_state[_SAVED] = said if isinstance(said, str) else said(done)


def press(
    label: str, act: Callable[[], object], said: str | Callable[[Any], str] = "", **more: Any
) -> None:
    """A button that acts before the page is drawn anew (``do``); ``more`` is the button's own."""
    more.pop("at", st).button(label, on_click=do, args=(act, said), **more)


def one_of(
    label: str, words: Mapping[Choice, str] | Sequence[Choice], *, at: Any = st, **more: Any
) -> Choice:
    """One of the choices beside each other, by default the first; ``words`` says how each is shown."""
    named = words.__getitem__ if isinstance(words, Mapping) else str
    shown = {"default": next(iter(words)), **more}
    found: Choice = at.segmented_control(
        label, list(words), format_func=named, required=True, **shown
    )
    return found


def saved_forms() -> int:
    """How many forms this session has saved: an empty one is called after it."""
    return int(st.session_state.get(_SAVED_FORMS, 0))


def save(write: Callable[[], object], said: str) -> None:
    """Do one write; say what came of it."""
    try:
        write()
    except ProvenanceGuardError as error:
        show_notice("This was not saved", str(error), tone="bad")
        return
    after_saving(said)


def after_saving(said: str = "") -> None:
    """Draw the page anew, its forms empty, and say what came of them, where the page does not."""
    st.session_state[_SAVED] = said
    st.session_state[_SAVED_FORMS] = saved_forms() + 1
    st.rerun()


def show_publishing(guidelines: Guidelines, current: Guideline, me: Person) -> None:
    """The form of the guideline's next version: its text, and what changes and why."""
    with st.form("guideline", clear_on_submit=False):
        text = st.text_area(
            f"Version {current.version + 1}: one numbered rule a line",
            current.text,
            height=300,
            key=f"guideline-{current.version}",
        )
        change = st.text_input("What changes, and why", key="guideline-change")
        pressed = st.form_submit_button(
            f"Publish version {current.version + 1}", type="primary", key="publish-guideline"
        )
    if pressed:
        save(
            lambda: guidelines.publish(text, change, by=me, expected_version=current.version),
            f"Version {current.version + 1} is active now.",
        )
