"""The keys of judge, editor and trace store stand in nothing that any command writes or says."""

from __future__ import annotations

import base64
import logging
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote

import pytest
import trace_store
from commands import a_record, run, write_lines
from databases import a_store
from endpoints import completion, send, serving
from reviewing import an_office

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

KEY = "sk-never/shown+7f3a==~"


def forms(key: str) -> set[bytes]:
    """What a key looks like: as it is, quoted for an address, inside of anything in base64."""
    found = {key.encode(), quote(key, safe="").encode()}
    for before in range(3):
        text = base64.b64encode(b"x" * before + key.encode())
        found.add(text[4 if before else 0 : -4])  # without what stands beside it
    return found


def repeating(http: BaseHTTPRequestHandler, asked: dict[str, object]) -> None:
    """An endpoint that writes what it was sent into its reply, also where that is in no form asked for."""
    key = str(http.headers["authorization"])
    claim = f'{{"n": 1, "verdict": "not_shown", "why": "{key}"}}'
    send(http, completion(f'{{"sentence": "{key}", "claims": [{claim}]}}'))


def refusing(http: BaseHTTPRequestHandler, asked: dict[str, object]) -> None:
    send(http, f"no such key: {http.headers['authorization']}".encode(), 401)


def test_no_key_stands_in_what_any_command_writes_or_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("PROVENANCEGUARD_JUDGE_KEY", KEY)
    monkeypatch.setenv("PROVENANCEGUARD_EDITOR_KEY", KEY)
    traces, db = write_lines(tmp_path / "t.jsonl", a_record(1)), tmp_path / "w.db"
    row = {
        "claim_id": "case-1::g1", "trace_id": "case-1", "claim": "She takes metformin.",
        "category": "medication", "sources": a_record(1)["full_tool_outputs"], "label": "supported",
        "relation": "entailment", "gold_source_ids": ["chart"], "gold_attribution": "match",
    }  # fmt: skip
    packet = write_lines(tmp_path / "packet.jsonl", row)
    office = an_office(a_store(tmp_path / "office.db", actor="test"), traces=1, reads_per_claim=1)
    office.read("Ada")
    office.store.close()
    said = []

    def done(*arguments: str | Path, code: int = 0) -> None:
        result = run(*arguments)
        assert result.exit_code == code, (arguments, result.output, result.exception)
        said.append(f"{result.output}{result.stderr}{result.exception!r}")

    done("import", traces, "--db", db)
    for number, handler in enumerate((repeating, refusing)):
        with serving(handler) as server:
            judge = ("--judge-model", "m", "--judge-for", "all")
            out = tmp_path / f"{number}"
            done("verify", "--db", db, "--judge", server.url, *judge)
            done("verify", traces, "--judge", server.url, *judge,
                 "--out", f"{out}v.jsonl", "--json", f"{out}v.json")  # fmt: skip
            done("verify", traces, "--judge-url", server.url, *judge,
                 "--judge", f"record:{out}kept.jsonl", "--out", f"{out}r.jsonl")  # fmt: skip
            done("evaluate", packet, "--judge", server.url, *judge, "--judge-traces", traces,
                 "--json", f"{out}e.json")  # fmt: skip
            done("repair", traces, "--editor-model", "m", "--editor-url", server.url,
                 "--out", f"{out}repaired.jsonl")  # fmt: skip
            done("report", f"{out}v.jsonl", "--out", f"{out}report.md")
            assert server.keys == {f"Bearer {KEY}"}
    done("verify", traces, "--judge", server.url, *judge, "--out", tmp_path / "gone.jsonl")
    done("verify", traces, "--judge", f"http://me:{KEY}@127.0.0.1:9", *judge, code=2)
    done("export", "--out", tmp_path / "exported", "--sign", "review",
         "--db", tmp_path / "office.db")  # fmt: skip
    done("doctor", "--db", db, "--json", tmp_path / "doctor.json")
    with trace_store.serving("langfuse") as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        since = ("--since", "2026-01-01", "--out")
        done("pull", "langfuse", *since, tmp_path / "pulled.jsonl")
        done("push", "langfuse", tmp_path / "0v.jsonl", "--dry-run")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", f"{trace_store.SECRET}-old")
        done("pull", "langfuse", *since, tmp_path / "refused.jsonl", code=2)

    captured = capfd.readouterr()
    streams = f"{said}{caplog.text}{captured.out}{captured.err}".encode()
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) > 20
    for key in (KEY, trace_store.SECRET):
        for form in forms(key):
            assert form not in streams
            assert [path.name for path, data in written.items() if form in data] == []
