"""Every table is covered by the trail, or stands in a list that says why not."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from sqlalchemy import insert, select, update

from bench.tamper import (
    BEGIN,
    END,
    THREATS,
    Found,
    build,
    found,
    keys_in,
    noticed,
    table_of,
    tables,
)
from core.errors import Conflict, InputError
from core.review.records import Role
from storage.audit import PERSON_ERASED, TOLD, event_hash, events, row_hash
from storage.checking import check_database
from storage.seals import COVERED, UNCOVERED
from storage.tables import AuditEvent

FOUND_BY_EVENTS = frozenset(model.__table__.name for model in TOLD)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A database in which every table holds something, and the keys that sealed it."""
    folder = tmp_path_factory.mktemp("tamper")
    with keys_in(folder / "keys"):
        yield build(folder)


def test_every_table_is_covered_or_listed_with_a_reason(file: Path) -> None:
    covered, there = COVERED | FOUND_BY_EVENTS, set(tables(file))

    assert there - covered - UNCOVERED.keys() == set(), "neither covered nor listed"
    assert set(UNCOVERED) <= there, "listed, and there is no such table"
    assert not covered & UNCOVERED.keys()
    assert all(reason.strip() for reason in UNCOVERED.values())


@pytest.mark.parametrize(
    ("table", "unnoticed"),
    [
        ("verdict_state", ()),  # covered by seals
        ("role_grant", ()),  # told by events
        ("queue", ("rank", "reason")),  # worked out again
    ],
)
def test_what_is_changed_removed_or_added_behind_the_program_is_noticed(
    file: Path, table: str, unnoticed: tuple[str, ...]
) -> None:
    assert found(file, table).unnoticed == unnoticed


def test_json_of_another_kind_than_this_program_writes_is_a_problem(file: Path) -> None:
    assert noticed(file, "vote", "UPDATE vote SET more = ?", ("0.5",))


def test_a_person_is_erased_from_every_table_and_whatever_is_changed_besides_is_noticed(
    file: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "w.db"
    shutil.copy(file, copy)
    store = a_store(copy)
    people = workspace_of(store).people
    ada, lea = people.by_name("Ada"), people.by_name("Lea")
    with pytest.raises(Conflict, match="has a role"):
        people.erase(ada, "she asked for it", by=lea)
    people.revoke(ada, Role.REVIEWER, by=lea, reason="has left")
    with pytest.raises(InputError):
        people.erase(ada, " ", by=lea)

    rewritten, letters = people.erase(ada, "she asked for it", by=lea)

    def problems() -> tuple[str, ...]:
        return check_database(store.database).problems

    assert problems() == () and store.verify_chain().rewritten == rewritten > 10
    assert (
        letters < 3 and people.at(ada.person_id).name == f"person {ada.person_id} (erased)"
    )  # by chance, in a seal
    for each in tmp_path.glob("w.db*"):
        assert not re.search(rb"(?<![A-Za-z])Ada(?![A-Za-z])", each.read_bytes()), each
    # A name that is one of the trail's own keys takes no key away.
    people.erase(people.add("reason", (), by=lea), "she asked for it", by=lea)
    with store.database.reading() as connection:
        (revoked,) = (e for e in events(connection) if e.action == "role.revoked")
    assert json.loads(revoked.detail)["reason"] == "has left" and problems() == ()
    other = people.add("Mia", {Role.LEAD}, by=lea)
    for role in lea.roles:
        people.revoke(lea, role, by=other, reason="has left")
    with pytest.raises(Conflict, match="signed a packet"):
        people.erase(lea, "she asked for it", by=other)

    with store.database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER audit_event_refuses_update")
        connection.exec_driver_sql(
            "UPDATE audit_event SET actor = 'Eve' WHERE actor LIKE 'person % (erased)' "
            "AND sequence = (SELECT max(sequence) FROM audit_event WHERE actor LIKE 'person % (erased)')"
        )
    assert any("was changed after it was written" in problem for problem in problems())


def test_an_erasure_hides_no_event_that_was_changed_before_it(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w.db"
    shutil.copy(file, copy)
    store = a_store(copy)
    people = workspace_of(store).people
    ada, lea = people.by_name("Ada"), people.by_name("Lea")
    people.revoke(ada, Role.REVIEWER, by=lea, reason="has left")
    with store.database.engine.begin() as connection:
        triggers = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'audit_event' AND type = 'trigger'"
        ).all()
        for name, _ in triggers:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        connection.exec_driver_sql(
            "UPDATE audit_event SET entity = 'another' WHERE sequence = "
            "(SELECT max(sequence) FROM audit_event WHERE actor = 'Ada')"
        )
        for _, sql in triggers:
            connection.exec_driver_sql(sql)

    people.erase(ada, "she asked for it", by=lea)

    (problem,) = check_database(store.database).problems
    assert "was changed after it was written" in problem


def test_an_event_that_names_two_people_may_lose_both(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w.db"
    shutil.copy(file, copy)
    store = a_store(copy)
    people = workspace_of(store).people
    lea = people.by_name("Lea")
    mia = people.add("Mia", {Role.LEAD}, by=lea)
    people.add("Noa", set(), by=mia)
    people.revoke(mia, Role.LEAD, by=lea, reason="has left")

    for name in ("Noa", "Mia"):
        assert people.erase(people.by_name(name), "asked for it", by=lea)[0]

    assert check_database(store.database).problems == ()


def test_a_forged_erasure_is_noticed_after_the_program_goes_on(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w.db"
    shutil.copy(file, copy)
    store = a_store(copy)
    people = workspace_of(store).people
    (vote,) = (model.__table__ for model in TOLD if model.__table__.name == "vote")  # type: ignore[attr-defined]
    with store.database.engine.begin() as connection:
        one = select(vote).limit(1)
        before = connection.execute(one).one()._mapping
        triggers = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'vote' AND type = 'trigger'"
        ).all()
        for name, _ in triggers:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        key, *_ = vote.primary_key.columns
        own = key == before[key]
        connection.execute(update(vote).where(own).values(rationale="never said"))
        for _, sql in triggers:
            connection.exec_driver_sql(sql)
        after = connection.execute(select(vote).where(own)).one()._mapping
        (last,) = events(connection, newest_first=True, limit=1)
        told = {"vote": [[before[key], row_hash(before), row_hash(after)]]}
        forged = replace(
            last, sequence=last.sequence + 1, action=PERSON_ERASED, previous_hash=last.hash,
            detail=json.dumps({"reason": "asked for it", "rewritten": told}),
        )  # fmt: skip
        forged = replace(forged, hash=event_hash(forged))
        connection.execute(insert(AuditEvent).values(**asdict(forged)))
    assert check_database(store.database).problems

    people.add("Mia", {Role.LEAD}, by=people.by_name("Lea"))

    (problem,) = check_database(store.database).problems
    assert problem.startswith(f"events {forged.sequence} to {forged.sequence}: stood there before")


@pytest.mark.stress
def test_the_threat_model_tells_what_is_noticed_of_every_table(file: Path) -> None:
    every = [found(file, table) for table in tables(file)]
    report = table_of(every)

    told = THREATS.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert not report.failed
    assert told.strip() == "\n".join(report.lines()).strip(), "python -m bench tamper --write"


def test_a_table_that_is_not_listed_may_leave_nothing_unnoticed() -> None:
    def report(table: str) -> bool:
        one = Found(table=table, altered={"a": True, "b": False}, deleted=True, inserted=True)
        return table_of([one]).failed

    assert report("vote")
    assert not report("draft")
