"""The recorder between real clients and servers: nothing is changed, and nothing that passed is lost."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.capture.reading import read_traces
from core.config import Config
from core.errors import ComponentUnavailable, ConfigError
from core.records import Trace
from core.workflows.ingest import ingest
from core.workflows.record import EventData, Lines, Recorder, WireLog
from storage.store import open_store

ROOT = Path(__file__).resolve().parents[3]
CLI = [sys.executable, "-m", "cli"]
SERVER = str(Path(__file__).with_name("chart_server.py"))
CALLS = (
    ("load_chart", {"mrn": "M-1"}),
    ("search", {"words": "metformin"}),
    ("broken", {"mrn": "M-2"}),
    ("slow", {}),
)


def talk(target: object, mode: str) -> list[object]:
    """What a real client is given for each of the calls."""
    mcp = pytest.importorskip("mcp", reason="the official package mcp is not installed")

    async def run() -> list[object]:
        async with mcp.Client(target, mode=mode) as client:
            await client.list_tools()
            return [await client.call_tool(name, given) for name, given in CALLS]

    # In a thread of its own: the browser tests leave an event loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(asyncio.wait_for(run(), 60))).result()


def through_stdio(log: Path, *command: str) -> object:
    mcp = pytest.importorskip("mcp", reason="the official package mcp is not installed")
    arguments = [*CLI[1:], "record", "--log", str(log), "--", *command]
    return mcp.StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT))


def check_recorded(log: Path, tmp_path: Path, given: list[object]) -> Trace:
    """The log, imported with a transcript, is the evidence that the client was given."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Which dose?"}]
    for index, (name, arguments) in enumerate(CALLS):
        call = {"name": name, "arguments": json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{index}", "function": call}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{index}", "content": "(see log)"})
    messages.append({"role": "assistant", "content": "Metformin 500.5 mg."})
    transcript = tmp_path / "talk.json"
    transcript.write_text(json.dumps({"task_id": "t1", "messages": messages}))
    store = open_store(str(tmp_path / "db.sqlite"))

    report = ingest([transcript, log], store, Config())

    store.close()
    assert report.skipped == ()
    assert {tool.server for tool in report.tools} == {"chart-server"}
    (trace,) = read_traces([transcript, log])
    assert isinstance(trace, Trace)
    assert [source.tool_name for source in trace.sources] == [name for name, _ in CALLS]
    assert [s.status.value for s in trace.sources] == ["ok", "ok", "error", "ok"]
    assert "dose_mg: 500.5" in trace.sources[0].text
    assert trace.sources[1].text == given[1].content[0].text
    assert "4 outputs were taken from the MCP log" in trace.notices
    return trace


def test_a_real_client_and_server_talk_through_the_recorder(tmp_path):
    log = tmp_path / "log.jsonl"

    given = talk(through_stdio(log, sys.executable, SERVER, "stdio"), "auto")

    check_recorded(log, tmp_path, given)
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("mode", "shape"), [("legacy", ()), ("auto", ("json", "stateless"))])
def test_a_real_client_talks_through_the_recorder_to_a_server_over_http(tmp_path, mode, shape):
    log = tmp_path / "log.jsonl"
    pytest.importorskip("mcp", reason="the official package mcp is not installed")

    with http_server(*shape) as url, recorder(url, log) as address:
        assert address.endswith("/mcp")
        given = talk(address, mode)

    check_recorded(log, tmp_path, given)


# ---------------------------------------------------------------- stdio, byte for byte

ECHO = "import os\nwhile d := os.read(0, 65536):\n    os.write(1, d)\n"


def run_through(log: Path, program: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [*CLI, "record", "--log", str(log), "--", sys.executable, "-c", program]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, cwd=ROOT)


def test_every_byte_passes_unchanged_and_the_server_keeps_its_exit_code_and_error_output(tmp_path):
    log = tmp_path / "log.jsonl"
    long = b'{"jsonrpc":"2.0","id":1,"method":"x","params":"' + b"y" * 1_000_000 + b'"}\n'
    data = b'{"jsonrpc": "2.0",  "id": 1.10}\r\n\n\xff\xfe not text\n' + long + b"cut off {"
    program = ECHO + "os.write(2, b'a warning\\n')\nraise SystemExit(7)"

    result = run_through(log, program, data)

    assert result.stdout == data
    assert result.returncode == 7
    assert result.stderr == b"a warning\n"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for sender in ("client", "server"):
        mine = [line for line in lines if line["sender"] == sender]
        assert [list(line)[-1] for line in mine] == ["message", "note", "message", "note"]
        assert "broke off" in mine[3]["note"]
    assert log.read_text().count('"id": 1.10') == 2


def test_a_server_ended_by_a_signal_is_told_by_the_exit_code(tmp_path):
    result = run_through(tmp_path / "l", "import os\nos.kill(os.getpid(), 9)", b"")

    assert result.returncode == 128 + signal.SIGKILL


def test_a_server_that_ends_first_ends_the_recorder(tmp_path):
    command = [*CLI, "record", "--log", str(tmp_path / "l"), "--", sys.executable, "-c", "print(1)"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)

    assert process.wait(timeout=30) == 0  # though the client's end is still open

    assert process.stdout.read() == b"1\n"
    process.stdin.close()


def test_a_termination_reaches_the_server(tmp_path):
    program = (
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "print('ready', flush=True)\nsignal.pause()"
    )
    command = [*CLI, "record", "--log", str(tmp_path / "l"), "--", sys.executable, "-c", program]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout.readline() == b"ready\n"

    process.terminate()

    assert process.wait(timeout=30) == 5
    process.stdin.close()


def test_a_recorder_that_is_killed_has_kept_everything_that_passed(tmp_path):
    after = 40
    log, seen = tmp_path / "log.jsonl", tmp_path / "seen.jsonl"
    program = (
        f"import os\nf = os.open({str(seen)!r}, os.O_WRONLY | os.O_CREAT)\n"
        "while d := os.read(0, 100):\n    os.write(f, d)\n    os.write(1, d)\n"
    )
    command = [*CLI, "record", "--log", str(log), "--", sys.executable, "-c", program]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)

    def ask() -> None:
        for number in range(100_000):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {}}
            try:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
            except OSError:
                return

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(after):
        process.stdout.readline()
    process.kill()
    process.wait()
    asking.join()
    rest = process.stdout.read()
    whole, _, _ = rest.rpartition(b"\n")
    received = after + len(whole.splitlines())

    kept = [json.loads(line) for line in log.read_bytes().splitlines() if line.endswith(b"}")]
    from_server = {line["message"]["id"] for line in kept if line["sender"] == "server"}
    from_client = {line["message"]["id"] for line in kept if line["sender"] == "client"}
    reached = [json.loads(x) for x in seen.read_bytes().rpartition(b"\n")[0].splitlines()]
    assert received >= after
    assert set(range(received)) <= from_server
    assert {message["id"] for message in reached} <= from_client


def test_when_the_log_cannot_be_written_nothing_more_passes(tmp_path):
    command = [*CLI, "record", "--log", "/dev/full", "--", sys.executable, "-c", ECHO]

    result = subprocess.run(
        command, input=b'{"id": 1}\n', capture_output=True, timeout=60, cwd=ROOT
    )

    assert result.stdout == b""
    assert result.returncode == 3
    assert b"/dev/full: cannot be written" in result.stderr
    with pytest.raises(ComponentUnavailable, match="cannot be written"):
        WireLog(tmp_path / "missing.jsonl" / "x" / ("y" * 300), "s")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "give either a server command"),
        (("--http", "http://127.0.0.1:1/", "--", "x"), 2, "give either a server command"),
        (("--http", "ftp://files.example/"), 2, "expected an http(s) address"),
        (("--http", "http://user:secret@mcp.example/"), 2, "without a name or password"),
        (("--", "no-such-program-here"), 3, "cannot be started"),
    ],
)
def test_a_recorder_that_cannot_start_says_why(tmp_path, arguments, code, message):
    command = [*CLI, "record", "--log", str(tmp_path / "log.jsonl"), *arguments]

    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)

    assert (result.returncode, message in result.stderr) == (code, True)
    assert "secret@" not in result.stderr


@given(st.lists(st.binary(max_size=12)), st.data())
def test_messages_do_not_depend_on_the_pieces_in_which_their_bytes_come(messages, data):
    clean = [message.replace(b"\n", b"") for message in messages]
    whole = b"".join(message + b"\n" for message in clean)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    kept: list[bytes] = []
    lines = Lines(kept.append, pytest.fail)

    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        lines.feed(whole[start:end])
    lines.close()

    assert kept == clean


# ---------------------------------------------------------------- HTTP


@contextmanager
def http_server(*shape: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, SERVER, "http", str(port), *shape]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if "Uvicorn running" in line:
                break
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def recorder(url: str, log: Path) -> Iterator[str]:
    command = [*CLI, "record", "--log", str(log), "--http", url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield re.search(r"http://\S+", process.stderr.readline())[0]
    finally:
        process.terminate()
        rest = process.stderr.read()
        assert process.wait(timeout=30) == 0, rest
        assert "recorded in" in rest


class Answering(BaseHTTPRequestHandler):
    """A server that gives back what it is given, as JSON, as events, or as something else."""

    protocol_version = "HTTP/1.1"
    gate = threading.Event()
    seen: list[dict[str, str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(dict(self.headers))
        if self.path.startswith("/events"):
            self.stream(body)
            return
        self.send_response(404 if self.path.startswith("/missing") else 200)
        kind = "text/plain" if self.path.startswith("/text") else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Mcp-Session-Id", "s-1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": hello\r\n\r\nevent: message\r\ndata: " + body + b"\r\n\r\n")
        self.wfile.flush()
        assert self.gate.wait(30)
        self.wfile.write(b'id: 7\ndata: {"jsonrpc": "2.0",\ndata: "id": 2, "result": {}}\n\n')
        self.close_connection = True

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


@contextmanager
def recording(log: Path) -> Iterator[Recorder]:
    """A recorder in this process, before a server in this process."""
    Answering.gate.clear()
    Answering.seen = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as behind:
        threading.Thread(target=behind.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{behind.server_address[1]}/mcp"
        with Recorder(url, WireLog(log, "s")) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            yield server
            server.shutdown()
            thread.join()
        behind.shutdown()


def ask(server: Recorder, method: str, path: str, body: bytes = b"", **headers: str) -> object:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, path, body=body or None, headers=headers)
    return connection.getresponse()


MESSAGE = b'{"jsonrpc":"2.0", "id":1.10,\n "method":"tools/call"}'


@pytest.mark.parametrize("path", ["/mcp?x=1", "/text", "/missing"])
def test_bodies_and_headers_pass_both_ways_unchanged(tmp_path, path):
    log = tmp_path / "log.jsonl"

    with recording(log) as server:
        answer = ask(
            server, "POST", path, MESSAGE, Authorization="Bearer secret-token", Accept="a/b, c/d"
        )
        assert answer.read() == MESSAGE

    assert answer.status == (404 if path == "/missing" else 200)
    assert answer.headers["Mcp-Session-Id"] == "s-1"
    (seen,) = Answering.seen
    assert (seen["Authorization"], seen["Accept"]) == ("Bearer secret-token", "a/b, c/d")
    assert "secret-token" not in log.read_text()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["sender"] for line in lines] == ["client"] + ["server"] * (path != "/text")
    assert '"id":1.10' in log.read_text()


def test_a_body_in_chunks_and_requests_without_a_body_pass(tmp_path):
    with recording(tmp_path / "log.jsonl") as server:
        chunked = ask(server, "POST", "/mcp", iter([b'{"id":', b" 1}"]))
        assert chunked.read() == b'{"id": 1}'
        assert ask(server, "GET", "/mcp").status == 405
        assert ask(server, "DELETE", "/mcp").status == 204

    assert (tmp_path / "log.jsonl").read_text().count("message") == 2


def test_events_pass_when_they_come_and_are_in_the_log_by_then(tmp_path):
    log = tmp_path / "log.jsonl"

    with recording(log) as server:
        answer = ask(server, "POST", "/events", b'{"jsonrpc":"2.0","id":1,"result":{}}')
        first = b""
        while not first.endswith(b"\r\n\r\nevent: message\r\ndata: " + b"x"):
            first += answer.read1(1000)
            if first.count(b"\r\n\r\n") == 2:
                break
        kept = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["message"]["id"] for line in kept] == [1, 1]
        Answering.gate.set()  # only now does the server go on
        rest = answer.read()

    assert first + rest == (
        b': hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n'
        b'id: 7\ndata: {"jsonrpc": "2.0",\ndata: "id": 2, "result": {}}\n\n'
    )
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["message"]["id"], last["exchange"]) == (2, kept[0]["exchange"])


def test_a_server_that_cannot_be_reached_is_a_502_and_the_request_is_kept(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with Recorder(url, WireLog(tmp_path / "l", "s")) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

        answer = ask(server, "POST", "/mcp", MESSAGE)

        assert (answer.status, b"cannot be reached" in answer.read()) == (502, True)
        server.shutdown()
    assert (tmp_path / "l").read_text().count("tools/call") == 1


def test_over_http_too_nothing_passes_when_the_log_cannot_be_written():
    with recording(Path("/dev/full")) as server:
        with pytest.raises((ConnectionError, OSError)):
            ask(server, "POST", "/mcp", MESSAGE)

        assert Answering.seen == []
        assert "cannot be written" in str(server.failure)


@pytest.mark.parametrize("url", ["http://", "mcp", "http://x:99999/", "http://x:0/"])
def test_what_is_no_address_is_refused(tmp_path, url):
    with pytest.raises(ConfigError, match="--http"):
        Recorder(url, WireLog(tmp_path / "l", "s"))


@given(st.data())
def test_events_do_not_depend_on_the_pieces_in_which_their_bytes_come(tmp_path_factory, data):
    ends = data.draw(st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=1, max_size=5))
    whole = b"".join(b"id: 1%sdata: {%sdata: }%s%s" % (end, end, end, end) for end in ends)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    path = tmp_path_factory.mktemp("events") / "log.jsonl"
    log = WireLog(path, "s")
    events = EventData(log, 1)

    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        events.feed(whole[start:end])

    log.close()
    assert [json.loads(line)["message"] for line in path.read_text().splitlines()] == [{}] * len(
        ends
    )
