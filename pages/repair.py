"""A proposed repair: every edit with its reason and source, to accept, change or reject.

No state is shown of the text before every edit is decided and exactly that text was verified.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.codec import content_hash
from core.errors import NotFound, ProvenanceGuardError
from core.pipeline import verify
from core.records import State, answer_state
from core.repair.loop import chosen_trace, overruled
from core.review.roles import may_write
from core.workflows.repair import repair_trace, settled_of
from pages.screens.repair.blocked import show_repair_list
from pages.screens.repair.view import (
    chosen_texts,
    final_answer,
    lay_out_repair,
    show_repair,
    undecided,
    undecided_words,
)
from pages.widgets.figures import offer
from pages.widgets.navigation import stop_while_blind
from pages.widgets.palette import shown_state
from pages.widgets.plain import show_notice, stop_with
from pages.widgets.rebinding import usable
from pages.widgets.routing import begin_page, or_stop, or_stop_saying
from pages.widgets.session import load_models_once, open_workspace, run_now, settings
from pages.widgets.withheld import stop_while_undecided
from storage.repairs import Choice, StoredRepair

TRACES, VERDICT = "pages/traces.py", "pages/verdict.py"

user = begin_page(__file__, "Repair")
wanted = st.query_params.get("trace")
if wanted is None:
    with or_stop():
        workspace = open_workspace(user)
        stop_while_blind(user, workspace.project(), "Repair")
        chosen = show_repair_list(workspace.repairs)
    if chosen is not None:
        st.query_params["trace"] = chosen
        st.rerun()
    st.stop()

try:
    workspace = open_workspace(user)
    store = workspace.store
    stored = store.get_trace(wanted)
    verdict = store.get_verdict(wanted, content_hash=stored.content_hash)
except NotFound:
    show_notice(
        "There is no verdict to repair",
        f"No verified trace with the id {wanted} is in this database. Verify it first.",
    )
    st.page_link(TRACES, label="Go to the traces", icon=":material/list_alt:")
    st.stop()
except ProvenanceGuardError as error:
    stop_with("The database could not be read", str(error), tone="bad")

trace = stored.trace
st.set_page_config(page_title=f"Repair of {trace.trace_id} · ProvenanceGuard")
stop_while_undecided(
    workspace, user, verdict
)  # the repair says what the verifier made of each claim
repairs = workspace.repairs
people = store.by_people(stored.content_hash)
state = shown_state(
    verdict.decision, people.state if people else answer_state(verdict.verification)
)
# What people settled goes before the verifier.
settled = settled_of(verdict.verification, people.labels if people else {})
otherwise = overruled(verdict.verification, settled)


def _known_repair() -> StoredRepair | None:
    """The repair that is stored; one that came with the verdict is stored first."""
    try:
        return repairs.latest(stored.content_hash)
    except NotFound:
        repair = verdict.verification.repair
        if repair is None or not may_write(user):
            return None
        repairs.put(stored.content_hash, repair)
        return repairs.latest(stored.content_hash)


def _repair_now() -> None:
    """Repair the answer with the models of the workbench, and keep what comes out."""
    try:
        with st.spinner("Repairing: the verifier reads every revision …"):
            config = settings()
            repair = repair_trace(trace, load_models_once(config), config, settled=settled)
        repairs.put(content_hash(trace), repair, otherwise)
    except ProvenanceGuardError as error:
        show_notice("The repair stopped", str(error), tone="bad")


known = _known_repair()
if known and known.settled != otherwise:
    known = None  # people have settled something else since than what it rests on
if known is None:
    st.title("Repair", anchor=False)
    if state not in (State.BLOCK, State.NEEDS_REVIEW):
        stop_with(
            "Nothing to repair",
            "This answer is not blocked."
            if state == State.ALLOW
            else "There is no answer, or no evidence to repair it from.",
        )
    show_notice(
        f"No edits are proposed for {trace.trace_id} yet",
        "Repair proposes edits: other credits and values from the sources, a mark behind what could not "
        "be confirmed. You decide each one; the text that results is then verified. "
        + workspace.judges.current().sent,
    )
    if may_write(user) and st.button(
        "Repair this answer", type="primary", icon=":material/build:", key="repair"
    ):
        _repair_now()
        st.rerun()
    st.stop()

# ---------------------------------------------------------------- who decides, and what they said

names, actions = workspace.people.shown_names(), known.outcome.actions
choices = {
    action_id: replace(said, reviewer=names.get(said.reviewer, said.reviewer))
    for action_id, said in repairs.choices(known.repair_id).items()
}
final = final_answer(trace.answer or "", actions, choices)
open_edits = undecided(actions, choices)
try:
    run = run_now(settings())
except ProvenanceGuardError:  # what verifies cannot be told: then nothing was verified by it
    run = ""
checked = None if open_edits or not run else repairs.checked(stored.content_hash, final, run=run)
decided = show_repair(
    lay_out_repair(
        known.outcome,
        trace,
        state,
        choices,
        verdict.verification,
        usable(workspace.key_bindings.of(user)),
        checked=checked,
    ),
    key="repair-view",
)
if decided is not None:
    kept = choices.get(decided.action_id)
    said = (decided.choice, decided.text)
    if kept is None or (kept.choice, kept.text) != said:
        with or_stop_saying("The choice was not kept"):
            repairs.choose(
                known.repair_id,
                decided.action_id,
                decided.choice,
                reviewer=user.name,
                text=decided.text if decided.choice is Choice.EDIT else None,
            )
        st.rerun()

# ---------------------------------------------------------------- the text that comes out

left, middle, right, back = st.columns([1.1, 1.2, 1.7, 0.8], vertical_alignment="center")
left.text(f"Choices are kept under {user.shown}.")
# Verified is exactly this text, and only once nobody has anything to decide in it.
verifiable = bool(actions) and not open_edits and checked is None
if (
    verifiable
    and may_write(user)
    and middle.button(
        "Verify this text",
        type="primary",
        icon=":material/fact_check:",
        key="verify-text",
        width="stretch",
    )
):
    with or_stop_saying("The verification stopped"):
        with st.spinner("Not verified yet: the verifier reads this text …"):
            config = settings()
            text = chosen_trace(trace, actions, chosen_texts(actions, choices))
            again = verify(text, load_models_once(config), config)
        repairs.record_check(
            stored.content_hash, final, again.answer.decision, run=run, reviewer=user.name
        )
    st.rerun()
# The text holds every edit that nobody rejected: what nobody decided is named where it leaves.
offer(
    f"Download the text, {undecided_words(open_edits)}" if open_edits else "Download the text",
    final, "revised-answer-undecided.txt" if open_edits else "revised-answer.txt",
    at=right, width="stretch", key="download",
)  # fmt: skip
back.page_link(
    VERDICT, label="Verdict", icon=":material/fact_check:", query_params={"trace": trace.trace_id}
)
