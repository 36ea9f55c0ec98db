"""Who did what, when and why: the audit trail, filtered, checked link by link, and exported."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.review.readers import require_reader
from pages.screens.audit.trail import (
    action_words,
    show_chain,
    show_everything_checked,
    show_trail,
    trail_lines,
)
from pages.widgets.days import whole_days
from pages.widgets.figures import offer
from pages.widgets.plain import stop_with
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace
from storage.trail import TrailFilters

ROWS_A_PAGE = 100

user = begin_page(__file__, "Audit")

with or_stop("The trail is for leads and auditors"):
    require_reader(user, "read the audit trail")
    workspace = open_workspace()
    trail = workspace.trail
    actors, actions = trail.actors(), trail.actions()

left, middle, right = st.columns([1.1, 3.4, 1.4], vertical_alignment="center")
left.title("Audit", anchor=False)
with middle:
    show_chain(trail)
check_all = right.button(
    "Check every document",
    icon=":material/verified:",
    help="Compare every stored trace, verdict, annotation and decision with the event that told of it.",
    width="stretch",
    key="check-all",
)
if check_all:
    show_everything_checked(workspace.store)

# ---------------------------------------------------------------- which events

who_column, what_column, about_column, day_column = st.columns(
    [1.4, 1.6, 2, 1.6], vertical_alignment="bottom"
)
actor = who_column.selectbox("Who", actors, index=None, placeholder="Anybody", key="actor")
action = what_column.selectbox(
    "What", actions, index=None, placeholder="Anything", format_func=action_words, key="action"
)
about = about_column.text_input(
    "About",
    type="search",
    placeholder="A claim's or trace's id, a person's name",
    icon=":material/search:",
    key="about",
)
days = day_column.date_input("From, to (UTC)", value=[], key="trail-days")
since, until = whole_days(days)
filters = TrailFilters(actor=actor, action=action, entity=about or "", since=since, until=until)

number = max(1, int(st.session_state.get("trail-page", 1) or 1))
found = trail.find(filters, user, offset=(number - 1) * ROWS_A_PAGE, limit=ROWS_A_PAGE)
if found.total and not found.entries:
    found = trail.find(filters, user, limit=ROWS_A_PAGE)  # a narrower filter has fewer pages
if not found.entries:
    stop_with("No event matches", "Choose anybody, anything, or other days.")

show_trail(found.entries)
pages = -(-found.total // ROWS_A_PAGE)
with st.container(horizontal=True, vertical_alignment="center"):
    lines = partial(trail_lines, trail, filters, user)
    offer("Download these events (JSON Lines)", lines, "audit-trail.jsonl", key="download-trail")
    if pages > 1:
        st.pagination(pages, key="trail-page")
    first = found.offset + 1
    st.caption(
        f"{first:,} to {first + len(found.entries) - 1:,} of {found.total:,}, the latest first",
        width="content",
    )
