"""Who works here and holds what, how claims are read, the guideline: leads change them with a reason."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.workflows.review import open_review_session
from pages.screens.people.forms import (
    save,
    show_guideline,
    show_people,
    show_project,
    show_saved,
)
from pages.screens.people.reader_form import show_reader
from pages.widgets.assignments import HANDS, HANDS_LINK, show_hands
from pages.widgets.current_user import current_person, show_person
from pages.widgets.plain import show_notice
from pages.widgets.routing import ensure_routed
from pages.widgets.session import open_workspace

ensure_routed(__file__)
st.set_page_config(page_title="People · ProvenanceGuard")

person = current_person()
show_person(person)
show_saved()

st.title("People", anchor=False)
try:
    workspace = open_workspace()
    projects = workspace.projects
    tabs = ["People and roles", HANDS, "How claims are read", "Guideline"]
    shown = HANDS if st.query_params.get("show") == HANDS_LINK else tabs[0]
    who, hands, how, what = st.tabs(tabs, default=shown)
    with who:
        show_people(workspace.people, person)
    with hands:
        show_hands(open_review_session(workspace, projects.default(), person))
    with how:
        slices = [each.name for each in workspace.store.slices()]
        show_project(projects, projects.default(), slices, person)
        show_reader(workspace, person, save)
    with what:
        show_guideline(workspace.guidelines, person)
except ProvenanceGuardError as error:
    show_notice("The database could not be read", str(error), key="no-database", tone="bad")
