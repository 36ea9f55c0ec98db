"""Pulling from a server over HTTP that lists recorded records as Langfuse, LangSmith and Phoenix do."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from langfuse.api import LangfuseAPI
from langsmith import Client as LangSmith

from core.capture.reading import detect_format, read_traces
from core.errors import ComponentUnavailable, ConfigError, InputError
from core.records import Trace
from core.workflows.pull import Pulled, Wanted, pull
from tests.commands import run
from tests.trace_store import AT_ONCE, BEGIN, PROJECT, SECRET, Served, each_store, serving

FORMATS = {"langfuse": "langfuse", "langsmith": "langsmith", "phoenix": "openinference"}


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(request.param) as store:
        yield store


def pulled_from(served: Served, out: Path, resume: bool = False, **more: Any) -> Pulled:
    project = {"langfuse": None, "langsmith": "clinic", "phoenix": "the clinic"}[served.store]
    wanted = Wanted(store=served.store, project=project, since=BEGIN, resume=resume)
    return pull(wanted, out, **{"environment": served.environment, "wait": pytest.fail, **more})


def held(out: Path) -> list[object]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


@each_store
def test_every_page_is_written_as_it_was_sent_and_read_as_a_trace(served, tmp_path) -> None:
    out = tmp_path / "new" / "records.jsonl"

    pulled = pulled_from(served, out)

    assert held(out) == served.records and pulled.written == len(served.records) > AT_ONCE
    assert len(served.asked) == 2 and pulled.headless == pulled.unfinished == 0
    assert detect_format(out) == FORMATS[served.store]
    (trace,) = read_traces([out])
    assert isinstance(trace, Trace) and trace.answer and trace.question and trace.sources
    assert SECRET not in out.read_text("utf-8")
    assert out.stat().st_mode & 0o077 == 0


@each_store
def test_again_adds_what_came_late_and_nothing_twice(served, tmp_path) -> None:
    out = tmp_path / "records.jsonl"
    late = served.records.pop(1)
    served.records.append(
        {**served.records[-1], "id": "running", "end_time": None, "endTime": None}
    )
    first = pulled_from(served, out)
    served.records.insert(1, late)

    again = pulled_from(served, out)

    assert (first.unfinished, again.written, again.known) == (1, 1, first.written)
    assert held(out)[-1] == late


@each_store
def test_a_broken_page_keeps_those_before_it_and_resume_goes_on_at_the_last_record(
    served, tmp_path
) -> None:
    out = tmp_path / "records.jsonl"
    lookup = [None] if served.store == "langsmith" else []
    for broken in (b"<html>busy</html>", b"{}", b'{"data": 5, "runs": 5}', b"[" * 100_000):
        out.unlink(missing_ok=True)
        served.instead = [*lookup, None, (200, {}, broken)]

        with pytest.raises(ComponentUnavailable, match="page that cannot be read"):
            pulled_from(served, out)

        assert held(out) == served.records[:AT_ONCE]
    with out.open("a", encoding="utf-8") as file:
        file.write('{"id": "cut o')  # a pull that was killed
    newer = {**served.records[0], "id": "newer"}
    began = "startTime" if served.store == "langfuse" else "start_time"
    served.records.insert(0, {**newer, began: "2026-02-01T00:00:00.000Z"})

    resumed = pulled_from(served, out, resume=True)

    assert held(out) == served.records[1:] and resumed.known <= AT_ONCE


@each_store
def test_it_waits_as_long_as_the_store_asks_and_no_longer_than_it_may(served, tmp_path) -> None:
    out, waited = tmp_path / "records.jsonl", []
    served.instead = [(429, {"Retry-After": "7"}, b""), (503, {}, b""), None]

    pulled_from(served, out, wait=waited.append)

    assert waited[0] == 7 and len(waited) == 2 and held(out) == served.records
    served.instead = [(429, {"Retry-After": "86400"}, b"")]
    with pytest.raises(ComponentUnavailable, match="status 429; it asks to wait 86400 s"):
        pulled_from(served, out)
    served.instead = [(500, {}, b"")] * 9
    with pytest.raises(ComponentUnavailable, match="status 500"):
        pulled_from(served, out, wait=waited.append)


@each_store
def test_a_refused_key_is_named_by_its_variable_and_never_shown(
    served, tmp_path, monkeypatch
) -> None:
    for name, value in served.environment.items():
        monkeypatch.setenv(name, f"{value}-old" if value == SECRET else value)
    named = () if served.store == "langfuse" else ("--project", "clinic")
    out = tmp_path / "records.jsonl"

    result = run("pull", served.store, "--since", "2026-01-01", "--out", out, *named)

    assert result.exit_code == 2 and "refused the key in" in result.output
    assert SECRET not in result.output and "no such key" not in result.output
    assert not held(out) if out.exists() else True


@pytest.mark.parametrize("served", ["langsmith"], indirect=True)
def test_the_command_tells_the_counts(served, tmp_path, monkeypatch) -> None:
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    served.records.pop()  # the outermost run began before
    served.records.insert(0, {"name": "no id", "start_time": "2026-01-06T00:00:00"})
    out = tmp_path / "runs.jsonl"

    result = run("pull", "langsmith", "--since", "2026-01-01", "--out", out, "--project", PROJECT)

    assert result.exit_code == 0, result.output
    for told in ("2 records written", "1 record without an id", "1 trace without the outermost"):
        assert told in result.output
    assert SECRET not in result.output
    assert run("pull", "langsmith", "--since", "soon", "--out", out).exit_code == 2


@pytest.mark.parametrize("served", ["langfuse"], indirect=True)
@pytest.mark.parametrize(
    ("changed", "project", "told"),
    [
        ({"LANGFUSE_BASE_URL": "http://langfuse.example"}, None, "by https only"),
        (
            {"LANGFUSE_BASE_URL": "https://me:pw@langfuse.example"},
            None,
            "without a name, password or query",
        ),
        ({"LANGFUSE_BASE_URL": "https://["}, None, "expected an http"),
        ({"LANGFUSE_SECRET_KEY": ""}, None, "LANGFUSE_SECRET_KEY; not set"),
        ({"LANGFUSE_SECRET_KEY": "k\r\nX: y"}, None, "printable ASCII"),
        ({}, "another", "knows no project 'another'"),
    ],
)
def test_what_may_not_be_asked_is_refused_first(served, tmp_path, changed, project, told) -> None:
    wanted = Wanted(store="langfuse", project=project, since=BEGIN)

    with pytest.raises(ConfigError, match=told):
        pull(wanted, tmp_path / "o.jsonl", environment=served.environment | changed)

    assert not served.asked


@each_store
def test_a_file_of_something_else_is_left_as_it_is(served, tmp_path) -> None:
    out = tmp_path / "notes.jsonl"
    for held, told in (
        (b'{"id": "x", "note": 1}\n', r"notes\.jsonl:1: this is no record of that store"),
        (b'{"id": "x", "note": 1}\n{"id": "unended"}', r"notes\.jsonl:1: this is no record"),
        (b'[\n  {"id": "x"},\n  {"id": "y"}\n]', r"notes\.jsonl:1: not valid JSON"),
        (b'{"id": "x", "of": "one line without an end"}', "holds no record of that store"),
        (b"PAR1\x15\n\x00PAR1", r"notes\.jsonl"),
    ):
        out.write_bytes(held)

        with pytest.raises(InputError, match=told):
            pulled_from(served, out)

        assert out.read_bytes() == held


@pytest.mark.parametrize("served", ["langfuse", "langsmith"], indirect=True)
def test_the_server_here_speaks_as_the_official_clients_expect(served) -> None:
    if served.store == "langfuse":
        url = served.environment["LANGFUSE_BASE_URL"]
        client = LangfuseAPI(base_url=url, username="pk-1", password=SECRET)
        page = client.observations.get_many(fields="core,basic,io,metadata", from_start_time=BEGIN)
        ids = [one.id for one in page.data]
        assert page.meta.cursor == served.records[AT_ONCE]["id"]
    else:
        url = served.environment["LANGSMITH_ENDPOINT"]
        runs = LangSmith(api_url=url, api_key=SECRET, info={}).list_runs(project_id=PROJECT)
        ids = [str(one.id) for one in runs]
    assert ids == [record["id"] for record in served.records][: len(ids)]


@each_store
def test_nobody_sends_the_key_on_to_another_place(served, tmp_path) -> None:
    served.instead = [(302, {"Location": "/elsewhere"}, b"")]

    with pytest.raises(ComponentUnavailable, match="status 302"):
        pulled_from(served, tmp_path / "o.jsonl")

    assert not served.asked


def test_a_server_that_nobody_vouches_for_is_not_asked(tmp_path) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, BEGIN, BEGIN + timedelta(9999))
    named = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = made.add_extension(named, critical=True).sign(key, hashes.SHA256())
    pem = tmp_path / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    pem.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    requests: list[object] = []

    class Handler(BaseHTTPRequestHandler):
        def handle(self) -> None:
            requests.append(self.rfile.readline())

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A handshake that the client ended is what is wanted."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"https://localhost:{server.server_port}"
        environment = {"PHOENIX_COLLECTOR_ENDPOINT": url, "PHOENIX_API_KEY": SECRET}
        wanted = Wanted(store="phoenix", project="p", since=BEGIN)
        with pytest.raises(ComponentUnavailable, match="could not be reached"):
            pull(wanted, tmp_path / "o.jsonl", environment=environment, wait=lambda _: None)
        server.shutdown()
        thread.join()
    assert not requests
