"""A recorder between an MCP client and its server: every byte passes unchanged, every message is kept.

A message is in the log before its last byte is passed on, so that a recorder that is killed has lost
nothing that the other side could act on. The log is what ``core/capture/formats/mcp.py`` reads.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import SplitResult

from core.errors import ComponentUnavailable
from core.models.chat_client import http_address

MESSAGE_BYTES = 64 * 1024 * 1024  # what an import takes; a longer message passes and is only noted
_CHUNK = 64 * 1024


class WireLog:
    """A file of messages, one JSON line each, written in one go and by many threads at once.

    ``stream`` tells one recording from another in the same file. The file is for its owner alone.
    """

    def __init__(self, path: Path, stream: str, server: str | None = None) -> None:
        self.path = path
        self.messages = 0
        head = {"stream": stream} if server is None else {"stream": stream, "server": server}
        self._head = json.dumps(head)[:-1]
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise self._failure(error) from None

    def message(self, sender: str, data: bytes, exchange: int | None = None) -> None:
        """Keep what ``sender`` (client or server) sent, as it was written; ComponentUnavailable."""
        data = data.strip()
        if not data:
            return
        if not _is_json(data):
            self.note(sender, f"not JSON-RPC: {data.decode('utf-8', 'replace')}", exchange)
            return
        # Line breaks between the tokens of a message mean nothing; a line of the log ends at one.
        data = data.replace(b"\r", b" ").replace(b"\n", b" ")
        self._append(b"%s, %s: %s}\n" % (self._opening(sender, exchange), b'"message"', data))
        self.messages += 1

    def note(self, sender: str, text: str, exchange: int | None = None) -> None:
        """Keep that something passed which is no message, or could not be kept; ComponentUnavailable."""
        line = json.dumps({"note": text})[1:].encode()
        self._append(b"%s, %s\n" % (self._opening(sender, exchange), line))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _opening(self, sender: str, exchange: int | None) -> bytes:
        more = "" if exchange is None else f', "exchange": {exchange}'
        return f'{self._head}, "sender": "{sender}"{more}'.encode()

    def _append(self, line: bytes) -> None:
        with self._lock:
            try:
                write_all(self._file, line)
            except OSError as error:
                raise self._failure(error) from None

    def _failure(self, error: OSError) -> ComponentUnavailable:
        reason = error.strerror or str(error)
        return ComponentUnavailable(
            f"{self.path}: cannot be written ({reason}); nothing passes without being recorded"
        )


class Lines:
    """Messages of one line each, from bytes in pieces of any size."""

    def __init__(self, kept: Callable[[bytes], None], noted: Callable[[str], None]) -> None:
        self._kept, self._noted = kept, noted
        self._assignment: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Hand on each message that ends in ``data``."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._hold(part)
            self._end()
        self._hold(rest)

    def close(self) -> None:
        """Say so when the bytes end within a message."""
        if self._size:
            self._noted(f"broke off in a message, after {self._size} bytes")

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MESSAGE_BYTES:
            self._assignment = []
        elif part:
            self._assignment.append(part)

    def _end(self) -> None:
        if self._size > MESSAGE_BYTES:
            self._noted(f"a message of {self._size} bytes passed and was too long to be kept")
        else:
            self._kept(b"".join(self._assignment))
        self._assignment, self._size = [], 0


class _Pass:
    """One direction: what is read from one end is kept, and then written to the other."""

    def __init__(self, source: int, target: int, sender: str, log: WireLog) -> None:
        self.source, self.target = source, target
        self.lines = Lines(lambda data: log.message(sender, data), lambda x: log.note(sender, x))
        self.failure: ComponentUnavailable | None = None

    def run(self) -> None:
        try:
            while data := os.read(self.source, _CHUNK):
                self.lines.feed(data)
                write_all(self.target, data)
            self.lines.close()
        except ComponentUnavailable as error:
            self.failure = error
        except OSError:  # the other end is gone
            return


def record_stdio(
    command: Sequence[str],
    log: WireLog,
    *,
    client_in: int = 0,
    client_out: int = 1,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run a server command between the client's ends; its exit code, 128 + n when a signal n ended it.

    What the server writes on its error output goes where ours goes. SIGTERM and SIGINT are passed on.
    Raises ComponentUnavailable when the command cannot be started or the log cannot be written.
    """
    try:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
        )
    except OSError as error:
        reason = error.strerror or str(error)
        raise ComponentUnavailable(f"{command[0]}: cannot be started ({reason})") from None
    assert server.stdin is not None and server.stdout is not None
    before = {
        number: signal.signal(number, lambda number, _: server.send_signal(number))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    up = _Pass(client_in, server.stdin.fileno(), "client", log)
    down = _Pass(server.stdout.fileno(), client_out, "server", log)

    def upward() -> None:
        up.run()
        assert server.stdin is not None
        server.stdin.close()  # how a client says goodbye; the server ends by itself
        if up.failure is not None:
            server.terminate()

    try:
        threading.Thread(target=upward, daemon=True).start()
        down.run()
        server.stdout.close()
        if down.failure is not None:
            server.terminate()
        code = server.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if failure := up.failure or down.failure:
        raise failure
    return 128 - code if code < 0 else code


def write_all(target: int, data: bytes) -> None:
    """Every byte, however few the system takes at a time; OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


_CONNECT_SECONDS = 30.0
# Of one connection, and not of the message (RFC 9110, 7.6.1), or written anew.
_NOT_PASSED = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding",
}  # fmt: skip


class EventData:
    """The messages of a server-sent event stream: the data of each event, when its blank line comes."""

    def __init__(self, log: WireLog, exchange: int) -> None:
        self._log, self._exchange = log, exchange
        self._lines = Lines(self._line, self._too_long)
        self._data: list[bytes] = []
        self._lost = ""

    def feed(self, piece: bytes) -> None:
        """Keep each event that ends in ``piece``; ComponentUnavailable when the log fails."""
        self._lines.feed(piece)

    def _too_long(self, text: str) -> None:
        self._lost = text

    def _line(self, line: bytes) -> None:
        line = line.removesuffix(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line:
            if self._lost:
                self._log.note("server", self._lost, self._exchange)
            elif self._data:
                self._log.message("server", b"\n".join(self._data), self._exchange)
            self._data, self._lost = [], ""


class Recorder(ThreadingHTTPServer):
    """Listens on 127.0.0.1 alone and passes every request on to one server.

    ``failure`` is set when the log could not be written: the recorder then stops listening.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, url: str, log: WireLog, port: int = 0) -> None:
        self.upstream = _checked(url)
        self.log = log
        self.exchanges: Iterator[int] = itertools.count(1)
        self.failure: ComponentUnavailable | None = None
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ComponentUnavailable(f"port {port}: cannot be listened on ({reason})") from None

    @property
    def url(self) -> str:
        """Where a client finds the recorder: the server's own path on this machine."""
        query = f"?{self.upstream.query}" if self.upstream.query else ""
        return f"http://127.0.0.1:{self.server_address[1]}{self.upstream.path}{query}"

    def serve(self) -> None:
        """Pass requests on until the process is stopped; ComponentUnavailable when the log fails."""
        self.serve_forever(poll_interval=0.2)
        if self.failure is not None:
            raise self.failure

    def stop(self, failure: ComponentUnavailable) -> None:
        """Stop, because nothing may pass without being recorded."""
        self.failure = failure
        self.shutdown()

    def connect(self) -> HTTPConnection:
        """A connection of its own for one exchange; OSError."""
        host, port = self.upstream.hostname or "", self.upstream.port
        connection = (
            HTTPSConnection(
                host, port, timeout=_CONNECT_SECONDS, context=ssl.create_default_context()
            )
            if self.upstream.scheme == "https"
            else HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        )
        connection.connect()
        assert isinstance(connection.sock, socket.socket)
        connection.sock.settimeout(None)  # a stream of events may be silent for hours
        return connection


class _Handler(BaseHTTPRequestHandler):
    """One exchange after the other on a client's connection."""

    protocol_version = "HTTP/1.1"
    server: Recorder

    def do_POST(self) -> None:
        """Pass on a message."""
        self.exchange()

    do_GET = do_DELETE = do_HEAD = do_OPTIONS = do_PUT = do_PATCH = do_POST

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: the terminal belongs to the person who records."""

    def exchange(self) -> None:
        """One request there, one answer back."""
        number = next(self.server.exchanges)
        try:
            body = self.body()
        except (ValueError, OSError):
            self.refuse(400, "the body of this request cannot be read")
            return
        if body is None:
            return
        try:
            if body:
                self.server.log.message("client", body, number)
            connection = self.server.connect()
        except ComponentUnavailable as error:
            self.close_connection = True
            self.server.stop(error)
            return
        except OSError as error:
            reason = f"the server behind the recorder cannot be reached: {error.strerror or error}"
            self.refuse(502, reason)
            return
        try:
            self.send(connection, body)
            self.answer(connection.getresponse(), number)
        except ComponentUnavailable as error:
            self.close_connection = True
            self.server.stop(error)
        except (HTTPException, OSError):
            self.close_connection = True  # one of the two is gone; the other is told by the closing
        finally:
            connection.close()

    def body(self) -> bytes | None:
        """The request's body; None when it cannot be read, and the client was told so."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self.chunks()
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MESSAGE_BYTES:
            self.refuse(413, f"a message may have {MESSAGE_BYTES} bytes")
            return None
        return self.rfile.read(int(length))

    def chunks(self) -> bytes | None:
        """A body that came in chunks."""
        whole = b""
        while True:
            size = int(self.rfile.readline(_CHUNK).split(b";")[0].strip() or b"0", 16)
            if len(whole) + size > MESSAGE_BYTES:
                self.refuse(413, f"a message may have {MESSAGE_BYTES} bytes")
                return None
            whole += self.rfile.read(size)
            self.rfile.readline(_CHUNK)
            if size == 0:
                return whole

    def send(self, connection: HTTPConnection, body: bytes) -> None:
        """The request as the client made it, for the server's host."""
        connection.putrequest(self.command, self.path, skip_accept_encoding=True)
        for key, value in self.headers.items():
            if key.lower() not in _NOT_PASSED:
                connection.putheader(key, value)
        connection.putheader("Accept-Encoding", "identity")
        if body or self.command in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)

    def answer(self, response: HTTPResponse, number: int) -> None:
        """The server's answer as it comes: a stream piece by piece, anything else in one."""
        streams = response.headers.get_content_type() == "text/event-stream"
        data = b"" if streams else response.read()
        if data and response.headers.get_content_type() == "application/json":
            self.keep(response, data, number)
        self.send_response_only(response.status, response.reason)
        for key, value in response.headers.items():
            if key.lower() not in _NOT_PASSED:
                self.send_header(key, value)
        if not streams:
            if response.status not in (204, 304) and response.status >= 200:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = EventData(self.server.log, number)
        while piece := response.read1(_CHUNK):
            events.feed(piece)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def keep(self, response: HTTPResponse, data: bytes, number: int) -> None:
        """A body with one message, or with several."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            self.server.log.note("server", "a compressed body passed and was not kept", number)
            return
        self.server.log.message("server", data, number)

    def refuse(self, status: int, reason: str) -> None:
        """Say what is wrong, and end the connection."""
        self.close_connection = True
        data = reason.encode("utf-8", "replace")
        self.send_response_only(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _checked(url: str) -> SplitResult:
    """The address of a server, if it is one; ConfigError."""
    parts = http_address("--http", url, query=True)
    return parts._replace(path=parts.path or "/")
