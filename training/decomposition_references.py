"""Answers whose claims were read by hand, with their traces."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.capture.reading import read_traces
from core.errors import InputError
from core.records import Span, Trace

TRACES = ("traces/livemcpbench_chat.jsonl.gz", "traces/clinical_native.jsonl.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference answer: its trace, the claims read by hand, and how far it was read."""

    trace: Trace
    texts: Sequence[str]
    places: Sequence[Span]
    read_until: int

    @property
    def half(self) -> str:
        """ "tune" or "held_out", by the trace's id alone."""
        return "tune" if self._digest[0] % 2 else "held_out"

    @property
    def unread(self) -> bool:
        """Whether nobody looked at what the rules make of the answer."""
        return self.half == "held_out" and self._digest[1] % 2 == 1

    @property
    def kind(self) -> str:
        """ "clinical" or "mcp"."""
        return "clinical" if self.trace.trace_id.startswith("clin") else "mcp"

    def fold(self, folds: int) -> int:
        """The part of the answers that it belongs to, by the trace's id alone."""
        return int.from_bytes(self._digest[2:6], "big") % folds

    @property
    def _digest(self) -> bytes:
        return hashlib.sha256(self.trace.trace_id.encode()).digest()


def references(folder: Path) -> Iterator[Reference]:
    """The reference answers with their traces; InputError for a trace that cannot be read."""
    traces = {}
    for found in read_traces([folder / name for name in TRACES]):
        if isinstance(found, InputError):
            raise found
        traces[found.trace_id] = found
    path = folder / "decomposition" / "dev_claims.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Reference(
                trace=traces[row["trace_id"]],
                texts=[claim["text"] for claim in row["claims"]],
                places=[Span(start=c["span"][0], end=c["span"][1]) for c in row["claims"]],
                read_until=row["labelled_until"],
            )
