"""MCP JSON-RPC logs: tool calls and resource reads with their raw results, of any spec version.

The wire log has neither question nor answer. Given with a transcript, its raw results are put in the
place of the outputs that the transcript holds; alone, it makes a trace without an answer.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.capture.echoes import without_echoes
from core.capture.files import FileRecord
from core.capture.mcp_messages import (
    is_tool_result,
    mapping,
    read_messages,
    sender_of,
    server_named,
    stream_key,
    text_of,
)
from core.capture.outputs import (
    CapturedCall,
    CapturedRun,
    distinct_sources,
    sources_of_call,
    trace_of_run,
    written,
)
from core.codec import canonical_json, json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Source, Trace

NAME = "mcp"

_META = "io.modelcontextprotocol/"
_METHODS = {"tools/call", "resources/read"}
_ASKED_BY_SERVERS = {"sampling/createMessage", "elicitation/create", "roots/list"}
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


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
    return 0.9 if any(list(read_messages(value)) for value in values) else 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
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
        messages = list(read_messages(record.value))
        if not messages:
            yield BadRecord(
                f"expected a JSON-RPC message, found {json_kind(record.value)}",
                file=file,
                line=record.line,
            )
        for message, envelope in messages:
            stream = streams.setdefault(stream_key(envelope), _Stream(server_named(envelope)))
            problem = stream.take(message, envelope, record.line, opened)
            if problem:
                yield BadRecord(problem, file=file, line=record.line)
    for call in _settled(opened):
        yield call.logged(file)


def traces_of_log(calls: Sequence[LoggedCall]) -> Iterator[Trace]:
    """Traces without question and answer, one for each file and each trace id named in it."""
    groups: dict[tuple[str, str | None], list[LoggedCall]] = {}
    for logged in calls:
        groups.setdefault((logged.file, logged.run), []).append(logged)
    for (file, run), members in groups.items():
        yield trace_of_run(
            CapturedRun(
                origin=Origin(
                    format=NAME, version=members[0].version, file=file, line=members[0].line
                ),
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
    sources = without_echoes(trace.question, sources)
    return dataclasses.replace(
        trace,
        sources=sources,
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
    names = {call.tool, f"{call.server}__{call.tool}", f"{call.server}.{call.tool}"}
    names |= {
        f"{call.server}-{call.tool}",
        f"{call.server}/{call.tool}",
        f"{call.server}_{call.tool}",
    }
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


class _Open:
    """A request of the log and, once it came, its response."""

    def __init__(self, stream: _Stream, message: Mapping[str, object], line: int) -> None:
        params = message.get("params")
        self.params: Mapping[str, object] = params if isinstance(params, Mapping) else {}
        self.stream, self.line, self.method = stream, line, str(message.get("method"))
        self.identity = message.get("id")
        self.exchange: object = None
        self.server = stream.server
        self.version = stream.version
        self.answered = False
        self.output: str | None = None
        self.failed = False
        self.waiting: str | None = None
        self.note: str | None = None
        self.superseded = False

    @property
    def tool(self) -> str:
        name = self.params.get("name") if self.method == "tools/call" else None
        return name if isinstance(name, str) and name else self.method

    @property
    def arguments(self) -> str | None:
        value = (
            self.params.get("arguments") if self.method == "tools/call" else self.params.get("uri")
        )
        return None if value is None else written(value)

    def answer(self, message: Mapping[str, object]) -> None:
        self.answered = True
        error = message.get("error")
        if error is not None:
            text = error.get("message") if isinstance(error, Mapping) else None
            self.output, self.failed = written(error), True
            self.note = f"JSON-RPC error: {text}" if isinstance(text, str) else "JSON-RPC error"
            return
        result = message.get("result")
        meta = mapping(mapping(result).get("_meta"))
        info = mapping(meta.get(f"{_META}serverInfo"))
        self.server = text_of(info, "name") or self.stream.server
        if mapping(result).get("resultType") == "input_required":
            state = mapping(result).get("requestState")
            self.waiting = state if isinstance(state, str) else ""
            self.note = "the server asked for input; this is not a result"
            return
        if self.method == "resources/read":
            contents = mapping(result).get("contents")
            blocks = [
                {"type": "resource", "resource": item}
                for item in (contents if isinstance(contents, list) else ())
            ]
            result = {"content": blocks}
        self.output = written(result)

    def logged(self, file: str) -> LoggedCall:
        meta = mapping(self.params.get("_meta"))
        parent = meta.get("traceparent")
        named = _TRACEPARENT.fullmatch(parent) if isinstance(parent, str) else None
        version = meta.get(f"{_META}protocolVersion")
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


class _Stream:
    """One connection of a log: who is at its other end, and the requests that are open on it."""

    def __init__(self, server: str | None) -> None:
        self.server = server
        self.version: str | None = None
        self.initializing: list[object] = []
        self.pending: list[_Open] = []
        self.asked: list[object] = []  # ids of what the server asked the client

    def take(
        self,
        message: Mapping[str, object],
        envelope: Mapping[str, object],
        line: int,
        opened: list[_Open],
    ) -> str | None:
        """Note one message; the answer says what is wrong with it, if anything is."""
        method, identity = message.get("method"), message.get("id")
        sender = sender_of(envelope)
        if isinstance(method, str):
            if method in _ASKED_BY_SERVERS:
                self.asked.extend([identity] if identity is not None and sender is None else [])
            elif method == "initialize":
                self.initializing.append(identity)
            elif method in _METHODS:
                if identity is None:
                    return f"{method} without an id: its result cannot be found"
                call = _Open(self, message, line)
                call.exchange = envelope.get("exchange")
                self.pending.append(call)
                opened.append(call)
            return None
        if "result" not in message and "error" not in message:
            return "a JSON-RPC message with neither method, result nor error"
        if sender == "client":
            return None  # what a client answers is no output, though its id may be that of a call
        if identity in self.asked and not is_tool_result(message.get("result")):
            self.asked.remove(identity)
            return None
        if identity in self.initializing:
            self.initializing.remove(identity)
            self.introduce(mapping(message.get("result")))
            return None
        same = [
            call
            for call in self.pending
            if call.identity == identity and isinstance(call.identity, type(identity))
        ]
        # Clients of one server may use the same ids at the same time; an exchange is of one of them.
        exchange = envelope.get("exchange")
        found = next((call for call in same if call.exchange == exchange), None) or next(
            iter(same), None
        )
        if found is not None:
            self.pending.remove(found)
            found.answer(message)
            return None
        if is_tool_result(message.get("result")):
            call = _Open(
                self,
                {"method": "tools/call", "id": identity, "params": {"name": "unknown tool"}},
                line,
            )
            call.answer(message)
            call.note = "the request of this result is not in the log"
            opened.append(call)
        return None

    def introduce(self, result: Mapping[str, object]) -> None:
        """What ``initialize`` said before 2026-07-28: the server's name and the protocol's version."""
        info = mapping(result.get("serverInfo"))
        self.server = self.server or text_of(info, "name")
        self.version = text_of(result, "protocolVersion")


def _settled(opened: Sequence[_Open]) -> list[_Open]:
    """The calls that count: retries take the place of what they repeat."""
    kept = []
    for index, call in enumerate(opened):
        if call.waiting is not None and any(_continues(call, x) for x in opened[index + 1 :]):
            continue
        if not call.answered and any(_repeats(call, x) for x in opened[index + 1 :]):
            continue  # a broken stream: the same call was sent again under a new id
        kept.append(call)
    return kept


def _continues(call: _Open, retry: _Open) -> bool:
    if retry.stream is not call.stream or retry.tool != call.tool:
        return False
    state = retry.params.get("requestState")
    return state == call.waiting if call.waiting else "inputResponses" in retry.params


def _repeats(call: _Open, retry: _Open) -> bool:
    return (
        retry.stream is call.stream
        and retry.tool == call.tool
        and retry.answered
        and _canonical(call.arguments or "{}") == _canonical(retry.arguments or "{}")
    )
