"""A signature proves who signed what, when and as what; anything else is said, and fails the check."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli import app
from core.errors import ConfigError, InputError
from core.review.exchange import PacketSignature
from core.review.signing import fingerprint, new_seed, public_key, sign, wrong_with
from core.workflows.packet_folder import (
    TO_BE_SIGNED,
    check_packet,
    write_manifest,
    write_signatures,
)
from storage.keys import foreign, seed_of, trust, trusted_keys
from storage.people import LOCAL_NAME, People, local_name
from storage.store import SqlStore

SEED = bytes(range(32))
AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))
    return tmp_path / "keys"


def _stated(manifest: str = "sha256:" + "a" * 64) -> PacketSignature:
    return PacketSignature(manifest_sha256=manifest, signer="Ines", at=AT, meaning="approval")


def _packet(folder: Path, *, by: bytes | None = SEED) -> Path:
    folder.mkdir()
    (folder / "packet.jsonl").write_text("{}\n")
    digest = write_manifest(folder, {TO_BE_SIGNED: "approval"})
    if by is not None:
        write_signatures(folder, (sign(_stated(digest), by),))
    return folder


def _check(folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["audit", "verify", "--packet", str(folder)])
    return result.exit_code, result.output


@given(
    st.sampled_from(["manifest_sha256", "signer", "meaning", "at", "public_key", "signature"]),
    st.text(min_size=1, max_size=8),
)
def test_a_signature_covers_all_that_it_says(name: str, other: str) -> None:
    signed = sign(_stated(), SEED)
    assert wrong_with(signed) is None
    changed: object = AT + timedelta(seconds=1) if name == "at" else getattr(signed, name) + other

    assert wrong_with(replace(signed, **{name: changed})) is not None


def test_a_name_without_a_key_proves_nothing() -> None:
    assert wrong_with(_stated()) is not None


def test_a_signature_of_somebody_accepted_is_intact(tmp_path: Path) -> None:
    folder = _packet(tmp_path / "packet")
    assert _check(folder)[0] == 1  # nobody has accepted the key yet

    trust("Ines", public_key(SEED))

    code, output = _check(folder)
    assert code == 0, output
    assert fingerprint(public_key(SEED)) in output


def test_a_foreign_signature_fails_the_check(tmp_path: Path) -> None:
    trust("Ines", public_key(new_seed()))

    code, output = _check(_packet(tmp_path / "packet"))

    assert code == 1
    assert "nobody has accepted" in output


def test_an_accepted_key_under_another_name_fails_the_check() -> None:
    trust("Bela", public_key(SEED))

    assert "under another name" in str(foreign(sign(_stated(), SEED), trusted_keys()))


def test_a_forged_signature_fails_the_check(tmp_path: Path) -> None:
    trust("Ines", public_key(SEED))
    folder = _packet(tmp_path / "packet")
    (one,) = json.loads((folder / "signatures.json").read_text())
    (folder / "signatures.json").write_text(json.dumps([one | {"meaning": "authorship"}]))

    code, output = _check(folder)

    assert code == 1
    assert "forged" in output


def test_a_removed_signature_fails_the_check(tmp_path: Path) -> None:
    folder = _packet(tmp_path / "packet")
    (folder / "signatures.json").unlink()

    assert not check_packet(folder).intact
    code, output = _check(folder)
    assert code == 1
    assert "its signature is gone" in output


def test_a_private_key_is_its_owners_alone(keys: Path) -> None:
    assert seed_of("Ines") == seed_of("Ines") != seed_of("Bela")

    files = list((keys / "signing").glob("*.key"))
    assert len(files) == 2
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (keys / "signing").stat().st_mode & 0o777 == 0o700
    files[0].chmod(0o640)
    with pytest.raises(ConfigError, match="others may read it"):
        trusted_keys()


@pytest.mark.parametrize("key", ["", "not base64!", "c2hvcnQ="])
def test_what_is_no_key_is_not_accepted(key: str) -> None:
    with pytest.raises(InputError):
        trust("Ines", key)


def test_the_environment_names_nobody(monkeypatch: pytest.MonkeyPatch, keys: Path) -> None:
    before = local_name()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "the lead")

    assert local_name() == before
    (keys / "user").touch(0o600)
    (keys / "user").write_text("Ines\n")
    assert local_name() == "Ines" != LOCAL_NAME


def test_another_account_of_the_machine_does_not_make_itself_lead(
    store: SqlStore, keys: Path
) -> None:
    first = People(store=store).local()
    assert first.roles
    (keys / "user").touch(0o600)
    (keys / "user").write_text("Somebody\n")

    second = People(store=store).local()

    assert second.name == "Somebody"
    assert not second.roles
