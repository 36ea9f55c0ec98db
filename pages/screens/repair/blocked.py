"""All repairs: what they saved, what reviewers made of them, and which answers still wait."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.workflows.repair_figures import repair_figures
from pages.screens.repair.view import STATUS_SHORT
from pages.widgets.plain import show_notice
from storage.repairs import Repairs

WAITING_SHOWN = 200


def show_repair_list(repairs: Repairs) -> str | None:
    """Show the list and its figures; the id of the trace that was chosen, if any."""
    stored = repairs.newest()
    waiting = [
        row.trace_id for _, row in zip(range(WAITING_SHOWN), repairs.without(), strict=False)
    ]
    st.title("Repair", anchor=False)
    if not stored and not waiting:
        show_notice(
            "Choose an answer to repair",
            "No answer is blocked. Repairs are opened from here once one is.",
            key="no-trace",
        )
        return None
    if stored:
        _show_figures(repairs, listed=len(stored))
    rows = [
        {
            "Trace": one.trace_id,
            "Repair": STATUS_SHORT[one.status],
            "Edits": f"{len(one.outcome.actions):,}",
            "Repaired (UTC)": f"{one.repaired_at:%Y-%m-%d %H:%M}",
        }
        for one in stored
    ] + [
        {"Trace": name, "Repair": "Waiting", "Edits": "–", "Repaired (UTC)": "–"}
        for name in waiting
    ]
    st.caption("Choose a row to open its repair, or the answer that waits for one.")
    event = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        on_select="rerun",
        selection_mode="single-row",
        key="repairs",
    )
    chosen = event.selection.rows
    return str(rows[chosen[0]]["Trace"]) if chosen else None


def _show_figures(repairs: Repairs, *, listed: int) -> None:
    report, counts = repair_figures(repairs), repairs.counts()
    kept = report.supported_kept, report.supported_before
    for column, (name, value) in zip(
        st.columns(5),
        (
            ("Repaired answers", f"{report.rows:,}"),
            ("Still say something", f"{report.substantive:,} of {report.blocked:,}"),
            ("Supported claims kept", f"{kept[0]:,} of {kept[1]:,}"),
            ("Wrong credits left", f"{report.wrong_attributions_left:,}"),
            (
                "Edits decided",
                f"{counts.accepted + counts.edited + counts.rejected:,} of "
                f"{report.kinds.total():,}",
            ),
        ),
        strict=True,
    ):
        column.metric(name, value)
    st.caption(
        f"Reviewers accepted {counts.accepted:,} edits, reworded {counts.edited:,} and "
        f"rejected {counts.rejected:,}."
        + (f" The latest {listed:,} repairs are listed." if report.rows > listed else "")
    )
