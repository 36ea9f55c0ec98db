"""The review view: one browser component for reading a claim against its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pages.widgets.frontend import script, styles

_REVIEW = st.components.v2.component(
    "provenanceguard_review",
    html='<div id="review">\n</div>',
    css=styles("evidence", "words", "answer_layout", "sides", "review"),
    js=script("common", "words", "answer_layout", "sides", "typing", "review", "review_sources"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the reader did in the view: asked for a text ("*": all), or named the open source."""

    fetch: str | None = None
    own: str | None = None


def show_review(data: Mapping[str, object], *, key: str) -> Wanted:
    """Show a laid-out claim; what the reader did, unless it was meant for another claim."""
    said = _REVIEW(key=key, data=data, on_fetch_change=_nothing, on_own_change=_nothing)
    return Wanted(fetch=_meant(said.fetch, data), own=_meant(said.own, data))


def _meant(said: object, data: Mapping[str, object]) -> str | None:
    """The value that the browser sent, when it was showing this very claim."""
    if not isinstance(said, Mapping) or said.get("key") != data["key"]:
        return None
    value = said.get("value")
    return value if isinstance(value, str) else None


def _nothing() -> None:
    """A trigger needs a callback to be declared; the page reads its value instead."""
