"""The files that traces came from: shown alone, verified again, sampled, erased."""

from __future__ import annotations

import streamlit as st

from core.review.records import Person, Role
from pages.screens.traces.chosen_traces import show_erasing
from pages.screens.traces.kinds import show_kinds
from pages.widgets.counting import counted
from pages.widgets.queueing import WORK, leave_to_workers
from pages.widgets.verifying import SAMPLE_TRACES, start_sample, start_verifying
from storage.store import newest_of_file
from storage.workspace import Workspace


def show_files(workspace: Workspace, user: Person) -> None:
    """Choose a file, and what becomes of its traces; erasing is a lead's."""
    counts = {each.name: each.count for each in workspace.store.files()}
    if st.button("Kinds of source", icon=":material/category:", key="kinds", type="tertiary"):
        show_kinds(workspace.store)
    if not counts:
        st.text("No trace came from a file.")
        return
    file = st.selectbox(
        "File",
        list(counts),
        format_func=lambda name: f"{name} ({counts[name]:,})",
        key="managed-file",
    )
    if file is None:
        return
    noun = counted(counts[file], "trace")
    st.text(f"{noun} in their newest version.")
    st.button(
        "Show only these",
        key="file-show",
        on_click=st.session_state.__setitem__,
        args=("file", file),
    )
    if Role.AUDITOR in user.roles:
        return
    with st.container(horizontal=True):
        st.button(
            "Verify again",
            icon=":material/replay:",
            key="file-verify",
            on_click=lambda: start_verifying(
                workspace.store, newest_of_file(workspace.store, file)
            ),
            help="With the models and the calibrator of now. A trace that has their verdict is left "
            "as it is: the same versions say the same.",
        )
        st.button(
            "Leave to workers",
            icon=":material/group_work:",
            key="file-queue",
            on_click=leave_to_workers,
            args=(workspace, file),
            help=f"For processes started with `{WORK}`, here or on other machines. They go on when "
            "the workbench is closed.",
        )
        if counts[file] > SAMPLE_TRACES:
            st.button(
                f"A sample of {SAMPLE_TRACES} first",
                icon=":material/science:",
                key="file-sample",
                on_click=start_sample,
                args=(workspace.store, file),
            )
    if Role.LEAD in user.roles:
        st.divider()
        show_erasing(
            lambda reason: workspace.triage.erase_file(file, reason, by=user), noun, key="file"
        )
