"""The forms of the people page: who works here, how claims are read, and what reviewers agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.review.records import Person, Project, ProjectSettings, Role
from pages.widgets.current_user import ROLE_WORDS, role_words
from pages.widgets.forms import save, saved_forms, show_publishing
from pages.widgets.plain import show_cards, show_notice
from storage.guidelines import Guidelines
from storage.people import People
from storage.projects import Projects

# ---------------------------------------------------------------- people


def show_people(people: People, me: Person) -> None:
    """Who works here; a lead adds people, gives roles and takes them away."""
    lead = Role.LEAD in me.roles
    if not (lead or Role.AUDITOR in me.roles):
        show_notice(
            f"You are here as {role_words(me)}",
            "Reviewers read blind, so this page does not name the others. Leads and auditors see "
            "everybody.",
            key="blind-people",
        )
        return
    everybody = people.everybody()
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_cards(
            [
                {
                    "title": "Who works here",
                    "facts": [
                        (each.name, role_words(each) + (f" · {each.email}" if each.email else ""))
                        for each in everybody
                    ],
                }
            ],
            key="everybody",
        )
    with right:
        if not lead:
            show_notice("You read everything", "An auditor changes nothing.", key="auditor")
            return
        _show_add(people, me)
        _show_role(people, everybody, me)


def _show_add(people: People, me: Person) -> None:
    # What was saved is not offered again: each saved form is followed by an empty one.
    number = f"-{saved}" if (saved := saved_forms()) else ""
    with st.form(f"add-person{number}", clear_on_submit=False):
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
    number = f"-{saved}" if (saved := saved_forms()) else ""
    with st.form(f"change-role{number}", clear_on_submit=False):
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
        reason = st.text_input(
            "Reason (to take a role away)", key=f"role-reason{number}", max_chars=500
        )
        with st.container(horizontal=True):
            give = st.form_submit_button("Give the role", key=f"give-role{number}")
            take = st.form_submit_button("Take it away", key=f"take-role{number}")
    if not (give or take):
        return
    if user is None or role is None:
        show_notice("Whose role, and which?", "Choose a person and a role.", key="role-which")
    elif give:
        save(lambda: people.grant(user, role, by=me), f"{user.name} is now {ROLE_WORDS[role]}.")
    else:
        save(
            lambda: people.revoke(user, role, by=me, reason=reason),
            f"{user.name} is no longer {ROLE_WORDS[role]}.",
        )


# ---------------------------------------------------------------- project


def show_project(projects: Projects, project: Project, slices: Sequence[str], me: Person) -> None:
    """How claims are read; a lead changes it with a reason."""
    now = project.settings
    fixed = Role.LEAD not in me.roles
    with st.form("project", clear_on_submit=False):
        left, right = st.columns(2, gap="large")
        settings = _queue_settings(right, _reading_settings(left, now, slices, fixed), fixed)
        reason = right.text_input("Reason for the change", key="set-reason", disabled=fixed)
        pressed = st.form_submit_button(
            "Save the settings", type="primary", disabled=fixed, key="save-settings"
        )
    if pressed:
        save(
            lambda: projects.change(project, settings, by=me, reason=reason),
            "The settings were saved.",
        )


def _reading_settings(
    place: DeltaGenerator, now: ProjectSettings, slices: Sequence[str], fixed: bool
) -> ProjectSettings:
    """How often and how a claim is read, as chosen there."""
    reads = place.segmented_control(
        "Readings a claim",
        [1, 2],
        format_func=lambda n: (
            "One person reads it" if n == 1 else "Two people; a third decides where they differ"
        ),
        default=now.reads_per_claim,
        required=True,
        disabled=fixed,
        key="set-reads",
    )
    decide_first = place.toggle(
        "Decide first: the verifier's view is shown after the decision",
        value=now.decide_first,
        disabled=fixed,
        key="set-decide",
        help="People who see a machine's verdict first tend to follow it.",
    )
    options = [None, *dict.fromkeys([*([now.slice] if now.slice else []), *slices])]
    chosen = place.selectbox(
        "Only traces of this slice",
        options,
        format_func=lambda each: "All traces" if each is None else each,
        index=options.index(now.slice),
        disabled=fixed,
        key="set-slice",
    )
    return replace(
        now,
        reads_per_claim=int(reads or now.reads_per_claim),
        decide_first=decide_first,
        slice=chosen,
    )


def _queue_settings(place: DeltaGenerator, now: ProjectSettings, fixed: bool) -> ProjectSettings:
    """Which claims come and for how long, as chosen there."""
    audit = place.slider(
        "Share drawn at random",
        0,
        100,
        round(now.audit_share * 100),
        format="%d %%",
        disabled=fixed,
        key="set-audit",
        help="The rest comes most doubtful first. Only what is drawn at random says how often "
        "the verifier is wrong.",
    )
    lease, dwell = place.columns(2)
    minutes = lease.number_input(
        "A claim is held for (minutes)",
        1,
        10_080,
        now.lease_minutes,
        disabled=fixed,
        key="set-lease",
    )
    floor = dwell.number_input(
        "No verdict sooner than (ms)",
        0,
        60_000,
        now.dwell_milliseconds,
        step=100,
        disabled=fixed,
        key="set-dwell",
    )
    return replace(
        now,
        audit_share=_share(audit, now),
        lease_minutes=int(minutes),
        dwell_milliseconds=int(floor),
    )


def _share(percent: int, now: ProjectSettings) -> float:
    """The share in [0, 1]; what was not moved stays as fine as it was."""
    return now.audit_share if percent == round(now.audit_share * 100) else percent / 100


# ---------------------------------------------------------------- guideline


def show_guideline(guidelines: Guidelines, me: Person) -> None:
    """The active guideline and its versions; a lead publishes the next one."""
    versions = guidelines.versions()
    current = versions[-1]
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_cards(
            [
                {
                    "title": f"Version {current.version}, active",
                    "aside": f"since {current.at.astimezone():%d %b %Y, %H:%M}",
                    "text": current.text,
                }
            ],
            key="guideline-now",
        )
    with right:
        if Role.LEAD in me.roles:
            show_publishing(guidelines, current, me)
        show_cards(
            [
                {
                    "title": "All versions",
                    "facts": [
                        (
                            f"{each.version} · {each.at.astimezone():%d %b %Y}",
                            each.change,
                        )
                        for each in reversed(versions)
                    ],
                }
            ],
            key="guideline-versions",
        )
