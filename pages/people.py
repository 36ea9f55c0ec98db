"""Who works here, and in which roles: leads add people, give roles and take them away."""

from __future__ import annotations

import streamlit as st

from pages.screens.people.forms import show_people
from pages.widgets.forms import show_saved
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace

user = begin_page(__file__, "People")
show_saved()

st.title("People", anchor=False)
with or_stop():
    show_people(open_workspace().people, user)
