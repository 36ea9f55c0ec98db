"""The scripts and styles that views of ours are made of."""

from __future__ import annotations

from pathlib import Path

_FRONTEND = Path(__file__).parents[1] / "frontend"


def script(*names: str) -> str:
    """The scripts of those names as one, after what all views share: a view's code is one module."""
    scripts = ("elements", *names)
    return "".join((_FRONTEND / f"{name}.js").read_text(encoding="utf-8") for name in scripts)


def styles(*names: str) -> str:
    """The style sheets of those names as one, after what all views share."""
    sheets = ("base", *names)
    return "".join((_FRONTEND / f"{name}.css").read_text(encoding="utf-8") for name in sheets)
