"""The forms of the settings page: how claims are reviewed, and what reviewers agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.review.records import Person, Project, ProjectSettings, Role
from pages.widgets.days import when
from pages.widgets.forms import one_of, save, saved_forms, show_publishing
from pages.widgets.plain import show_card
from storage.guidelines import Guidelines
from storage.projects import Projects

READING_TWICE = 3  # people
READS = {1: "One person reads it", 2: "Two people; a third decides where they differ"}

# ---------------------------------------------------------------- project


def show_project(
    projects: Projects, project: Project, slices: Sequence[str], me: Person, *, people: int
) -> None:
    """How claims are read; a lead changes it with a reason. ``people`` are at work here."""
    now = project.settings
    if people < READING_TWICE:
        st.caption(
            f"For two people to read each claim, {READING_TWICE} are needed: the third decides where "
            f"they differ. {'One person works' if people == 1 else f'{people} people work'} here: a "
            "lead adds others on People."
        )
    fixed = Role.LEAD not in me.roles
    # No st.form: that draws nothing before its next press, and so keeps a refusal that was answered.
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        settings = _queue_settings(right, _annotation_settings(left, now, slices, fixed), fixed)
        key = f"set-reason-{saved_forms()}"
        reason = "" if fixed else right.text_input("Reason for the change", key=key)
        pressed = st.button(
            "Save the settings", type="primary", disabled=fixed, key="save-settings"
        )
    if pressed:
        save(
            lambda: projects.change(project, settings, by=me, reason=reason),
            "The settings were saved.",
        )


def _annotation_settings(
    place: DeltaGenerator, now: ProjectSettings, slices: Sequence[str], fixed: bool
) -> ProjectSettings:
    """How often and how a claim is read, as chosen there."""
    reads = one_of(
        "How many read a claim", READS, at=place, default=now.reads_per_claim, disabled=fixed,
        key="set-reads",
    )  # fmt: skip
    decide_first = place.toggle(
        "Decide first: the verifier's view is shown after the decision",
        value=now.decide_first,
        disabled=fixed,
        key="set-decide",
        help="People who see a machine's verdict first tend to follow it.",
    )
    options = [None, *dict.fromkeys([*([now.slice] if now.slice else []), *slices])]
    chosen = place.selectbox(
        "Which traces are read",
        options,
        format_func=lambda each: "All traces" if each is None else each,
        index=options.index(now.slice),
        disabled=fixed,
        key="set-slice",
        help="All of them, or those of one slice: a group that the traces name themselves.",
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
        help="The rest comes least supported first. Only what is drawn at random says how often "
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
        "An answer counts after (milliseconds)",
        0,
        60_000,
        now.dwell_milliseconds,
        step=100,
        disabled=fixed,
        key="set-dwell",
        help="A press sooner after a claim appears was meant for the one before, and is ignored.",
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
        show_card(
            key="guideline-now",
            title=f"Version {current.version}, active",
            aside=f"since {when(current.at)}",
            text=current.text,
        )
    with right:
        if Role.LEAD in me.roles:
            show_publishing(guidelines, current, me)
        show_card(
            key="guideline-versions",
            title="All versions",
            facts=[
                (f"{each.version} · {each.at.astimezone():%d %b %Y}", each.change)
                for each in reversed(versions)
            ],
        )
