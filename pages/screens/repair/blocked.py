"""All repairs: what they saved, what reviewers made of them, and which answers still wait."""

from __future__ import annotations

from collections.abc import Set
from itertools import islice

import pandas as pd
import streamlit as st

from core.records import RepairKind, State
from core.workflows.repair import repair_figures, stale_repairs
from pages.screens.repair.view import STATUS_SHORT, undecided
from pages.widgets.counting import counted
from pages.widgets.figures import widths
from pages.widgets.palette import DECISIONS
from pages.widgets.plain import inert, show_notice
from storage.records import TraceRow
from storage.repairs import STOPPED, Repairs, StoredRepair

WAITING_SHOWN = 200
ROWS_KNOWN = 500
ROWS_WHOLE = 30  # a list of no more is shown without a window of its own
DECIDED = "Decided"
CHANGED = "Changed since: to be proposed anew"
BLOCKED_WORD = DECISIONS[State.BLOCK.value].word


def show_repair_list(repairs: Repairs) -> str | None:
    """Show the list and its figures; the id of the trace that was chosen, if any."""
    stale = stale_repairs(repairs.on_labels())
    stored = [one for one in repairs.newest() if one.repair_id not in stale]
    waiting = [
        (row.trace_id, CHANGED if ever else "Not proposed yet")
        for row, ever in islice(repairs.without(stale), WAITING_SHOWN)
    ]
    st.title("Repair", anchor=False)
    if not stored and not waiting:
        show_notice(
            "Choose an answer to repair",
            "No answer is stopped. Repairs are opened from here once one is.",
        )
        st.page_link("pages/traces.py", label="Go to the traces", icon=":material/list_alt:")
        return None
    if stored:
        _show_figures(repairs, stale, listed=len(stored))
    decided = repairs.decided([one.repair_id for one in stored])
    known = {row.trace_id: row for row in repairs.store.list_traces(STOPPED, limit=ROWS_KNOWN).rows}
    told = stored or any(state == CHANGED for _, state in waiting)  # else no empty columns
    rows = [
        {
            "Trace": name,
            "State": _answer_state(known.get(name)),
            "Question": known[name].question if name in known else "",
            **_counts(known.get(name)),
            **({"Repair": repair, "Edits": edits, "Proposed (UTC)": at} if told else {}),
        }
        for name, repair, edits, at in (
            *(
                (
                    one.trace_id,
                    _state(one, decided.get(one.repair_id, frozenset())),
                    _edits(one),
                    f"{one.repaired_at:%Y-%m-%d %H:%M}",
                )
                for one in stored
            ),
            *((name, state, "", "") for name, state in waiting),
        )
    ]
    # What is decided comes last, what is shown to be wrong first.
    rows.sort(key=lambda row: (row.get("Repair") == DECIDED, row["State"] != BLOCKED_WORD))
    left = sum(row.get("Repair") != DECIDED for row in rows)
    st.text(
        f"{counted(left, 'answer')} to repair, what is shown to be wrong first. Each repair is a "
        "proposal: you decide every edit."
    )
    first = str(rows[0]["Trace"])
    if left and st.button(
        f"Begin with {inert(first)}", type="primary", icon=":material/build:", key="begin"
    ):
        return first
    event = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        height="content" if len(rows) <= ROWS_WHOLE else "auto",
        column_config=widths(
            {"Question": "large"}
            | dict.fromkeys(("State", "Claims that do not pass", "Wrong source credited"), "small")
        ),
        on_select="rerun",
        selection_mode="single-row",
        key="repairs",
    )
    chosen = event.selection.rows
    return str(rows[chosen[0]]["Trace"]) if chosen else None


def _answer_state(row: TraceRow | None) -> str:
    return DECISIONS[row.state.value].word if row is not None and row.state else ""


def _counts(row: TraceRow | None) -> dict[str, str]:
    counts = (row.by_people or row.counts) if row is not None else None
    return {
        "Claims that do not pass": f"{counts.blocked:,}" if counts else "",
        "Wrong source credited": f"{counts.conflations:,}" if counts else "",
    }


def _state(repair: StoredRepair, decided: Set[str]) -> str:
    """What is proposed, how much of it is decided; a text that was decided is verified on its page."""
    left = undecided(repair.outcome.actions, decided)
    if repair.outcome.actions and not left:
        return DECIDED
    return STATUS_SHORT[repair.status] + (f", {left} undecided" if decided else "")


def _edits(repair: StoredRepair) -> str:
    """What a repair proposes, in words: "2 corrections, 1 not confirmed, 1 to take out"."""
    kinds = [action.kind for action in repair.outcome.actions]
    taken, marked = kinds.count(RepairKind.PRUNE), kinds.count(RepairKind.MARK)
    other = {RepairKind.PRUNE, RepairKind.MARK, RepairKind.MEND, RepairKind.FALLBACK}
    corrections = sum(kind not in other for kind in kinds)
    words = [
        counted(corrections, "correction") if corrections else "",
        f"{marked} not confirmed" if marked else "",
        f"{taken} to take out" if taken else "",
    ]
    return ", ".join(each for each in words if each) or "none"


def _show_figures(repairs: Repairs, stale: frozenset[int], *, listed: int) -> None:
    report, counts = repair_figures(repairs, stale), repairs.counts(stale)
    kept = report.supported_kept, report.supported_before
    for column, (name, value) in zip(
        st.columns(5),
        (
            ("Proposed repairs", f"{report.rows:,}"),
            ("Pass if all is accepted", f"{report.substantive:,} of {report.blocked:,}"),
            ("Confirmed claims kept", f"{kept[0]:,} of {kept[1]:,}"),
            ("Wrong credits found", f"{report.wrong_attributions_before:,}"),
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
