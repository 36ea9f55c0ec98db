"""What every threshold costs, on a packet with labels: errors both ways, review load, and each claim."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.calibration.guarantee import operating_points
from core.errors import ProvenanceGuardError
from core.evaluation.kept import kept_runs
from core.evaluation.outcomes import outcomes_at
from core.evaluation.threshold_view import ThresholdView, flips_between
from core.review.roles import may_write
from pages.screens.thresholds.beside import show_beside
from pages.screens.thresholds.choosing import show_rules, show_workload
from pages.screens.thresholds.guaranteed import (
    asked_risk,
    kept_words,
    labels_of,
    show_guarantee,
    show_risk,
    told_in_force,
)
from pages.screens.thresholds.paper_curve import show_paper_curve
from pages.screens.thresholds.promoting import show_use, threshold_in_use
from pages.screens.thresholds.snapshots import make_snapshot, show_snapshots
from pages.screens.thresholds.three import middle_begins, show_review_from, show_three, show_weights
from pages.screens.thresholds.view import (
    FLIPS_SHOWN,
    curve_of,
    curve_table,
    flip_table,
    flip_words,
    grid_with,
    lay_out_thresholds,
    nearest,
    show_thresholds,
    shown_flips,
)
from pages.widgets.current_user import LOOKED_AT_THRESHOLDS
from pages.widgets.evaluated import (
    calibrator_words,
    choose_packet,
    choose_run,
    forest_of,
    in_slice,
    opened,
    overlays,
    own_predictions,
    packet_choices,
    run_words,
    scored_as_now,
    slice_names,
    sliced,
)
from pages.widgets.evaluating import begin_evaluating, show_evaluating
from pages.widgets.figures import show_numbers
from pages.widgets.flips import show_flips
from pages.widgets.navigation import stop_while_blind
from pages.widgets.plain import show_notice
from pages.widgets.reading import show_reading
from pages.widgets.routing import begin_page, or_stop, or_stop_saying
from pages.widgets.session import open_workspace

EVALUATION = "pages/evaluation.py"
NO_OVERLAY = "Nothing"
FLIPS_HEIGHT = 190  # pixels: the head and four claims

user = begin_page(__file__, "Thresholds")
with or_stop():
    workspace = open_workspace()
    stop_while_blind(user, workspace.project(), "Thresholds")
    store, ruling = workspace.store, workspace.calibrators.current()


def _evaluate() -> None:
    """Begin the run of what decides now; it is the one that is shown once it has ended."""
    try:
        begin_evaluating(workspace, packet, user)
    except ProvenanceGuardError as error:
        st.session_state["threshold_said"] = ("The evaluation did not begin", str(error), "bad")
    st.query_params.pop("run", None)


def _show_made_otherwise() -> None:
    """Where other scores than today's are drawn: whose, how far today's run is, and how to make it."""
    running = show_evaluating(packet)
    if scored_as_now(run, ruling):
        return
    now = f"{calibrator_words(ruling.name)} at {ruling.threshold:g}"
    elsewhere = any(scored_as_now(other, ruling) for other in runs)
    if forest_of(run) == ruling.name:
        title = "Drawn here is what an earlier version of the verifier made of these claims"
    else:
        title = f"Drawn here is the {run_words(run)}; in use is the {now}"
    if elsewhere:
        words = "The run of what is in use can be chosen above, under Calibrator."
    elif running:
        words = "Its figures are shown here as soon as the claims are read."
    else:
        words = f"Nothing here tells what that does with these {packet.rows:,} claims."
    show_notice(title, words, tone="careful")
    if not (elsewhere or running):
        st.button(
            "Evaluate with what is in use",
            type="primary",
            icon=":material/play_arrow:",
            key="evaluate",
            on_click=_evaluate,
            disabled=not may_write(user),
            help="In the background; a minute or two on a free machine. The page shows it at its end.",
        )


# ---------------------------------------------------------------- which claims

# The title shares the row: a short window keeps room for the claims that flip.
named, *columns = st.columns([1.15, 2, 1.2, 1.5, 1.3], vertical_alignment="bottom")
named.title("Thresholds", anchor=False)
with columns[0]:
    choice = choose_packet(store, user, evaluated=True)
if choice is None or choice.kept is None:
    kept = [each.kept for each in packet_choices(store, user) if each.kept is not None]
    if any(map(show_evaluating, kept)):
        title = "The figures follow when the labelled claims are read"
        words = "A minute or two on a free machine; this page opens by itself then."
    else:
        title = "No packet has been evaluated yet"
        words = (
            "Thresholds are weighed on labelled claims: evaluate a packet on the page Evaluation."
        )
    show_notice(title, words)
    st.page_link(EVALUATION, label="Go to the evaluation", icon=":material/monitoring:")
    st.stop()
packet = choice.kept
with or_stop_saying("The results could not be read"):
    runs = kept_runs(packet)
    with columns[2]:
        run = choose_run(packet, runs, ruling, label="Calibrator", key="threshold-run")
    own = own_predictions(packet, run)
    found, current = opened(own), threshold_in_use(run, own.threshold, ruling)
    middle_from = middle_begins(workspace.calibrators, ruling.label)
    others = overlays(packet, run, runs)
if said := st.session_state.pop("threshold_said", None):
    show_notice(said[0], said[1], tone=said[2])
_show_made_otherwise()
names = slice_names(found.rows)
asked = st.query_params.get("slice")
slice_name = columns[1].selectbox(
    "Slice", names, index=names.index(asked) if asked in names else 0, key=f"slice-{run.folder}"
)
st.query_params["slice"] = slice_name
overlaid = columns[3].selectbox(
    "Compare with",
    [NO_OVERLAY, *others],
    disabled=not others,
    help="Another calibrator's predictions of this packet, the centroid router's, or what a judge "
    "that read its claims makes of them: the final decision.",
    key=f"overlay-{run.folder}",
)
beside = others.get(overlaid)
if st.session_state.setdefault("threshold-of", run.folder) != run.folder:
    # Another calibrator's support is on another scale: the slider begins where that one stands.
    st.session_state["threshold-of"] = run.folder
    st.session_state.pop("threshold", None)
    st.session_state["generation"] = st.session_state.get("generation", 0) + 1
    st.query_params.pop("threshold", None)
thresholds = grid_with(current, *([beside.threshold] if beside else []))


def _move(threshold: float) -> None:
    """Put the slider somewhere; it follows because its generation changes."""
    st.session_state["threshold"] = threshold
    st.session_state["generation"] = st.session_state.get("generation", 0) + 1


def _asked_for() -> float:
    try:
        return float(st.query_params.get("threshold", current))
    except ValueError:
        return current


@st.fragment
def _weigh() -> None:
    """Everything that follows the slider; nothing else on the page is drawn again."""
    if "threshold_said" in st.session_state or st.session_state.pop("snapshot-opened", False):
        st.rerun()  # a threshold was put to use: what is said of it, and what is active, is above
    view, bands = sliced(own, slice_name, thresholds)
    curve = curve_of(own.name, view, bands, thresholds, current)
    overlay = None
    if beside is not None:
        overlay = curve_of(
            beside.name, *sliced(beside, slice_name, thresholds), thresholds, beside.threshold
        )
    labels = labels_of(found, slice_name)
    points = operating_points(labels, risk=asked_risk())
    slot, flipping = st.container(), st.container()
    left, right = st.columns([1.5, 3.4], vertical_alignment="bottom")
    with left:
        workload = show_workload()
    with right:
        show_rules(view, workload, _move)
    chosen = nearest(thresholds, st.session_state.setdefault("threshold", _asked_for()))
    with slot:
        moved = show_thresholds(
            lay_out_thresholds(
                curve,
                view,
                thresholds,
                workload,
                chosen=chosen,
                generation=st.session_state.get("generation", 0),
                kept=kept_words(points.pooled, current),
                overlay=overlay,
            ),
            key="threshold-view",
        )
    if moved is not None:
        chosen = min(moved, len(thresholds) - 1)
        st.session_state["threshold"] = thresholds[chosen]
        st.session_state.pop("rule-said", None)
    threshold = thresholds[chosen]
    st.query_params["threshold"] = f"{threshold:g}"
    with flipping:
        _show_flips(view, threshold)
    three, reading, paper, guarantee, two, snapshots = st.tabs(
        [
            "Pass, needs a person, block",
            "Errors found",
            "Paper's curve",
            "Guarantee",
            "Side by side",
            "Snapshot",
        ]
    )
    with three:
        start, costs = st.columns([1, 3])
        with start:
            review_from = show_review_from(middle_from)
        with costs:
            weights = show_weights()
        show_three(view, thresholds, threshold, review_from, workload, weights, _move)
    with reading:
        inside = in_slice(found, slice_name)
        show_reading(
            np.array([one.read_at for _, one in inside]),
            np.array([row.should_block for row, _ in inside], dtype=np.bool_),
        )
    with guarantee:
        show_risk()
        in_force = told_in_force(workspace.calibrators, ruling.label, labels)
        show_guarantee(points, in_force, _move)
    with paper:
        show_paper_curve(view, points, current, _move)
    with two:
        show_beside(
            names,
            slice_name,
            lambda name: sliced(own, name, thresholds)[0],
            (threshold, review_from),
            current,
            workload,
            weights,
        )
    with snapshots:
        (here,) = outcomes_at(view, [threshold], review_from)
        show_snapshots(
            make_snapshot(packet, run, slice_name, here, current, workload, weights, points),
            slice_key=f"slice-{run.folder}",
        )
    with st.expander("The numbers behind the curves, and every flip"):
        header, rows = curve_table(curve)
        show_numbers(header, rows, name="thresholds", alt="Both error rates at every threshold")
        header, rows = flip_table(flips_between(view, current, threshold), found)
        show_numbers(header, rows, name="flips", alt="Every claim that flips")


def _show_flips(view: ThresholdView, threshold: float) -> None:
    """Right under the slider, in a frame of one height: what is below never moves with the slider."""
    flips = flips_between(view, current, threshold)
    between = f" between {current:g} and {threshold:g}" if threshold != current else ""
    title, words, use = st.columns([2.1, 2.6, 1.2], vertical_alignment="center")
    title.subheader(f"Claims that flip{between}", anchor=False)
    words.text(flip_words(flips, found))
    with use:
        show_use(workspace, run, threshold, ruling, user)
    link = {"packet": packet.sha256, "run": run.run, "view": "Errors"}
    with st.container(height=FLIPS_HEIGHT, border=False, key="flips-frame"):
        if len(flips.claim):
            chosen = show_flips(shown_flips(flips, found, link), page="evaluation", key="flips")
            if chosen is not None:
                st.switch_page(EVALUATION, query_params=dict(chosen.query))
        if len(flips.claim) > FLIPS_SHOWN:
            st.caption(f"The newest {FLIPS_SHOWN} of {len(flips.claim):,}.")


st.session_state[LOOKED_AT_THRESHOLDS] = True
_weigh()
