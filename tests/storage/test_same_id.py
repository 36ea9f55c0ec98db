"""Two files whose records have the same ids: two runs of one task, or one trace corrected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.config import Config
from core.records import IngestReport
from core.workflows.ingest import SameId, ingest, preview
from storage.store import SqlStore


def a_file(folder: Path, name: str, *answers: str, **more: object) -> Path:
    """One native record an answer, all of one task, each its own trial."""
    path = folder / name
    records = [
        {
            "task_id": "refund",
            "trial": number,
            "user_question": "What was refunded?",
            "full_tool_outputs": [{"tool_name": "orders", "source_id": "o", "text": "Refund: 12."}],
            "final_reply_to_user": answer,
            **more,
        }
        for number, answer in enumerate(answers)
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def kept(store: SqlStore, path: Path, same_id: SameId = SameId.APART) -> IngestReport:
    """The report of keeping that file."""
    return ingest([path], store, Config(), same_id=same_id)


def answers(store: SqlStore) -> dict[str, str | None]:
    """The newest answer of each trace."""
    ids = [row.trace_id for row in store.list_traces().rows]
    return {each: store.get_trace(each).trace.answer for each in ids}


def test_another_files_trace_of_the_same_task_and_trial_is_another_trace(
    store: SqlStore, tmp_path: Path
) -> None:
    first = a_file(tmp_path, "monday.jsonl", "It was 12.", "It was 13.")
    second = a_file(tmp_path, "tuesday.jsonl", "It was 14.", "It was 13.")
    kept(store, first)

    assert preview([second], Config(), store=store).clashes == 1
    report = kept(store, second)

    assert (report.new, report.changed, report.unchanged, report.clashes) == (1, 0, 1, 1)
    assert answers(store) == {
        "refund::0": "It was 12.",
        "refund::1": "It was 13.",
        "refund::0 · tuesday.jsonl": "It was 14.",
    }


@pytest.mark.parametrize("order", [("monday", "tuesday"), ("tuesday", "monday")])
def test_both_files_read_again_change_nothing(
    store: SqlStore, tmp_path: Path, order: tuple[str, str]
) -> None:
    files = {
        "monday": a_file(tmp_path, "monday.jsonl", "It was 12."),
        "tuesday": a_file(tmp_path, "tuesday.jsonl", "It was 14.", run_id="run-b"),
    }
    for name in order:
        kept(store, files[name])
    before = answers(store)

    again = [kept(store, files[name]) for name in (*order, *reversed(order))]

    assert {(each.new, each.changed) for each in again} == {(0, 0)}
    assert answers(store) == before
    assert len(before) == 2


def test_a_records_own_id_tells_it_apart_before_its_file_does(
    store: SqlStore, tmp_path: Path
) -> None:
    kept(store, a_file(tmp_path, "a.jsonl", "It was 12.", run_id="run-a"))
    kept(store, a_file(tmp_path, "b.jsonl", "It was 14.", run_id="run-b"))

    assert set(answers(store)) == {"refund::0", "refund::0 · run-b"}


def test_asked_for_it_is_a_new_version_and_the_earlier_one_stays(
    store: SqlStore, tmp_path: Path
) -> None:
    kept(store, a_file(tmp_path, "a.jsonl", "It was 12."))
    report = kept(store, a_file(tmp_path, "b.jsonl", "It was 14."), SameId.VERSION)

    newest = store.get_trace("refund::0")
    assert (report.changed, newest.version) == (1, 2)
    earlier = store.get_trace("refund::0", newest.versions[0])
    assert earlier.trace.answer == "It was 12."


def test_the_same_file_corrected_is_a_new_version(store: SqlStore, tmp_path: Path) -> None:
    kept(store, a_file(tmp_path, "a.jsonl", "It was 12."))
    report = kept(store, a_file(tmp_path, "a.jsonl", "It was 14."))

    assert (report.new, report.changed, report.clashes) == (0, 1, 0)
