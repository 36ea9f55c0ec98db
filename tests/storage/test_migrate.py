"""The schema of a new database is the tables', on both engines; one of 0.19.0 is carried to it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from databases import workspace_of
from sqlalchemy import Connection, inspect, text
from sqlmodel import SQLModel
from verdicts import fill, showcase

from core.errors import ProvenanceGuardError, StoreError
from core.records import State
from storage.audit import append_event
from storage.engine import open_database
from storage.migrate import NEWEST, migrate, revision
from storage.records import TraceFilters
from storage.store import SqlStore, open_store

ROOT = Path(__file__).resolve().parents[2]
# Written by 0.19.0, sealed with this key: three verified traces, of one project with two annotations a
# claim; annotations, an adjudication, marks, a queued job.
OF_0_19_0 = ROOT / "tests" / "golden" / "workbench-0.19.0.db.zst"
ITS_KEY = "e32f2d383efab65f8b0561dcfc7edd393c8251d4b7e7d9324273d44173d47d56"


@pytest.fixture
def of_0_19_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database as 0.19.0 left it, where the key that sealed it is this machine's."""
    file, keys = tmp_path / "workbench.db", tmp_path / "keys"
    keys.mkdir(mode=0o700)
    (keys / "trail.key").touch(mode=0o600)
    (keys / "trail.key").write_text(ITS_KEY + "\n", encoding="utf-8")
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(keys))
    file.write_bytes(zstandard.ZstdDecompressor().decompress(OF_0_19_0.read_bytes()))
    yield file


def schema(connection: Connection) -> dict[str, list[str]]:
    """What SQLite keeps of every table, index and trigger, in whatever order its parts are."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    # 0.19.0 named some checks twice.
    plain = {name: re.sub(r"\bck_(\w+?)_ck_\1_", r"ck_\1_", sql) for name, sql in rows}
    return {name: sorted(re.findall(r"[\w']+", sql)) for name, sql in plain.items()}


def test_a_new_database_has_exactly_the_tables(store: SqlStore) -> None:
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, SQLModel.metadata)

    assert differences == []


def test_migrating_twice_changes_nothing(store: SqlStore) -> None:
    migrate(store.database)

    with store.database.reading() as connection:
        assert revision(connection) == NEWEST


def test_a_database_of_0_19_0_becomes_what_a_new_one_is(of_0_19_0: Path, tmp_path: Path) -> None:
    carried, new = open_store(str(of_0_19_0)), open_store(str(tmp_path / "new.db"))

    with carried.database.reading() as old, new.database.reading() as fresh:
        assert revision(old) == NEWEST
        assert schema(old) == schema(fresh)
    carried.close()
    new.close()


def test_a_database_of_0_19_0_keeps_its_trail_and_all_that_was_said(of_0_19_0: Path) -> None:
    store = open_store(str(of_0_19_0))
    workspace = workspace_of(store)
    report = store.verify_chain()

    assert report.problems == ()
    assert (report.events, report.traces, report.verdicts, report.rows) == (47, 3, 3, 22)
    assert report.seals == 37 + 2  # the states that were worked out, and what the migration left
    assert [one.name for one in workspace.people.everybody()][1:3] == ["Lea", "Otto"]
    assert len(workspace.labels.reviewed()) == 4
    assert workspace.triage.tags() == ("weights",)
    assert workspace.jobs.counts().waiting == 1
    store.close()


def test_a_database_of_0_19_0_takes_not_a_claim_for_an_answer_and_nothing_else(
    of_0_19_0: Path,
) -> None:
    store = open_store(str(of_0_19_0))
    with store.database.reading() as connection:
        names = [each["name"] for each in inspect(connection).get_columns("vote")]
    told = ", ".join(name for name in names if name not in ("vote_id", "support", "nonce"))
    copied = (
        f"INSERT INTO vote ({told}, support, nonce) SELECT {told}, :said, :said FROM vote LIMIT 1"
    )

    with store.database.writing() as connection:
        connection.execute(text(copied), {"said": "not_a_claim"})
    with pytest.raises(StoreError, match="CHECK"), store.database.writing() as connection:
        connection.execute(text(copied), {"said": "nonsense"})
    store.close()


def test_verdicts_of_0_19_0_are_listed_by_the_state_that_they_say(of_0_19_0: Path) -> None:
    store = open_store(str(of_0_19_0))

    counted = {state: store.overview().count(state) for state in State}
    listed = {
        state: store.list_traces(TraceFilters(states=frozenset({state}))).total for state in State
    }

    assert counted == listed
    assert sum(listed.values()) == 3
    store.close()


def _drop(connection: Connection, *names: str, tables: bool = True) -> None:
    """Take tables away, or only what refuses to change their rows."""
    for name in names:
        if tables:
            connection.exec_driver_sql(f"DROP TABLE {name}")
        if connection.dialect.name == "postgresql":
            for statement in ("update", "delete"):
                connection.exec_driver_sql(
                    f"DROP FUNCTION IF EXISTS {name}_refuses_{statement} CASCADE"
                )
        elif not tables:
            connection.exec_driver_sql(f"DROP TRIGGER {name}_refuses_update")


def test_the_step_from_0_19_0_is_the_same_on_both_engines(store: SqlStore) -> None:
    workspace_of(store).project()
    fill(store, showcase())
    before, ranks = store.overview(), text("SELECT claim_key, rank FROM queue ORDER BY claim_key")
    blocks = text("SELECT signal_id FROM claim_block ORDER BY signal_id")
    with store.database.writing() as connection:  # back to what 0011 held
        placed, wrong = connection.execute(ranks).all(), connection.execute(blocks).all()
        connection.exec_driver_sql("UPDATE queue SET rank = rank - 1 WHERE NOT audit")
        _drop(connection, "verdict_state", "pre_label", "vote_withdrawal", "claim_block")
        _drop(connection, "trace_slice", "verdict_cause", tables=False)
        for table in ("vote", "adjudication", "calibration_label"):
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN more")
        connection.exec_driver_sql("ALTER TABLE project DROP COLUMN supported_prior")
        connection.exec_driver_sql("ALTER TABLE queue DROP COLUMN passes")
        connection.exec_driver_sql("ALTER TABLE person DROP COLUMN shown_as")
        connection.exec_driver_sql("CREATE TABLE verdict_tier (verdict_id integer, tier text)")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0011'")

    migrate(store.database)

    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []
        assert placed and connection.execute(ranks).all() == placed
        assert wrong and connection.execute(blocks).all() == wrong
    assert store.overview() == before
    assert store.verify_chain().problems == ()


@pytest.mark.parametrize(
    ("found", "why"),
    [("0010", "0010 is older than 0.19.0 .*with 0.19.0"), ("9999", "9999 is newer than this")],
)
def test_a_database_that_cannot_be_carried_is_refused_and_left_alone(
    store: SqlStore, found: str, why: str
) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{found}'")

    with pytest.raises(StoreError, match=why):
        migrate(store.database)

    with store.database.reading() as connection:
        assert revision(connection) == found


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


@pytest.mark.stress
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


def test_what_judges_said_comes_along_where_the_trail_alone_held_it(store: SqlStore) -> None:
    fill(store, showcase())
    made = {"label": "supported", "source_id": None, "status": "agreement", "readings": []}
    with store.database.writing() as connection:
        key = connection.execute(text("SELECT min(claim_key) FROM claim")).scalar_one()
        for claim, label in ((key, "contradicted"), (key, "supported"), (10**6, "supported")):
            detail = {"pre_label": {**made, "label": label}}
            append_event(
                connection, store.now(), "Lea", "claim.pre_labelled", f"claim {claim}", detail
            )
    with store.database.writing() as connection:  # back to what 0014 held
        _drop(connection, "pre_label", "vote_withdrawal", "claim_block")
        connection.exec_driver_sql("ALTER TABLE project DROP COLUMN supported_prior")
        connection.exec_driver_sql("ALTER TABLE queue DROP COLUMN passes")
        connection.exec_driver_sql("ALTER TABLE person DROP COLUMN shown_as")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0014'")

    migrate(store.database)

    carried = workspace_of(store).pre_labels.all()
    assert {claim: one.label.value for claim, one in carried.items()} == {key: "supported"}
    assert store.verify_chain().problems == ()
