"""Real SQLite files for tests: migrated once, then copied, so that each test has one of its own."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from core.workflows.models import ForestFiles
from storage.store import SqlStore, open_store
from storage.workspace import Workspace


def a_store(file: Path | str, *, actor: str = "local") -> SqlStore:
    """The store in that file; a file that is not there yet begins as an empty, migrated database."""
    if not Path(file).exists():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_migrated(), file)
    return open_store(str(file), actor=actor)


def workspace_of(store: SqlStore, *, shipped: Path | None = None) -> Workspace:
    """The workspace on that store, with the calibrator in ``shipped`` instead of the program's own."""
    return Workspace(
        store=store, files=ForestFiles() if shipped is None else ForestFiles(shipped=shipped)
    )


@lru_cache(maxsize=1)
def _migrated() -> Path:
    folder = tempfile.mkdtemp(prefix="migrated-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "workbench.db"
    store = open_store(str(file))
    in_one_file(store)
    store.close()
    return file


def in_one_file(store: SqlStore) -> None:
    """Bring what is in SQLite's log into the database file, which can then be copied alone."""
    with store.database.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
