"""The views of ours in a browser: each made of scripts and styles in ``frontend``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_FRONTEND = Path(__file__).parents[1] / "frontend"


def view(name: str, *, css: Sequence[str] | None = None, js: Sequence[str] | None = None) -> Any:
    """The component of that name, of the sheets and scripts named, else of those called as it is.

    Registered once, at import. Nothing that a trace says ever enters html, css or js: it travels as
    data and becomes text nodes. What all views share comes before; a view's code is one module.
    """
    return st.components.v2.component(
        f"provenanceguard_{name.replace('-', '_')}",
        html=f'<div id="{name}">\n</div>',
        css=_joined("css", ("base", *(css if css is not None else (name,)))),
        js=_joined("js", ("elements", *(js or (name.replace("-", "_"),)))),
    )


def nothing() -> None:
    """What a view tells needs a callback to be declared; the page reads its value instead."""


def _joined(kind: str, names: Sequence[str]) -> str:
    return "".join((_FRONTEND / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
