"""Who works here and who holds which claim: leads change it with a reason."""

from __future__ import annotations

import streamlit as st

from core.workflows.review import open_review_session
from pages.screens.people.forms import show_people
from pages.widgets.assignments import ASSIGNMENTS, ASSIGNMENTS_LINK, show_assignments
from pages.widgets.forms import show_saved
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace

user = begin_page(__file__, "People")
show_saved()

st.title("People", anchor=False)
with or_stop():
    workspace = open_workspace()
    tabs = ["People and roles", ASSIGNMENTS]
    linked = st.query_params.get("show") == ASSIGNMENTS_LINK
    roles, assigned = st.tabs(tabs, default=ASSIGNMENTS if linked else tabs[0])
    with roles:
        show_people(workspace.people, user)
    with assigned:
        show_assignments(open_review_session(workspace, workspace.projects.default(), user))
