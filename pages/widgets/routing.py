"""A page runs inside the router's frame, also when a link to it is the first thing ever opened."""

from __future__ import annotations

import streamlit as st

_ROUTED = "routed"


def mark_routed() -> None:
    """Said by the router, before it runs a page."""
    st.session_state[_ROUTED] = True


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
