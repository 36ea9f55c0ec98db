"""The form by which a lead chooses the NLI model, and the calibrator that goes with it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.models.loading import ACCURATE, BUNDLED, PAPER
from core.review.records import Person, Role
from core.workflows.models import choose_nli_model
from pages.widgets.days import in_use
from pages.widgets.forms import one_of
from pages.widgets.plain import show_notice
from storage.workspace import Workspace

OTHER = "other"
WORDS = {BUNDLED: "Bundled", ACCURATE: "Accurate", PAPER: "The paper's", OTHER: "Another"}
MEANING = {
    BUNDLED: "The quickest; nothing is to be installed.",
    ACCURATE: "Of answers by other authors it passed more right claims and about as many wrong ones. It "
    "takes nearly twice as long, and an engineer installs it first (make accurate).",
    PAPER: "The published method's, to compare with. An engineer brings it here, and fits a calibrator.",
    OTHER: "One that an engineer brought here: its name goes below, under “For engineers”.",
}


def show_nli_model(
    workspace: Workspace, me: Person, save: Callable[[Callable[[], object], str], None]
) -> None:
    """What reads now and what that means; for a lead the form to choose another, that ``save`` keeps."""
    now = workspace.nli_models.current()
    st.subheader("NLI model", anchor=False)
    st.text(
        "It compares each claim with its sources and says whether they support it, here on this machine.\n"
        + in_use(
            WORDS.get(now.nli, now.nli),
            now,
            workspace.people.shown_names(),
            "It comes with the program.",
        )
    )
    if Role.LEAD not in me.roles:
        return
    form = st.container(border=True)
    left, right = form.columns(2, gap="large")
    chosen = one_of(
        "Which model reads", WORDS, at=left, default=now.nli if now.nli in WORDS else OTHER,
        key="set-reader",
    )  # fmt: skip
    left.caption(MEANING[chosen])
    reason = right.text_input("Reason", key="set-reader-reason")
    right.caption(
        "With another model the calibrator that was fitted on it decides, in place of one that was "
        "promoted here; what was verified before then waits on Traces to be verified again."
    )
    engineers = form.expander(
        "For engineers: another model, and its calibrator", expanded=chosen == OTHER
    )
    other = engineers.text_input(
        "Folder, or owner/name of a model that this machine has",
        value="" if now.nli in WORDS else now.nli,
        disabled=chosen != OTHER,
        key="set-reader-other",
    )
    calibrator = engineers.text_input(
        "Calibrator that was fitted on it (folder, or shipped)",
        placeholder="The one it ships with, else the active one",
        key="set-reader-calibrator",
        help="A calibrator decides only on the NLI scores of the NLI model that it was fitted on.",
    )
    if not form.button("Use this model", key="save-reader"):
        return
    wanted = other.strip() if chosen == OTHER else chosen
    if not wanted:
        show_notice("Which one?", "Give its folder or its name, under “For engineers”.")
        return

    def choose() -> None:
        with st.spinner("Loading the NLI model …"):
            choose_nli_model(workspace, wanted, reason, me, calibrator=calibrator)

    save(choose, "The NLI model was changed. Traces read by another one wait to be verified again.")
