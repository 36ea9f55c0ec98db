"""Repairs and reviewers' choices on both engines: kept, counted, exported, never changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_source, a_trace
from databases import workspace_of
from lexical import verify_lexically

from core.attribution.families import load_families
from core.codec import content_hash
from core.config import Config
from core.errors import NotFound, StoreError
from core.records import Decision, RepairOutcome, RepairStatus
from core.repair.loop import repair_answer
from core.workflows.repair import outcome_of, repair_figures
from storage.repairs import Choice, Repairs
from storage.store import SqlStore

TRACE = a_trace(
    "Resting heart rate was 62 bpm. The moon is made of cheese. The sea is hot.",
    a_source("Resting heart rate was 62 bpm."),
)


def a_repair() -> RepairOutcome:
    return outcome_of(
        repair_answer(verify_lexically(TRACE), verify_lexically, Config(), load_families())
    )


@pytest.fixture
def repairs(store: SqlStore) -> Repairs:
    store.put_traces([TRACE])
    return workspace_of(store).repairs


def test_a_repair_is_given_back_as_it_was_kept(repairs: Repairs) -> None:
    repair = a_repair()

    kept = repairs.put(content_hash(TRACE), repair)

    found = repairs.latest(content_hash(TRACE))
    assert (found.repair_id, found.status) == (kept, RepairStatus.MARKED)
    assert found.outcome == repair
    assert found.trace_id == TRACE.trace_id


def test_the_last_repair_of_a_trace_is_the_one_that_counts(repairs: Repairs) -> None:
    repairs.put(content_hash(TRACE), a_repair())
    second = repairs.put(content_hash(TRACE), replace(a_repair(), rounds=7))

    assert repairs.latest(content_hash(TRACE)).repair_id == second


def test_the_last_word_of_each_reviewer_counts_and_no_word_is_lost(repairs: Repairs) -> None:
    repair = a_repair()
    kept = repairs.put(content_hash(TRACE), repair)
    first, second = (action.action_id for action in repair.actions)

    repairs.choose(kept, first, Choice.ACCEPT, reviewer="ada")
    repairs.choose(kept, first, Choice.REJECT, reviewer="ada")
    repairs.choose(kept, second, Choice.EDIT, reviewer="bea", text="The sea is warm.")

    assert repairs.choices(kept)[first].choice is Choice.REJECT
    assert repairs.choices(kept)[second].reviewer == "bea"
    assert repairs.choices(kept)[second].text == "The sea is warm."
    (row,) = repairs.export()
    assert [one["choice"] for one in row["choices"]] == ["accept", "reject", "edit"]  # type: ignore[attr-defined]
    counts = repairs.counts()
    assert (counts.accepted, counts.edited, counts.rejected) == (0, 1, 1)
    assert repair_figures(repairs).kinds.total() == 2


def test_a_later_repair_of_the_same_answer_takes_the_place_of_the_earlier_one(
    repairs: Repairs,
) -> None:
    first = repairs.put(content_hash(TRACE), a_repair())
    action = a_repair().actions[0].action_id
    repairs.choose(first, action, Choice.ACCEPT, reviewer="ada")
    before = repair_figures(repairs)

    second = repairs.put(content_hash(TRACE), replace(a_repair(), rounds=7))

    assert [one.repair_id for one in repairs.newest()] == [second]
    assert (before.rows, before.rounds) == (1, 1)
    assert (repair_figures(repairs).rows, repair_figures(repairs).rounds) == (1, 7)
    assert repairs.counts().accepted == 0
    assert len(repairs.export()) == 2


def test_every_word_is_in_the_audit_trail_and_the_trail_stays_intact(
    repairs: Repairs, store: SqlStore
) -> None:
    repair = a_repair()
    kept = repairs.put(content_hash(TRACE), repair)
    repairs.choose(kept, repair.actions[0].action_id, Choice.ACCEPT, reviewer="ada")

    actions = [event.action for event in store.audit_events(newest_first=False)]

    assert actions == ["traces.stored", "repair.stored", "repair.chosen"]
    assert store.verify_chain().intact
    assert "heart" not in "".join(event.detail for event in store.audit_events())


def test_what_does_not_fit_is_refused(repairs: Repairs) -> None:
    kept = repairs.put(content_hash(TRACE), a_repair())

    with pytest.raises(StoreError, match="no such trace"):
        repairs.put("sha256:" + "0" * 64, a_repair())
    with pytest.raises(NotFound):
        repairs.choose(kept, "nothing", Choice.ACCEPT, reviewer="ada")
    with pytest.raises(NotFound):
        repairs.choose(kept + 1, "nothing", Choice.ACCEPT, reviewer="ada")
    with pytest.raises(StoreError, match="text of its own"):
        repairs.choose(kept, "nothing", Choice.EDIT, reviewer="ada")
    with pytest.raises(NotFound):
        repairs.latest("sha256:" + "1" * 64)


@pytest.mark.parametrize("table", ["repair", "repair_choice"])
def test_what_was_kept_cannot_be_changed(repairs: Repairs, store: SqlStore, table: str) -> None:
    repair = a_repair()
    kept = repairs.put(content_hash(TRACE), repair)
    repairs.choose(kept, repair.actions[0].action_id, Choice.ACCEPT, reviewer="ada")
    column = "status" if table == "repair" else "choice"

    with pytest.raises(StoreError, match="append-only"), store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {table} SET {column} = 'reject'")


def test_a_verified_text_keeps_its_decision_and_no_other_text_has_one(repairs: Repairs) -> None:
    repairs.put(content_hash(TRACE), a_repair())
    version = content_hash(TRACE)

    repairs.record_check(version, "One text.", Decision.ALLOW, run="r", reviewer="ada")
    repairs.record_check(version, "Another.", Decision.BLOCK, run="r", reviewer="ada")

    assert repairs.checked(version, "One text.", run="r") is Decision.ALLOW
    assert repairs.checked(version, "Another.", run="r") is Decision.BLOCK
    assert repairs.checked(version, "One text", run="r") is None
    assert repairs.checked(version, "One text.", run="another calibrator") is None
    assert repairs.checked("sha256:other", "One text.", run="r") is None
    repairs.record_check(version, "One text.", Decision.BLOCK, run="r", reviewer="ada")
    assert repairs.checked(version, "One text.", run="r") is Decision.BLOCK
