"""What doctor says about the database and the disk under it."""

from __future__ import annotations

from pathlib import Path

from builders import a_trace

from cli.doctor import check_database
from storage.store import SqlStore


def test_a_database_that_is_not_there_yet_is_fine_and_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "new" / "workbench.db"

    database, disk = check_database(str(file))

    assert database.passed
    assert "made when first used" in database.found
    assert disk.passed
    assert not file.parent.exists()


def test_a_database_tells_what_waits(store: SqlStore, database_address: str) -> None:
    store.put_traces([a_trace("Answer.")])

    database, *_ = check_database(database_address)

    assert database.passed
    assert "1 traces, 1 waiting" in database.found


def test_a_server_that_does_not_answer_is_told_with_a_remedy() -> None:
    (database,) = check_database("postgresql://me:secret@127.0.0.1:1/none")

    assert not database.passed
    assert "start its server" in database.remedy
    assert "secret" not in database.found
