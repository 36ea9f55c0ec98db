"""Pulling from a server over HTTP that lists recorded records as Langfuse, LangSmith and Phoenix do."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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

FIXTURES = Path(__file__).parents[1] / "capture/formats/fixtures"
SECRET = "sk-7c1f-never-shown"
PROJECT = "0b6d3ce4-3a52-4a9c-8a10-0c1c6d0f7a11"
STORES = ("langfuse", "langsmith", "phoenix")
FORMATS = {"langfuse": "langfuse", "langsmith": "langsmith", "phoenix": "openinference"}
AT_ONCE = 2  # records a page
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def recorded(store: str) -> list[dict[str, Any]]:
    """The records of one trace as the store's API sends them, the newest first."""
    if store == "langfuse":
        found = json.loads((FIXTURES / "langfuse/observations.json").read_text("utf-8"))["data"]
    elif store == "langsmith":
        text = (FIXTURES / "langsmith/langchain_runs.jsonl").read_text("utf-8")
        found = [json.loads(line) for line in text.splitlines()]
    else:
        text = (FIXTURES / "openinference/flat.jsonl").read_text("utf-8")
        found = [as_phoenix(n, json.loads(line)) for n, line in enumerate(text.splitlines())]
    began = "startTime" if store == "langfuse" else "start_time"
    return sorted(found, key=lambda record: str(record[began]), reverse=True)


def as_phoenix(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """A row of Phoenix's data frame as its REST API sends the span: the kind beside the attributes."""
    attributes = {k.removeprefix("attributes."): v for k, v in row.items() if "attributes." in k}
    return {
        "id": base64.b64encode(f"Span:{number}".encode()).decode(),
        "name": row["name"],
        "context": {"trace_id": row["context.trace_id"], "span_id": row["context.span_id"]},
        "span_kind": attributes.pop("openinference.span.kind"),
        "parent_id": row["parent_id"],
        "start_time": row["start_time"],
        "end_time": row["start_time"],
        "status_code": row["status_code"],
        "status_message": "",
        "attributes": attributes,
        "events": row.get("events", []),
    }


class Served:
    """One store behind HTTP: what it lists, what it was asked, and what it answers instead."""

    def __init__(self, store: str, port: int) -> None:
        self.store, self.records = store, recorded(store)
        self.asked: list[dict[str, Any]] = []
        self.instead: list[tuple[int, dict[str, str], bytes] | None] = []
        url = f"http://127.0.0.1:{port}"
        self.environment = {
            "langfuse": {
                "LANGFUSE_BASE_URL": url,
                "LANGFUSE_PUBLIC_KEY": "pk-1",
                "LANGFUSE_SECRET_KEY": SECRET,
            },
            "langsmith": {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": SECRET},
            "phoenix": {"PHOENIX_COLLECTOR_ENDPOINT": url, "PHOENIX_API_KEY": SECRET},
        }[store]

    def allowed(self, headers: Any) -> bool:
        basic = "Basic " + base64.b64encode(f"pk-1:{SECRET}".encode()).decode()
        given = {"langsmith": headers["x-api-key"]}.get(self.store, headers["Authorization"])
        return bool(
            given == {"langfuse": basic, "langsmith": SECRET}.get(self.store, f"Bearer {SECRET}")
        )

    def answer(self, path: str, query: dict[str, str], body: dict[str, Any]) -> object:
        """What the store says: its projects, or a page of its records."""
        if path == "/api/public/projects":
            return {"data": [{"id": "p-1", "name": "clinic"}]}
        if path == "/sessions":
            named = query.get("name") == "clinic" or query.get("id") == PROJECT
            return [{"id": PROJECT, "name": "clinic"}] if named else []
        asked = {**query, **body}
        self.asked.append(asked)
        until, began = asked.get("toStartTime"), "start_time"
        if self.store == "langfuse":
            began = "startTime"
            assert path == "/api/public/v2/observations" and "io" in asked["fields"]
        elif self.store == "langsmith":
            assert path == "/runs/query" and asked["session"] == [PROJECT]
            until = asked.get("filter", "").removeprefix('lte(start_time, "').removesuffix('")')
        else:
            assert path == "/v1/projects/the%20clinic/spans"
        upper = until[:19] if until else "9"
        listed = [record for record in self.records if record[began][:19] <= upper]
        ids = [one.get("id") for one in listed]
        first = ids.index(asked["cursor"]) if "cursor" in asked else 0
        page, rest = listed[first : first + AT_ONCE], listed[first + AT_ONCE :]
        following = rest[0]["id"] if rest else None
        return {
            "langfuse": {"data": page, "meta": {"cursor": following} if following else {}},
            "langsmith": {"runs": page, "cursors": {"next": following}},
            "phoenix": {"data": page, "next_cursor": following},
        }[self.store]


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            instead = store.instead.pop(0) if store.instead else None
            if not store.allowed(self.headers):
                instead = (401, {}, f"no such key: {dict(self.headers)}".encode())
            status, headers, reply = instead or (
                200,
                {},
                json.dumps(store.answer(parts.path, query, json.loads(body or b"{}"))).encode(),
            )
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(reply))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Says nothing of its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        store = Served(request.param, server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield store
        server.shutdown()
        thread.join()


def pulled_from(served: Served, out: Path, resume: bool = False, **more: Any) -> Pulled:
    project = {"langfuse": None, "langsmith": "clinic", "phoenix": "the clinic"}[served.store]
    wanted = Wanted(store=served.store, project=project, since=BEGIN, resume=resume)
    return pull(wanted, out, **{"environment": served.environment, "wait": pytest.fail, **more})


def held(out: Path) -> list[object]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


each_store = pytest.mark.parametrize("served", STORES, indirect=True)


@each_store
def test_every_page_is_written_as_it_was_sent_and_read_as_a_trace(served, tmp_path) -> None:
    out = tmp_path / "new" / "records.jsonl"

    pulled = pulled_from(served, out)

    assert held(out) == served.records and pulled.written == len(served.records) > AT_ONCE
    assert len(served.asked) == 2 and pulled.headless == pulled.unfinished == 0
    assert detect_format(out).format == FORMATS[served.store]
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
            "without a name or password",
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
    out.write_text('{"id": "x", "note": 1}\n', encoding="utf-8")

    with pytest.raises(InputError, match=r"notes\.jsonl:1: this is no record of that store"):
        pulled_from(served, out)

    assert out.read_text("utf-8") == '{"id": "x", "note": 1}\n'


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
