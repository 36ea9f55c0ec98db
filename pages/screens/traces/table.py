"""The list of traces: one row a trace, its decision and its claims counted by verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

from pages.widgets.frontend import nothing, view
from pages.widgets.palette import LOOKS, Kind, claim_counts, look_of
from pages.widgets.plain import spaced
from storage.records import TraceMarks, TraceRow

_TABLE = view("traces")

_COLUMNS = (Kind.CONTRADICTED, Kind.CONFLATION, Kind.PERSON, Kind.SUPPORTED)

_WORDS = {Kind.CONTRADICTED: f"{LOOKS[Kind.CONTRADICTED].word}, or found wrong"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the annotator did in the list: which trace was opened, and which are ticked."""

    opened: str | None
    chosen: tuple[str, ...]


def show_trace_table(
    rows: Sequence[TraceRow],
    marks: Mapping[str, TraceMarks],
    *,
    blind: bool,
    last: str | None,
    key: str,
) -> Said:
    """Show the rows with their marks; ``last`` was looked at last, ``blind`` annotators see no counts."""
    data = {
        "columns": []
        if blind
        else [
            {
                "kind": kind.value,
                "mark": LOOKS[kind].mark,
                "word": _WORDS.get(kind, LOOKS[kind].word),
            }
            for kind in _COLUMNS
        ],
        "rows": [_row(row, marks.get(row.trace_id, TraceMarks()), blind) for row in rows],
        "last": last,
    }
    said = _TABLE(key=key, data=data, on_open_change=nothing, on_chosen_change=nothing)
    if not blind and any(row.by_people for row in rows):
        st.caption("(n): as the verifier said, where people have settled claims since")
    known = {row.trace_id for row in rows}
    chosen = said.chosen if isinstance(said.chosen, list) else []
    return Said(opened=said.open, chosen=tuple(each for each in chosen if each in known))


def _row(row: TraceRow, marks: TraceMarks, blind: bool) -> dict[str, object]:
    decision, look = look_of(row)
    alone = claim_counts(row.counts) if row.counts else {}
    counts = claim_counts(row.by_people) if row.by_people else alone
    return {
        "id": row.trace_id,
        "question": row.question,
        "category": spaced(row.category),
        "sources": row.sources,
        "version": row.version,
        "decision": {"kind": decision, "mark": look.mark, "word": look.word},
        "counts": [] if blind else [counts.get(kind) for kind in _COLUMNS],
        "alone": [] if blind else [alone.get(kind) for kind in _COLUMNS],
        "imported": _iso(row.imported_at),
        "marks": _marks(marks),
    }


def _marks(marks: TraceMarks) -> list[dict[str, str]]:
    """What people said of a trace, as small labels beside its id."""
    found = []
    if marks.flagged_by:
        found.append({"text": "⚑ flagged", "title": f"Flagged by {', '.join(marks.flagged_by)}"})
    if marks.comments:
        noun = "comment" if marks.comments == 1 else "comments"
        found.append({"text": f"{marks.comments:,} {noun}", "title": "Open the answer to read"})
    found += [{"text": tag, "title": "Tag"} for tag in marks.tags]
    annotators = [name or "whoever asks next" for name in marks.annotators]
    if annotators:
        found.append(
            {"text": f"→ {', '.join(annotators)}", "title": "Its claims come first to them"}
        )
    return found


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
