"""Spans judged as they arrive: a trace is verified once it is quiet, and its verdict appended to a file.

The file of spans is the queue: what was acknowledged stands there before it is counted here, so that
after a kill the same spans are read again and what has no verdict yet is judged. A trace that this
program fails on is set aside with the reason, which stands beside the verdicts, until a start asks for it.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from core.capture.conversations import turn_of
from core.capture.files import (
    FileRecord,
    parse_record,
    placed,
    read_records,
    read_whole_lines,
    write_json,
)
from core.capture.reading import read_records_of
from core.capture.values import at, mapping, objects_in, text_in
from core.codec import content_hash
from core.errors import (
    BadRecord,
    Busy,
    ComponentUnavailable,
    InputError,
    ProvenanceGuardError,
    UnreadableFile,
)
from core.pipeline import fault_of
from core.records import JsonObject, Trace, Verification
from core.workflows.batching import BatchingVerifier
from core.workflows.verdict_file import verdict_file
from service.otlp import SpanFile
from service.problems import log, log_crash

QUIET_SECONDS = 5.0
MOST_BYTES = 256 * 1024 * 1024  # that the spans that wait take, and those of one trace once read
_A_SPAN = 256  # bytes that one takes beside its text
_A_VALUE = 100  # bytes that a JSON value takes once read, at most so many more than its text
_ROOTLESS = 24  # times as long is waited for a trace whose outermost span may come from elsewhere
_AT_ONCE = 8
_REASONS_KEPT = 100
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BEFORE_JSON = b'"\\nrt '  # in a JSON string: quotes and white space, as they are escaped
SET_ASIDE = "why_set_aside"  # of the file beside the verdicts: reasons by the trace's id
_MOST_SET_ASIDE = 1_000
STATES = ("waiting", "judged", "judged_again", "without_answer", "failed", "set_aside")


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """The spans of a trace so far, as JSON; ``last``: when the newest came, by the monotonic clock.

    Unread, since a list of nothing but empty lists takes thirty times the bytes of its text.
    """

    spans: list[bytes] = field(default_factory=list)
    bytes: int = 0
    rooted: bool = False
    last: float = 0.0


class Arrivals:
    """Takes export requests as SpanFile does, and judges their traces in a thread of its own.

    Use it as a context; ``verdicts`` is continued. A request is refused (Busy) while more than
    ``most_bytes`` of spans wait: an exporter keeps it and comes again. A trace whose spans would take
    more once they are read is set aside.
    """

    def __init__(
        self,
        spans: SpanFile,
        verdicts: Path,
        verifier: BatchingVerifier,
        judged: Callable[[Verification], None] = lambda verification: None,
        *,
        quiet_seconds: float = QUIET_SECONDS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._spans, self._verifier, self._told = spans, verifier, judged
        self._quiet, self._most = quiet_seconds, most_bytes
        self._state = verdicts.with_name(f"{verdicts.name}.state.json")
        self._opened = verdict_file(verdicts)
        self._changed = threading.Condition()
        self._waiting: dict[str, _Waiting] = {}
        self._bytes, self._closed, self._broken = 0, False, ""
        self._counts = dict.fromkeys(STATES, 0)
        self._failed: dict[str, str] = {}
        self._set_aside = _set_aside_in(self._state)
        self._again: frozenset[str] = frozenset()
        # By the hash of a trace's id that of what was judged: small, however many there are.
        self._judged: dict[int, int] = {}
        self._thread = threading.Thread(target=self._run, name="arrivals", daemon=True)

    def __enter__(self) -> Arrivals:
        self._verdicts = self._opened.__enter__()
        for one in self._verdicts.keep_while(lambda _: True):
            name, turn = turn_of(one.trace.trace_id)
            if not turn and name not in self._again:
                self._judged[hash(name)] = hash(one.content_hash)
        path = self._spans.path
        self._before = path, path.stat().st_size
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        self._opened.__exit__(None, None, None)

    def retry_set_aside(self) -> None:
        """Judge again, from the start on, what an earlier run set aside."""
        self._again = frozenset(self._set_aside)
        self._set_aside.clear()

    def counts(self) -> Mapping[str, int]:
        """How many traces wait, and what became of the others since the start."""
        with self._changed:
            return {
                **self._counts,
                "waiting": len(self._waiting),
                "set_aside": len(self._set_aside),
            }

    def keep(self, body: bytes, kind: str, encoding: str, most_bytes: int) -> object:
        """Keep a request in the file and count its spans; raises Busy as well."""
        if self._broken:
            raise ComponentUnavailable(self._broken)
        if self._bytes > self._most:
            raise Busy(max(1, round(self._quiet)))
        value = self._spans.keep(body, kind, encoding, most_bytes)
        self._take(value)
        return value

    def _take(self, value: object) -> None:
        now = time.monotonic()
        with self._changed:
            for trace_id, span in _spans_in(value):
                if trace_id in self._set_aside:
                    continue
                waiting = self._waiting.setdefault(trace_id, _Waiting())
                text = write_json(span).encode()
                size = len(text) + _A_SPAN
                waiting.spans.append(text)
                waiting.bytes += size
                self._bytes += size
                waiting.rooted |= not span.get("parentSpanId")
                waiting.last = now

    def _run(self) -> None:
        try:
            self._read_again()
            while not self._closed:
                self._judge_due()
                with self._changed:
                    if not self._closed:
                        self._changed.wait(min(1.0, self._quiet))
            self._tell()
        except OSError as error:
            self._broken = f"verdicts cannot be kept: {error.strerror}"
        except Exception as error:
            self._broken = f"nothing is judged any more: {log_crash(error)}"

    def _read_again(self) -> None:
        """Take what the file holds from before; what has its verdict is found out when it is due."""
        for record in read_whole_lines(*self._before, self._most):
            if self._closed:
                return
            if isinstance(record, FileRecord):
                self._take(record.value)
            while self._bytes > self._most and not self._closed:
                self._judge(self._taken(sorted(self._waiting)[:_AT_ONCE]))

    def _due(self, one: _Waiting) -> float:
        return one.last + self._quiet * (1 if one.rooted else _ROOTLESS)

    def _judge_due(self) -> None:
        while not self._closed:
            now = time.monotonic()
            with self._changed:
                due = [name for name, one in self._waiting.items() if self._due(one) <= now]
            if not due:
                return
            self._judge(self._taken(due[:_AT_ONCE]))
            self._tell()

    def _taken(self, names: list[str]) -> dict[str, list[bytes]]:
        with self._changed:
            taken = {name: self._waiting.pop(name) for name in names}
            self._bytes -= sum(one.bytes for one in taken.values())
        return {name: one.spans for name, one in taken.items()}

    def _judge(self, taken: Mapping[str, list[bytes]]) -> None:
        asked: list[tuple[str, int, list[Future[Verification]]]] = []
        for name, spans in taken.items():
            with self._setting_aside(name):
                traces = self._read(name, spans)
                key = hash(content_hash(traces[-1])) if traces else 0
                if traces and self._judged.get(hash(name)) not in (None, key):
                    try:
                        spans = self._all_spans(name)  # some came after its verdict
                    except UnreadableFile as error:
                        self._wait_again(name, spans, str(error))
                        continue
                    traces = self._read(name, spans)
                    key = hash(content_hash(traces[-1])) if traces else 0
                if traces and self._judged.get(hash(name)) != key:
                    asked.append((name, key, [self._submitted(trace) for trace in traces]))
        for name, key, futures in asked:
            with self._setting_aside(name):
                try:
                    verified = [future.result() for future in futures]
                except (ProvenanceGuardError, CancelledError) as error:
                    self._fail(name, str(error) or "stopped before it was judged")
                    continue
                self._verdicts.append(verified)
                self._count("judged_again" if hash(name) in self._judged else "judged")
                self._judged[hash(name)] = key
                for verification in verified:
                    self._told(verification)
                    if (fault := fault_of(verification)) is not None:
                        self._put_aside(name, fault)

    def _wait_again(self, name: str, spans: list[bytes], reason: str) -> None:
        """Judge the trace later, by what came of it since as well: its file may be readable then."""
        log.warning("a trace waits to be judged again: %s", reason)
        with self._changed:
            self._changed.wait(min(1.0, self._quiet))
        self._take(_request_of(spans))

    @contextmanager
    def _setting_aside(self, name: str) -> Iterator[None]:
        """Set the trace aside where the block ends by a bug: the others go on, also after a restart."""
        try:
            yield
        except OSError:
            raise  # of the disk, not of the trace
        except Exception as error:
            self._put_aside(name, log_crash(error))

    def _put_aside(self, name: str, reason: str) -> None:
        if len(self._set_aside) == _MOST_SET_ASIDE:
            self._fail(name, reason)
            return
        with self._changed:
            self._set_aside[name] = reason

    def _read(self, name: str, texts: list[bytes]) -> list[Trace]:
        size = sum(map(_size_once_read, texts))
        if size > self._most:
            self._put_aside(
                name, f"its spans take {size:,} bytes; more than {self._most:,} are not read"
            )
            return []
        record = FileRecord(_request_of(texts), 1)
        try:
            items = list(read_records_of([record]))
        except InputError as error:
            items = [error]
        traces = [item for item in items if isinstance(item, Trace)]
        if errors := [item for item in items if isinstance(item, InputError)]:
            self._fail(name, str(errors[0]))
        if not any(trace.answer is not None or trace.sources for trace in traces):
            self._count("without_answer")  # of something else than an agent
            return []
        return traces

    def _all_spans(self, name: str) -> list[bytes]:
        """Every span of a trace in the file; raises UnreadableFile."""
        found: list[bytes] = []
        for record in read_records(self._spans.path, self._most):
            if isinstance(record, UnreadableFile):
                raise record
            if isinstance(record, FileRecord):
                spans = _spans_in(record.value)
                found += [write_json(span).encode() for trace_id, span in spans if trace_id == name]
        return found

    def _submitted(self, trace: Trace) -> Future[Verification]:
        while True:
            try:
                return self._verifier.submit(trace)
            except Busy as busy:
                with self._changed:
                    self._changed.wait(min(1.0, busy.retry_seconds))
            except ComponentUnavailable as error:
                failed: Future[Verification] = Future()
                failed.set_exception(error)
                return failed

    def _fail(self, name: str, reason: str) -> None:
        self._count("failed")
        if len(self._failed) < _REASONS_KEPT:
            self._failed[name] = reason

    def _count(self, state: str) -> None:
        with self._changed:
            self._counts[state] += 1

    def _tell(self) -> None:
        """Write the counts and what failed, beside the verdicts."""
        told = {**self.counts(), "reasons": self._failed, SET_ASIDE: self._set_aside}
        text = json.dumps(told, indent=1) + "\n"
        part = self._state.with_name(f"{self._state.name}.part")
        part.touch(mode=0o600)
        part.write_text(text, encoding="utf-8")
        part.replace(self._state)


def _size_once_read(text: bytes) -> int:
    """The bytes that a JSON text takes once it is read, or more: each value stands behind one of these.

    A text in it that may be JSON is read, too; of any other no comma is a value.
    """
    bare = _STRING.sub(b"", text)
    size = len(text) + _A_VALUE * sum(map(bare.count, (b",", b":", b"[", b"{")))
    for inner in _STRING.findall(text):
        if inner.lstrip(_BEFORE_JSON)[:1] in (b"[", b"{"):
            size += _size_once_read(json.loads(inner).encode("utf-8", "replace"))
    return size


def _set_aside_in(state: Path) -> dict[str, str]:
    """What an earlier run set aside, with its reasons; raises InputError."""
    try:
        found = parse_record(state.read_bytes())[0]
    except FileNotFoundError:
        return {}
    except BadRecord as error:
        raise placed(error, str(state), None) from None
    return {name: str(reason) for name, reason in mapping(at(found, SET_ASIDE)).items()}


def _request_of(texts: list[bytes]) -> JsonObject:
    """The spans as an export request holds them."""
    spans = [parse_record(text)[0] for text in texts]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def _spans_in(value: object) -> Iterator[tuple[str, JsonObject]]:
    """The spans of an export request with the ids of their traces."""
    for resource in objects_in(at(value, "resourceSpans")):
        for scope in objects_in(resource.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                if trace_id := text_in(span, "traceId"):
                    yield trace_id, span
