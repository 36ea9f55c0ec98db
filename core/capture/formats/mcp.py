"""MCP JSON-RPC logs: tool calls and resource reads with their raw results, of any spec version."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.capture.files import LOG_PREFIX, FileRecord, each
from core.capture.turns import CapturedCall
from core.capture.values import (
    at,
    items_of,
    mapping,
    objects_in,
    parsed,
    text_in,
    unexpected,
    written,
    written_or_none,
)
from core.capture.wire import LoggedCall, canonical, traces_of_log
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Trace

NAME = "mcp"

_META = "io.modelcontextprotocol/"
_METHODS = {"tools/call", "resources/read"}
_ASKED_BY_SERVERS = {"sampling/createMessage", "elicitation/create", "roots/list"}
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_MESSAGE_KEYS = (
    "request", "response", "message", "msg", "payload", "data", "body", "frame", "jsonrpc", "raw",
    "content",
)  # fmt: skip
_STREAM_KEYS = (
    "stream", "session", "session_id", "sessionId", "mcp_session_id", "Mcp-Session-Id", "connection",
    "connection_id", "pid",
)  # fmt: skip
_SENDER_KEYS = ("sender", "direction", "from", "side")
# Only words that mean the same from either side: "incoming" may be one or the other.
_SENDERS = {
    "client": "client", "server": "server", "client_to_server": "client",
    "server_to_client": "server", "client-to-server": "client", "server-to-client": "server",
    "client->server": "client", "server->client": "server",
}  # fmt: skip
_SERVER_KEYS = ("server", "server_name", "serverName", "server_label", "mcp_server")
_BRACKETED = re.compile(r"\[([\w .@/-]+)\]")
_LEVELS = {"info", "debug", "warn", "warning", "error", "trace", "stdin", "stdout", "stderr", "mcp"}


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is of a JSON-RPC log."""
    return 0.9 if any(True for _ in _messages_in(value)) else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of a log by itself: one for each trace id that it names, without an answer."""
    calls = []
    for item in read_log(records, file):
        if isinstance(item, InputError):
            yield item
        else:
            calls.append(item)
    yield from traces_of_log(calls)


def read_log(
    records: Iterable[FileRecord | InputError], file: str
) -> Iterator[LoggedCall | InputError]:
    """Every call of a log in the order of the requests, answered or not."""
    streams: dict[str, _Stream] = {}
    opened: list[_Request] = []

    def take(record: FileRecord) -> Iterator[LoggedCall | InputError]:
        messages = list(_messages_in(record.value))
        if not messages:
            yield unexpected("a JSON-RPC message", record.value)
        for message, envelope in messages:
            stream = streams.setdefault(_stream_key(envelope), _Stream(_server_named(envelope)))
            if problem := stream.take(message, envelope, record.line, opened):
                yield BadRecord(problem)

    yield from each(records, file, take)
    for request in _settled(opened):
        yield request.logged(file)


@dataclass(slots=True, eq=False)
class _Request:
    """A request of the log and, once it came, its response."""

    stream: _Stream
    method: str
    message: JsonObject
    line: int
    exchange: object
    version: str | None
    call: CapturedCall
    answered: bool = False
    waiting: str | None = None

    @property
    def params(self) -> JsonObject:
        return mapping(self.message.get("params"))

    def answer(self, message: JsonObject) -> None:
        self.answered = True
        error, result = message.get("error"), message.get("result")
        server = text_in(at(result, "_meta", f"{_META}serverInfo"), "name") or self.stream.server
        output, note = None, None
        if error is not None:
            text, server = at(error, "message"), None
            output = written(error)
            note = f"JSON-RPC error: {text}" if isinstance(text, str) else "JSON-RPC error"
        elif at(result, "resultType") == "input_required":
            state = at(result, "requestState")
            self.waiting = state if isinstance(state, str) else ""
            note = "the server asked for input; this is not a result"
        elif self.method == "resources/read":
            contents = items_of(at(result, "contents"))
            told = [{"type": "resource", "resource": item} for item in contents]
            output = written({"content": told})
        else:
            output = written(result)
        self.call = dataclasses.replace(
            self.call, server=server, output=output, failed=error is not None, note=note
        )

    def logged(self, file: str) -> LoggedCall:
        meta = self.params.get("_meta")
        named = _TRACEPARENT.fullmatch(text_in(meta, "traceparent") or "")
        version = at(meta, f"{_META}protocolVersion")
        version = version if isinstance(version, str) else self.version
        return LoggedCall(
            call=dataclasses.replace(self.call, server=self.call.server or self.stream.server),
            run=named[1] if named else None,
            origin=Origin(format=NAME, version=version, file=file, line=self.line),
            arguments=canonical(self.call.arguments),
        )


@dataclass(slots=True)
class _Stream:
    """One connection of a log: who is at its other end, and the requests that are open on it."""

    server: str | None
    version: str | None = None
    initializing: list[object] = field(default_factory=list)
    pending: list[_Request] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)  # ids of what the server asked the client

    def take(
        self, message: JsonObject, envelope: JsonObject, line: int, opened: list[_Request]
    ) -> str | None:
        """Note one message; the answer says what is wrong with it, if anything is."""
        method, identity, sender = message.get("method"), message.get("id"), _sender_of(envelope)
        result, exchange = message.get("result"), envelope.get("exchange")
        if isinstance(method, str):
            if method in _ASKED_BY_SERVERS and identity is not None and sender is None:
                self.asked.append(identity)
            elif method == "initialize":
                self.initializing.append(identity)
            elif method in _METHODS and identity is None:
                return f"{method} without an id: its result cannot be found"
            elif method in _METHODS:
                self.pending.append(self.open(method, message, line, exchange))
                opened.append(self.pending[-1])
        elif "result" not in message and "error" not in message:
            return "a JSON-RPC message with neither method, result nor error"
        elif sender == "client":
            pass  # what a client answers is no output, though its id may be that of a call
        elif identity in self.asked and not _is_tool_result(result):
            self.asked.remove(identity)
        elif identity in self.initializing:
            # What ``initialize`` said before 2026-07-28: server's name and protocol's version.
            self.initializing.remove(identity)
            self.server = self.server or text_in(at(result, "serverInfo"), "name")
            self.version = text_in(result, "protocolVersion")
        elif (request := self.asking(identity, exchange)) is not None:
            self.pending.remove(request)
            request.answer(message)
        elif _is_tool_result(result):
            params = {"name": "unknown tool"}
            request = self.open("tools/call", {"id": identity, "params": params}, line, exchange)
            request.answer(message)
            note = "the request of this result is not in the log"
            request.call = dataclasses.replace(request.call, note=note)
            opened.append(request)
        return None

    def open(self, method: str, message: JsonObject, line: int, exchange: object) -> _Request:
        identity, params = message.get("id"), mapping(message.get("params"))
        of_tool = method == "tools/call"
        call = CapturedCall(
            tool=(text_in(params, "name") if of_tool else None) or method,
            call_id=None if identity is None else str(identity),
            arguments=written_or_none(params.get("arguments" if of_tool else "uri")),
            output=None,
        )
        return _Request(self, method, message, line, exchange, self.version, call)

    def asking(self, identity: object, exchange: object) -> _Request | None:
        """The open request that an answer is to: of clients with the same ids, that of its exchange."""
        found = [(request, request.message.get("id")) for request in self.pending]
        same = [
            one for one, asked in found if asked == identity and isinstance(asked, type(identity))
        ]
        return max(same, key=lambda one: one.exchange == exchange, default=None)


def _settled(opened: Sequence[_Request]) -> list[_Request]:
    """The calls that count: retries take the place of what they repeat."""
    kept = []
    for index, call in enumerate(opened):
        after = islice(opened, index + 1, None)
        later = (x for x in after if x.stream is call.stream and x.call.tool == call.call.tool)
        if call.waiting is not None and any(_continues(call, x) for x in later):
            continue
        if not call.answered and any(_repeats(call, x) for x in later):
            continue  # a broken stream: the same call was sent again under a new id
        kept.append(call)
    return kept


def _continues(call: _Request, retry: _Request) -> bool:
    state = retry.params.get("requestState")
    return state == call.waiting if call.waiting else "inputResponses" in retry.params


def _repeats(call: _Request, retry: _Request) -> bool:
    given, again = (canonical(one.call.arguments or "{}") for one in (call, retry))
    return retry.answered and given == again


# ---------------------------------------------------------------- messages, whoever logged them


def _messages_in(value: object) -> Iterator[tuple[JsonObject, JsonObject]]:
    """The JSON-RPC messages of one record, each with the envelope that it was logged in."""
    if isinstance(value, list):
        for item in value:
            yield from _messages_in(item)
    elif isinstance(value, Mapping) and _is_rpc(value):
        yield value, {}
    elif isinstance(value, Mapping):
        for key in _MESSAGE_KEYS:
            inner = parsed(value.get(key))
            for item in objects_in(inner if isinstance(inner, list) else [inner]):
                if _is_rpc(item):
                    yield item, value


def _is_rpc(value: JsonObject) -> bool:
    named = any(key in value for key in ("method", "result", "error", "id"))
    return value.get("jsonrpc") == "2.0" and named


def _is_tool_result(result: object) -> bool:
    return isinstance(result, Mapping) and (
        "isError" in result
        or "structuredContent" in result
        or isinstance(result.get("content"), list)
    )


def _sender_of(envelope: JsonObject) -> str | None:
    """Who sent a message, client or server, where the log says so."""
    named = (_SENDERS.get(str(envelope.get(key)).lower()) for key in _SENDER_KEYS)
    return next(filter(None, named), None)


def _stream_key(envelope: JsonObject) -> str:
    if LOG_PREFIX in envelope:
        return _server_named(envelope) or ""
    parts = [str(envelope[key]) for key in (*_STREAM_KEYS, *_SERVER_KEYS) if key in envelope]
    headers = mapping(envelope.get("headers"))
    parts += [str(value) for key, value in headers.items() if key.lower() == "mcp-session-id"]
    return "\x1f".join(parts)


def _server_named(envelope: JsonObject) -> str | None:
    prefix = str(envelope.get(LOG_PREFIX) or "")
    bracketed = (name for name in _BRACKETED.findall(prefix) if name.lower() not in _LEVELS)
    given = (envelope.get(key) for key in _SERVER_KEYS)
    named = (text_in(x, "name") if isinstance(x, Mapping) else x for x in given)
    texts = (name for name in (*bracketed, *named) if isinstance(name, str) and name)
    return next(texts, None)
