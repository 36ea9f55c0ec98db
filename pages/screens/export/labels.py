"""Labels that exist already, from a table: what its rows match, then they come in, or go out again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.exchange import LabelImport
from core.review.records import Person
from core.workflows.label_import import (
    LabelPlan,
    LabelRow,
    import_labels,
    left_csv,
    plan_labels,
    read_labels,
)
from pages.widgets.counting import counted
from pages.widgets.current_user import OF_USER
from pages.widgets.figures import Cell, by_column, offer, widths
from pages.widgets.forms import after_saving, saved_forms
from pages.widgets.plain import show_card, show_notice
from pages.widgets.session import open_workspace
from storage.label_intake import LabelIntake

Made = TypeVar("Made")
AS_WORDS = {False: "annotations of a person", True: "pre-labels, shown after one's own answer"}
SHOWN, NAMED, LINE = 50, 3, 50  # rows, names, and letters of a line of a reason
_TABLE, _PLAN, _KEPT, _BACK = (
    f"{OF_USER}labels-{name}" for name in ("table", "plan", "kept", "back")
)


def show_label_import(intake: LabelIntake, user: Person) -> None:
    """A table of labels: a preview of what it matches, the button that keeps it, and what came in."""
    file = st.file_uploader(
        "A table (.csv) with the columns claim, label and source",
        type=["csv", "tsv", "txt"],
        help="Further columns that are read: trace_id, claim_id, annotator, note. Labels are supported, "
        "unsupported, contradicted, not enough evidence, not a claim; also yes and no.",
        key=f"labels-file-{saved_forms()}",
    )
    if file is not None:
        st.session_state.pop(_KEPT, None)
        try:
            _show_table(intake, user, file.name, file.getvalue())
        except ProvenanceGuardError as error:
            show_notice("The table was not read", str(error), tone="bad")
    elif _KEPT in st.session_state:
        said, plan = st.session_state[_KEPT]
        left = len(plan.left)
        show_card(
            key="labels-kept",
            title=f"{plan.table.file}: {said}" + (f", {counted(left, 'row')} not" if left else ""),
            mark="!" if left else "✓",
            tone="careful" if left else "good",
        )
        _show_left(plan)
    # What was taken back in this session is told where it stood.
    back: dict[LabelImport, str] = st.session_state.setdefault(_BACK, {})
    names = open_workspace().people.shown_names()
    imports = [
        replace(
            one,
            by=names.get(one.by, one.by),
            annotators=tuple(names.get(each, each) for each in one.annotators),
        )
        for one in intake.imports()
    ]
    shown = sorted((*imports, *back), key=lambda one: one.at, reverse=True)
    for number, one in enumerate(shown):
        place, before = st.empty(), len(back)
        if one not in back:
            with place.container():
                _show_import(intake, user, one, number, back)
        if one in back:
            with place.container():
                show_card(key=f"labels-gone-{number}", title=back[one], mark="✓", tone="good")
        if len(back) > before:
            after_saving()


def _once(name: str, key: object, make: Callable[[], Made]) -> Made:
    """What ``make`` gave for that key in this session; made anew once the key is another."""
    if st.session_state.get(name, (None,))[0] != key:
        st.session_state[name] = (key, make())
    made: Made = st.session_state[name][1]
    return made


def _show_table(intake: LabelIntake, user: Person, name: str, data: bytes) -> None:
    file = (name, hashlib.sha256(data).hexdigest())
    table = _once(_TABLE, file, lambda: read_labels(name, data))
    kind, whose = st.columns([1.2, 1])
    pre_labels = kind.radio(
        "They come in as", [False, True], format_func=AS_WORDS.__getitem__, horizontal=True,
        key="labels-as",
    )  # fmt: skip
    annotator, lacking = "", ""
    if not pre_labels and "annotator" not in table.columns:
        annotator = whose.text_input(
            "Whose labels are these?", max_chars=200, key="labels-annotator"
        )
        lacking = "" if annotator.strip() else "Whose labels are these? Their name is missing."
    plan = LabelPlan(table=table, labels=(), known=0, left=())
    noun = "pre-label" if pre_labels else "annotation"
    if not lacking:
        asked = (*file, annotator, pre_labels, intake.project.project_id, intake.events())
        plan = _once(
            _PLAN, asked, lambda: plan_labels(intake, table, annotator, pre_labels=pre_labels)
        )
        _show_plan(plan)
        lacking = "" if plan.labels else "No row of the table can come in."
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            f"Import {counted(len(plan.labels), noun)}" if plan.labels else f"Import {noun}s",
            type="primary",
            disabled=bool(lacking),
            key="labels-import",
        )
        if lacking:
            st.text(lacking)
    if pressed:
        # No bar: a page that is left ends where it draws next, and the import with it.
        with st.spinner(f"Importing {counted(len(plan.labels), noun)} …"):
            put = import_labels(intake, plan, user, pre_labels=pre_labels)
            # Planned again: what did not come in says why, also what others were quicker with.
            again = plan_labels(intake, table, annotator, pre_labels=pre_labels)
        st.session_state[_KEPT] = (f"{counted(put.votes, noun)} imported", again)
        after_saving()
    _show_labels(plan)
    _show_left(plan)


def _show_plan(plan: LabelPlan) -> None:
    """How many rows come in, how many not, and what has the places of those."""
    rows, left = len(plan.table.rows), len(plan.left)
    facts = {
        "to come in": len(plan.labels),
        "answered here already by the same person": plan.known,
        "both places taken": plan.taken,
        "on hold": plan.on_hold,
        "for another reason": left - plan.taken - plan.on_hold,
    }
    show_card(
        key="labels-plan",
        title=f"{len(plan.labels):,} of {counted(rows, 'row')} can come in"
        + (f", {left:,} cannot" if left else ""),
        mark="!" if left else "✓",
        tone="careful" if left else "good",
        text=". ".join(plan.table.notes),
        facts=[[words, f"{count:,}"] for words, count in facts.items() if count],
    )


def _show_labels(plan: LabelPlan) -> None:
    """The rows that come in, folded."""
    if plan.labels:
        with st.expander(f"{counted(len(plan.labels), 'row')} to come in"):
            _show_rows([(one.row, one.annotator) for one in plan.labels], "Whose", "labels-new")


def _show_left(plan: LabelPlan) -> None:
    """The rows that do not come in, each with its reason."""
    if not plan.left:
        return
    rows = counted(len(plan.left), "row")
    with st.expander(f"{rows} not to come in, and why", expanded=True):
        _show_rows(plan.left, "Why it does not come in", "labels-left")
        if plan.on_hold:
            st.caption("What is on hold is freed on Agreement, under Who reads what.")
        offer(
            f"Download {rows} (CSV)", lambda: left_csv(plan), "not-kept.csv", type="tertiary",
            key="labels-download",
        )  # fmt: skip


def _show_rows(rows: Sequence[tuple[LabelRow, str]], what: str, key: str) -> None:
    """The first rows of those in which the words searched for stand; ``what`` names their second part."""
    cells: list[list[Cell]] = [
        [row.line, said, *(row.cells.get(name, "") for name in ("claim", "label", "source"))]
        for row, said in rows
    ]
    if len(cells) > SHOWN:
        words = st.text_input("Find", key=f"{key}-find", placeholder="Words of a row").casefold()
        cells = [row for row in cells if words in " ".join(map(str, row)).casefold()]
        st.caption(f"{min(SHOWN, len(cells))} of {counted(len(cells), 'row')} shown.")
    shown: dict[str, Any] = {**by_column(("Line", what, "Claim", "Label", "Source"), cells[:SHOWN])}
    longest = max((len(str(row[1])) for row in cells[:SHOWN]), default=0)
    st.dataframe(
        shown,
        column_config=widths({"Line": 60, what: 400, "Claim": 380}),
        hide_index=True,
        width="stretch",
        row_height=15 + 20 * (1 + longest // LINE),  # whole: a reason wraps only in a higher row
        alt=f"The first of {counted(len(cells), 'row')}",
        key=key,
    )


def _show_import(
    intake: LabelIntake, user: Person, one: LabelImport, number: int, back: dict[LabelImport, str]
) -> None:
    """An import, and the button that takes it back: then ``back`` says so."""
    said, press = st.columns([4, 1], vertical_alignment="center")
    noun = "pre-label" if one.pre_labels else "annotation"
    told = counted(one.kept, noun)
    if not one.finished:
        told = f"Not finished: {one.kept:,} of {counted(one.planned, noun)} so far"
    more = " and others" if len(one.annotators) > NAMED else ""
    whose = f" of {', '.join(one.annotators[:NAMED])}{more}" if one.annotators else ""
    with said:
        show_card(
            key=f"labels-import-{number}",
            title=one.file,
            aside=f"{one.at:%Y-%m-%d %H:%M} UTC",
            mark="" if one.finished else "!",
            tone="" if one.finished else "careful",
            text=f"{told}{whose}, imported by {one.by}."
            + ("" if one.finished else " If it was stopped, import the same table again."),
        )
    if press.button("Take back", key=f"labels-back-{number}", help="All of this import at once."):
        try:
            gone = intake.withdraw(one.key, by=user)
        except ProvenanceGuardError as error:
            show_notice("It was not taken back", str(error), tone="bad")
        else:
            back[one] = f"{one.file}: {counted(gone, noun)}{whose} taken back"
            if _KEPT in st.session_state and st.session_state[_KEPT][1].table.sha256 == one.sha256:
                del st.session_state[_KEPT]
