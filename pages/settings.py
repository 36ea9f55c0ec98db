"""How claims are reviewed, which models read them, guideline, words, keys: leads change them."""

from __future__ import annotations

import streamlit as st

from core.review.records import Role
from pages.screens.settings.judge_form import show_judge
from pages.screens.settings.nli_form import show_nli_model
from pages.screens.settings.own_keys import MY_KEYS, MY_KEYS_LINK, show_own_keys
from pages.screens.settings.project_form import show_guideline, show_project
from pages.screens.settings.word_forms import WORDS, WORDS_LINK, show_words
from pages.widgets.forms import save, show_saved
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace

user = begin_page(__file__, "Settings")

st.title("Settings", anchor=False)
with st.container():  # there in any case: a notice that comes would open the first tab anew
    show_saved(stays=True)
if Role.LEAD not in user.roles:
    st.text("Only a lead changes settings.")
with or_stop():
    workspace = open_workspace()
    project = workspace.projects.default()
    tabs = ["Reviewing", "Models", "Guideline", MY_KEYS, WORDS]
    links = {MY_KEYS_LINK: MY_KEYS, WORDS_LINK: WORDS}
    shown = links.get(st.query_params.get("show", ""), tabs[0])
    reviewing, models, rules, own_keys, words = st.tabs(tabs, default=shown)
    with reviewing:
        slices = [each.name for each in workspace.store.slices()]
        people = sum(each.active for each in workspace.people.everybody())
        show_project(workspace.projects, project, slices, user, people=people)
    with models:
        show_nli_model(workspace, user, save)
        show_judge(workspace, user, save)
    with rules:
        show_guideline(workspace.guidelines, user)
    with own_keys:
        show_own_keys(workspace, user)
    with words:
        show_words(workspace, user)
