"""Which database is chosen, and what happens when it cannot be used."""

from __future__ import annotations

import stat
import sys
import threading
from pathlib import Path

import pytest

from core.errors import ComponentUnavailable, ConfigError, StoreError
from storage.engine import DEFAULT_DATABASE, Database, database_url, open_database
from storage.store import SqlStore, open_store


def test_the_environment_chooses_and_an_argument_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PROVENANCEGUARD_DB", raising=False)
    assert database_url().database == str(DEFAULT_DATABASE)

    monkeypatch.setenv("PROVENANCEGUARD_DB", "postgresql://me@host/traces")
    assert database_url().drivername == "postgresql+psycopg"

    assert database_url(str(tmp_path / "a.db")).database == str(tmp_path / "a.db")


@pytest.mark.parametrize("address", ["mysql://me@host/db", "sqlite://", "://"])
def test_an_address_that_cannot_be_used_is_named(address: str) -> None:
    with pytest.raises(ConfigError, match="database: expected"):
        database_url(address)


def test_without_the_extra_postgres_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(ComponentUnavailable, match=r"\[postgres\]"):
        open_database("postgresql://me@host/traces")


def test_a_password_is_never_shown() -> None:
    database = open_database("postgresql://me:secret@127.0.0.1:1/traces")

    with pytest.raises(ComponentUnavailable) as refused, database.reading():
        pass

    assert "secret" not in database.name + str(refused.value)


def test_a_new_database_file_is_its_owners_alone(tmp_path: Path) -> None:
    open_store(str(tmp_path / "new" / "workbench.db")).close()

    assert stat.S_IMODE((tmp_path / "new" / "workbench.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("these are my notes, and no database at all\n" * 50)

    with pytest.raises(StoreError, match="not a database"):
        open_store(str(file))

    assert file.read_text().startswith("these are my notes")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ComponentUnavailable, match="file"):
        open_store(str(tmp_path / "file" / "workbench.db"))


def test_foreign_keys_hold(store: SqlStore) -> None:
    with pytest.raises(StoreError), store.database.writing() as connection:
        connection.exec_driver_sql(
            "INSERT INTO trace_slice (position, slice) VALUES (77, 'orphan')"
        )


def test_writers_wait_for_each_other_and_lose_nothing(store: SqlStore) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE counter (value integer)")
        connection.exec_driver_sql("INSERT INTO counter VALUES (0)")
    failed: list[BaseException] = []

    threads = [threading.Thread(target=_add_ten, args=(store.database, failed)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with store.database.reading() as connection:
        value = connection.exec_driver_sql("SELECT value FROM counter").scalar()
    assert (value, failed) == (60, [])


def _add_ten(database: Database, failed: list[BaseException]) -> None:
    try:
        for _ in range(10):
            with database.writing() as connection:
                value = connection.exec_driver_sql("SELECT value FROM counter").scalar()
                assert value is not None
                connection.exec_driver_sql(f"UPDATE counter SET value = {value + 1}")
    except BaseException as error:
        failed.append(error)
        raise
