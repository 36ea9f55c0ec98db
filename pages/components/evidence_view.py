"""The evidence view: one browser component that shows an answer, its claims and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

_FRONTEND = Path(__file__).parent / "frontend"

# Registered once, at import. Nothing that a trace says ever enters html, css or js: it travels as
# data and becomes text nodes.
_EVIDENCE = st.components.v2.component(
    "provenanceguard_evidence",
    html='<div id="evidence">\n</div>',
    css=(_FRONTEND / "base.css").read_text() + (_FRONTEND / "evidence.css").read_text(),
    js=(_FRONTEND / "evidence.js").read_text(),
)


def show_evidence(data: Mapping[str, object], *, key: str) -> str | None:
    """Show a laid-out verdict; the id of a source whose text the browser asks for, if any."""
    wanted: str | None = _EVIDENCE(key=key, data=data, on_fetch_change=_nothing).fetch
    return wanted


def _nothing() -> None:
    """A trigger needs a callback to be declared; the page reads its value instead."""
