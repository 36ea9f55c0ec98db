"""What the page of traces says of the queue of workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from opening import opened

from core.records.jobs import ATTEMPTS
from storage.store import unverified
from storage.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    store = a_store(file)
    store.put_traces(a_trace(f"Yes {n}.", a_source("Yes."), trace_id=f"t{n}") for n in range(3))
    return workspace_of(store)


def test_a_page_without_a_queue_says_nothing_of_one(workspace: Workspace) -> None:
    test = opened("traces")

    assert not [one for one in test.button if one.key.startswith("queue")]


def test_what_waits_for_workers_is_counted_and_can_be_taken_out(workspace: Workspace) -> None:
    workspace.jobs.put(unverified(workspace.store))
    test = opened("traces")
    assert "Queued: 0 of 3 judged · no worker at it: start" in test.get("progress")[0].proto.text

    test.button(key="queue-stop").click().run()

    assert workspace.jobs.counts().open == 0
    assert not test.exception


def test_what_was_given_up_says_why_and_is_tried_again_at_a_click(workspace: Workspace) -> None:
    workspace.jobs.put(unverified(workspace.store)[:1])
    for _ in range(ATTEMPTS):
        with workspace.store.database.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE job SET due = '2026-01-01 00:00:00'")
        (job,) = workspace.jobs.take("w", 60.0, 8)
        workspace.jobs.fail("w", job, "a fault in this program: TypeError in x.py, line 1")
    test = opened("traces")
    said = [one.value for one in test.text]
    assert "1 trace given up" in said
    assert "t0\na fault in this program: TypeError in x.py, line 1\n3 attempts, given up" in said

    test.button(key="queue-retry").click().run()

    assert (workspace.jobs.counts().waiting, workspace.jobs.counts().given_up) == (1, 0)
