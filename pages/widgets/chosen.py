"""The chosen one of several buttons, readable in both themes."""

from __future__ import annotations

import streamlit as st


def read_chosen(*keys: str) -> None:
    """Show what is chosen in these controls in the colour of text.

    The accent carries white button text, so in the dark theme it is too dark to be text itself.
    """
    rules = "\n".join(
        f'.st-key-{key} button[type="button"][data-variant][data-selected="true"] '
        "{ color: inherit; }"
        for key in keys
    )
    st.html(f"<style>\n{rules}\n</style>")
