"""The terminal decides by the calibrator in force, or by the one that it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from databases import workspace_of
from forests import a_calibrator
from test_cli import a_record, run, write_lines

from storage.store import open_store

pytestmark = pytest.mark.usefixtures("weights_loaded_once")


def test_the_databases_own_traces_are_decided_by_what_a_lead_put_in_force(tmp_path: Path) -> None:
    database = tmp_path / "workbench.db"
    run("import", write_lines(tmp_path / "t.jsonl", a_record(1)), "--db", database)
    first = json.loads(run("verify", "--db", database, "--json", "-").stdout)
    store = open_store(str(database))
    calibrators, lead = workspace_of(store).calibrators, workspace_of(store).people.local()
    calibrators.use_threshold(0.9999, "nothing passes for a while", lead)

    again = json.loads(run("verify", "--db", database, "--json", "-").stdout)
    shipped = json.loads(
        run("verify", "--db", database, "--calibrator", "shipped", "--json", "-").stdout
    )

    assert again["versions"]["calibrator"] == calibrators.current().label
    assert (again["verified"], again["decisions"]["block"]) == (1, 1)
    assert shipped["verified"] == 0  # it has that verdict already
    assert shipped["versions"] == first["versions"]


def test_files_are_decided_by_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "workbench.db"))
    file = write_lines(tmp_path / "t.jsonl", a_record(1))
    name = a_calibrator(tmp_path / "mine", above=0.2, below=0.1)
    store = open_store(str(tmp_path / "workbench.db"))
    workspace_of(store).calibrators.use_threshold(0.5, "lower", workspace_of(store).people.local())

    mine = json.loads(run("verify", file, "--calibrator", tmp_path / "mine", "--json", "-").stdout)
    promoted = json.loads(run("verify", file, "--calibrator", "promoted", "--json", "-").stdout)
    nowhere = run("verify", file, "--calibrator", tmp_path / "nowhere")

    assert mine["versions"]["calibrator"] == name
    assert mine["decisions"]["block"] == 1
    assert promoted["versions"]["calibrator"] == workspace_of(store).calibrators.current().label
    assert nowhere.exit_code == 3
    assert "no calibrator at" in nowhere.stderr
