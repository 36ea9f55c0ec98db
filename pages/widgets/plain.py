"""Text that may come from a trace or a file name, shown as it is: never as markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.widgets.frontend import script, styles

_CARDS = st.components.v2.component(
    "provenanceguard_cards",
    html='<div id="cards">\n</div>',
    css=styles("cards"),
    js=script("cards"),
)

Card = Mapping[str, object]


def show_cards(cards: Sequence[Card], *, key: str) -> None:
    """Show cards of ``title, text, facts, list, tone``; every string is shown verbatim."""
    _CARDS(key=key, data={"cards": list(cards)})


def show_notice(title: str, text: str, *, key: str, tone: str = "quiet") -> None:
    """Show one message: what it is about, then what a person can do."""
    show_cards([{"title": title, "text": text, "tone": tone}], key=key)
