"""The gate at the terminal: what could not be read fails it, and a full disk is no verdict."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from commands import a_record, run
from databases import a_store

from core.codec import verification_from_document
from core.review.records import Role
from core.workflows.verdict_file import DIGEST_FIELD, verdict_line
from storage.people import People

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

GOOD = a_record(1)
BAD = a_record(2, "The patient takes metformin 850 mg twice daily.")


def _file(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([json.dumps(GOOD), *lines]) + "\n", encoding="utf-8")
    return path


def test_an_unreadable_trace_fails_the_gate_unless_its_file_is_named(tmp_path: Path) -> None:
    file = _file(tmp_path / "t.jsonl", "{not json")

    assert run("verify", file).exit_code == 0
    refused = run("verify", file, "--fail-on", "block")
    assert refused.exit_code == 1
    assert "1 record could not be read" in refused.stderr
    other = run("verify", file, "--fail-on", "block", "--allow-skipped", "other.jsonl")
    assert other.exit_code == 1
    assert run("verify", file, "--fail-on", "block", "--allow-skipped", "t.jsonl").exit_code == 0


def test_a_full_disk_is_no_verdict_and_no_traceback(tmp_path: Path) -> None:
    file = _file(tmp_path / "t.jsonl")

    result = run("verify", file, "--out", "/dev/full", "--fail-on", "block")

    assert result.exit_code == 3
    assert "error: " in result.stderr and "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def _allowed(document: str) -> str:
    """A verdict's document that says "allow" where it said "block"."""
    return document.replace('"block"', '"allow"').replace('"contradicted"', '"supported"')


def test_a_stored_verdict_is_never_enough_for_the_gate(tmp_path: Path) -> None:
    file, db = tmp_path / "t.jsonl", tmp_path / "w.db"
    file.write_text(json.dumps(GOOD) + "\n" + json.dumps(BAD) + "\n", encoding="utf-8")
    assert run("import", file, "--db", db).exit_code == 0
    assert run("verify", "--db", db, "--fail-on", "block").exit_code == 1
    with sqlite3.connect(db) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'verdict'"
        ).fetchall():
            connection.execute(f'DROP TRIGGER "{trigger}"')
        connection.execute("UPDATE verdict SET decision = 'allow', blocked = 0, unsupported = 0")

    again = run("verify", "--db", db, "--fail-on", "block")

    assert again.exit_code == 1
    assert "2 answers" in again.stdout


def test_a_forged_file_of_verdicts_is_never_enough_for_the_gate(tmp_path: Path) -> None:
    file, out = tmp_path / "t.jsonl", tmp_path / "v.jsonl"
    file.write_text(json.dumps(BAD) + "\n", encoding="utf-8")
    assert run("verify", file, "--out", out, "--fail-on", "block").exit_code == 1
    document = json.loads(_allowed(out.read_text("utf-8")))
    del document[DIGEST_FIELD]
    forged = verdict_line(verification_from_document(document))  # with the digest that fits it
    out.write_bytes(forged)

    result = run("verify", file, "--out", out, "--fail-on", "block")

    assert result.exit_code == 1
    assert out.read_bytes() != forged


def test_a_gate_without_anything_to_judge_does_not_pass(tmp_path: Path) -> None:
    result = run("verify", "--db", tmp_path / "w.db", "--fail-on", "block")

    assert result.exit_code == 2
    assert "no trace to judge" in result.stderr


def test_a_terminal_whose_user_has_no_role_writes_nothing_and_makes_no_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, db, keys = _file(tmp_path / "t.jsonl"), tmp_path / "w.db", tmp_path / "keys"
    assert run("import", file, "--db", db).exit_code == 0  # the first account leads
    keys.mkdir(mode=0o700)
    (keys / "user").write_text("Mallory")
    (keys / "user").chmod(0o600)
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(keys))
    monkeypatch.setenv("LOGNAME", "local reviewer")
    monkeypatch.setenv("USER", "local reviewer")

    for arguments in (("import", file), ("verify",), ("repair",)):
        refused = run(*arguments, "--db", db)
        assert refused.exit_code != 0
        assert "Mallory needs a role" in refused.stderr

    leads = {one.name: Role.LEAD in one.roles for one in People(store=a_store(db)).everybody()}
    assert leads.pop("Mallory") is False
    assert list(leads.values()) == [True]
