"""MCP JSON-RPC logs: tool calls and resource reads with their raw results, of any spec version.

The wire log has neither question nor answer. Given with a transcript, its raw results are put in the
place of the outputs that the transcript holds; alone, it makes a trace without an answer.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.capture.echoes import without_echoes
from core.capture.files import LOG_PREFIX, FileRecord
from core.capture.outputs import (
    CapturedCall,
    CapturedRun,
    distinct_sources,
    sources_of_call,
    trace_of_run,
)
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
from core.codec import canonical_json
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Source, Trace

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One call of a log and the trace it belongs to, when the log says so."""

    call: CapturedCall
    run: str | None
    file: str
    line: int
    version: str | None = None
    arguments: str | None = None  # canonical, to compare with


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are a JSON-RPC log."""
    return 0.9 if any(True for value in values for _ in _messages_in(value)) else 0.0


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
    opened: list[_Open] = []
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        messages = list(_messages_in(record.value))
        problems = [] if messages else [unexpected("a JSON-RPC message", record.value).message]
        for message, envelope in messages:
            stream = streams.setdefault(_stream_key(envelope), _Stream(_server_named(envelope)))
            problems += stream.take(message, envelope, record.line, opened)
        for problem in problems:
            yield BadRecord(problem, file=file, line=record.line)
    for call in _settled(opened):
        yield call.logged(file)


def traces_of_log(calls: Sequence[LoggedCall]) -> Iterator[Trace]:
    """Traces without question and answer, one for each file and each trace id named in it."""
    groups: dict[tuple[str, str | None], list[LoggedCall]] = {}
    for logged in calls:
        groups.setdefault((logged.file, logged.run), []).append(logged)
    for (file, run), members in groups.items():
        first = members[0]
        yield trace_of_run(
            CapturedRun(
                origin=Origin(format=NAME, version=first.version, file=file, line=first.line),
                trace_id=run,
                question="",
                answer=None,
                calls=[member.call for member in members],
                notices=("an MCP log holds neither the question nor the answer",),
            )
        )


def join_log(trace: Trace, log: list[LoggedCall], *, only: bool) -> Trace:
    """The trace with the raw results of its calls from the log; used calls are taken out of it.

    Calls match by tool and arguments, in order, and where the log names a trace id, by that too.
    ``only``: this is the one trace there is, so calls that match nothing belong to it as well.
    """
    groups: list[Sequence[Source]] = []
    joined = 0
    for source in trace.sources:
        given = _canonical(source.arguments)
        found = next((x for x in log if _matches(x, source, given, trace.trace_id)), None)
        if found is None:
            groups.append([source])
            continue
        log.remove(found)
        joined += 1
        call = dataclasses.replace(found.call, call_id=source.call_id or found.call.call_id)
        groups.append(sources_of_call(call))
    rest = [logged for logged in log if only or (logged.run and logged.run == trace.trace_id)]
    for logged in rest:
        log.remove(logged)
        groups.append(sources_of_call(logged.call))
    if not joined and not rest:
        return trace
    sources, notices = distinct_sources(groups)
    return dataclasses.replace(
        trace,
        sources=without_echoes(trace.question, sources),
        tool_calls=(*trace.tool_calls, *(logged.call.tool for logged in rest)),
        notices=(
            *trace.notices,
            *([f"{joined} outputs were taken from the MCP log"] if joined else []),
            *([f"{len(rest)} calls stand only in the MCP log"] if rest else []),
            *notices,
        ),
    )


def _matches(logged: LoggedCall, source: Source, given: str | None, trace_id: str) -> bool:
    if not (given is None or logged.arguments is None or given == logged.arguments):
        return False
    if logged.run is not None and trace_id and logged.run != trace_id and len(trace_id) == 32:
        return False
    call = logged.call
    names = {call.tool, *(f"{call.server}{mark}{call.tool}" for mark in ("__", ".", "-", "/", "_"))}
    right_server = not source.server or call.server in (None, source.server)
    return source.tool_name in names and right_server


def _canonical(arguments: str | None) -> str | None:
    """Arguments in the one spelling in which they can be compared."""
    if arguments is None:
        return None
    try:
        return canonical_json(json.loads(arguments) or {})
    except (ValueError, RecursionError):
        return arguments


@dataclass(slots=True, kw_only=True, eq=False)
class _Open:
    """A request of the log and, once it came, its response."""

    stream: _Stream
    method: str
    identity: object
    params: JsonObject
    line: int
    version: str | None
    exchange: object = None
    server: str | None = None
    answered: bool = False
    output: str | None = None
    failed: bool = False
    waiting: str | None = None
    note: str | None = None

    @property
    def tool(self) -> str:
        name = text_in(self.params, "name") if self.method == "tools/call" else None
        return name or self.method

    @property
    def arguments(self) -> str | None:
        key = "arguments" if self.method == "tools/call" else "uri"
        return written_or_none(self.params.get(key))

    def answer(self, message: JsonObject) -> None:
        self.answered = True
        error = message.get("error")
        if error is not None:
            text = at(error, "message")
            self.output, self.failed = written(error), True
            self.note = f"JSON-RPC error: {text}" if isinstance(text, str) else "JSON-RPC error"
            return
        result = message.get("result")
        info = at(result, "_meta", f"{_META}serverInfo")
        self.server = text_in(info, "name") or self.stream.server
        if at(result, "resultType") == "input_required":
            state = at(result, "requestState")
            self.waiting = state if isinstance(state, str) else ""
            self.note = "the server asked for input; this is not a result"
            return
        if self.method == "resources/read":
            contents = items_of(at(result, "contents"))
            result = {"content": [{"type": "resource", "resource": item} for item in contents]}
        self.output = written(result)

    def logged(self, file: str) -> LoggedCall:
        meta = self.params.get("_meta")
        named = _TRACEPARENT.fullmatch(text_in(meta, "traceparent") or "")
        version = at(meta, f"{_META}protocolVersion")
        return LoggedCall(
            call=CapturedCall(
                tool=self.tool,
                call_id=None if self.identity is None else str(self.identity),
                server=self.server or self.stream.server,
                arguments=self.arguments,
                output=self.output,
                failed=self.failed,
                note=self.note,
            ),
            run=named[1] if named else None,
            file=file,
            line=self.line,
            version=version if isinstance(version, str) else self.version,
            arguments=_canonical(self.arguments),
        )


@dataclass(slots=True)
class _Stream:
    """One connection of a log: who is at its other end, and the requests that are open on it."""

    server: str | None
    version: str | None = None
    initializing: list[object] = field(default_factory=list)
    pending: list[_Open] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)  # ids of what the server asked the client

    def take(
        self, message: JsonObject, envelope: JsonObject, line: int, opened: list[_Open]
    ) -> Sequence[str]:
        """Note one message; the answer says what is wrong with it, if anything is."""
        method, identity = message.get("method"), message.get("id")
        if isinstance(method, str):
            return self.request(method, message, envelope, line, opened)
        if "result" not in message and "error" not in message:
            return ["a JSON-RPC message with neither method, result nor error"]
        result = message.get("result")
        if _sender_of(envelope) == "client":
            return ()  # what a client answers is no output, though its id may be that of a call
        if identity in self.asked and not _is_tool_result(result):
            self.asked.remove(identity)
        elif identity in self.initializing:
            # What ``initialize`` said before 2026-07-28: server's name and protocol's version.
            self.initializing.remove(identity)
            self.server = self.server or text_in(at(result, "serverInfo"), "name")
            self.version = text_in(result, "protocolVersion")
        else:
            self.answer(message, envelope, line, opened)
        return ()

    def request(
        self,
        method: str,
        message: JsonObject,
        envelope: JsonObject,
        line: int,
        opened: list[_Open],
    ) -> Sequence[str]:
        identity = message.get("id")
        if method in _ASKED_BY_SERVERS and identity is not None and _sender_of(envelope) is None:
            self.asked.append(identity)
        elif method == "initialize":
            self.initializing.append(identity)
        elif method in _METHODS:
            if identity is None:
                return [f"{method} without an id: its result cannot be found"]
            self.pending.append(self.open(method, identity, message.get("params"), line))
            self.pending[-1].exchange = envelope.get("exchange")
            opened.append(self.pending[-1])
        return ()

    def open(self, method: str, identity: object, params: object, line: int) -> _Open:
        return _Open(
            stream=self,
            method=method,
            identity=identity,
            params=mapping(params),
            line=line,
            version=self.version,
        )

    def answer(
        self, message: JsonObject, envelope: JsonObject, line: int, opened: list[_Open]
    ) -> None:
        identity = message.get("id")
        same = [
            call
            for call in self.pending
            if call.identity == identity and isinstance(call.identity, type(identity))
        ]
        # Clients of one server may use the same ids at the same time; an exchange is of one of them.
        exchange = envelope.get("exchange")
        found = next((call for call in same if call.exchange == exchange), None)
        found = found or next(iter(same), None)
        if found is not None:
            self.pending.remove(found)
            found.answer(message)
        elif _is_tool_result(message.get("result")):
            call = self.open("tools/call", identity, {"name": "unknown tool"}, line)
            call.answer(message)
            call.note = "the request of this result is not in the log"
            opened.append(call)


def _settled(opened: Sequence[_Open]) -> list[_Open]:
    """The calls that count: retries take the place of what they repeat."""
    kept = []
    for index, call in enumerate(opened):
        after = islice(opened, index + 1, None)
        later = (x for x in after if x.stream is call.stream and x.tool == call.tool)
        if call.waiting is not None and any(_continues(call, x) for x in later):
            continue
        if not call.answered and any(_repeats(call, x) for x in later):
            continue  # a broken stream: the same call was sent again under a new id
        kept.append(call)
    return kept


def _continues(call: _Open, retry: _Open) -> bool:
    state = retry.params.get("requestState")
    return state == call.waiting if call.waiting else "inputResponses" in retry.params


def _repeats(call: _Open, retry: _Open) -> bool:
    same = _canonical(call.arguments or "{}") == _canonical(retry.arguments or "{}")
    return retry.answered and same


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
