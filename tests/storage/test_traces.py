"""Traces are kept by content, every version of them, on both engines."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store
from hypothesis import given
from hypothesis import strategies as st

from core.codec import content_hash
from core.errors import NotFound
from core.ports import Store
from core.records import Origin, Source, SourceStatus, Trace
from storage.columns import UtcDateTime
from storage.records import TraceFilters
from storage.store import SqlStore, open_store


def test_the_store_fills_the_role_that_the_workflows_know(store: SqlStore) -> None:
    role: Store = store  # mypy checks the signatures; this keeps the sentence true

    assert role.put_traces([]).new == 0


def test_the_same_trace_twice_changes_nothing(store: SqlStore) -> None:
    trace = a_trace("An answer.", a_source("Evidence."))
    store.put_traces([trace])
    before = store.get_trace("t1")

    put = store.put_traces(
        [trace, replace(trace, origin=Origin(format="native", file="other.jsonl"))]
    )

    assert (put.new, put.changed, put.unchanged) == (0, 0, 2)
    assert store.get_trace("t1") == before
    assert store.list_traces().total == 1


def test_a_changed_trace_becomes_a_new_version_and_the_old_one_stays(store: SqlStore) -> None:
    first, second = a_trace("First."), a_trace("Second.")
    store.put_traces([first])

    put = store.put_traces([second])

    assert (put.new, put.changed, put.unchanged) == (0, 1, 0)
    newest = store.get_trace("t1")
    assert (newest.trace, newest.version) == (second, 2)
    assert newest.versions == (content_hash(first), content_hash(second))
    assert store.get_trace("t1", content_hash(first)).trace == first
    assert [row.version for row in store.list_traces().rows] == [2]


def test_a_trace_comes_back_as_it_was(store: SqlStore) -> None:
    source = a_source(
        "Sodium 140 mmol/L",
        status=SourceStatus.TRUNCATED,
        raw='{"sodium": 140}',
        extra={"unknown": [1, {"deep": None}]},
    )
    trace = a_trace(
        "Answer – ünïcödé \U0001f9ea.",
        source,
        category="labs",
        notices=("an image was left out",),
        extra={"slices": ["structured_labs"], "other": 1.5},
        origin=Origin(format="native", file="traces.jsonl", line=3),
    )

    store.put_traces([trace])

    assert store.get_trace("t1").trace == trace


@given(trace_id=st.text(min_size=1, max_size=20), question=st.text(), answer=st.none() | st.text())
def test_any_text_is_stored_and_found_again(
    trace_id: str, question: str, answer: str | None
) -> None:
    trace = replace(a_trace(answer, trace_id=trace_id), question=question)
    with tempfile.TemporaryDirectory() as folder:
        store = a_store(Path(folder) / "w.db")

        store.put_traces([trace])

        assert store.get_trace(trace_id).trace == trace
        store.close()


@pytest.mark.parametrize(
    "trace_id",
    [
        "a\x00b",
        "'; DROP TABLE trace_version; --",
        "../../etc/passwd",
        "x" * 20_000,
        "<script>",
        " ",
    ],
)
def test_hostile_ids_are_ids_like_any_other(store: SqlStore, trace_id: str) -> None:
    trace = a_trace("Answer\x00.", a_source("NUL \x00 inside"), trace_id=trace_id)

    store.put_traces([trace, a_trace("Other.", trace_id="other")])

    assert store.get_trace(trace_id).trace == trace
    assert store.list_traces().total == 2


def test_an_unknown_trace_is_not_found(store: SqlStore) -> None:
    store.put_traces([a_trace("Answer.")])

    with pytest.raises(NotFound, match="nobody"):
        store.get_trace("nobody")
    with pytest.raises(NotFound, match="sha256:0"):
        store.get_trace("t1", "sha256:0")


def test_slices_are_counted_and_filtered(store: SqlStore) -> None:
    store.put_traces(
        [
            a_trace("A.", trace_id="a", category="x", extra={"slices": ["two_patients", "labs"]}),
            a_trace("B.", trace_id="b", category="x", extra={"slices": ["labs", 7, ""]}),
            a_trace("C.", trace_id="c", category="y", extra={"slices": "not a list"}),
        ]
    )

    assert [(s.name, s.count) for s in store.slices()] == [("labs", 2), ("two_patients", 1)]
    assert [(c.name, c.count) for c in store.categories()] == [("x", 2), ("y", 1)]
    found = store.list_traces(TraceFilters(slice="two_patients"))
    assert [row.trace_id for row in found.rows] == ["a"]


def test_imports_at_the_same_time_give_each_version_one_number(store: SqlStore) -> None:
    threads = [
        threading.Thread(
            target=lambda n=n: store.put_traces(
                [a_trace(f"Answer {n}.", trace_id="shared"), a_trace("Same.", trace_id="same")]
            )
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store.get_trace("shared").versions) == 8
    assert store.get_trace("shared").version == 8
    assert len(store.get_trace("same").versions) == 1
    assert store.verify_chain().intact


def test_thousands_of_traces_are_put_in_bounded_windows(store: SqlStore) -> None:
    put = store.put_traces(a_trace(f"Answer {n}.", trace_id=f"t{n}") for n in range(450))

    assert put.new == 450
    assert len(store.audit_events()) == 3  # one a window
    assert [row.position for row in store.list_traces(limit=450).rows] == sorted(
        row.position for row in store.list_traces(limit=450).rows
    )


def test_a_time_without_its_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), None)  # type: ignore[arg-type]


def test_times_come_back_in_utc(database_address: str) -> None:
    plus_two = timezone(timedelta(hours=2))
    opened = open_store(database_address)
    store = replace(opened, now=lambda: datetime(2026, 6, 1, 12, 0, 0, 123456, tzinfo=plus_two))

    store.put_traces([a_trace("Answer.")])

    at = store.get_trace("t1").imported_at
    assert at == datetime(2026, 6, 1, 10, 0, 0, 123456, tzinfo=UTC)
    assert at.utcoffset() == timedelta(0)
    opened.close()


def test_a_trace_with_ten_thousand_outputs_is_kept(tmp_path: Path) -> None:
    sources = tuple(
        Source(source_id=f"s{n}", tool_name="tool", text=f"Output {n}.") for n in range(10_000)
    )
    trace = Trace(trace_id="big", question="?", answer="Answer.", sources=sources)
    store = open_store(str(tmp_path / "w.db"))

    store.put_traces([trace])

    assert store.get_trace("big").trace == trace
    assert store.list_traces().rows[0].sources == 10_000
    store.close()
