"""Traces that wait for workers of the terminal: how far they are, and what failed and why."""

from __future__ import annotations

import streamlit as st

from core.records.jobs import GivenUp, QueueCounts
from core.review.records import Person
from core.review.roles import may_write
from pages.widgets.counting import counted
from pages.widgets.forms import press
from storage.store import newest_of_file
from storage.workspace import Workspace

WORK = "provenanceguard queue work"
SHOWN = 20


def leave_to_workers(workspace: Workspace, file: str) -> None:
    """Queue the newest traces of a file."""
    workspace.jobs.put(newest_of_file(workspace.store, file))


def show_queue(workspace: Workspace, user: Person) -> None:
    """How the queue stands, while something is open in it or was given up; else nothing."""
    counts = workspace.jobs.counts()
    if counts.open:
        _show_progress(workspace, user, counts)
    elif counts.given_up:
        _show_line(workspace, user, counts)


@st.fragment(run_every="2s")
def _show_progress(workspace: Workspace, user: Person, before: QueueCounts) -> None:
    counts = workspace.jobs.counts()
    if not counts.open:
        st.rerun()
    _show_line(workspace, user, counts)


def _show_line(workspace: Workspace, user: Person, counts: QueueCounts) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="queue"):
        if counts.open:
            total = counts.open + counts.done
            st.progress(counts.done / total, text=queue_words(counts))
        else:
            st.text(queue_words(counts), width="content")
        if counts.waiting and may_write(user):
            press(
                "Take out", workspace.jobs.take_out, key="queue-stop", width="content",
                help="What waits leaves the queue; what a worker has in hand is judged.",
            )  # fmt: skip
        failing = workspace.jobs.failing(SHOWN)
        if failing:
            with st.popover("What failed", icon=":material/error:", key="queue-failing"):
                _show_failing(workspace, user, counts, failing)


def queue_words(counts: QueueCounts) -> str:
    """How the queue stands, in words; who is needed when nobody works on it."""
    words = []
    if counts.open:
        words.append(f"Queued: {counts.done:,} of {counts.open + counts.done:,} judged")
        who = counted(counts.workers, "worker")
        words.append(f"{who} at it" if counts.workers else f"no worker at it: start `{WORK}`")
    if counts.given_up:
        words.append(f"{counted(counts.given_up, 'trace')} given up")
    return " · ".join(words)


def _show_failing(
    workspace: Workspace, user: Person, counts: QueueCounts, failing: tuple[GivenUp, ...]
) -> None:
    for one in failing:
        when = f"again at {one.next_at:%H:%M:%S} UTC" if one.next_at else "given up"
        st.text(f"{one.trace_id}\n{one.reason}\n{counted(one.attempts, 'attempt')}, {when}")
    if counts.given_up > SHOWN:
        st.caption(f"The first {SHOWN}; `provenanceguard queue show` lists more.")
    if counts.given_up and may_write(user):
        press(
            "Try them again", workspace.jobs.try_again, icon=":material/refresh:", key="queue-retry"
        )
