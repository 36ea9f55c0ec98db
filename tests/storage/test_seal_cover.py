"""Every table is covered by the trail, or stands in a list that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import a_store
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office
from sqlalchemy import Table, inspect, select, update
from sqlmodel import SQLModel

from storage.audit import TOLD
from storage.checking import check_database
from storage.seals import COVERED, UNCOVERED

FOUND_BY_EVENTS = frozenset(model.__table__.name for model in TOLD)  # type: ignore[attr-defined]
CHANGED: dict[type, object] = {int: 7, float: 0.123, bool: True, str: "changed", bytes: b"changed"}


@pytest.fixture
def made(tmp_path: Path) -> Office:
    made = an_office(a_store(tmp_path / "w.db", actor="test"), traces=1, reads_per_claim=2)
    made.read("Ada", SUPPORTED)
    made.read("Ben", UNSUPPORTED)
    made.workspace.key_bindings.bind({"keep": "M"}, by=made.people["Ada"])
    made.workspace.word_lists.keep_own(["metformin"], by=made.people["Ada"])
    made.workspace.packet_signatures.lock("{}", "approval", by=made.people["Lea"])
    return made


def _tables(made: Office) -> set[str]:
    with made.store.database.reading() as connection:
        return set(inspect(connection).get_table_names()) - {"sqlite_sequence"}


def test_every_table_is_covered_or_listed_with_a_reason(made: Office) -> None:
    covered = COVERED | FOUND_BY_EVENTS
    tables = _tables(made)

    assert tables - covered - UNCOVERED.keys() == set(), "neither covered nor listed"
    assert set(UNCOVERED) <= tables, "listed, and there is no such table"
    assert not covered & UNCOVERED.keys()
    assert all(reason.strip() for reason in UNCOVERED.values())


@pytest.mark.parametrize("name", sorted(COVERED | FOUND_BY_EVENTS))
def test_no_column_of_a_covered_table_changes_unseen(made: Office, name: str) -> None:
    table: Table = SQLModel.metadata.tables[name]
    with made.store.database.reading() as connection:
        row = connection.execute(select(table).limit(1)).first()
    if row is None:
        pytest.skip(f"no {name} in this database")
    (key,) = table.primary_key.columns
    _drop_triggers(made)  # which is noticed by itself, whatever is changed behind them
    linked = {column for fk in table.foreign_key_constraints for column in fk.columns}
    for column in table.columns:
        other = _other(row._mapping[column])
        if column is key or column in linked or other is None:
            continue
        before = check_database(made.store.database).problems
        _put(made, table, row._mapping[key], column.name, other)
        found = set(check_database(made.store.database).problems) - set(before)
        _put(made, table, row._mapping[key], column.name, row._mapping[column])
        assert set(check_database(made.store.database).problems) == set(before)
        assert found, f"{name}.{column.name} was changed, and nobody noticed"


def _other(value: object) -> object:
    """Another value of the same kind; None where there is none to put."""
    other = CHANGED.get(type(value))
    return (not value) if isinstance(value, bool) else other


def _put(made: Office, table: Table, key: object, name: str, value: object) -> None:
    """Change a value as somebody does who has the file: nothing of ours runs."""
    (column,) = table.primary_key.columns
    with made.store.database.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA ignore_check_constraints=ON")
        connection.execute(update(table).where(column == key).values({name: value}))


def _drop_triggers(made: Office) -> None:
    with made.store.database.engine.begin() as connection:
        rows = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (trigger,) in rows.all():
            connection.exec_driver_sql(f"DROP TRIGGER {trigger}")
