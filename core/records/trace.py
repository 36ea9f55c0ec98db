"""A trace and its sources (III.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.records.basics import JsonObject, SourceStatus, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRange:
    """Where a stretch of a source's readable text came from: bytes of its raw output, UTF-8."""

    text: Span
    raw_start: int
    raw_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One provenance object of a trace: ``text`` is the readable text the verifier works on.

    ``raw`` is the output as captured where ``text`` was made from structure (JSON, FHIR, a
    language's object repr), with ``raw_map`` from text ranges to byte ranges of ``raw``; where the
    text is the output itself, ``raw`` is None and the map is empty. ``note`` says what a reader
    must know: why it is not evidence, what was left out (an image), how it was unwrapped.
    ``call_place`` is the place of the call in the record's own list that ``arguments`` come from;
    None where the output itself said them.
    """

    source_id: str
    tool_name: str
    text: str
    status: SourceStatus = SourceStatus.OK
    server: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    call_place: int | None = None
    source_role: str | None = None
    chunk_count: int | None = None
    uri: str | None = None
    structured: bool = False
    raw: str | None = None
    raw_map: tuple[RawRange, ...] = ()
    note: str | None = None
    extra: JsonObject = field(default_factory=dict)

    @property
    def is_evidence(self) -> bool:
        """Whether a claim may rest on it."""
        return self.status in (SourceStatus.OK, SourceStatus.TRUNCATED) and bool(self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source that the answer cites by markup or annotation, captured with the trace.

    ``span`` is the stretch of the answer it covers; ``source_id`` is set when it resolved to one of
    the trace's sources; ``text`` is the marker or title shown to a person.
    """

    span: Span
    text: str
    source_id: str | None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a trace was read from."""

    format: str
    version: str | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A question, the agent's answer, and every tool output behind it (III.1).

    ``answer`` is None when none was captured; ``earlier`` is what the agent said to the user in the turns
    before it, the oldest first. ``notices`` say what the importer could not keep as
    evidence and why. ``extra`` holds unknown fields of the record, exported again as they came.
    """

    trace_id: str
    question: str
    answer: str | None
    earlier: tuple[str, ...] = ()
    category: str | None = None
    route: str | None = None
    tool_calls: tuple[str, ...] = ()
    sources: tuple[Source, ...]
    citations: tuple[Citation, ...] = ()
    elapsed_seconds: float | None = None
    origin: Origin | None = None
    notices: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What each source is called, by its id."""
        return call_names({source.source_id: source.tool_name for source in self.sources})

    def source(self, source_id: str) -> Source:
        """The source of that id; KeyError when the trace has none."""
        for source in self.sources:
            if source.source_id == source_id:
                return source
        raise KeyError(source_id)


def call_names(tools: Mapping[str, str]) -> dict[str, str]:
    """Each source's name by its id: its tool (by id: ``tools``), numbered where called more than once."""
    seen, calls = Counter[str](), Counter(tools.values())
    names = {}
    for source_id, tool in tools.items():
        seen[tool] += 1
        names[source_id] = f"{tool} #{seen[tool]}" if calls[tool] > 1 else tool
    return names
