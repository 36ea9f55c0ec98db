"""Beside an answer: the list it was opened from, flags, comments and tags, and the way to its claims.

In the frame above the page, where it takes no room from the answer and its sources.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from core.review.records import Person, Role
from pages.widgets.forms import do, show_saved
from pages.widgets.plain import show_cards
from pages.widgets.shortcuts import NEXT_TRACE, PREVIOUS_TRACE, Keymap
from pages.widgets.trace_list import (
    AT,
    LIST,
    choice_of_query,
    filters_of,
    remember_list,
    verdict_query,
)
from storage.records import Neighbours, Order, TraceMarks
from storage.triage import Mark, MarkKind
from storage.workspace import Workspace

TRACES, VERDICT, REVIEW = "pages/traces.py", "pages/verdict.py", "pages/review.py"
_GO = "trace-tools-go"
_PLACE = """<style>
.st-key-trace-tools { position: fixed; top: .4rem; right: 17.5rem; z-index: 999991; width: auto;
  flex-wrap: nowrap; gap: .25rem; }
.st-key-trace-tools button { min-height: 1.9rem; padding: .05rem .45rem; }
.st-key-trace-tools [data-testid="stText"] { white-space: nowrap; }
[data-testid="stLayoutWrapper"]:has(> .st-key-trace-tools) { position: absolute; }
@media (max-width: 1240px) {
  .st-key-trace-tools { position: static; }
  [data-testid="stLayoutWrapper"]:has(> .st-key-trace-tools) { position: static; }
}
</style>"""


def show_trace_tools(
    workspace: Workspace, user: Person, trace_id: str, *, read: bool, keys: Keymap
) -> None:
    """Show them; ``read``: the answer has a verdict, and so claims to review."""
    going = st.session_state.pop(_GO, None)
    if going == REVIEW:
        st.switch_page(REVIEW)
    if going:
        st.switch_page(VERDICT, query_params=going)
    show_saved()
    triage = workspace.triage
    marks = triage.standing([trace_id]).get(trace_id, TraceMarks())
    st.html(_PLACE)
    with st.container(horizontal=True, vertical_alignment="center", key="trace-tools"):
        _show_neighbours(workspace, user, trace_id, keys)
        if read and Role.REVIEWER in user.roles and Role.AUDITOR not in user.roles:
            st.button(
                "Label",
                icon=":material/rate_review:",
                key="to-its-claims",
                help="Review the claims of this answer, the one on screen first. That you have seen "
                "the verifier's view is kept with what you say.",
                on_click=_turn_to,
                args=(workspace, user, trace_id),
            )
        mine = user.shown in marks.flagged_by
        if Role.AUDITOR not in user.roles:
            st.button(
                "Flagged" if mine else "Flag",
                icon=":material/flag:",
                type="primary" if mine else "secondary",
                key="flag-trace",
                help="Take my flag back" if mine else "Flag this answer for others to look at",
                on_click=_mark,
                args=(workspace, user, trace_id, MarkKind.UNFLAG if mine else MarkKind.FLAG, ""),
            )
        said_so_far = marks.comments + len(marks.tags)
        with st.popover(
            f"Notes {said_so_far}" if said_so_far else "Notes",
            icon=":material/chat:",
            key="trace-notes",
            on_change="rerun",
        ) as notes:
            if getattr(notes, "open", True):
                _show_notes(workspace, user, trace_id, marks)


def _show_neighbours(workspace: Workspace, user: Person, trace_id: str, keys: Keymap) -> None:
    """The answers before and after this one in the list that it was opened from."""
    remember_list(trace_id)
    at = st.query_params.get(AT, "")
    if not at.isdecimal():
        return
    choice = choice_of_query(st.query_params.get(LIST, ""))
    found = workspace.store.neighbours(
        trace_id, filters_of(choice, user), Order(choice.order), int(at)
    )
    if found is None:
        found = Neighbours(place=0, total=0, before=None, after=None)
    for name, words, other, step in (
        (PREVIOUS_TRACE, "‹", found.before, -1),
        (NEXT_TRACE, "›", found.after, 1),
    ):
        query = None if other is None else verdict_query(other, choice, found.place + step)
        st.button(
            words,
            key=name,
            shortcut=keys.of(name),
            disabled=query is None,
            help=f"{'Answer before' if step < 0 else 'Answer after'} in the list",
            on_click=_go,
            args=(query,),
        )
    st.text(f"{found.place:,} of {found.total:,}" if found.place else "not listed", width="content")


def _show_notes(workspace: Workspace, user: Person, trace_id: str, marks: TraceMarks) -> None:
    written = [m for m in workspace.triage.marks_on(trace_id) if m.kind is MarkKind.COMMENT]
    if written:
        show_cards([_card(each) for each in written], key="comments")
    if marks.tags:
        st.text("Tags: " + ", ".join(marks.tags))
    if Role.AUDITOR in user.roles:
        return
    claim = st.query_params.get("claim")
    with st.form("note-on-trace", clear_on_submit=True):
        comment = st.text_area("Comment", key="trace-comment", max_chars=4_000, height=90)
        about = st.checkbox("On the claim on screen", key="about-claim", value=bool(claim))
        if st.form_submit_button("Add the comment", key="add-comment"):
            _mark(workspace, user, trace_id, MarkKind.COMMENT, comment, claim if about else None)
            st.rerun()
    with st.form("tag-on-trace", clear_on_submit=True):
        tag = st.text_input("Tag", key="trace-tag", max_chars=60)
        with st.container(horizontal=True):
            given = st.form_submit_button("Add the tag", key="add-tag")
            taken = st.form_submit_button("Take it off", key="drop-tag")
        if given or taken:
            _mark(workspace, user, trace_id, MarkKind.TAG if given else MarkKind.UNTAG, tag)
            st.rerun()


def _card(mark: Mark) -> dict[str, object]:
    about = f" · claim {mark.claim_id.rsplit('::', 1)[-1]}" if mark.claim_id else ""
    return {
        "title": mark.person,
        "aside": f"{mark.at.astimezone():%d %b %Y, %H:%M}{about}",
        "text": mark.text,
    }


# ---------------------------------------------------------------- presses


def _go(query: dict[str, str] | None) -> None:
    if query is not None:
        st.session_state[_GO] = query


def _turn_to(workspace: Workspace, user: Person, trace_id: str) -> None:
    claim = st.query_params.get("claim")
    begun = "First the claim that you began; the claims of that answer come next."

    def turn() -> bool:
        turned = workspace.triage.turn_to(trace_id, claim, by=user)
        st.session_state.pop("of-user-assignment", None)  # the database says what is in hand now
        st.session_state[_GO] = REVIEW
        return turned

    do(turn, lambda turned: "" if turned else begun)


def go_to_its_claims(workspace: Workspace, user: Person, trace_id: str) -> NoReturn:
    """Leave for the review of this answer's claims, the one on screen first."""
    _turn_to(workspace, user, trace_id)
    st.switch_page(REVIEW)


def _mark(
    workspace: Workspace,
    user: Person,
    trace_id: str,
    kind: MarkKind,
    text: str,
    claim_id: str | None = None,
) -> None:
    do(lambda: workspace.triage.mark([trace_id], kind, text, by=user, claim_id=claim_id))
