"""All traces: add captured files, verify what waits, filter, and open one answer's verdict."""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.records import Decision
from core.review.roles import may_write
from pages.screens.traces.importing import show_import
from pages.screens.traces.table import show_trace_table
from pages.widgets.current_user import current_user, show_current_user
from pages.widgets.palette import DECISIONS
from pages.widgets.plain import show_notice
from pages.widgets.routing import ensure_routed
from pages.widgets.session import open_store
from pages.widgets.verifying import show_verifying
from storage.records import Order, TraceFilters

VERDICT = "pages/verdict.py"
ROWS_A_PAGE = 50
ORDERS = {
    Order.IMPORTED: "First added",
    Order.NEWEST: "Last added",
    Order.MOST_BLOCKED: "Most blocked claims",
    Order.MOST_CONFLATIONS: "Most wrong credits",
    Order.TRACE_ID: "Trace id",
}
ANYTHING = "All"

# The accent carries white button text, so in the dark theme it is too dark to be text itself.
CHOSEN_IS_TEXT = """<style>
.st-key-decision button[role="radio"][aria-checked="true"] { color: inherit; }
</style>"""

ensure_routed(__file__)
user = current_user()  # with logins, nobody sees anything before
show_current_user(user)
st.set_page_config(page_title="Traces · ProvenanceGuard")

try:
    store = open_store(user)
    overview = store.overview()
except ProvenanceGuardError as error:
    show_notice("The database could not be read", str(error), key="no-database", tone="bad")
    st.stop()

# ---------------------------------------------------------------- what there is, and what waits

words = [
    f"{overview.by_decision.get(decision, 0):,} {DECISIONS[decision.value].word.lower()}"
    for decision in (Decision.BLOCK, Decision.ALLOW, Decision.UNAVAILABLE)
    if overview.by_decision.get(decision, 0)
]
words += [f"{overview.waiting:,} not verified yet"] if overview.waiting else []
left, right = st.columns([4, 1], vertical_alignment="center")
with left.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    st.title("Traces", anchor=False, width="content")
    if overview.traces:
        st.caption(f"{overview.traces:,} in all: {', '.join(words)}", width="content")

may_add = may_write(user)  # an auditor reads
adding = may_add and show_import(store)
# One primary action a page: while files wait to be added, that is what comes next.
show_verifying(store, waiting=overview.waiting if may_add and not adding else 0, button_in=right)

if overview.traces == 0:
    show_notice(
        "No traces yet",
        "Drop a file of captured agent traces above: the question, the answer, and every tool "
        "output behind it. Nothing leaves this machine.",
        key="no-traces",
    )
    st.stop()

# ---------------------------------------------------------------- which of them

categories = store.categories()
slices = store.slices()
st.html(CHOSEN_IS_TEXT)
columns = iter(st.columns([4.2, 1.7, 1.5, 1.5, 1.6], vertical_alignment="bottom", gap="small"))
decision = next(columns).segmented_control(
    "Decision",
    [ANYTHING, *DECISIONS],
    format_func=lambda name: (
        name if name == ANYTHING else f"{DECISIONS[name].mark} {DECISIONS[name].short}"
    ),
    default=ANYTHING,
    required=True,
    key="decision",
    bind="query-params",
)
search = next(columns).text_input(
    "Search",
    key="search",
    bind="query-params",
    type="search",
    placeholder="Id, question, answer",
    icon=":material/search:",
)
category = next(columns).selectbox(
    "Category",
    [each.name for each in categories],
    index=None,
    placeholder="Any",
    disabled=not categories,
    key="category",
    bind="query-params",
)
slice_name = next(columns).selectbox(
    "Slice",
    [each.name for each in slices],
    index=None,
    placeholder="Any",
    disabled=not slices,
    key="slice",
    bind="query-params",
)
order = next(columns).selectbox(
    "Order",
    list(ORDERS),
    format_func=ORDERS.__getitem__,
    key="order",
    bind="query-params",
)

filters = TraceFilters(
    decisions=frozenset({Decision(decision)})
    if decision in {each.value for each in Decision}
    else frozenset(),
    verified=False if decision == "pending" else None,
    category=category,
    slice=slice_name,
    search=search or "",
)
number = max(1, int(st.session_state.get("page", 1) or 1))
found = store.list_traces(
    filters, order=order, offset=(number - 1) * ROWS_A_PAGE, limit=ROWS_A_PAGE
)
pages = max(1, -(-found.total // ROWS_A_PAGE))
if number > pages:
    # A narrower filter has fewer pages than the one that was open.
    found = store.list_traces(filters, order=order, offset=0, limit=ROWS_A_PAGE)

if not found.rows:
    show_notice(
        "No trace matches",
        "Widen the search: choose All decisions, another category, or clear the search box.",
        key="no-match",
    )
    st.stop()

opened = show_trace_table(found.rows, key="traces")
if opened is not None:
    st.switch_page(VERDICT, query_params={"trace": opened})

if pages > 1:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pagination(pages, key="page", bind="query-params")
        first = found.offset + 1
        st.caption(
            f"{first:,} to {first + len(found.rows) - 1:,} of {found.total:,}", width="content"
        )
