"""Text that may come from a trace or a file name, shown as it is: never as markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn
from zlib import crc32

import streamlit as st

from pages.widgets.frontend import view

_CARDS = view("cards")

Card = Mapping[str, object]
# Where one of these is followed by nothing visible, no address, e-mail or picture name is read in it.
_JOINER = "\u2060"
_ADDRESS = re.compile(r"www(?=\.)|[:@](?=\S)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def show_cards(cards: Sequence[Card], *, key: str) -> None:
    """Show cards of ``title, text, facts, list, tone``; every string is shown verbatim."""
    _CARDS(key=key, data={"cards": list(cards)})


def show_card(*, key: str, **card: object) -> None:
    """Show one card."""
    show_cards([card], key=key)


def show_notice(title: str, text: str, *, tone: str = "quiet") -> None:
    """Show one message: what it is about, then what a person can do."""
    key = f"notice-{crc32((title + text).encode(errors='replace')):x}"
    show_card(key=key, title=title, text=text, tone=tone)


def stop_with(title: str, text: str, *, tone: str = "quiet") -> NoReturn:
    """Show one message, and end the page there."""
    show_notice(title, text, tone=tone)
    st.stop()


def show_toast(words: str) -> None:
    """A message that passes by; a name or a note in it stays text, for a toast reads markup."""
    st.toast(inert(words))


def spaced(name: str | None) -> str:
    """A name of a trace's own as people read it: "clinical_chart" is "clinical chart"."""
    return (name or "").replace("_", " ")


def inert(words: str) -> str:
    """The words for an element that reads Markdown: shown as they are, nothing in them acts."""
    joined = _ADDRESS.sub(lambda found: found.group() + _JOINER, words)
    return _PUNCTUATION.sub(r"\\\1", " ".join(joined.split()))
