"""The recorder before a streamable-HTTP server: a local address that passes everything on.

Bodies pass unchanged and are kept; headers are never kept, for they hold credentials. The server is
asked for bodies that are not compressed, so that what is kept can be read.
"""

from __future__ import annotations

import itertools
import socket
import ssl
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import SplitResult, urlsplit

from core.errors import ComponentUnavailable, ConfigError
from core.workflows.record import MESSAGE_BYTES, Lines, WireLog

_CHUNK = 64 * 1024
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
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"--http: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigError(f"--http: expected an http or https address, found {url!r}")
    if parts.username or parts.password:
        raise ConfigError("--http: leave credentials out of the address; the client sends its own")
    return parts._replace(path=parts.path or "/")
