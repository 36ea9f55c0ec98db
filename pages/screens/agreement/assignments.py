"""Who holds which claim: for leads to see what does not move and to free it, for auditors to read.

No answer is on it: neither what a holder said, nor what the machine says.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import OpenAssignment
from core.review.readers import may_read
from core.review.records import Role
from pages.widgets.counting import counted
from pages.widgets.days import moments
from pages.widgets.figures import widths
from pages.widgets.forms import after_saving
from pages.widgets.plain import show_notice
from pages.widgets.review_layout import duration_words
from storage.reviews import ReviewSession

DAY_SECONDS = 86_400


def show_assignments(session: ReviewSession) -> None:
    """Show every claim that somebody holds; a lead frees those that do not move, with a reason."""
    if not may_read(session.user):
        show_notice(
            "For leads and auditors", "Reviewers read blind: who reads what is not shown to them."
        )
        return
    held = session.open_assignments()
    if not held:
        show_notice(
            "No claim is in hand",
            "A claim is assigned from the moment it is on somebody's screen until they decide "
            "it, pass it on, or their time for it ends.",
            tone="good",
        )
        return
    now = datetime.now(UTC)
    _show_table(held, now)
    if Role.LEAD in session.user.roles and Role.AUDITOR not in session.user.roles:
        _show_freeing(held, session)


def _show_table(held: Sequence[OpenAssignment], now: datetime) -> None:
    st.dataframe(
        {
            "Who": [assignment.holder for assignment in held],
            "Reads": [annotation_words(assignment) for assignment in held],
            "Claim": [assignment.text for assignment in held],
            "Trace": [assignment.trace_id for assignment in held],
            "Since": [assignment.since for assignment in held],
            "No change for": [age_words(assignment.moved_at, now) for assignment in held],
            "Their time": [lease_words(assignment.lease_until, now) for assignment in held],
        },
        column_config={
            **widths({"Who": 130, "Reads": 125, "Claim": 320, "Trace": 110}),
            "Since": moments("Since", width=130),
            **widths({"No change for": 110, "Their time": 170}),
        },
        hide_index=True,
        width="stretch",
        alt=f"{counted(len(held), 'claim')} assigned, what has not moved for longest first",
        key="hands",
    )


def _show_freeing(held: Sequence[OpenAssignment], session: ReviewSession) -> None:
    by_id = {assignment.assignment_id: assignment for assignment in held}
    with st.form("free-claims", clear_on_submit=False):
        which_box, reason_box = st.columns([1.4, 1])
        which = which_box.multiselect(
            "Free these claims for somebody else",
            list(by_id),
            format_func=lambda number: assignment_words(by_id[number]),
            placeholder="Whose claim?",
            key="free-which",
        )
        reason = reason_box.text_input(
            "Reason, for the trail", key="free-reason", max_chars=500, placeholder="On leave, …"
        )
        pressed = st.form_submit_button(
            "Free them",
            key="free-claims-button",
            help="What was typed and not decided is lost; a verdict that was given stays.",
        )
    if not pressed:
        return
    if not which:
        show_notice("Which claims?", "Choose at least one.")
        return
    if not reason.strip():
        show_notice("Why are they freed?", "The trail keeps the reason.")
        return
    freed, kept = 0, []
    for number in which:
        try:
            session.release(number, reason)
            freed += 1
        except ProvenanceGuardError as error:
            kept.append(f"{assignment_words(by_id[number])}: {error}")
    if kept:
        title = f"{counted(freed, 'claim')} freed, {len(kept):,} not" if freed else "Nothing freed"
        show_notice(title, "\n".join(kept), tone="bad")
        return
    after_saving(f"{counted(freed, 'claim')} freed: the next who asks gets it.")


# ---------------------------------------------------------------- words


def annotation_words(assignment: OpenAssignment) -> str:
    """Which reading of the claim it is."""
    words = "adjudication" if assignment.slot == ADJUDICATION_SLOT else f"reading {assignment.slot}"
    return f"{words}, anew" if assignment.reconsidered else words


def assignment_words(assignment: OpenAssignment) -> str:
    """One assignment in one line."""
    return f"{assignment.holder} · {assignment.claim_id} · {annotation_words(assignment)}"


def age_words(since: datetime, now: datetime) -> str:
    """How long ago, in words that tell a pause from a holiday."""
    seconds = max(0.0, (now - since).total_seconds())
    days = round(seconds / DAY_SECONDS)
    return f"{days:,} days" if days >= 2 else duration_words(seconds)


def lease_words(until: datetime, now: datetime) -> str:
    """Until when nobody else gets the claim."""
    if until >= now:
        return f"ends in {age_words(now, until)}"
    return f"ended {age_words(until, now)} ago"
