"""A trace's split: drawn alike everywhere, said once, and kept."""

from __future__ import annotations

from collections import Counter

import pytest
from builders import a_source, a_trace
from databases import workspace_of
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.errors import Conflict, StoreError
from core.review.records import Split
from storage.splits import draw, said_by
from storage.store import SqlStore

IDS = [f"trace-{n}" for n in range(2_000)]


def test_a_split_that_was_drawn_stays(store: SqlStore) -> None:
    splits = workspace_of(store).splits

    first = splits.of(IDS[:40])

    assert splits.of(IDS[:60]).items() >= first.items()
    assert splits.known(IDS[:80]) == splits.of(IDS[:60])
    assert len(splits.known(IDS)) == 60


def test_the_draw_depends_on_the_id_alone_and_keeps_its_shares() -> None:
    drawn = Counter(draw(trace_id) for trace_id in IDS)

    assert drawn == Counter(draw(trace_id) for trace_id in reversed(IDS))
    assert 0.56 < drawn[Split.TRAIN] / len(IDS) < 0.64
    assert 0.17 < drawn[Split.VALIDATION] / len(IDS) < 0.23


@given(trace_id=st.text())
def test_any_id_can_be_drawn(trace_id: str) -> None:
    assert draw(trace_id) in Split


def test_a_trace_keeps_the_split_that_its_record_names(store: SqlStore) -> None:
    store.put_traces(
        [
            a_trace("a", a_source("s"), trace_id="one", extra={"split": "test"}),
            a_trace("a", a_source("s"), trace_id="two", extra={"split": "dev"}),
            a_trace("a", a_source("s"), trace_id="three", extra={"slices": ["Held_Out", "hard"]}),
            a_trace("a", a_source("s"), trace_id="four", extra={"split": "train"}),
        ]
    )

    assert workspace_of(store).splits.of(["one", "two", "three", "four"]) == {
        "one": Split.HELD_OUT,
        "two": Split.VALIDATION,
        "three": Split.HELD_OUT,
        "four": Split.TRAIN,
    }


def test_a_trace_whose_one_version_was_held_out_is_held_out(store: SqlStore) -> None:
    store.put_traces([a_trace("a", a_source("s"), extra={"split": "held_out"})])
    store.put_traces([a_trace("b", a_source("s"), extra={"split": "train"})])

    assert workspace_of(store).splits.of(["t1"]) == {"t1": Split.HELD_OUT}


def test_held_out_goes_before_what_else_a_record_says() -> None:
    assert said_by({"split": "train", "held_out": True}) is Split.HELD_OUT
    assert said_by({"split": 7, "slices": "train"}) is None


def test_a_split_is_said_once(store: SqlStore) -> None:
    splits = workspace_of(store).splits
    splits.say("chosen", Split.HELD_OUT, by="Lea")

    splits.say("chosen", Split.HELD_OUT, by="Lea")
    with pytest.raises(Conflict, match="held out already"):
        splits.say("chosen", Split.TRAIN, by="Lea")

    assert splits.of(["chosen"]) == {"chosen": Split.HELD_OUT}


def test_the_database_refuses_to_change_a_split(store: SqlStore) -> None:
    workspace_of(store).splits.say("chosen", Split.HELD_OUT, by="Lea")

    with pytest.raises(StoreError, match="append-only"), store.database.writing() as connection:
        connection.execute(text("UPDATE trace_split SET split = 'train'"))


def test_what_was_drawn_is_in_the_audit_trail(store: SqlStore) -> None:
    workspace_of(store).splits.of(["a", "b"])

    [event] = store.audit_events(limit=1)
    assert event.action == "split.said"
    assert store.verify_chain().intact
