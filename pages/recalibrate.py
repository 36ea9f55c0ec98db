"""From reviewers' labels to what decides: labels, split, fit, compare, promote; and back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from core.errors import ProvenanceGuardError
from core.ports import policy_of
from core.review.calibrators import Standing
from core.review.records import SPLIT_WORDS, Project, Role
from core.review.yields import AuditedPrior, audited_prior, expected_yield, yield_words
from core.workflows.fitting import fitting_folder, start_fitting
from core.workflows.models import active_forest
from core.workflows.retraining import (
    LEAST_BAD,
    LEAST_LABELS,
    Retraining,
    lineage_json,
    moves_only_calibration,
    needs,
)
from pages.screens.recalibrate.fitting import known_material, shipped_rows, show_fitting
from pages.screens.recalibrate.site import show_drift, show_site
from pages.screens.recalibrate.steps import show_comparison, show_labels, show_next, show_split
from pages.screens.recalibrate.view import (
    candidate_words,
    effect_words,
    gain_of_fit,
    need_words,
    shipped_words,
    show_chain,
)
from pages.widgets.days import in_use
from pages.widgets.evaluated import calibrator_words
from pages.widgets.figures import offer
from pages.widgets.forms import press, show_saved
from pages.widgets.navigation import link_verdict
from pages.widgets.plain import show_notice, stop_with
from pages.widgets.rescoring import show_rescoring, start_rescoring
from pages.widgets.routing import begin_page, or_stop_saying
from pages.widgets.session import open_workspace, settings

VERDICT = "pages/verdict.py"
NEXT = 20  # claims to read whose yield is told
STEPS = ("Labels", "Split", "Fit", "Compare", "Promote")

user = begin_page(__file__, "Recalibrate")
if not user.roles & {Role.LEAD, Role.AUDITOR}:
    stop_with(
        "Recalibrating is the lead's work",
        "This page shows what reviewers settled. Ask a lead of the project, or have a lead give you "
        "the role on the page People.",
    )
leads = Role.LEAD in user.roles and Role.AUDITOR not in user.roles

with or_stop_saying("The calibrators could not be read"):
    workspace = open_workspace()
    calibrators = workspace.calibrators
    retraining = Retraining(workspace=workspace)
    current, before = calibrators.current(), calibrators.before()
    candidates = [kept for kept in calibrators.candidates() if kept.comparison]
    material, shipped = (
        known_material(workspace, retraining),
        shipped_rows(retraining, workspace.nli_models.current().nli),
    )
    waiting = retraining.waiting()


def _fit() -> None:
    with_shipped = bool(st.session_state.get("shipped"))  # as the box stands at the press
    folder, database = fitting_folder(workspace.data_folder), workspace.environment
    start_fitting(folder, user, database, with_shipped=with_shipped)


def _promote(name: str) -> None:
    calibrators.promote(name, st.session_state.get("reason", ""), user, over=current.label)
    start_rescoring(workspace)


def _roll_back(name: str) -> None:
    calibrators.roll_back(name, st.session_state.get("back_reason", ""), user, over=current.label)
    # The box stays open, and would now go the other way: not without another reason.
    st.session_state["back_reason"] = ""
    start_rescoring(workspace)


def _adopt(project: Project, audited: AuditedPrior) -> None:
    changed = replace(project.settings, supported_prior=audited.value)
    workspace.projects.change(project, changed, by=user, reason=audited.words)


# ---------------------------------------------------------------- what is active, and the way back

left, right = st.columns([5, 1], vertical_alignment="center")
left.title("Recalibrate", anchor=False)
if before is not None:
    with right.popover("Roll back", icon=":material/undo:", width="stretch"):
        st.text(f"Back to {calibrator_words(before.calibrator)} at threshold {before.threshold:g}.")
        st.text_area("Reason", key="back_reason", max_chars=2_000, height=80)
        press(
            "Roll back", partial(_roll_back, before.calibrator), type="primary", key="roll-back",
            disabled=not leads,
        )  # fmt: skip
decides = f"{calibrator_words(current.name)} at threshold {current.threshold:g}"
st.text(in_use(decides, current, workspace.people.shown_names()))
show_saved()
show_rescoring(workspace, waiting=waiting)
forest = active_forest(calibrators)

if material.rows:
    try:
        show_site([one.row for one in material.rows], forest)
    except ProvenanceGuardError as error:
        show_notice(
            "How it does on these labels cannot be said",
            f"{error} Verify their traces again.",
            tone="careful",
        )

open_candidates = [kept for kept in candidates if kept.standing is Standing.WAITING]
# Not bound to the address, where a step would have to be called as it is shown: "3 Fit".
asked = st.query_params.get("step", "").rpartition(" ")[2]
usual = "Compare" if open_candidates else "Labels"
st.session_state.setdefault("step", asked if asked in STEPS else usual)
st.segmented_control(
    "Step",
    STEPS,
    format_func=lambda name: f"{STEPS.index(name) + 1} {name}",
    required=True,
    label_visibility="collapsed",
    key="step",
)
step = st.query_params["step"] = st.session_state["step"]

# ---------------------------------------------------------------- 1 to 3: labels, split, fit

if step == "Labels":
    show_labels(material, user)
    if material.rows and shipped is not None:
        show_drift([one.row for one in material.rows], shipped, forest)
    project = workspace.project()
    prior = project.settings.supported_prior or settings().supported_prior
    audited = audited_prior(workspace.labels.reviewed())
    base = policy_of(forest).base_rate
    queue = expected_yield(workspace.labels.next_probabilities(NEXT), base_rate=base, prior=prior)
    told = (
        yield_words(queue) if queue.claims else "",
        f"Where a probability is shown, {round(100 * prior)} of 100 claims of this agent are taken to be "
        "supported (the prior; it moves no decision).",
        f"By people's labels it is {audited.words}.",
    )
    st.text("\n".join(filter(None, told)))
    if audited.value is not None and audited.value != prior:
        press(
            f"Take {audited.value:.2f} as the prior", partial(_adopt, project, audited),
            key="adopt-prior", disabled=not leads,
            help="It moves the probabilities that are shown, and no decision.",
        )  # fmt: skip
    if material.rows:
        show_next("Split")
elif step == "Split":
    show_split(material)
elif step == "Fit":
    with_shipped = st.checkbox(
        shipped_words(shipped), value=shipped is not None, disabled=shipped is None, key="shipped"
    )
    missing = needs(material, shipped if with_shipped else None)
    if missing:
        show_notice("Too few labels to fit", need_words(missing), tone="careful")
        for side in dict.fromkeys(need.side for need in missing):
            trace_id = retraining.to_label(side)
            if trace_id is None:
                st.text(
                    f"No claim of a {SPLIT_WORDS[side]} trace waits to be read: add answers on Traces."
                )
                continue
            st.text(f"The next {SPLIT_WORDS[side]} trace with claims to label is {trace_id}.")
            link_verdict(f"Open that {SPLIT_WORDS[side]} trace", trace_id)
    elif with_shipped and moves_only_calibration(material.site):
        st.text(
            f"With fewer than {LEAST_LABELS} labels, or {LEAST_BAD} claims to block among them, a fit "
            "moves the calibration alone: the forest and its threshold stay as they are in use."
        )
    if not show_fitting(workspace):
        press(
            "Fit another candidate" if open_candidates else "Fit a candidate",
            _fit, type="secondary" if open_candidates else "primary",
            icon=":material/model_training:", key="fit", disabled=bool(missing) or not leads,
            help="A forest of 400 trees. It decides nothing until it is promoted.",
        )  # fmt: skip
        if open_candidates:
            st.text(f"{candidate_words(open_candidates[0])}.")
            show_next("Compare")

# ---------------------------------------------------------------- 4 and 5: compare, promote

if step in ("Compare", "Promote"):
    if not candidates:
        stop_with("No candidate yet", "Fit one first: step 3.")
    chosen = st.selectbox(
        "Candidate", candidates, format_func=candidate_words, key="candidate", width=520
    )
if step == "Compare":
    if opened := show_comparison(chosen):
        st.switch_page(VERDICT, query_params=dict(opened.query))
elif step == "Promote":
    lineage = retraining.lineage(chosen.name)
    show_chain(lineage, key="chain")
    gain = gain_of_fit(chosen.comparison)
    st.text(effect_words(chosen))
    if chosen.standing is Standing.WAITING:
        st.text_area("Reason", key="reason", max_chars=2_000, height=80, disabled=not leads)
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen.standing is Standing.WAITING:
            press(
                "Promote", partial(_promote, chosen.name), icon=":material/check_circle:",
                type="primary" if gain.shown else "secondary", key="promote", disabled=not leads,
                help="It decides from then on; stored answers are decided again at once.",
            )  # fmt: skip
            reject = partial(calibrators.reject, chosen.name, by=user)
            press(
                "Reject", lambda: reject(reason=st.session_state.get("reason", "")), key="reject",
                disabled=not leads,
            )  # fmt: skip
        offer("Lineage (JSON)", lineage_json(lineage), f"lineage-{chosen.name}.json", key="lineage")
