"""Whoever can write the file, and knows this program, still leaves a mark on the trail."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, in_one_file
from sqlalchemy import Connection
from tables import cases
from typer.testing import CliRunner
from verdicts import a_verification

from cli import app
from core.errors import ConfigError, InputError, NotAllowed, NotFound
from core.review.records import Role
from storage.audit import append_event, event_hash, events
from storage.checking import anchor_of, check_database, write_anchor
from storage.engine import open_to_check
from storage.keys import TRAIL_KEY, key_folder, trail_key
from storage.people import People
from storage.projects import Projects
from storage.seals import RETIRED, add_seal, retirement
from storage.store import SqlStore
from storage.trail import acknowledge, make_anchor, retire_keys

RUN = "sha256:" + "1" * 64


@pytest.fixture
def filled(store: SqlStore) -> SqlStore:
    traces = [a_trace(f"Answer {n}.", a_source("Evidence."), trace_id=f"t{n}") for n in range(3)]
    store.put_traces(traces)
    store.put_verdicts(RUN, [a_verification(t, {"chart": "patient_record"}, []) for t in traces])
    local = People(store=store).local()
    People(store=store).add("Ines", [Role.REVIEWER], by=local)
    Projects(store=store).default()
    return store


def _tamper(store: SqlStore, *statements: str) -> None:
    """What somebody does who has the file: triggers are dropped, and nothing of ours runs."""
    with store.database.engine.begin() as connection:
        _drop_triggers(connection)
        for statement in statements:
            connection.exec_driver_sql(statement)


def _drop_triggers(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in rows.all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
    else:
        connection.exec_driver_sql("SET session_replication_role = replica")


def _chain_again(store: SqlStore) -> None:
    """Every hash of the trail computed anew, as the program itself would."""
    with store.database.engine.begin() as connection:
        previous = "sha256:" + "0" * 64
        for event in events(connection):
            changed = replace(event, previous_hash=previous)
            previous = event_hash(changed)
            connection.exec_driver_sql(
                f"UPDATE audit_event SET previous_hash = '{changed.previous_hash}', "
                f"hash = '{previous}' WHERE sequence = {event.sequence}"
            )


def test_what_nobody_touched_is_intact_and_sealed(filled: SqlStore) -> None:
    report = filled.verify_chain()

    assert report.problems == ()
    assert report.seals >= 4


@cases
def test_every_change_behind_the_programs_back_is_found(filled: SqlStore, statement: str) -> None:
    _tamper(filled, statement)

    assert filled.verify_chain().problems


def test_events_of_another_year_are_found_though_the_chain_was_computed_again(
    filled: SqlStore,
) -> None:
    _tamper(filled, "UPDATE audit_event SET at = '1999-01-01 00:00:00' WHERE sequence = 2")
    _chain_again(filled)

    problems = filled.verify_chain().problems

    assert any("clock went back" in problem for problem in problems)
    assert any("not the one that was sealed" in problem for problem in problems)


def test_seals_made_with_another_key_are_not_ours(
    filled: SqlStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "other"))

    report = filled.verify_chain()

    assert not report.intact
    assert any("a key that is not here" in problem for problem in report.problems)


def test_a_rewritten_past_under_an_own_seal_is_noticed_and_cannot_be_retired(
    filled: SqlStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The attack: change a row and the chain, throw the seals away, seal it all with an own key."""
    _tamper(filled, "UPDATE person SET name = 'Eve' WHERE name = 'Ines'", "DELETE FROM trail_seal")
    _chain_again(filled)
    with monkeypatch.context() as theirs, filled.database.engine.begin() as connection:
        theirs.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "attacker"))
        add_seal(connection)
        theirs.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "nobody"))
        said = retirement(connection)
        theirs.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "attacker"))
        (*_, last) = events(connection)
        append_event(connection, last.at, last.actor, RETIRED, "", said)
        add_seal(connection)

    report = filled.verify_chain()

    assert not report.intact
    assert any("a key that is not here" in problem for problem in report.problems)


def test_whoever_holds_the_new_key_can_answer_for_the_seals_of_the_old_one(
    filled: SqlStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "new"))
    lead = People(store=filled).local()

    retire_keys(filled, "The server was replaced; compared with the backup.", by=lead)

    report = filled.verify_chain()
    assert report.problems == ()
    assert any("retired here" in note for note in report.notes)

    _tamper(filled, "UPDATE trail_seal SET covered = covered || ' ' WHERE seal_id = 1")
    assert any("seal 1: of a key" in problem for problem in filled.verify_chain().problems)


@pytest.mark.parametrize(
    "instead",
    [
        (),
        (
            "CREATE TRIGGER vote_refuses_update BEFORE UPDATE ON vote WHEN 0 "
            "BEGIN SELECT RAISE(ABORT, 'vote is append-only: UPDATE refused'); END",
        ),
    ],
)
def test_triggers_that_were_dropped_or_made_to_refuse_less_are_noticed(
    filled: SqlStore, instead: tuple[str, ...]
) -> None:
    if filled.database.engine.dialect.name != "sqlite":
        pytest.skip("there they are switched off for a session, and none is dropped")
    assert filled.verify_chain().intact

    with filled.database.engine.begin() as connection:
        if instead:
            connection.exec_driver_sql(f"DROP TRIGGER {instead[0].split()[2]}")
            connection.exec_driver_sql(instead[0])
        else:
            _drop_triggers(connection)

    assert any("triggers that refuse" in each for each in filled.verify_chain().problems)


def test_a_trail_and_its_seals_cut_together_contradict_the_anchor(
    filled: SqlStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))
    with filled.database.reading() as connection:
        before = anchor_of(connection, filled.name)
    local = People(store=filled).local()
    People(store=filled).add("Noor", [], by=local)
    with filled.database.reading() as connection:
        anchor = anchor_of(connection, filled.name)
    elsewhere = tmp_path / "anchors.jsonl"
    write_anchor(anchor, elsewhere)
    _tamper(
        filled,
        "DELETE FROM person WHERE name = 'Noor'",
        f"DELETE FROM audit_event WHERE sequence > {before.events}",
        f"DELETE FROM trail_seal WHERE seal_id > {before.seals}",
    )

    report = check_database(filled.database, [elsewhere])

    assert any("the anchor of" in problem for problem in report.problems)
    assert report.anchors == 2


def test_an_older_copy_contradicts_the_anchor_wherever_it_lies_until_somebody_answers_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))
    store = a_store(tmp_path / "w.db")
    lead = People(store=store).local()
    in_one_file(store)
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(tmp_path / "w.db", tmp_path / "elsewhere" / "copy.db")
    People(store=store).add("Noor", [], by=lead)
    make_anchor(str(tmp_path / "w.db"))
    assert store.verify_chain().intact
    copy = a_store(tmp_path / "elsewhere" / "copy.db")

    report = copy.verify_chain()

    assert [one.partition(":")[0][:10] for one in report.problems] == ["the anchor"]
    acknowledge(copy, report.doubtful, "restored after the disk failed", by=lead)
    again = copy.verify_chain()
    assert again.problems == ()
    assert any("acknowledged: the anchor" in note for note in again.notes)
    with pytest.raises(NotFound):
        acknowledge(copy, again.doubtful, "again", by=lead)


def test_an_anchor_is_asked_for_once_one_was_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))
    store, kept = a_store(tmp_path / "w.db"), tmp_path / "kept.jsonl"
    People(store=store).local()
    assert store.verify_chain().intact
    make_anchor(str(tmp_path / "w.db"), kept)

    (tmp_path / "keys" / "anchors.jsonl").unlink()

    assert any("no anchor of it is here" in one for one in store.verify_chain().problems)
    assert check_database(store.database, [kept]).problems == ()


def test_a_clock_that_went_back_is_told_and_acknowledged_with_a_reason(tmp_path: Path) -> None:
    store = a_store(tmp_path / "w.db")
    lead = People(store=store).local()
    earlier = replace(store, now=lambda: datetime(2020, 1, 1, tzinfo=UTC))

    People(store=earlier).add("Noor", [], by=lead)

    told = [event.action for event in store.audit_events(newest_first=False)]
    assert told.count("clock.went_back") == 1
    report = store.verify_chain()
    assert report.problems == report.doubtful
    assert ["the clock went back" in one for one in report.doubtful] == [True]
    with pytest.raises(NotAllowed):
        acknowledge(store, report.doubtful, "as I like", by=People(store=store).by_name("Noor"))
    acknowledge(earlier, report.doubtful, "the time server was wrong", by=lead)
    assert store.verify_chain().problems == ()
    assert any("acknowledged: event" in note for note in store.verify_chain().notes)


@cases
def test_a_schema_that_does_more_or_says_it_is_older_is_noticed(
    tmp_path: Path, statement: str
) -> None:
    store = a_store(tmp_path / "w.db")
    with store.database.engine.begin() as connection:
        connection.exec_driver_sql(statement)

    assert store.verify_chain().problems


def test_a_key_that_others_may_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path))
    key = trail_key()
    assert len(key) == 32 and (key_folder() / TRAIL_KEY).stat().st_mode & 0o777 == 0o600
    (tmp_path / TRAIL_KEY).chmod(0o644)

    with pytest.raises(ConfigError, match="others may read it"):
        trail_key()


def test_a_database_that_is_missing_or_empty_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing" / "w.db", tmp_path / "empty.db"
    empty.touch()

    for file in (missing, empty):
        result = CliRunner().invoke(app, ["audit", "verify", "--db", str(file)])
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")
    assert not missing.parent.exists() and not empty.stat().st_size


def test_a_database_of_something_else_is_an_error(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE cat (name TEXT)")
    other.commit()
    other.close()

    with pytest.raises(InputError, match="holds no trail"):
        check_database(open_to_check(str(tmp_path / "other.db")))


def test_a_write_protected_database_can_be_checked(tmp_path: Path) -> None:
    store = a_store(tmp_path / "w.db")
    store.put_traces([a_trace("Answer.", a_source("Evidence."))])
    in_one_file(store)
    store.close()
    (tmp_path / "w.db").chmod(0o400)

    result = CliRunner().invoke(
        app, ["audit", "verify", "--db", str(tmp_path / "w.db"), "--json", "-"]
    )

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["intact"] is True
