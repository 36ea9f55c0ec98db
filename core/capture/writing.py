"""Traces to captured formats: the way back, ``write(run)`` of the modules in ``core/capture/formats``.

What a format has no field for travels beside its own (``core/capture/carried.py``), so that a native
trace comes back whole. A plain MCP log has neither a question nor an answer and can carry no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.capture.carried import PlainRun
from core.capture.formats import (
    anthropic,
    chat,
    inspect_ai,
    langfuse,
    langsmith,
    native,
    openinference,
    otel,
    responses,
)
from core.records import JsonObject


class Exporter(Protocol):
    """What a format that can be written offers."""

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
    native, chat, responses, anthropic, otel, openinference, langsmith, langfuse, inspect_ai,
)  # fmt: skip
FORMATS: Mapping[str, Exporter] = {module.NAME: module for module in _MODULES}

# An Inspect log is one object on one line; every other file is JSON Lines.
_FRAMES = {inspect_ai.NAME: Frame(head=inspect_ai.HEAD, between=", ", tail="]}\n")}


def frame_of(format: str) -> Frame:
    """How the records of a format stand in a file."""
    return _FRAMES.get(format, Frame())
