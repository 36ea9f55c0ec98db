"""A recorder between an MCP client and its server: every byte passes unchanged, every message is kept.

A message is in the log before its last byte is passed on, so that a recorder that is killed has lost
nothing that the other side could act on. The log is what ``core/capture/formats/mcp_reader.py`` reads.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.errors import ComponentUnavailable

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
