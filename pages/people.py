"""Who works here and holds what, how claims are read, the guideline: leads change them with a reason."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.workflows.review import open_review_session
from pages.screens.people.forms import (
    show_guideline,
    show_people,
    show_project,
)
from pages.screens.people.judge_form import show_judge
from pages.screens.people.nli_form import show_nli_model
from pages.screens.people.own_keys import MY_KEYS, MY_KEYS_LINK, show_own_keys
from pages.screens.people.word_forms import WORDS, WORDS_LINK, show_words
from pages.widgets.assignments import ASSIGNMENTS, ASSIGNMENTS_LINK, show_assignments
from pages.widgets.current_user import current_user, show_current_user
from pages.widgets.forms import save, show_saved
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
    projects = workspace.projects
    tabs = ["People and roles", ASSIGNMENTS, "How claims are read", "Guideline", MY_KEYS, WORDS]
    links = {ASSIGNMENTS_LINK: ASSIGNMENTS, MY_KEYS_LINK: MY_KEYS, WORDS_LINK: WORDS}
    shown = links.get(st.query_params.get("show", ""), tabs[0])
    roles, assigned, reading, rules, own_keys, words = st.tabs(tabs, default=shown)
    with roles:
        show_people(workspace.people, user)
    with assigned:
        show_assignments(open_review_session(workspace, projects.default(), user))
    with reading:
        slices = [each.name for each in workspace.store.slices()]
        show_project(projects, projects.default(), slices, user)
        show_nli_model(workspace, user, save)
        show_judge(workspace, user, save)
    with rules:
        show_guideline(workspace.guidelines, user)
    with own_keys:
        show_own_keys(workspace, user)
    with words:
        show_words(workspace, projects.default(), user)
except ProvenanceGuardError as error:
    show_notice("The database could not be read", str(error), key="no-database", tone="bad")
