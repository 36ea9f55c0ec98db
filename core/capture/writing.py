"""Traces to captured formats, one a module with ``write(run)``: the way back of ``core/capture/formats``.

What a format holds in fields of its own is in ``OWN_FIELDS``; a test holds the table against the files.
Everything else travels beside them (``core/capture/carried.py``), so that a native trace comes back whole.
A plain MCP log has neither a question nor an answer and can carry no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.capture.carried import PlainRun
from core.capture.formats import (
    anthropic_writer as anthropic,
)
from core.capture.formats import (
    chat_writer as chat,
)
from core.capture.formats import (
    inspect_ai_writer as inspect_ai,
)
from core.capture.formats import (
    langfuse_writer as langfuse,
)
from core.capture.formats import (
    langsmith_writer as langsmith,
)
from core.capture.formats import (
    native_writer as native,
)
from core.capture.formats import (
    openinference_writer as openinference,
)
from core.capture.formats import (
    otel_writer as otel,
)
from core.capture.formats import (
    responses_writer as responses,
)
from core.records import JsonObject


class Exporter(Protocol):
    """What a module of this package offers."""

    NAME: str

    def write(self, run: PlainRun, /) -> JsonObject:
        """The record that the format makes of one trace."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The text around and between the records of one file."""

    head: str = ""
    between: str = "\n"
    tail: str = "\n"


_MODULES: Sequence[Exporter] = (
    native,
    chat,
    responses,
    anthropic,
    otel,
    openinference,
    langsmith,
    langfuse,
    inspect_ai,
)
FORMATS: Mapping[str, Exporter] = {module.NAME: module for module in _MODULES}

# An Inspect log is one object on one line; every other file is JSON Lines.
_FRAMES = {inspect_ai.NAME: Frame(head=inspect_ai.HEAD, between=", ", tail="]}\n")}

_ALL = frozenset(
    {"trace_id", "question", "answer", "tool", "call_id", "arguments", "output", "error"}
)
OWN_FIELDS: Mapping[str, frozenset[str]] = {
    native.NAME: _ALL | {"server", "truncated"},
    chat.NAME: _ALL,
    responses.NAME: (_ALL - {"error"}) | {"server", "truncated"},  # only hosted calls can fail
    anthropic.NAME: _ALL | {"server"},
    otel.NAME: _ALL - {"trace_id"},
    openinference.NAME: _ALL - {"trace_id"},
    langsmith.NAME: _ALL - {"trace_id"},
    langfuse.NAME: _ALL | {"server"},
    inspect_ai.NAME: _ALL | {"truncated"},
}


def frame_of(format: str) -> Frame:
    """How the records of a format stand in a file."""
    return _FRAMES.get(format, Frame())
