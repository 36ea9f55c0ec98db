"""All traces: add captured files, verify what waits, filter, and open one answer's verdict."""

from __future__ import annotations

import streamlit as st

from core.review.readers import is_blind
from core.review.roles import may_write
from pages.screens.traces.chosen_traces import show_chosen
from pages.screens.traces.files import show_files
from pages.screens.traces.filters import narrowed_words, show_filters, show_narrowed
from pages.screens.traces.importing import show_import
from pages.screens.traces.table import show_trace_table
from pages.widgets.forms import show_saved
from pages.widgets.palette import answer_counts
from pages.widgets.plain import stop_with
from pages.widgets.queueing import show_queue
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace
from pages.widgets.trace_list import filters_of, last_opened, verdict_query
from pages.widgets.verifying import show_verifying
from storage.records import Order

VERDICT = "pages/verdict.py"
ROWS_A_PAGE = 50

user = begin_page(__file__, "Traces")

with or_stop():
    workspace = open_workspace(user)
    store = workspace.store
    overview = store.overview(user)

# ---------------------------------------------------------------- what there is, and what waits

words = answer_counts(overview)
words += [f"{overview.waiting:,} not verified yet"] if overview.waiting else []
words += [f"{overview.withheld:,} yours to read first"] if overview.withheld else []
left, middle, right = st.columns([3.7, 0.8, 1.5], vertical_alignment="center")
with left.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    st.title("Traces", anchor=False, width="content")
    if overview.traces:
        st.caption(f"{overview.traces:,} in all: {', '.join(words)}", width="content")

may_add = may_write(user)  # an auditor reads
adding = may_add and show_import(store)
show_saved()
if overview.traces:
    with middle.popover("Files", icon=":material/folder:", width="stretch", key="files"):
        show_files(workspace, user)
# One primary action a page: while files wait to be added, that is what comes next.
show_verifying(store, waiting=overview.waiting if may_add and not adding else 0, button_in=right)
show_queue(workspace, user)

if overview.traces == 0:
    stop_with(
        "No traces yet",
        "Drop a file of captured agent traces above: the question, the answer, and every tool "
        f"output behind it. {workspace.judges.current().sent}",
    )

# ---------------------------------------------------------------- which of them

choice = show_filters(workspace, user)
if choice.narrowed:
    show_narrowed(choice, narrowed_words(choice, workspace, user))
filters, order, number = filters_of(choice, user), Order(choice.order), choice.number
found = store.list_traces(
    filters, order=order, offset=(number - 1) * ROWS_A_PAGE, limit=ROWS_A_PAGE
)
pages = max(1, -(-found.total // ROWS_A_PAGE))
if number > pages:
    # A narrower filter has fewer pages than the one that was open.
    found = store.list_traces(filters, order=order, offset=0, limit=ROWS_A_PAGE)

if not found.rows:
    stop_with("No trace matches", "Widen the search: clear the filters, or choose All decisions.")

bar = st.container(key="chosen-slot")
marks = workspace.triage.standing([row.trace_id for row in found.rows])
said = show_trace_table(
    found.rows, marks, blind=is_blind(user), last=last_opened(), key=f"traces-{choice.query()}"
)
if said.chosen:
    with bar:
        show_chosen(workspace, user, said.chosen)
if said.opened is not None:
    place = next(at for at, row in enumerate(found.rows) if row.trace_id == said.opened)
    query = verdict_query(said.opened, choice, found.offset + place + 1)
    st.switch_page(VERDICT, query_params=query)

if pages > 1:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pagination(pages, key="page")
        first = found.offset + 1
        st.caption(
            f"{first:,} to {first + len(found.rows) - 1:,} of {found.total:,}", width="content"
        )
