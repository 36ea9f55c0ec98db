"""How good the verifier is on a labelled packet: figures with intervals, slices, and each error."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError, ProvenanceGuardError
from core.evaluation.kept import kept_runs
from core.review.roles import require_writer
from core.workflows.ingest import preview
from core.workflows.judged_packet import has_replies
from core.workflows.models import active_forest
from pages.screens.evaluation.confusion import (
    show_confusion,
    show_reliability,
    show_sources,
)
from pages.screens.evaluation.errors import show_claim, show_errors
from pages.screens.evaluation.paper_tables import show_paper_tables
from pages.screens.evaluation.slices import show_slices
from pages.screens.evaluation.view import show_headline, show_metrics, show_with_judge
from pages.widgets.counting import counted
from pages.widgets.evaluated import (
    PacketChoice,
    bring_choice,
    bring_packet,
    choose_packet,
    choose_run,
    made_as_now,
    opened,
    own_predictions,
)
from pages.widgets.evaluating import begin_evaluating, show_evaluating
from pages.widgets.file_names import safe_name
from pages.widgets.forms import one_of
from pages.widgets.navigation import stop_while_blind
from pages.widgets.plain import inert, show_notice, stop_with
from pages.widgets.reading import show_reading
from pages.widgets.routing import begin_page, or_stop, or_stop_saying
from pages.widgets.session import open_workspace, settings

VIEWS = (
    "Figures",
    "Slices",
    "Confusion",
    "Reliability",
    "Sources",
    "Errors",
    "Errors found",
    "Paper's tables",
)

user = begin_page(__file__, "Evaluation")
with or_stop():
    workspace = open_workspace()
    stop_while_blind(user, workspace.project(), "Evaluation")
    st.title("Evaluation", anchor=False)
    store, ruling = workspace.store, workspace.calibrators.current()


def _bring() -> None:
    """Keep the uploaded packet and open it."""
    upload = st.session_state[f"packet-file-{st.session_state['packet_generation']}"]
    if upload is None:
        return
    name = safe_name(upload.name)
    try:
        require_writer(user.name, user.roles, "bring a packet")
        with TemporaryDirectory() as folder:
            file = Path(folder) / ("packet.jsonl.gz" if name.endswith(".gz") else "packet.jsonl")
            file.write_bytes(upload.getvalue())
            try:
                packet = bring_packet(store, name, file)
            except ProvenanceGuardError as error:
                raise InputError(_where_it_belongs(file, name) or str(error)) from None
    except ProvenanceGuardError as error:
        st.session_state["packet_problem"] = str(error)
        return
    st.session_state.pop("packet_problem", None)
    st.session_state["packet_generation"] += 1  # an empty drop zone again
    st.query_params.from_dict({"packet": packet.sha256})


def _where_it_belongs(file: Path, name: str) -> str:
    """The page for a file that is no packet of labelled claims; empty where none takes it."""
    if name.endswith(".zip"):
        return f"{name} is a folder of files: Export takes packets of reviewers' labels."
    if found := preview([file], settings()).traces:
        return f"{name} holds {counted(found, 'trace')} and no labelled claims: add it on Traces."
    return ""


def _evaluate(chosen: PacketChoice) -> None:
    """Start a run over the packet; one that was only on offer is kept first."""
    try:
        require_writer(user.name, user.roles, "evaluate a packet")
        packet = bring_choice(store, chosen, user)
        begin_evaluating(
            workspace,
            packet,
            user,
            centroid=bool(st.session_state.get("centroid")),
            ask_judge=bool(st.session_state.get("ask-judge")),
        )
    except ProvenanceGuardError as error:
        st.session_state["packet_problem"] = str(error)
        return
    st.session_state.pop("packet_problem", None)
    st.query_params.from_dict({"packet": packet.sha256})


# ---------------------------------------------------------------- which packet

st.session_state.setdefault("packet_generation", 0)
columns = st.columns([3.2, 2, 1.5, 1.5], vertical_alignment="bottom")
with columns[0]:
    choice = choose_packet(store, user, evaluated=False)
with columns[3].popover("Another packet", icon=":material/upload_file:", width="stretch"):
    st.file_uploader(
        "Claim packet",
        type=["jsonl", "json", "gz", "zip"],
        key=f"packet-file-{st.session_state['packet_generation']}",
        on_change=_bring,
        help="One labelled claim a line, with its candidate sources; also as .gz. It stays here.",
    )
if problem := st.session_state.get("packet_problem"):
    show_notice("The packet could not be used", problem, tone="bad")
if choice is None:
    stop_with("No packet yet", "Bring a packet of labelled claims: Another packet.")

packet = choice.kept
runs = kept_runs(packet) if packet else ()
running = show_evaluating(packet) if packet else False
if not running:
    place: DeltaGenerator = (
        columns[2].popover("Evaluate again", icon=":material/replay:", width="stretch")
        if runs
        else st.container(horizontal=True, vertical_alignment="center")
    )
    place.button(
        "Start" if runs else "Evaluate",
        type="primary",
        icon=":material/play_arrow:",
        key="evaluate",
        on_click=_evaluate,
        args=(choice,),
    )
    place.checkbox(
        "Read it a second time with the paper's centroid router, to compare (takes as long again)",
        key="centroid",
    )
    if (judge := workspace.judges.current()).address is not None:
        place.checkbox(
            f"Ask {inert(judge.model)} at {judge.host} too: questions, answers and outputs are sent there",
            key="ask-judge",
        )
if packet and packet.problems:
    show_notice(
        f"{counted(len(packet.problems), 'line')} could not be read and are left out",
        "\n".join(packet.problems[:20]),
        tone="careful",
    )
if packet is None or not runs:
    if not running:
        show_notice(
            "Not evaluated yet",
            "Evaluate reads every claim of the packet with the verifier, in the background: you can "
            "leave this page. It can be stopped and goes on where it was.",
        )
    st.stop()

# ---------------------------------------------------------------- what came out

with or_stop_saying("The results could not be read"):
    with columns[1]:
        run = choose_run(packet, runs, ruling, label="Made by", key="run")
    found = opened(own_predictions(packet, run)) if packet.labelled else None
if not made_as_now(run, ruling):
    show_notice(
        "Made by another version",
        "The verifier, its settings or its calibrator have changed since. Evaluate again to compare.",
        tone="careful",
    )
if found is None:
    stop_with("Nothing to measure", "No claim of this packet has a label.")
show_headline(run.report)
view = one_of("Show", VIEWS, label_visibility="collapsed", key="view", bind="query-params")
if view == "Figures":
    show_with_judge(run.report, replies=has_replies(packet.folder))
    show_metrics(run.report)
elif view == "Slices":
    show_slices(run.report)
elif view == "Confusion":
    show_confusion(run.report)
elif view == "Reliability":
    show_reliability(found)
elif view == "Sources":
    show_sources(found)
elif view == "Errors found":
    show_reading(found.columns.read_at, found.columns.bad)
elif view == "Errors":
    chosen = show_errors(found) or st.query_params.get("claim")
    if chosen is not None:
        st.query_params["claim"] = chosen
        show_claim(store, found, chosen)
else:
    show_paper_tables(found, run, packet.name, active_forest(workspace.calibrators))
