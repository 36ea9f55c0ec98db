"""How every page begins: in the router's frame, for its user; and where it ends early, with why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import NotAllowed, ProvenanceGuardError
from core.review.records import Person
from pages.widgets.current_user import current_user, show_current_user
from pages.widgets.plain import show_notice, stop_with

_ROUTED = "routed"


def mark_routed() -> None:
    """Said by the router, before it runs a page."""
    st.session_state[_ROUTED] = True


def begin_page(page_file: str, title: str) -> Person:
    """The current user, who is named above the page; with logins, nobody else sees anything of it."""
    ensure_routed(page_file)
    st.set_page_config(page_title=f"{title} · ProvenanceGuard")
    user = current_user()
    show_current_user(user)
    return user


@contextmanager
def or_stop(refused: str = "This was not allowed") -> Iterator[None]:
    """End the page, saying why, where the database cannot be read, or ``refused`` to this person."""
    try:
        yield
        return
    except NotAllowed as error:
        show_notice(refused, str(error))
    except ProvenanceGuardError as error:
        show_notice("The database could not be read", str(error), tone="bad")
    st.stop()


@contextmanager
def or_stop_saying(title: str) -> Iterator[None]:
    """End the page under that title with what was refused."""
    try:
        yield
    except ProvenanceGuardError as error:
        stop_with(title, str(error), tone="bad")


def ensure_routed(page_file: str) -> None:
    """Start again through the router unless it runs this page.

    Until the router has run once in a process, Streamlit takes the scripts of a folder named
    ``pages`` for whole apps of their own: a deep link opened right after the start would show a
    page without its frame. Calling ``st.navigation`` is what ends that.
    """
    if not st.session_state.get(_ROUTED):
        # Beside a default page, so that this one keeps its own address.
        st.navigation([st.Page(_nothing, title="Start"), st.Page(page_file)], position="hidden")
        st.rerun()


def _nothing() -> None:
    """A page that is never run."""
