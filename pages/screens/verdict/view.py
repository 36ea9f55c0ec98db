"""The evidence view: one browser component that shows an answer, its claims and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pages.widgets.frontend import nothing, view

_EVIDENCE = view(
    "evidence",
    css=("evidence", "words", "answer_layout", "sides", "citation_chips", "provenance"),
    js=(
        "common",
        "words",
        "answer_layout",
        "sides",
        "citation_chips",
        "evidence",
        "evidence_answer",
        "evidence_claim",
        "evidence_sources",
        "evidence_sides",
        "evidence_why",
        "provenance",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the reader just asked for: the text of a source, or another page."""

    source_id: str | None
    page: str | None


def show_evidence(data: Mapping[str, object], *, key: str) -> Asked:
    """Show a laid-out verdict; what the browser asks for in this run, if anything."""
    said = _EVIDENCE(key=key, data=data, on_fetch_change=nothing, on_go_change=nothing)
    return Asked(source_id=said.fetch, page=said.go)
