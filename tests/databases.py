"""Real SQLite files for tests: migrated once, then copied, so that each test has one of its own."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

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


_COPIES: dict[str, tuple[list[Any], sqlite3.Connection]] = {}


@contextmanager
def copied(store: SqlStore, key: str) -> Iterator[list[Any]]:
    """Fill an empty SQLite file once for each ``key`` of a process, and copy it from then on.

    The list is empty where the block must fill the store; what it adds is what it is given next time.
    """
    with store.database.reading() as connection:
        driver = connection.connection.driver_connection
        is_file = isinstance(driver, sqlite3.Connection)
        empty = not connection.exec_driver_sql("SELECT count(*) FROM trace_version").scalar_one()
    if not (is_file and empty):
        yield []
        return
    made, kept = _COPIES.get(key) or ([], sqlite3.connect(":memory:"))
    known = key in _COPIES
    if known:
        _over(kept, store)
    yield made
    if not known:
        with store.database.reading() as connection:
            connection.connection.driver_connection.backup(kept)  # type: ignore[union-attr]
        _COPIES[key] = (made, kept)


def _over(kept: sqlite3.Connection, store: SqlStore) -> None:
    with closing(sqlite3.connect(str(store.database.engine.url.database))) as file:
        kept.backup(file)
