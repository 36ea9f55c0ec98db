"""The terminal's export, import of a packet, and check of one."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from commands import run
from databases import a_store
from reviewing import SUPPORTED, UNSUPPORTED, an_office

from core.workflows.packet_folder import MANIFEST, file_sha256, hold, unfinished


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Four claims: three on which two annotators agree, one that waits for a decision."""
    file = tmp_path / "a.db"
    office = an_office(a_store(file, actor="test"), traces=1, reads_per_claim=2)
    for number in range(4):
        office.read("Ada", SUPPORTED)
        office.read("Ben", SUPPORTED if number else UNSUPPORTED)
    office.store.close()
    return file


def test_a_packet_goes_out_is_signed_checked_and_read_into_another_database(
    database: Path, tmp_path: Path
) -> None:
    packet, other = tmp_path / "packet", tmp_path / "b.db"

    written = run(
        "export", "--out", packet, "--status", "unanimous", "--sign", "approval", "--db", database
    )
    checked = run("audit", "verify", "--packet", packet, "--db", database)
    read = run("import", packet, "--db", other, "--json", tmp_path / "import.json")
    again = run("import", packet, "--db", other)

    assert (written.exit_code, checked.exit_code, read.exit_code, again.exit_code) == (0, 0, 0, 0)
    assert "3 claims of 1 trace with 6 annotations" in written.output
    assert "signed by" in checked.output
    assert "(approval)" in checked.output
    assert "intact, and signed" in checked.output
    document = json.loads((tmp_path / "import.json").read_text(encoding="utf-8"))
    assert document["packets"][0]["reviews"]["votes"] == 6
    assert "nothing changed" in again.output


def test_a_changed_packet_is_named_by_the_audit_and_refused_by_the_import(
    database: Path, tmp_path: Path
) -> None:
    packet = tmp_path / "packet"
    assert run("export", "--out", packet, "--no-reports", "--db", database).exit_code == 0
    (packet / "packet.jsonl").write_text("{}\n")

    checked = run("audit", "verify", "--packet", packet)
    read = run("import", packet, "--db", tmp_path / "b.db")

    assert checked.exit_code == 1
    assert "packet.jsonl: was changed after the export" in checked.output
    assert read.exit_code == 2
    assert "not as it was exported" in read.output


def test_a_signature_that_the_database_does_not_know_is_a_problem(
    database: Path, tmp_path: Path
) -> None:
    packet = tmp_path / "packet"
    run("export", "--out", packet, "--sign", "review", "--db", database)
    signatures = packet / "signatures.json"
    forged = json.loads(signatures.read_text(encoding="utf-8"))
    forged[0]["name"] = "Somebody Else"
    signatures.write_text(json.dumps(forged), encoding="utf-8")

    checked = run("audit", "verify", "--packet", packet, "--db", database)

    assert checked.exit_code == 1
    assert "Somebody Else (review) is not what the database says" in checked.output


def test_an_export_that_nothing_passes_says_why_and_leaves_no_folder(
    database: Path, tmp_path: Path
) -> None:
    done = run("export", "--out", tmp_path / "packet", "--until", "2020-01-01", "--db", database)

    assert done.exit_code == 2
    assert "decided after the dates: 3" in done.output
    assert not (tmp_path / "packet").exists()


def test_a_packet_with_pseudonyms_names_nobody_and_who_is_who_stays_at_home(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, packet, another = tmp_path / "keys", tmp_path / "packet", tmp_path / "another"
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(keys))

    for out in (packet, another):
        assert run("export", "--out", out, "--pseudonyms", "--db", database).exit_code == 0

    for file in packet.rglob("*"):
        if file.is_file():
            for name in (b"Ada", b"Ben", b"local reviewer"):
                assert not re.search(rb"\b" + name + rb"\b", file.read_bytes()), (file, name)
    drawn = [
        json.loads((keys / "pseudonyms" / f"{digest.removeprefix('sha256:')}.json").read_text())
        for digest in (file_sha256(out / MANIFEST) for out in (packet, another))
    ]
    text = (packet / "packet.jsonl").read_text("utf-8")
    assert drawn[0]["Ada"] in text and drawn[0]["Ben"] in text
    assert not set(drawn[0].values()) & set(drawn[1].values())
    assert {stat.S_IMODE(each.stat().st_mode) for each in (keys / "pseudonyms").iterdir()} == {
        0o600
    }
    assert run("audit", "verify", "--packet", packet).exit_code == 0
    assert run("import", packet, "--unsigned", "--db", tmp_path / "b.db").exit_code == 0


def test_a_pseudonym_stands_for_a_name_that_the_trail_escapes(tmp_path: Path) -> None:
    file, packet = tmp_path / "a.db", tmp_path / "packet"
    office = an_office(a_store(file, actor="test"), traces=1, reviewers=("Jürgen", "Ada"))
    held = office.desk("Ada").next_item()
    assert held is not None
    office.desk("Lea").release(held.assignment_id, "known to\nAda (Dr Okafor) and Jürgen")
    for _ in range(4):
        office.read("Jürgen", SUPPORTED)
    people = office.workspace.people
    people.show_as(office.people["Ada"], "Dr Okafor", by=office.people["Lea"])
    office.store.close()

    assert run("export", "--out", packet, "--pseudonyms", "--db", file).exit_code == 0

    told = [json.loads(line) for line in (packet / "audit_trail.jsonl").read_text().splitlines()]
    (released,) = [one["detail"] for one in told if one["action"] == "claim.released"]
    reason = json.loads(released)["reason"]
    assert re.fullmatch(r"known to\n(reviewer-\w{8}) \(\1\) and reviewer-\w{8}", reason)


def test_a_packet_and_its_parts_are_their_owners_alone_and_what_nobody_writes_goes_by_name(
    database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left, written = tmp_path / f"{unfinished('other')}x", tmp_path / f"{unfinished('packet')}y"
    foreign = [
        tmp_path / ".film.part-0123456789abcdef-0123456789abcdef-x",
        tmp_path / ".film.part-2",
    ]
    for folder in (left, written, *foreign):
        folder.mkdir()
        (folder / "packet.jsonl").write_text("patients")
    held = hold(written)

    with caplog.at_level("WARNING"):
        assert run("export", "--out", tmp_path / "packet", "--db", database).exit_code == 0

    os.close(held)
    assert {*tmp_path.glob(".*.part-*")} == {written, *foreign}
    assert str(left) in caplog.text
    for path in (tmp_path / "packet", *(tmp_path / "packet").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_table_of_labels_is_previewed_and_what_it_does_not_match_is_written_down(
    tmp_path: Path,
) -> None:
    file, table, rest = tmp_path / "c.db", tmp_path / "labels.csv", tmp_path / "rest.csv"
    an_office(a_store(file, actor="test"), traces=1).store.close()
    table.write_bytes(
        "claim;label\nHer weight is 71.4 kg.;no\nSie ist müde.;yes\n".encode("cp1252")
    )
    command = ("import", table, "--annotator", "Ada", "--db", file)

    seen = run(*command, "--dry-run")
    done = run(*command, "--unmatched", rest, "--json", tmp_path / "done.json")
    again = run(*command)

    for result in (seen, done, again):
        assert result.exit_code == 0
        assert "skipped: labels.csv:3: no claim here has this text" in result.stderr
        assert "1 of 2 rows match" in result.stdout and "Windows-1252" in result.stdout
    assert "1 annotation would be new" in seen.stdout and "0 annotations new" in again.stdout
    ((_, told),) = json.loads((tmp_path / "done.json").read_text("utf-8"))["labels"].items()
    assert (told["new"], told["known"], told["written"]) == (1, 0, True)
    assert "Sie ist müde.,yes,3,no claim here has this text" in rest.read_text("utf-8-sig")
