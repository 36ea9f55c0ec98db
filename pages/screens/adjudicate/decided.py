"""What was adjudicated: listed, and taken up again with a reason."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.records import Person
from pages.widgets.counting import counted
from pages.widgets.days import moments
from pages.widgets.figures import choose_row
from pages.widgets.forms import save, show_saved
from pages.widgets.plain import show_card, show_notice
from pages.widgets.review_layout import CAUSES, SUPPORT_WORDS
from storage.triage import Decided
from storage.workspace import Workspace

SHOW, DECIDED = "show", "decided"  # ?show=decided


def shows_decided() -> bool:
    """Whether the page shows what was decided, instead of what waits."""
    return st.query_params.get(SHOW) == DECIDED


def open_decided() -> None:
    """Show what was decided from the next drawing on."""
    st.query_params[SHOW] = DECIDED


def _open_waiting() -> None:
    st.query_params.pop(SHOW, None)


def show_decided(workspace: Workspace, user: Person) -> None:
    """The adjudications that the user may reopen, the latest first, and the form that does it."""
    left, right = st.columns([4, 1.4], vertical_alignment="center")
    left.title("Decided", anchor=False)
    right.button(
        "What waits", icon=":material/balance:", key="to-waiting", on_click=_open_waiting,
        width="stretch",
    )  # fmt: skip
    show_saved()
    try:
        listed = workspace.triage.decided(user)
    except ProvenanceGuardError as error:
        show_notice("The database could not be read", str(error), tone="bad")
        return
    if not listed:
        show_notice(
            "Nothing to reopen",
            "A lead sees every adjudication that stands; an adjudicator those of their own.",
        )
        return
    chosen = choose_row(
        {
            "Claim": [each.text for each in listed],
            "Label": [SUPPORT_WORDS[each.support] for each in listed],
            "Why they differed": [CAUSES[each.cause] for each in listed],
            "Decided by": [each.decided_by for each in listed],
            "When": [each.at for each in listed],
            "Trace": [each.trace_id for each in listed],
        },
        key="decided",
        alt=f"{counted(len(listed), 'adjudication')}, the latest first; choose one to reopen it",
        hint="Choose a row to take its adjudication up again.",
        column_config={"When": moments("When")},
    )
    if chosen is not None:
        _show_reopening(workspace, user, listed[chosen])


def _show_reopening(workspace: Workspace, user: Person, one: Decided) -> None:
    show_card(
        key="to-reopen",
        title=one.text,
        facts=[
            ["Label", SUPPORT_WORDS[one.support]],
            ["Decided by", f"{one.decided_by}, {one.at.astimezone():%d %b %Y, %H:%M}"],
            ["Claim id", one.claim_id],
        ],
    )
    with st.form("reopen", clear_on_submit=False):
        reason = st.text_input(
            "Why is it decided again? The trail keeps the reason.", key="reopen-reason",
            max_chars=500,
        )  # fmt: skip
        pressed = st.form_submit_button(
            "Reopen this adjudication",
            type="primary",
            key="reopen-button",
            help="The decision stays in the trail and no longer counts; the disagreement waits for a "
            "third person again.",
        )
    if pressed:
        save(
            lambda: workspace.triage.reopen(one.claim_key, reason, by=user),
            "Reopened: the claim waits for a third person again.",
        )
