"""Labels that exist already, from a table: what its rows match, then they come in, or go out again."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.exchange import LabelImport
from core.review.records import Person
from core.workflows.label_import import (
    LabelPlan,
    import_labels,
    left_csv,
    plan_labels,
    read_labels,
)
from pages.widgets.counting import counted
from pages.widgets.figures import offer, widths
from pages.widgets.forms import after_saving, saved_forms
from pages.widgets.plain import show_card, show_notice
from storage.label_intake import LabelIntake

AS_WORDS = {False: "annotations of a person", True: "pre-labels, shown after one's own answer"}
SHOWN = 1_000


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
        try:
            _show_table(intake, user, file.name, file.getvalue())
        except ProvenanceGuardError as error:
            show_notice("The table was not read", str(error), tone="bad")
    for number, one in enumerate(intake.imports()):
        _show_import(intake, user, one, number)


def _show_table(intake: LabelIntake, user: Person, name: str, data: bytes) -> None:
    table = read_labels(name, data)
    pre_labels = st.radio(
        "They come in as", [False, True], format_func=AS_WORDS.__getitem__, horizontal=True,
        key="labels-as",
    )  # fmt: skip
    annotator = ""
    if not pre_labels and "annotator" not in table.columns:
        annotator = st.text_input("Whose labels are these?", max_chars=200, key="labels-annotator")
        if not annotator.strip():
            return
    plan = plan_labels(intake, table, annotator, pre_labels=pre_labels)
    _show_plan(plan)
    noun = "pre-label" if pre_labels else "annotation"
    if st.button(
        f"Import {counted(len(plan.labels), noun)}",
        type="primary",
        disabled=not plan.labels,
        key="labels-import",
    ):
        put = import_labels(intake, plan, user, pre_labels=pre_labels)
        not_kept = f"; {len(put.skipped):,} not kept: {put.skipped[0]}" if put.skipped else ""
        after_saving(f"{counted(put.votes, noun)} imported{not_kept}.")


def _show_plan(plan: LabelPlan) -> None:
    """How many rows match, and those that do not, with their reasons."""
    rows, left = len(plan.table.rows), plan.left
    show_card(
        key="labels-plan",
        title=f"{plan.matched:,} of {counted(rows, 'row')} match"
        + (f"; {len(left):,} do not" if left else ""),
        mark="!" if left else "✓",
        tone="careful" if left else "good",
        text=". ".join(plan.table.notes),
        facts=[["new", f"{len(plan.labels):,}"], ["here already", f"{plan.known:,}"]],
    )
    if not left:
        return
    st.dataframe(
        {
            "Line": [row.line for row, _ in left[:SHOWN]],
            "Why it is not kept": [why for _, why in left[:SHOWN]],
            "Claim": [row.cells.get("claim", "") for row, _ in left[:SHOWN]],
            "Label": [row.cells.get("label", "") for row, _ in left[:SHOWN]],
        },
        column_config=widths({"Line": 60, "Why it is not kept": 470, "Claim": 420}),
        hide_index=True,
        width="stretch",
        alt=f"{counted(len(left), 'row')} that match nothing, each with its reason",
        key="labels-left",
    )
    label = f"Download {counted(len(left), 'row')} that will not be kept (CSV)"
    offer(label, left_csv(plan), "not-kept.csv", type="tertiary", key="labels-download")


def _show_import(intake: LabelIntake, user: Person, one: LabelImport, number: int) -> None:
    said, back = st.columns([4, 1], vertical_alignment="center")
    noun, count = (
        ("pre-label", one.pre_labels) if one.pre_labels else ("annotation", one.annotations)
    )
    with said:
        show_card(
            key=f"labels-import-{number}",
            title=one.file,
            aside=f"{one.at:%Y-%m-%d %H:%M} UTC",
            text=f"{counted(count, noun)}, imported by {one.by}",
        )
    if back.button("Take back", key=f"labels-back-{number}", help="All of this import at once."):
        try:
            gone = intake.withdraw(one.key, by=user)
        except ProvenanceGuardError as error:
            show_notice("It was not taken back", str(error), tone="bad")
        else:
            after_saving(f"{counted(gone, noun)} of {one.file} taken back.")
