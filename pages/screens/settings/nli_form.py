"""The form by which a lead chooses the NLI model, and the calibrator that goes with it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.models.loading import ACCURATE, BUNDLED, PAPER
from core.review.nli_choice import CurrentNliModel
from core.review.records import Person, Role
from core.workflows.models import choose_nli_model
from pages.widgets.forms import one_of
from pages.widgets.plain import show_notice
from storage.workspace import Workspace

OTHER = "other"
WORDS = {
    BUNDLED: "Bundled",
    ACCURATE: "Accurate",
    PAPER: "The paper's",
    OTHER: "A folder or hub model",
}


def show_nli_model(
    workspace: Workspace, me: Person, save: Callable[[Callable[[], object], str], None]
) -> None:
    """What reads now, and the form to choose another; ``save`` does one write and says what came of it."""
    now = workspace.nli_models.current()
    fixed = Role.LEAD not in me.roles
    named = now.nli in WORDS
    st.subheader("NLI model", anchor=False)
    st.text(nli_words(now))
    with st.form("reader", clear_on_submit=False):
        left, right = st.columns(2, gap="large")
        chosen = one_of(
            "What reads a claim against its source", WORDS, at=left, disabled=fixed,
            default=now.nli if named else OTHER, key="set-reader",
        )  # fmt: skip
        other = left.text_input(
            "Folder, or owner/name of a model that this machine has",
            value="" if named else now.nli,
            disabled=fixed,
            key="set-reader-other",
        )
        calibrator = right.text_input(
            "Calibrator that was fitted on it (folder, or shipped)",
            placeholder="The one it ships with, else the active one",
            disabled=fixed,
            key="set-reader-calibrator",
            help="A calibrator decides only on the NLI scores of the NLI model that it was fitted on.",
        )
        reason = "" if fixed else right.text_input("Reason", key="set-reader-reason")
        pressed = st.form_submit_button("Read with it", disabled=fixed, key="save-reader")
    if not pressed:
        return
    wanted = other.strip() if chosen == OTHER else str(chosen)
    if not wanted:
        show_notice("Which one?", "Give its folder or its name.")
        return

    def choose() -> None:
        with st.spinner("Loading the NLI model …"):
            choose_nli_model(workspace, wanted, reason, me, calibrator=calibrator)

    save(choose, "The NLI model was changed. Traces read by another one wait to be verified again.")


def nli_words(now: CurrentNliModel) -> str:
    """What reads now, since when, by whom and why."""
    name = WORDS.get(now.nli, now.nli)
    if now.since is None:
        return f"{name}. It comes with the program."
    return f"{name}, since {now.since.astimezone():%d %b %Y}, chosen by {now.by}: {now.reason}"
