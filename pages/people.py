"""Who works here and who holds which claim: leads change it with a reason."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.workflows.review import open_review_session
from pages.screens.people.forms import show_people
from pages.widgets.assignments import ASSIGNMENTS, ASSIGNMENTS_LINK, show_assignments
from pages.widgets.current_user import current_user, show_current_user
from pages.widgets.forms import show_saved
from pages.widgets.plain import show_notice
from pages.widgets.routing import ensure_routed
from pages.widgets.session import open_workspace

ensure_routed(__file__)
st.set_page_config(page_title="People · ProvenanceGuard")

user = current_user()
show_current_user(user)
show_saved()

st.title("People", anchor=False)
try:
    workspace = open_workspace()
    tabs = ["People and roles", ASSIGNMENTS]
    linked = st.query_params.get("show") == ASSIGNMENTS_LINK
    roles, assigned = st.tabs(tabs, default=ASSIGNMENTS if linked else tabs[0])
    with roles:
        show_people(workspace.people, user)
    with assigned:
        show_assignments(open_review_session(workspace, workspace.projects.default(), user))
except ProvenanceGuardError as error:
    show_notice("The database could not be read", str(error), key="no-database", tone="bad")
