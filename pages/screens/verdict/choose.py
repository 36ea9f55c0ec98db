"""No answer was asked for: which ones to open, what needs a person first."""

from __future__ import annotations

import streamlit as st

from core.review.records import Person
from pages.widgets.palette import look_of
from pages.widgets.plain import inert, show_notice
from pages.widgets.trace_list import ListChoice, filters_of, verdict_query
from storage.records import Order
from storage.store import SqlStore

TRACES, VERDICT = "pages/traces.py", "pages/verdict.py"
SHOWN = 8
QUESTION_CHARACTERS = 100


def show_answers_to_open(store: SqlStore, user: Person) -> None:
    """The answers with most claims to look at, each a link, and the way to all; raises StoreError."""
    choice = ListChoice(order=Order.MOST_BLOCKED.value)
    page = store.list_traces(filters_of(choice, user), order=Order.MOST_BLOCKED, limit=SHOWN)
    if not page.rows:
        show_notice("There is no answer here yet", "Add traces: they are verified there too.")
        st.page_link(TRACES, label="Add traces", icon=":material/add:")
        return
    show_notice(
        "Choose an answer",
        "Its claims stand beside the sources that say them, or do not. Most to look at first.",
    )
    for place, row in enumerate(page.rows, 1):
        _, look = look_of(row)
        question = " ".join(row.question.split()) or row.trace_id
        if len(question) > QUESTION_CHARACTERS:
            question = f"{question[:QUESTION_CHARACTERS].rstrip()} …"
        st.page_link(
            VERDICT,
            label=f"{look.mark} {look.word} · {inert(question)}",
            query_params=verdict_query(row.trace_id, choice, place),
        )
    st.page_link(TRACES, label=f"All {page.total:,} answers", icon=":material/list_alt:")
