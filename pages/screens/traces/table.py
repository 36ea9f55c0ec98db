"""The list of traces: one row a trace, its decision and its claims counted by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from core.records import VerdictLabel
from pages.widgets.frontend import script, styles
from pages.widgets.palette import DECISIONS, LOOKS, Kind
from storage.records import TraceRow, VerdictCounts

_TABLE = st.components.v2.component(
    "provenanceguard_traces",
    html='<div id="traces">\n</div>',
    css=styles("traces"),
    js=script("traces"),
)

_COLUMNS = (Kind.CONTRADICTED, Kind.CONFLATION, Kind.UNSUPPORTED, Kind.UNJUDGED, Kind.SUPPORTED)

# A stored verdict is counted by its labels, which do not tell these two apart.
_WORDS = {Kind.UNSUPPORTED: f"{LOOKS[Kind.UNSUPPORTED].word}, or {LOOKS[Kind.PERSON].word}"}


def show_trace_table(rows: Sequence[TraceRow], *, key: str) -> str | None:
    """Show the rows; the id of the trace that was just opened, if any."""
    data = {
        "columns": [
            {
                "kind": kind.value,
                "mark": LOOKS[kind].mark,
                "word": _WORDS.get(kind, LOOKS[kind].word),
            }
            for kind in _COLUMNS
        ],
        "rows": [_row(row) for row in rows],
    }
    opened: str | None = _TABLE(key=key, data=data, on_open_change=_nothing).open
    return opened


def _row(row: TraceRow) -> dict[str, object]:
    decision = row.decision.value if row.decision else "pending"
    counts = claim_counts(row.counts) if row.counts else {}
    return {
        "id": row.trace_id,
        "question": row.question,
        "category": row.category,
        "sources": row.sources,
        "version": row.version,
        "decision": {
            "kind": decision,
            "mark": DECISIONS[decision].mark,
            "word": DECISIONS[decision].word,
        },
        "counts": [counts.get(kind) for kind in _COLUMNS],
        "imported": _iso(row.imported_at),
    }


def claim_counts(counts: VerdictCounts) -> dict[Kind, int]:
    """A trace's factual claims by how the verdict page shows them."""
    factual = sum(counts.by_verdict.values())
    contradicted = counts.by_verdict[VerdictLabel.CONTRADICTED]
    unjudged = counts.by_verdict[VerdictLabel.UNJUDGED]
    return {
        Kind.CONTRADICTED: contradicted,
        Kind.CONFLATION: counts.conflations,
        # What is blocked for none of the other reasons.
        Kind.UNSUPPORTED: max(0, counts.blocked - contradicted - counts.conflations - unjudged),
        Kind.UNJUDGED: unjudged,
        Kind.SUPPORTED: factual - counts.blocked,
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _nothing() -> None:
    """A trigger needs a callback to be declared; the page reads its value instead."""
