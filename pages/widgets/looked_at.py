"""What the current user has looked at in this tab; the database keeps what was done, not what was read."""

from __future__ import annotations

import streamlit as st

from pages.widgets.current_user import OF_USER

THRESHOLDS = "thresholds"
_LOOKED_AT = f"{OF_USER}looked-at-"


def note_looked_at(what: str) -> None:
    """From now on, and until the tab is closed or somebody else takes it over."""
    st.session_state[_LOOKED_AT + what] = True


def has_looked_at(what: str) -> bool:
    """Whether that was looked at."""
    return _LOOKED_AT + what in st.session_state
