"""The schema on disk is the schema in the tables, on both engines, however many processes start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from databases import workspace_of
from sqlalchemy import inspect
from sqlmodel import SQLModel

from core.errors import ProvenanceGuardError, StoreError
from storage.engine import open_database
from storage.migrate import MIGRATIONS, NEWEST, migrate, revision
from storage.store import SqlStore, open_store

ROOT = Path(__file__).resolve().parents[2]
CALIBRATION = (
    "calibration_closing", "calibration_label", "calibration_reader", "calibration_claim",
    "calibration_round",
)  # fmt: skip
SINCE_0005 = (
    "adjudication_reopening", "trace_mark", "reading_request", "verdict_tier", "verdict_cause",
    "job", "key_binding", "word_list", *CALIBRATION,
)  # fmt: skip
APPENDED_SINCE_0005 = ("adjudication_reopening", "key_binding", "word_list", *CALIBRATION)


def test_the_migrations_build_exactly_the_tables(store: SqlStore) -> None:
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, SQLModel.metadata)

    assert differences == []


def test_the_newest_revision_is_the_head_of_the_migrations() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [NEWEST]


def test_migrating_twice_changes_nothing(store: SqlStore) -> None:
    migrate(store.database)

    with store.database.reading() as connection:
        assert revision(connection) == NEWEST


def test_a_database_of_a_newer_program_is_refused_and_left_alone(store: SqlStore) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(StoreError, match="9999 is newer than this program"):
        migrate(store.database)

    with store.database.reading() as connection:
        assert revision(connection) == "9999"


def test_a_migration_that_fails_leaves_the_database_as_it_was(database_address: str) -> None:
    database = open_database(database_address)
    with database.writing() as connection:  # the migration will stumble over it, half way through
        connection.exec_driver_sql("CREATE TABLE verdict (mine integer)")

    with pytest.raises(ProvenanceGuardError, match="verdict.* already exists"):
        migrate(database)

    with database.reading() as connection:
        tables = inspect(connection).get_table_names()
    assert tables == ["verdict"]
    database.close()


def test_a_database_of_the_version_before_keeps_its_trail_and_gains_what_is_new(
    database_address: str,
) -> None:
    store = open_store(database_address, actor="tester")
    local = workspace_of(store).people.local()
    with store.database.writing() as connection:  # back to what 0003 left
        connection.exec_driver_sql("DROP INDEX ix_audit_event_actor_sequence")
        connection.exec_driver_sql("DROP INDEX ix_audit_event_action_sequence")
        for table in SINCE_0005:
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("DROP TABLE verdict_opening")
        connection.exec_driver_sql("DROP TABLE trail_seal")
        connection.exec_driver_sql("DROP TABLE packet_signature")
        if connection.dialect.name == "postgresql":
            for table in ("trail_seal", "packet_signature"):
                connection.exec_driver_sql(f"DROP FUNCTION {table}_refuses_update")
                connection.exec_driver_sql(f"DROP FUNCTION {table}_refuses_delete CASCADE")
            connection.exec_driver_sql("DROP FUNCTION verdict_opening_refuses_update")
            for table in APPENDED_SINCE_0005:
                connection.exec_driver_sql(f"DROP FUNCTION {table}_refuses_update")
                connection.exec_driver_sql(f"DROP FUNCTION {table}_refuses_delete CASCADE")
            connection.exec_driver_sql("DROP FUNCTION trace_mark_refuses_update")
        connection.exec_driver_sql("ALTER TABLE claim_signal DROP COLUMN review_from")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0003'")
    before = store.audit_events()

    migrate(store.database)

    with store.database.reading() as connection:
        assert revision(connection) == NEWEST
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []
    assert store.audit_events() == before
    assert store.verify_chain().problems == ()
    assert workspace_of(store).people.everybody() == (local,)
    store.close()


def test_what_0003_left_is_what_the_test_above_goes_back_to(database_address: str) -> None:
    database = open_database(database_address)
    with database.writing() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0003")
    with database.reading() as connection:
        indexes = {index["name"] for index in inspect(connection).get_indexes("audit_event")}
        tables = set(inspect(connection).get_table_names())
    assert not {name for name in indexes if name and "sequence" in name}
    assert "verdict_opening" not in tables
    assert set(SQLModel.metadata.tables) - tables == {
        "verdict_opening",
        "trail_seal",
        "packet_signature",
        *SINCE_0005,
    }

    migrate(database)

    with database.reading() as connection:
        assert revision(connection) == NEWEST
    database.close()


def test_processes_that_start_together_migrate_once(database_address: str) -> None:
    program = (
        "import sys; from storage.store import open_store; "
        "print(open_store(sys.argv[1]).overview().traces)"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, database_address],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]

    finished = [process.communicate(timeout=60) for process in started]

    assert [out.strip() for out, _ in finished] == ["0"] * 4, finished
    open_store(database_address).close()
