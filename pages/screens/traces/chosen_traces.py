"""What is done with several traces at once: marked, given to somebody to read, verified, erased."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.review.records import Person, Role
from pages.widgets.counting import counted
from pages.widgets.forms import press
from pages.widgets.verifying import start_verifying
from storage.erasing import Erased
from storage.triage import MarkKind
from storage.workspace import Workspace

NOBODY = 0


def show_chosen(workspace: Workspace, user: Person, chosen: Sequence[str]) -> None:
    """The actions on the traces that are chosen; a lead has all of them."""
    triage, noun = workspace.triage, counted(len(chosen), "trace")
    with st.container(horizontal=True, vertical_alignment="center", key="chosen-bar"):
        st.text(f"{noun} chosen", width="content")
        press(
            "Flag", lambda: triage.mark(chosen, MarkKind.FLAG, by=user), f"{noun} flagged.",
            icon=":material/flag:", key="flag-chosen",
        )  # fmt: skip
        with st.popover("Tag", icon=":material/sell:", key="tag-chosen"):
            tag = st.text_input("Tag", key="tag-text", max_chars=60)
            press(
                "Add the tag", lambda: triage.mark(chosen, MarkKind.TAG, tag, by=user),
                f"{noun} tagged.", key="tag-add", disabled=not tag.strip(),
            )  # fmt: skip
        if Role.LEAD not in user.roles or Role.AUDITOR in user.roles:
            return
        with st.popover("Assign", icon=":material/person_add:", key="assign-chosen"):
            _show_assigning(workspace, user, chosen)
        press(
            "Verify again", lambda: start_verifying(workspace.store, triage.positions(chosen)),
            "Verifying what has no verdict of the present versions.",
            icon=":material/replay:", key="verify-chosen",
            help="With the models and the calibrator of now; a verdict of theirs that is there stays.",
        )  # fmt: skip
        with st.popover("Erase", icon=":material/delete:", key="erase-chosen"):
            show_erasing(lambda reason: triage.erase(chosen, reason, by=user), noun, key="chosen")


def _show_assigning(workspace: Workspace, user: Person, chosen: Sequence[str]) -> None:
    triage = workspace.triage
    annotators = {
        each.person_id: each
        for each in workspace.people.everybody()
        if Role.REVIEWER in each.roles and each.active
    }
    who = st.selectbox(
        "Their claims come first to",
        [NOBODY, *annotators],
        format_func=lambda each: "whoever asks next" if each == NOBODY else annotators[each].shown,
        key="assign-to",
    )
    st.caption(
        "Who they are given to reads them before everything else; others do not get them meanwhile."
    )
    noun = counted(len(chosen), "trace")
    with st.container(horizontal=True):
        press(
            "Put first" if who == NOBODY else "Assign",
            lambda: triage.assign(chosen, annotators.get(who), by=user),
            f"The claims of {noun} come first.", type="primary", key="assign",
        )  # fmt: skip
        press(
            "Take back", lambda: triage.unassign(chosen, by=user),
            f"The claims of {noun} come in their turn again.", key="unassign",
        )  # fmt: skip


def show_erasing(erase: Callable[[str], Erased], noun: str, *, key: str) -> None:
    """Ask for the reason, then erase; what people have judged stays."""
    st.text(f"{noun} with verdicts, marks and repairs. What people have judged, or hold, stays.")
    reason = st.text_input("Reason, for the trail", key=f"erase-reason-{key}", max_chars=500)
    press(
        "Erase for good", lambda: erase(reason), _erased_words, key=f"erase-for-good-{key}",
        type="primary", disabled=not reason.strip(),
    )  # fmt: skip


def _erased_words(done: Erased) -> str:
    stay = f" {len(done.kept):,} stay: people have judged them, or hold a claim of them."
    return f"{counted(done.traces, 'trace')} erased." + (stay if done.kept else "")
