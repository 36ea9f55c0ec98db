"""POST /v1/traces, as OpenTelemetry exporters send spans over HTTP: kept in a file that verify reads.

https://opentelemetry.io/docs/specs/otlp/#otlphttp: protobuf or JSON, plain or gzip.
"""

from __future__ import annotations

import os
import threading
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

from core.capture.files import parse_record, write_json
from core.capture.values import at, items_of, mapping
from core.errors import BadRecord, ComponentUnavailable
from service.problems import TooLarge

PATH = "/v1/traces"
JSON, PROTOBUF = "application/json", "application/x-protobuf"
_IDS = ("traceId", "spanId", "parentSpanId")


class SpanFile:
    """A file of export requests, one a line as OTLP JSON, which is continued."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._lock = path, threading.Lock()
        with self._opened() as file:  # a place that cannot be written is told at the start
            if _breaks_off(path):
                file.write("\n")  # what was cut off by a kill is no part of the next request

    def keep(self, body: bytes, kind: str, encoding: str, most_bytes: int) -> object:
        """Append a request, and give it back.

        Raises BadRecord, TooLarge, ComponentUnavailable.
        """
        body = _unpacked(body, most_bytes) if encoding == "gzip" else body
        value = _of_protobuf(body) if kind == PROTOBUF else parse_record(body)[0]
        if not isinstance(at(value, "resourceSpans"), list | None) or not mapping(value):
            raise BadRecord("expected a list of spans", path="resourceSpans")
        line = f"{write_json(value)}\n"
        try:
            with self._lock:
                self._append(line)
        except OSError as error:
            raise ComponentUnavailable(f"spans cannot be kept: {error.strerror}") from None
        return value

    def _append(self, line: str) -> None:
        whole = self.path.stat().st_size if self.path.exists() else 0  # else it was moved away
        try:
            with self._opened() as file:
                file.write(line)
        except OSError:
            os.truncate(self.path, whole)  # half a line would spoil the next one
            raise

    def _opened(self) -> Any:
        return open(self.path, "a", encoding="utf-8", opener=_for_its_owner)  # noqa: PTH123


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # spans may be patient data


def _breaks_off(path: Path) -> bool:
    """Whether the last line has no end."""
    if not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def _unpacked(body: bytes, most_bytes: int) -> bytes:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, most_bytes + 1)
    except zlib.error:
        raise BadRecord("the body is no gzip") from None
    if len(found) > most_bytes:
        raise TooLarge(most_bytes)
    if not unpacking.eof:
        raise BadRecord("the gzip breaks off")
    return found


def _of_protobuf(body: bytes) -> dict[str, Any]:
    """An export request as OTLP JSON, whose ids are hexadecimal."""
    from google.protobuf import json_format, message
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
        found: dict[str, Any] = json_format.MessageToDict(request, use_integers_for_enums=True)
    except (message.DecodeError, json_format.Error, ValueError, RecursionError):
        raise BadRecord("the body is no ExportTraceServiceRequest") from None
    for resource in items_of(found.get("resourceSpans")):
        for scope in items_of(at(resource, "scopeSpans")):
            for span in items_of(at(scope, "spans")):
                _hexadecimal(span)
    return found


def _hexadecimal(span: Any) -> None:
    for one in (span, *span.get("links", ())):
        one.update({key: b64decode(one[key]).hex() for key in _IDS if key in one})
