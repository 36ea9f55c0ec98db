"""What reading the database gives back: frozen records, never rows of the ORM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.records import Decision, State, Trace, VerdictLabel, Verification, Versions
from core.review.records import Judgement, Person


class Order(StrEnum):
    """How a list of traces is sorted; the first import first, unless asked otherwise."""

    IMPORTED = "imported"
    NEWEST = "newest"
    TRACE_ID = "trace_id"
    MOST_BLOCKED = "most_blocked"
    MOST_CONFLATIONS = "most_conflations"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFilters:
    """Which traces to list; an empty field asks for nothing.

    ``decisions``, ``states`` and ``verdicts`` are alternatives: a trace passes with one of them. An
    answer that could not be verified has no state here but its decision. ``verified``
    None means either. ``search`` is found in the id, the question or the answer, in any case.
    ``batch`` is the id of an import, ``cause`` is as core/provenance/triage.py words it,
    ``assigned_to`` a person's id.
    ``viewer`` is who looks: where they may not see a verdict yet, the trace has none for them, in
    filters, order and rows alike.
    """

    decisions: frozenset[Decision] = frozenset()
    states: frozenset[State] = frozenset()
    verdicts: frozenset[VerdictLabel] = frozenset()
    conflated: bool = False
    verified: bool | None = None
    category: str | None = None
    slice: str | None = None
    search: str = ""
    cause: str | None = None
    file: str | None = None
    batch: int | None = None
    tag: str | None = None
    flagged: bool = False
    assigned_to: int | None = None
    viewer: Person | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCounts:
    """The claims of one verdict by what was found; ``blocked`` claims are among them."""

    by_verdict: Mapping[VerdictLabel, int]
    set_aside: int
    blocked: int
    conflations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """One line of the traces page; decision, state, counts and run are None until it is verified."""

    trace_id: str
    content_hash: str
    version: int
    position: int
    question: str
    category: str | None
    format: str | None
    file: str | None
    sources: int
    imported_at: datetime
    decision: Decision | None
    state: State | None
    counts: VerdictCounts | None
    run_key: str | None
    verified_at: datetime | None
    by_people: VerdictCounts | None = None  # with what people settled in it, where they settled any
    withheld: bool = False  # there may be a verdict: it is hidden from who looks


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMarks:
    """What people said of a trace: flagged by whom, its tags, how many comments, who is to read it."""

    flagged_by: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    comments: int = 0
    annotators: tuple[str, ...] = ()  # "" for whoever asks next


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Where a trace stands in a list: the first has place 1; None where there is no trace."""

    place: int
    total: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePage:
    """One page of a list: ``rows`` from ``offset`` on, out of ``total`` that pass the filters."""

    rows: tuple[TraceRow, ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrace:
    """A trace as it was stored; ``versions`` are the content hashes of all its versions, in order."""

    trace: Trace
    content_hash: str
    version: int
    imported_at: datetime
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVerdict:
    """A verdict with the trace version and run it belongs to; its trace is as the verdict tells it."""

    verification: Verification
    content_hash: str
    run_key: str
    decision: Decision
    counts: VerdictCounts
    verified_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPeople:
    """The state of an answer by what people settled of its claims: the final label of each, and when."""

    state: State
    final: Mapping[str, tuple[Judgement, datetime]]  # by claim id

    @property
    def labels(self) -> Mapping[str, Judgement]:
        """The final label of each claim, by claim id."""
        return {claim: final for claim, (final, _) in self.final.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """What produced verdicts, and how many newest trace versions it has judged."""

    run_key: str
    versions: Versions
    started_at: datetime
    verdicts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCount:
    """A category, slice or decision with the number of newest traces that have it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How many traces there are, and how many of each decision; the rest wait for a verdict.

    ``by_state`` counts those that could be verified.
    """

    traces: int
    by_decision: Mapping[Decision, int]
    by_state: Mapping[State, int] = field(default_factory=dict)
    withheld: int = 0  # whose verdict who looks may not see yet
    claims: VerdictCounts | None = None  # of all verdicts that who looks may see
    by_people: VerdictCounts | None = None  # the same with what people settled in it, if anything

    def count(self, name: str) -> int:
        """How many have that state, or could not be verified ("unavailable")."""
        if name in {state.value for state in State}:
            return self.by_state.get(State(name), 0)
        return self.by_decision.get(Decision(name), 0) if name == Decision.UNAVAILABLE else 0

    @property
    def waiting(self) -> int:
        """Traces without a verdict."""
        return self.traces - self.withheld - sum(self.by_decision.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One link of the trail; ``detail`` is the JSON text that was hashed."""

    sequence: int
    at: datetime
    actor: str
    action: str
    entity: str
    detail: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What checking the trail found; it is intact when nothing is wrong."""

    events: int
    traces: int
    verdicts: int
    problems: tuple[str, ...]
    doubtful: tuple[str, ...] = ()  # of them, what a lead may acknowledge with a reason
    rows: int = 0  # of what people said and decided
    erased: int = 0  # traces that went: the trail has who, when and the digest of every row
    rewritten: int = 0  # rows and events out of which a person was erased
    seals: int = 0
    anchors: int = 0  # that tell of this trail
    notes: tuple[str, ...] = ()  # what could not be checked

    @property
    def intact(self) -> bool:
        """Whether every link and every stored document is what it was when it was written."""
        return not self.problems


@dataclass(slots=True, kw_only=True)
class TracesPut:
    """How many traces were new, new versions of known ones, or already there."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
