"""Who works here, how claims are read, and the guideline: leads change them, each with a reason."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from pages.components.people_forms import show_guideline, show_people, show_project, show_saved
from pages.components.plain import show_notice
from pages.components.routing import ensure_routed
from pages.components.session import open_store
from pages.components.who import current_person, show_person
from storage.guidelines import Guidelines
from storage.people import People
from storage.projects import Projects

ensure_routed(__file__)
st.set_page_config(page_title="People · ProvenanceGuard")

person = current_person()
show_person(person)
show_saved()

st.title("People", anchor=False)
try:
    store = open_store()
    projects = Projects(store=store)
    who, how, what = st.tabs(["People and roles", "How claims are read", "Guideline"])
    with who:
        show_people(People(store=store), person)
    with how:
        slices = [each.name for each in store.slices()]
        show_project(projects, projects.default(), slices, person)
    with what:
        show_guideline(Guidelines(store=store), person)
except ProvenanceGuardError as error:
    show_notice("The database could not be read", str(error), key="no-database", tone="bad")
