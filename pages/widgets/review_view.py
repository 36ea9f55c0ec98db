"""The review view: one browser component for reading a claim against its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from pages.widgets.frontend import nothing, view

# The open source says the claim; it rests on that one too; this stretch of it says so.
OWN, ALSO, PASSAGE = "own", "also", "passage"
VALUES = "values"  # asked for instead of a source's text: where the claim's values stand
_REVIEW = view(
    "review",
    css=("evidence", "words", "answer_layout", "sides", "review"),
    js=(
        "common",
        "words",
        "answer_layout",
        "sides",
        "typing",
        "presses",
        "review",
        "review_sources",
    ),
)


def show_review(
    data: Mapping[str, object],
    *,
    key: str,
    on_own: Callable[[str], None],
    on_also: Callable[[str], None],
    on_passage: Callable[[str], None],
) -> str | None:
    """Show a laid-out claim; the text that the annotator asked for ("*": all; VALUES), None: none.

    ``on_own`` is called with the source that the annotator names as the claim's, ``on_also`` with one
    that it rests on too, ``on_passage`` with a passage (JSON); what was meant for another claim is
    dropped. ``order`` in the widget's state is what ``pages.widgets.presses`` reads.
    """
    shown = data["key"]
    said = _REVIEW(
        key=key,
        data=data,
        on_order_change=nothing,
        on_fetch_change=nothing,
        on_own_change=partial(_say_owner, OWN, key, shown, on_own),
        on_also_change=partial(_say_owner, ALSO, key, shown, on_also),
        on_passage_change=partial(_say_owner, PASSAGE, key, shown, on_passage),
    )
    return _meant(said.fetch, shown)


def _say_owner(name: str, key: str, shown: object, on_said: Callable[[str], None]) -> None:
    if (source_id := _meant(st.session_state[key].get(name), shown)) is not None:
        on_said(source_id)


def _meant(said: object, shown: object) -> str | None:
    """The value that the browser sent, when it was showing this very claim."""
    if not isinstance(said, Mapping) or said.get("key") != shown:
        return None
    value = said.get("value")
    return value if isinstance(value, str) else None
