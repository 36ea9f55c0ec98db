"""Home: what waits for me, how far the team is, what changed, and the way in for a new user."""

from __future__ import annotations

import streamlit as st

from core.places import SAMPLE
from core.review.readers import is_blind, may_read
from core.review.roles import may_write
from core.workflows.ingest import ingest
from pages.screens.home.cards import TOLD_TO_ALL, found_card, team_facts, what_changed, what_waits
from pages.screens.home.tour import show_tour, tour_steps
from pages.widgets.current_user import LOOKED_AT_THRESHOLDS
from pages.widgets.navigation import WHO_READS
from pages.widgets.plain import show_card, show_cards, show_notice
from pages.widgets.routing import begin_page, or_stop, or_stop_saying
from pages.widgets.session import open_workspace, settings
from pages.widgets.verifying import start_verifying

TRACES = "pages/traces.py"
EVENTS_LOOKED_AT = 400

user = begin_page(__file__, "Home")
with or_stop():
    workspace = open_workspace(user)
    store = workspace.store
    overview = store.overview(user)
    project = workspace.project()
    blind = is_blind(user) and project.settings.decide_first
    session = workspace.reviews(user)
    progress = session.progress()
    steps = tour_steps(
        overview,
        progress,
        workspace.calibrators.count(),
        user,
        blind=blind,
        opened=session.has_opened(),
        weighed=LOOKED_AT_THRESHOLDS in st.session_state,
    )
    sent = workspace.judges.current().sent
    lately = what_changed(workspace.trail.lately(TOLD_TO_ALL, limit=EVENTS_LOOKED_AT))

st.title("Home", anchor=False)
st.caption(
    "What a tool-using agent answered, claim by claim: supported by which source, and is the right "
    f"source credited? {sent}"
)

if overview.traces == 0:
    show_notice(
        "Welcome. There are no traces here yet",
        "A trace is one answer of a tool-using agent with every tool output behind it.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        load = (
            SAMPLE.is_file()
            and may_write(user)
            and st.button(
                "Load the sample traces and verify them",
                type="primary",
                icon=":material/play_arrow:",
                key="load-sample",
                help="Invented patients, orders and articles; reading them takes a minute or two.",
            )
        )
        st.page_link(TRACES, label="Add traces of your own", icon=":material/add:")
    if load:
        with or_stop_saying("The sample could not be loaded"):
            with st.spinner("Adding the sample traces …"):
                store.put_import(ingest([SAMPLE], store, settings()))
            start_verifying(store)
        st.switch_page(TRACES)
    show_tour(steps)
    st.stop()

# ---------------------------------------------------------------- what waits, and the team

left, right = st.columns([1.55, 1], gap="large")
with left:
    if not blind and overview.claims is not None:
        st.subheader("What was found", anchor=False)
        show_cards([found_card(overview, overview.claims)], key="found")
    st.subheader("Waiting for you", anchor=False)
    waiting = what_waits(overview, progress, user, blind=blind)
    if not waiting:
        show_notice("Nothing waits for you", "New work comes with new traces.", tone="good")
    for number, each in enumerate(waiting):
        text, action = st.columns([3, 1.1], vertical_alignment="center")
        with text:
            show_cards([{"title": each.title, "text": each.text}], key=f"waiting-{number}")
        if action.button(
            each.label,
            type="secondary" if number else "primary",
            key=f"go-{number}",
            width="stretch",
        ):
            st.switch_page(each.page, query_params=dict(each.query))
    show_tour(steps)

with right:
    st.subheader("The team", anchor=False)
    if progress.total:
        st.progress(
            progress.team_done / progress.total,
            text=f"{progress.team_done:,} of {progress.total:,} claims settled",
        )
    reads = project.settings.reads_per_claim
    show_card(
        key="team",
        title="One annotation a claim" if reads == 1 else "Two annotations a claim",
        text="Each claim is read by one person."
        if reads == 1
        else "A third person, who has not read the claim, decides where the two differ.",
        facts=team_facts(progress),
    )
    if may_read(user):
        st.page_link(
            "pages/agreement.py",
            label=WHO_READS,
            icon=":material/back_hand:",
            query_params={"readings": WHO_READS},
        )
    st.subheader("Lately", anchor=False)
    show_card(facts=lately or [("", "Nothing yet.")], key="lately")
