"""Lists filter, sort, search and page as a plain reading of the same records would."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from builders import a_source, a_trace
from verdicts import Said, a_verification

from core.records import Decision, State, Trace, VerdictLabel
from storage.records import Order, TraceFilters, TraceRow
from storage.store import SqlStore

RUN = "sha256:" + "1" * 64
LATER_RUN = "sha256:" + "2" * 64


def judged(store: SqlStore, trace: Trace, *labels: VerdictLabel, run: str = RUN) -> None:
    """Keep a verdict that gives each sentence of the answer one of the labels."""
    sentences = [part + "." for part in (trace.answer or "").split(".") if part]
    said = [
        Said(
            said=sentence.strip(),
            verdict=label,
            source="chart",
            premise="Evidence",
            conflation=label is VerdictLabel.SUPPORTED and "chart" in sentence,
            reasons=("because",),
        )
        for sentence, label in zip(sentences, labels, strict=True)
    ]
    store.put_verdicts(run, [a_verification(trace, {"chart": "patient_record"}, said)])


@pytest.fixture
def filled(store: SqlStore) -> SqlStore:
    """Six traces: allowed, blocked in three ways, waiting, and one with a newer, waiting version."""
    evidence = a_source("Evidence for it.")
    traces = {
        "allowed": a_trace("Good.", evidence, trace_id="allowed", category="labs"),
        "wrong": a_trace("Bad. Worse.", evidence, trace_id="wrong", category="labs"),
        "conflated": a_trace("The chart. Fine.", evidence, trace_id="conflated", category="mix"),
        "unjudged": a_trace("Hm.", evidence, trace_id="unjudged"),
        "waiting": a_trace("Soon 100 % ready_made.", evidence, trace_id="waiting"),
        "changed": a_trace("Old.", evidence, trace_id="changed"),
    }
    store.put_traces(traces.values())
    judged(store, traces["allowed"], VerdictLabel.SUPPORTED)
    judged(store, traces["wrong"], VerdictLabel.CONTRADICTED, VerdictLabel.NOT_ENOUGH_EVIDENCE)
    judged(store, traces["conflated"], VerdictLabel.SUPPORTED, VerdictLabel.SUPPORTED)
    judged(store, traces["unjudged"], VerdictLabel.UNJUDGED)
    judged(store, traces["changed"], VerdictLabel.SUPPORTED)
    store.put_traces([a_trace("New.", evidence, trace_id="changed")])
    return store


def ids(store: SqlStore, filters: TraceFilters, order: Order = Order.IMPORTED) -> list[str]:
    return [row.trace_id for row in store.list_traces(filters, order=order).rows]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (TraceFilters(), ["allowed", "wrong", "conflated", "unjudged", "waiting", "changed"]),
        (TraceFilters(decisions=frozenset({Decision.ALLOW})), ["allowed"]),
        (
            TraceFilters(decisions=frozenset({Decision.BLOCK, Decision.ALLOW})),
            ["allowed", "wrong", "conflated", "unjudged"],
        ),
        (TraceFilters(verdicts=frozenset({VerdictLabel.CONTRADICTED})), ["wrong"]),
        (
            TraceFilters(verdicts=frozenset({VerdictLabel.CONTRADICTED, VerdictLabel.UNJUDGED})),
            ["wrong", "unjudged"],
        ),
        (TraceFilters(conflated=True), ["conflated"]),
        (TraceFilters(verified=False), ["waiting", "changed"]),
        (TraceFilters(verified=True, category="labs"), ["allowed", "wrong"]),
        (TraceFilters(search="WORSE"), ["wrong"]),
        (TraceFilters(search="100 %"), ["waiting"]),
        (TraceFilters(search="%"), ["waiting"]),
        (TraceFilters(search="_"), ["waiting"]),
        (TraceFilters(search="conflat"), ["conflated"]),
        (TraceFilters(search="' OR 1=1 --"), []),
        (TraceFilters(category="nothing"), []),
    ],
)
def test_a_filter_lets_through_what_it_says(
    filled: SqlStore, filters: TraceFilters, expected: list[str]
) -> None:
    page = filled.list_traces(filters)

    assert [row.trace_id for row in page.rows] == expected
    assert page.total == len(expected)


@pytest.mark.parametrize(
    ("order", "key"),
    [
        (Order.IMPORTED, lambda row: row.position),
        (Order.NEWEST, lambda row: -row.position),
        (Order.TRACE_ID, lambda row: row.trace_id),
        (Order.MOST_BLOCKED, lambda row: (-row.counts.blocked if row.counts else 1, row.position)),
        (
            Order.MOST_CONFLATIONS,
            lambda row: (-row.counts.conflations if row.counts else 1, row.position),
        ),
    ],
)
def test_the_database_sorts_as_python_does(
    filled: SqlStore, order: Order, key: Callable[[TraceRow], object]
) -> None:
    rows = filled.list_traces(order=order).rows

    assert list(rows) == sorted(rows, key=key)  # type: ignore[arg-type]


def test_pages_together_are_the_whole_list(filled: SqlStore) -> None:
    whole = filled.list_traces().rows

    pages = [filled.list_traces(offset=offset, limit=4) for offset in (0, 4, 8)]

    assert pages[0].rows + pages[1].rows + pages[2].rows == whole
    assert {page.total for page in pages} == {6}


def test_rows_show_the_counts_of_the_latest_verdict(filled: SqlStore) -> None:
    rows = {row.trace_id: row for row in filled.list_traces().rows}

    assert rows["wrong"].counts is not None
    assert rows["wrong"].counts.by_verdict[VerdictLabel.CONTRADICTED] == 1
    assert rows["wrong"].counts.blocked == 2
    assert rows["conflated"].counts is not None
    assert rows["conflated"].counts.conflations == 1
    assert (rows["waiting"].decision, rows["waiting"].counts) == (None, None)
    assert (rows["changed"].version, rows["changed"].decision) == (2, None)


def test_a_later_run_replaces_an_earlier_one_in_lists_only(filled: SqlStore) -> None:
    trace = filled.get_trace("allowed").trace

    judged(filled, trace, VerdictLabel.UNSUPPORTED, run=LATER_RUN)

    assert ids(filled, TraceFilters(verdicts=frozenset({VerdictLabel.UNSUPPORTED}))) == ["allowed"]
    assert filled.get_verdict("allowed").run_key == LATER_RUN
    assert filled.get_verdict("allowed", run_key=RUN).decision is Decision.ALLOW


def test_the_overview_counts_every_trace_once(filled: SqlStore) -> None:
    overview = filled.overview()

    assert overview.traces == 6
    assert overview.by_decision == {Decision.ALLOW: 1, Decision.BLOCK: 3}
    assert sum(overview.by_state.values()) == 4 and overview.by_state[State.ALLOW] == 1
    for state, count in overview.by_state.items():
        rows = filled.list_traces(TraceFilters(states=frozenset({state}))).rows
        assert [row.state for row in rows] == [state] * count
    assert overview.waiting == 2
