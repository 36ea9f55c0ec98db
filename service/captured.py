"""What passed in each conversation: the outputs that an answer may rest on, within bounds, and a log."""

from __future__ import annotations

import itertools
import json
import secrets
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.capture.outputs import trace_of_run
from core.capture.turns import CapturedCall, CapturedRun
from core.records import Origin, Trace
from core.workflows.record import WireLog

ORIGIN = "proxy"
NOTHING = "no tool output was captured in this conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What is kept: of one conversation so many calls and bytes, of all together so many bytes."""

    most_calls: int = 256
    most_bytes: int = 8 * 1024 * 1024
    most_conversations: int = 64
    most_bytes_together: int = 64 * 1024 * 1024


@dataclass(slots=True)
class _Conversation:
    calls: deque[CapturedCall] = field(default_factory=deque)
    bytes: int = 0
    made_room: int = 0  # calls that are not kept any more


class Conversations:
    """The calls of the latest conversations; the oldest make room, and a verdict says so."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._kept: OrderedDict[str, _Conversation] = OrderedDict()
        self._changing = threading.Lock()

    @property
    def bytes(self) -> int:
        """Bytes of all that is kept."""
        return sum(each.bytes for each in self._kept.values())

    def keep(self, conversation: str, call: CapturedCall) -> None:
        """Keep one call; of an output that is too large, that there was one."""
        if _size(call) > self._room.most_bytes:
            note = f"the output was larger than {self._room.most_bytes:,} bytes: not kept"
            call = replace(call, output=None, arguments=None, note=note)
        with self._changing:
            held = self._kept.setdefault(conversation, _Conversation())
            self._kept.move_to_end(conversation)
            held.calls.append(call)
            held.bytes += _size(call)
            while len(held.calls) > self._room.most_calls or held.bytes > self._room.most_bytes:
                _drop_oldest(held)
            while len(self._kept) > self._room.most_conversations:
                self._kept.popitem(last=False)
            self._make_room()

    def trace(self, conversation: str, answer: str, question: str) -> Trace:
        """The run that ends in this answer: every call that is kept, in the order of the results."""
        with self._changing:
            held = self._kept.get(conversation, _Conversation())
            calls, made_room = tuple(held.calls), held.made_room
        notices = [] if calls or made_room else [NOTHING]
        if made_room:
            notices.append(f"{made_room} earlier calls of this conversation are not kept any more")
        return trace_of_run(
            CapturedRun(
                origin=Origin(format=ORIGIN),
                question=question,
                answer=answer,
                calls=calls,
                notices=notices,
            )
        )

    def forget(self, conversation: str) -> None:
        """Drop what was captured: the next answer starts anew."""
        with self._changing:
            self._kept.pop(conversation, None)

    def _make_room(self) -> None:
        """The longest unused conversation gives first, call by call."""
        while self.bytes > self._room.most_bytes_together:
            oldest = next(iter(self._kept.values()))
            if not oldest.calls:
                self._kept.popitem(last=False)
                continue
            _drop_oldest(oldest)


def _drop_oldest(held: _Conversation) -> None:
    held.bytes -= _size(held.calls.popleft())
    held.made_room += 1


def _size(call: CapturedCall) -> int:
    texts = (call.output, call.arguments, call.tool)
    return sum(len((text or "").encode("utf-8", "replace")) for text in texts)


class PassedLog:
    """Requests and results of all servers in one file, each before it is passed on, for its owner alone.

    ``import`` and ``verify`` read it as an MCP log.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._stream = path, secrets.token_hex(8)
        self._servers: dict[str, WireLog] = {}
        self._numbers = itertools.count(1)

    def asked(self, server: str, method: str, params: dict[str, Any]) -> int:
        """Keep a request; its number. Raises ComponentUnavailable when it cannot be kept."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._write(server, "client", message)
        return number

    def answered(self, server: str, number: int, outcome: dict[str, Any]) -> None:
        """Keep the ``result`` or ``error`` of a request; raises ComponentUnavailable."""
        self._write(server, "server", {"jsonrpc": "2.0", "id": number, **outcome})

    def _write(self, server: str, sender: str, message: dict[str, Any]) -> None:
        if server not in self._servers:
            self._servers[server] = WireLog(self._path, self._stream, server)
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        self._servers[server].message(sender, data)

    def close(self) -> None:
        """Close the file."""
        for log in self._servers.values():
            log.close()
