"""The audit trail as a table: who, when, what, from what to what, and why; one event can be opened."""

from __future__ import annotations

import json
from functools import lru_cache
from io import BytesIO
from typing import BinaryIO

import streamlit as st

from core.review.records import Person
from pages.widgets.counting import counted
from pages.widgets.figures import choose_row, widths
from pages.widgets.navigation import link_verdict
from pages.widgets.plain import show_card
from storage.store import SqlStore
from storage.trail import LinkCheck, Trail, TrailEntry, TrailFilters

# Checking this many links takes a second at most; a longer trail is checked when somebody asks.
CHECKED_UNASKED = 20_000

ACTIONS = {
    "adjudication.imported": "imported a decision",
    "calibrator.kept": "kept a calibrator",
    "calibrator.promote": "promoted a calibrator",
    "calibrator.reject": "rejected a calibrator",
    "calibrator.roll_back": "rolled the calibrator back",
    "calibrator.threshold": "changed the threshold",
    "claim.adjudicated": "decided a claim",
    "claim.pre_labelled": "imported pre-labels",
    "claim.assigned": "took a claim",
    "claim.declined": "gave a claim back",
    "claim.pass_undone": "took a claim up again that they had given back",
    "claim.released": "released a claim",
    "files.imported": "imported files",
    "guideline.published": "published the guideline",
    "judge.chosen": "chose the judge",
    "judge.sent": "sent claims to the judge",
    "keys.bound": "chose keys of their own",
    "labels.finished": "finished importing labels",
    "labels.imported": "began to import labels",
    "labels.withdrawn": "took an import of labels back",
    "model.revealed": "saw the machine's view",
    "packet.exported": "exported a packet",
    "packet.signed": "signed a packet",
    "packet.unlocked": "unlocked a packet",
    "person.added": "added a person",
    "person.shown_as": "named a person",
    "project.added": "added a project",
    "project.changed": "changed the settings",
    "reader.chosen": "chose the NLI model",
    "repair.chosen": "decided on an edit",
    "repair.stored": "proposed a repair",
    "repair.verified": "verified a repaired text",
    "role.granted": "granted a role",
    "role.revoked": "took a role away",
    "round.begun": "began an agreement round",
    "round.claims": "chose its claims",
    "round.readers": "chose its annotators",
    "round.label": "read a claim of a round",
    "round.closed": "closed an agreement round",
    "split.said": "placed traces in the split",
    "traces.stored": "stored traces",
    "verdicts.stored": "stored verdicts",
    "verdict.opened": "opened a verdict",
    "vote.after_reveal": "settled a judgement, having seen the verifier's view",
    "vote.cast": "judged a claim",
    "vote.imported": "imported an annotation",
    "vote.reopened": "took a judgement back",
    "vote.revised": "judged a claim anew",
    "words.chosen": "chose words to be lit",
}


def action_words(action: str) -> str:
    """What was done, in plain words."""
    return ACTIONS.get(action, action.replace(".", " ").replace("_", " "))


def show_chain(trail: Trail) -> None:
    """Whether every link of the trail holds, checked now or when somebody asks for it."""
    events = trail.length()
    if events > CHECKED_UNASKED and not st.session_state.get("check_long_trail"):
        st.button(
            f"Check the {events:,} links",
            icon=":material/link:",
            key="check-links",
            on_click=lambda: st.session_state.update(check_long_trail=True),
        )
        return
    check = checked_links(trail, events)
    if check.problems:
        title, tone, mark = (
            f"The chain is broken: {counted(len(check.problems), 'problem')}",
            "bad",
            "✕",
        )
    else:
        title, tone, mark = "Chain intact", "good", "✓"
    show_card(
        key="chain",
        title=title,
        tone=tone,
        mark=mark,
        text=f"{counted(check.events, 'event')}, each holding the hash of the one before it.",
        lists=[{"title": "What was found", "open": True, "items": list(check.problems[:50])}]
        if check.problems
        else [],
    )


@lru_cache(maxsize=4)
def checked_links(trail: Trail, events: int) -> LinkCheck:
    """The check of a trail of that many events: made anew as soon as there is another event."""
    return trail.check_links()


def show_everything_checked(store: SqlStore) -> None:
    """Compare every stored trace, verdict and person's word with the event that told of it."""
    with st.spinner("Comparing every stored document with its event …"):
        report = store.verify_chain()
    found = counted(len(report.problems), "problem")
    show_card(
        key="everything",
        title="Everything is as it was written" if report.intact else found,
        tone="good" if report.intact else "bad",
        mark="✓" if report.intact else "✕",
        text=f"Compared: {counted(report.events, 'event')}, {counted(report.traces, 'trace')}, "
        f"{counted(report.verdicts, 'verdict')} and {counted(report.rows, 'word')} of people"
        + (f"; {counted(report.erased, 'trace')} erased." if report.erased else "."),
        lists=[{"title": "What was found", "open": True, "items": list(report.problems[:200])}]
        if report.problems
        else [],
    )


def trail_lines(trail: Trail, filters: TrailFilters, user: Person) -> BinaryIO:
    """The events that pass as JSON Lines, the oldest first; read from the database piece by piece."""
    lines = BytesIO()
    for event in trail.export(filters, user):
        lines.write((json.dumps(event, ensure_ascii=True) + "\n").encode("ascii"))
    lines.seek(0)
    return lines


def show_trail(entries: tuple[TrailEntry, ...]) -> None:
    """The events as rows; the chosen one is opened below with all that was written."""
    chosen = choose_row(
        {
            "When": [entry.event.at for entry in entries],
            "Who": [entry.event.actor for entry in entries],
            "What": [action_words(entry.event.action) for entry in entries],
            "About": [entry.about for entry in entries],
            "From": [entry.before for entry in entries],
            "To": [entry.after for entry in entries],
            "Reason": [entry.reason for entry in entries],
            "No.": [entry.event.sequence for entry in entries],
        },
        column_config={
            "When": st.column_config.DatetimeColumn(
                "When (UTC)", format="YYYY-MM-DD HH:mm:ss", timezone="UTC", width=150
            ),
            **widths({"Who": 130, "What": 150, "About": 150, "From": 130, "To": 130}),
            **widths({"Reason": 200}),
            "No.": st.column_config.NumberColumn(format="%d", width=60),
        },
        height=430,
        alt=f"{len(entries)} events of the audit trail; choose a row to read all of it",
        hint="Choose a row to read all that was written about an event.",
        key="trail",
    )
    if chosen is not None:
        _show_event(entries[chosen])


def _show_event(entry: TrailEntry) -> None:
    show_card(
        key="event",
        title=f"{entry.event.actor} {action_words(entry.event.action)}",
        aside=f"event {entry.event.sequence}",
        facts=[
            ["When", entry.event.at.isoformat(timespec="microseconds")],
            ["About", entry.event.entity],
            *([["From", entry.before]] if entry.before else []),
            *([["To", entry.after]] if entry.after else []),
            *([["Reason", entry.reason]] if entry.reason else []),
            ["Hash", entry.event.hash],
            ["Follows", entry.event.previous_hash],
        ],
    )
    st.code(_indented(entry.event.detail), language=None, wrap_lines=True, height=220)
    if entry.trace_id is not None:
        link_verdict("Open its trace", entry.trace_id)


def _indented(detail: str) -> str:
    try:
        return json.dumps(json.loads(detail), indent=2, ensure_ascii=False)
    except ValueError:
        return detail
