"""Putting a threshold to use: by a lead, with a reason, recorded."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.evaluation.kept import KeptRun
from core.review.calibrators import CurrentCalibrator
from core.review.records import Person, Role
from pages.widgets.evaluated import forest_of
from pages.widgets.rescoring import start_rescoring
from storage.workspace import Workspace


def threshold_in_use(run: KeptRun, decided_at: float, ruling: CurrentCalibrator) -> float:
    """The active threshold where the run's calibrator is, else the one that it was decided with."""
    return ruling.threshold if ruling.name == forest_of(run) else decided_at


def why_not(
    run: KeptRun, threshold: float, ruling: CurrentCalibrator, person: Person
) -> str | None:
    """Why this threshold cannot be put to use by this person now; None when it can."""
    if Role.LEAD not in person.roles:
        return "Only a lead can change the threshold."
    if ruling.name != forest_of(run):
        return "This run was made by another calibrator than the active one. Promote that first."
    if ruling.threshold == threshold:
        return "This threshold is in use already."
    return None


def show_use(
    workspace: Workspace,
    run: KeptRun,
    threshold: float,
    ruling: CurrentCalibrator,
    person: Person,
) -> None:
    """The button that puts the chosen threshold to use, its reason, or why it cannot be pressed."""
    hindrance = why_not(run, threshold, ruling, person)
    with st.popover("Use this threshold", icon=":material/check_circle:", width="stretch"):
        st.text(f"From {ruling.threshold:g} to {threshold:g}, for every verification from now on.")
        st.text_area(
            "Reason", key="use-reason", max_chars=2_000, height=90, disabled=bool(hindrance)
        )
        st.button(
            "Use it",
            type="primary",
            key="use-threshold",
            disabled=bool(hindrance),
            on_click=_use,
            args=(workspace, threshold, ruling.label, person),
        )
        st.caption(
            hindrance
            or "It is recorded with your name. Stored answers are decided again at once, from what "
            "was read; the page Recalibrate shows how far that is, and the way back."
        )


def _use(workspace: Workspace, threshold: float, over: str, person: Person) -> None:
    reason = str(st.session_state.get("use-reason") or "").strip()
    try:
        workspace.calibrators.use_threshold(threshold, reason, person, over=over)
    except ProvenanceGuardError as error:
        said = ("The threshold was not changed", str(error), "bad")
    else:
        start_rescoring(workspace)
        said = (f"Threshold {threshold:g} is in use", "It decides from now on.", "good")
    st.session_state["threshold_said"] = said
