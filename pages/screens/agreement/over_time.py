"""Figures for a team: how far it is week by week, and why annotations differed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime

import plotly.graph_objects as go
import streamlit as st

from core.review.assignment import LEAST_PACED
from core.review.records import Person, ReviewedClaim, Role
from core.statistics import exact_binomial_interval
from core.workflows.agreement import AgreementView
from pages.screens.agreement.assignments import show_assignments
from pages.widgets.counting import counted
from pages.widgets.figures import percent, show_numbers
from pages.widgets.plots import BLUE, GREEN, ORANGE
from pages.widgets.review_layout import CAUSES
from storage.workspace import Workspace

Week = tuple[str, int, int, int]  # its Monday; annotations, decisions, claims settled so far


def weeks_of(claims: Collection[ReviewedClaim]) -> list[Week]:
    """What was read and decided in each week from the first to the last, none left out."""
    # Weeks since Monday, 1 January of the year 1: for 100,000 annotations no date is made.
    read, decided, settled = list[int](), list[int](), Counter[int]()
    for claim in claims:
        days = [each.at.toordinal() - 1 for each in claim.annotations]
        read += days
        last = max(days)
        if claim.adjudication is not None:
            last = claim.adjudication.at.toordinal() - 1
            decided.append(last)
        if claim.resolution.final is not None:
            settled[last // 7] += 1
    if not read:
        return []
    annotations, decisions = (Counter(day // 7 for day in days) for days in (read, decided))
    weeks, so_far = [], 0
    for week in range(min(annotations), max([*annotations, *decisions]) + 1):
        so_far += settled[week]
        monday = date.fromordinal(7 * week + 1).isoformat()
        weeks.append((monday, annotations[week], decisions[week], so_far))
    return weeks


def causes_of(claims: Collection[ReviewedClaim]) -> list[tuple[str, int, float, int]]:
    """Why annotations differed, the most frequent first: words, claims, share, guideline to be fixed."""
    decided = [claim.adjudication for claim in claims if claim.adjudication is not None]
    counts = Counter(each.cause for each in decided)
    fixes = Counter(each.cause for each in decided if each.guideline_needs_fix)
    return [
        (CAUSES[cause], count, count / len(decided), fixes[cause])
        for cause, count in counts.most_common()
    ]


def show_over_time(claims: Collection[ReviewedClaim]) -> None:
    """How far the team is, week by week: annotations, decisions, and what is settled."""
    weeks = weeks_of(claims)
    if not weeks:
        return
    st.subheader("The team over time", anchor=False)
    if len(weeks) > 1:  # one bar shows nothing
        st.plotly_chart(_weeks_figure(weeks), width="stretch", key="team-weeks")
    show_numbers(
        ("Week from", "Annotations", "Adjudications", "Claims settled so far"),
        weeks,
        name="team-by-week",
        alt="Annotations and adjudications of each week, and how many claims are settled by its end",
    )


def cut_words(claims: Collection[ReviewedClaim]) -> str:
    """How many settled claims are none, or were cut out of their answer wrongly; nothing without any."""
    settled = [claim.resolution.final for claim in claims if claim.resolution.final is not None]
    unfit = [final for final in settled if final.label is None]
    share = exact_binomial_interval(len(unfit), len(settled))
    if not unfit or share is None:
        return ""
    corrected = sum(bool(final.correction) for final in unfit)
    return (
        f"Cut of claims: {len(unfit):,} of {counted(len(settled), 'settled claim')} "
        f"({percent(len(unfit) / len(settled))}, 95 % interval {percent(share[0])} to "
        f"{percent(share[1])}) are none, or were cut out of the answer wrongly; what they should say "
        f"is written for {corrected:,}. They count for no other figure and teach no calibrator."
    )


def show_causes(claims: Collection[ReviewedClaim]) -> None:
    """Why two annotations differed, as the third person said."""
    causes = causes_of(claims)
    if not causes:
        return
    st.subheader("Why annotations differed", anchor=False)
    show_numbers(
        ("Cause", "Claims", "Share", "Guideline to be fixed"),
        causes,
        name="disagreement-by-cause",
        alt="Causes of disagreement: how many claims, which share, how often the guideline is at fault",
    )


def by_person(
    view: AgreementView, workspace: Workspace, user: Person, now: datetime
) -> list[tuple[str, int, int, int, int, int | None, str]]:
    """Each reviewer: claims read, still to read, in hand, overdue, seconds a claim, agreement.

    Raises NotAllowed for anybody who is neither lead nor auditor. No answer is in it.
    """
    late = Counter(
        each.holder for each in workspace.reviews(user).open_assignments() if each.lease_until < now
    )
    agree, differ = (
        Counter(said.reviewer for key in keys for said in view.claims[key].annotations)
        for keys in (view.people.agreeing, view.people.differing)
    )
    rows = []
    for each in workspace.people.everybody():
        if Role.REVIEWER not in each.roles:
            continue
        mine = workspace.reviews(each).progress()
        seconds = mine.seconds_per_claim if mine.mine_done >= LEAST_PACED else None
        compared = agree[each.shown] + differ[each.shown]
        rows.append(
            (
                each.shown, mine.mine_done, mine.left_for_me, mine.mine_open, late[each.shown],
                None if seconds is None else round(seconds),
                f"{agree[each.shown]:,} of {compared:,}" if compared else "–",
            )
        )  # fmt: skip
    return rows


def show_by_person(view: AgreementView, workspace: Workspace, user: Person) -> None:
    """How far each reviewer is, what everybody holds, and what a lead can do about it."""
    show_numbers(
        ("Who", "Read", "To read", "In hand", "Overdue", "Seconds a claim", "Agrees with another"),
        by_person(view, workspace, user, datetime.now(UTC)),
        name="agreement-by-person",
        alt="Each reviewer: read, to read, in hand, overdue, seconds a claim, agreement",
    )
    st.page_link("pages/traces.py", label="Assign traces", icon=":material/person_add:")
    st.subheader("Claims in hand", anchor=False)
    show_assignments(workspace.reviews(user))


def _weeks_figure(weeks: Sequence[Week]) -> go.Figure:
    names, read, decided, settled = zip(*weeks, strict=True)
    figure = go.Figure()
    figure.add_bar(x=names, y=read, name="annotations", marker={"color": BLUE})
    figure.add_bar(x=names, y=decided, name="adjudications", marker={"color": ORANGE})
    line = {"color": GREEN}
    figure.add_scatter(
        x=names, y=settled, name="claims settled so far", mode="lines+markers", line=line
    )
    figure.update_layout(
        title=f"Annotations and adjudications a week, n = {sum(read):,} annotations",
        height=300,
        margin={"l": 10, "r": 10, "t": 45, "b": 10},
        xaxis={"title": "week from", "type": "category"},
        yaxis_title="count",
        barmode="group",
    )
    return figure
