"""The forms of the people page: who works here, and in which roles."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.review.records import Person, Role
from pages.widgets.current_user import ROLE_WORDS, role_words
from pages.widgets.forms import save, saved_forms
from pages.widgets.plain import inert, show_card, show_notice
from storage.people import People


def show_people(people: People, me: Person) -> None:
    """Who works here; a lead adds people, gives roles and takes them away."""
    lead = Role.LEAD in me.roles
    if not (lead or Role.AUDITOR in me.roles):
        show_notice(
            f"You are here as {role_words(me)}",
            "Reviewers read blind, so this page does not name the others. Leads and auditors see "
            "everybody.",
        )
        return
    everybody = people.everybody()
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_card(
            key="everybody",
            title="Who works here",
            facts=[
                (each.name, role_words(each) + (f" · {each.email}" if each.email else ""))
                for each in everybody
            ],
        )
    with right:
        if not lead:
            show_notice("You read everything", "An auditor changes nothing.")
            return
        _show_add(people, me)
        _show_role(people, everybody, me)


def _show_add(people: People, me: Person) -> None:
    # What was saved is not offered again: each saved form is followed by an empty one.
    number = f"-{saved}" if (saved := saved_forms()) else ""
    with st.form(f"add-person{number}", clear_on_submit=False):
        st.markdown("**Add a person**")
        name_box, email_box = st.columns(2)
        name = name_box.text_input("Name", key=f"new-name{number}", max_chars=200)
        email = email_box.text_input(
            "E-mail of the login, if there is one", key=f"new-email{number}", max_chars=300
        )
        roles = st.multiselect(
            "Roles", list(ROLE_WORDS), format_func=ROLE_WORDS.__getitem__, key=f"new-roles{number}"
        )
        if st.form_submit_button("Add this person", key=f"add-person-button{number}"):
            save(
                lambda: people.add(name, roles, by=me, email=email.strip() or None),
                f"{name} was added.",
            )


def _show_role(people: People, everybody: Sequence[Person], me: Person) -> None:
    """What is missing is offered to be given, what is there to be taken away: never both at once."""
    number = f"-{saved}" if (saved := saved_forms()) else ""
    with st.container(border=True):
        st.markdown("**Give a role, or take one away**")
        user_box, role_box = st.columns(2)
        user = user_box.selectbox(
            "Person",
            everybody,
            format_func=lambda each: each.name,
            index=None,
            placeholder="Whose role?",
            key=f"role-person{number}",
        )
        role = role_box.selectbox(
            "Role",
            list(ROLE_WORDS),
            format_func=ROLE_WORDS.__getitem__,
            index=None,
            placeholder="Which role?",
            key=f"role-role{number}",
        )
        if user is None or role is None:
            return
        if role not in user.roles:
            if st.button(f"Make {inert(user.name)} {ROLE_WORDS[role]}", key=f"give-role{number}"):
                save(
                    lambda: people.grant(user, role, by=me),
                    f"{user.name} is now {ROLE_WORDS[role]}.",
                )
            return
        reason = st.text_input("Reason to take it away", key=f"role-reason{number}", max_chars=500)
        if st.button("Take the role away", key=f"take-role{number}"):
            save(
                lambda: people.revoke(user, role, by=me, reason=reason),
                f"{user.name} is no longer {ROLE_WORDS[role]}.",
            )
