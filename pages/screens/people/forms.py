"""The forms of the people page: who works here, and in which roles."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.review.records import Person, Role
from pages.widgets.current_user import ROLE_WORDS, has_logins, role_words
from pages.widgets.forms import save, saved_forms
from pages.widgets.plain import inert, show_card, show_notice
from storage.people import People

_MAY = {
    ROLE_WORDS[Role.REVIEWER]: "reads claims, and sees nobody's answer before their own",
    ROLE_WORDS[
        Role.ADJUDICATOR
    ]: "decides where two reviewers differ, if they have not read the claim",
    ROLE_WORDS[Role.LEAD]: "gives out work, changes settings and people, exports and imports",
    ROLE_WORDS[Role.AUDITOR]: "sees everything, and changes nothing",
}


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
    if lead and len(everybody) == 1:
        show_notice(
            "You are alone here",
            "Add who is to read claims with you. Where two people read each claim (Settings says so), "
            "a third who has not read it decides where they differ: make somebody adjudicator.",
        )
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_card(
            key="everybody",
            title="Who works here",
            facts=[
                (
                    each.shown,
                    " · ".join(filter(None, (role_words(each), each.email, _recorded(each)))),
                )
                for each in everybody
            ],
        )
        show_card(key="roles", title="What a role may do", facts=list(_MAY.items()))
    with right:
        if not lead:
            show_notice("You read everything", "An auditor changes nothing.")
            return
        _show_add(people, everybody, me)
        _show_role(people, everybody, me)


def _show_add(people: People, everybody: Sequence[Person], me: Person) -> None:
    # What was saved is not offered again: each saved form is followed by an empty one.
    number = f"-{saved}" if (saved := saved_forms()) else ""
    # No st.form: within it the button could not follow what is chosen.
    with st.container(border=True):
        st.markdown("**Add a person**")
        name_box, other_box = st.columns(2)
        name = name_box.text_input("Name", key=f"new-name{number}", max_chars=200)
        email = ""
        if has_logins():
            email = other_box.text_input(
                "E-mail that they log in with", key=f"new-email{number}", max_chars=300
            )
            other_box = st.container()
        roles = other_box.multiselect(
            "Roles", list(ROLE_WORDS), [Role.REVIEWER], format_func=ROLE_WORDS.__getitem__,
            placeholder="What may they do?", key=f"new-roles{number}",
        )  # fmt: skip
        lacks = "" if roles else "Choose a role."
        for each in everybody:
            if name.strip() in (each.name, each.shown_as):
                known = f"as {role_words(each)}" if each.roles else "without a role"
                a = "another" if each.roles else "a"
                lacks = f"{each.shown} is here already, {known}: give {a} role below."
        button, beside = st.columns([1, 1.4], vertical_alignment="center")
        beside.text(lacks)
        if button.button("Add this person", key=f"add-person-button{number}", disabled=bool(lacks)):
            save(
                lambda: people.add(name, roles, by=me, email=email.strip() or None),
                f"{name} was added.",
            )


def _show_role(people: People, everybody: Sequence[Person], me: Person) -> None:
    """What is missing is offered to be given, what is there to be taken away: never both at once."""
    number = f"-{saved}" if (saved := saved_forms()) else ""
    with st.container(border=True):
        st.markdown("**Invite somebody, or change their roles or name**")
        user_box, role_box = st.columns(2)
        user = user_box.selectbox(
            "Person",
            everybody,
            format_func=lambda each: each.shown,
            index=None,
            placeholder="Who?",
            key=f"role-person{number}",
        )
        role = role_box.selectbox(
            "Role",
            list(ROLE_WORDS),
            format_func=ROLE_WORDS.__getitem__,
            index=None,
            placeholder="To give or to take",
            key=f"role-role{number}",
        )
        if user is None:
            return
        if has_logins():
            st.caption("They open this workbench and log in with their e-mail.")
        else:
            st.caption(
                "This link opens the workbench in their name; so does Change, at the top right."
            )
            here = (st.context.url or "").rpartition("/")[0]
            st.code(f"{here}/?as={user.person_id}", language=None)
        if role is None:
            _show_naming(people, user, me, number)
            return
        if role not in user.roles:
            if st.button(f"Make {inert(user.shown)} {ROLE_WORDS[role]}", key=f"give-role{number}"):
                save(
                    lambda: people.grant(user, role, by=me),
                    f"{user.shown} is now {ROLE_WORDS[role]}.",
                )
            return
        reason = st.text_input("Reason to take it away", key=f"role-reason{number}", max_chars=500)
        if st.button("Take the role away", key=f"take-role{number}"):
            save(
                lambda: people.revoke(user, role, by=me, reason=reason),
                f"{user.shown} is no longer {ROLE_WORDS[role]}.",
            )


def _show_naming(people: People, user: Person, me: Person, number: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name on the pages",
            user.shown,
            key=f"name-of-{user.person_id}{number}",
            max_chars=200,
            help=f"The audit trail, signatures and packets keep the name {inert(user.name)}.",
        )
        if st.button("Change the name", key=f"change-name{number}"):
            save(lambda: people.show_as(user, name, by=me), f"{user.shown} is now {name.strip()}.")


def _recorded(person: Person) -> str:
    return f"in the audit trail as {person.name}" if person.shown_as else ""
