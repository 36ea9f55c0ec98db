"""III.1 to III.3: a trace with its claims, and its sources cut, embedded, indexed and read once."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.attribution.families import Families
from core.binding.following import Following
from core.binding.outline import outline_of
from core.config import Config
from core.decomposition.claims import decompose
from core.distortions.alignment import Prose, read_prose
from core.evidence.calls import call_lines, is_catalogue, is_echo
from core.evidence.checks import TraceFacts, read_trace_facts
from core.evidence.names import recorded_names
from core.evidence.values import ReadText, value_present
from core.evidence.words import acronyms
from core.ports import Calibrator, Embedder, Judge, NliModel
from core.records import Claim, ClaimType, ProtectedValue, Source, SourceStatus, Span, Trace
from core.records.judge import JudgeFor, JudgeVerdict
from core.text.chunks import Unit, chunks, groups, units
from core.text.tokens import Rarity, content_bigrams, content_terms, overlap, rarity

_CAPITALISED = re.compile(r"[A-Z][a-z]+(?:[ -][A-Z][a-z]+){1,5}")
Vectors = Mapping[str, NDArray[np.float64]]
# Called between two steps of the work on a trace; raises `Overdue` when it is not wanted any more.
GOING: ContextVar[Callable[[], None]] = ContextVar("going", default=lambda: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Units of a source that are taken together, their terms, and the unit that heads their block."""

    units: tuple[int, ...]
    terms: frozenset[str]
    heading: int


class Standing(StrEnum):
    """What an output can be evidence of (evidence.md, section 1)."""

    FINDING = "finding"  # what the world is
    CATALOGUE = "catalogue"  # which tools there are, and nothing else
    ECHO = "echo"  # what the agent itself said
    FAILURE = "failure"  # that the call failed or came back empty


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedSource:
    """One source that can be evidence, with its units, chunks and terms.

    ``embedded`` are the chunks that the router compares with claims: all of them, except in traces
    with more than ``config.max_chunks_embedded``. ``call`` is the call in readable lines, cut like
    the output: what was asked is evidence of its own.
    """

    source: Source
    standing: Standing
    units: tuple[Unit, ...]
    groups: tuple[Group, ...]
    group_chunks: tuple[int, ...]
    group_rarity: Rarity
    chunks: tuple[Span, ...]
    embedded: tuple[int, ...]
    terms: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    people: tuple[str, ...]
    read: ReadText
    call: str
    call_read: ReadText
    call_units: tuple[Unit, ...]
    call_groups: tuple[Group, ...]
    call_rarity: Rarity
    call_terms: frozenset[str]

    def chunk_text(self, index: int) -> str:
        """The text of one chunk."""
        return self.chunks[index].cut(self.source.text)

    def holds(self, value: ProtectedValue) -> bool:
        """Whether its output or its call has a value."""
        return value_present(value, self.read) or value_present(value, self.call_read)

    @property
    def finds(self) -> bool:
        """Whether its output says what the world is."""
        return self.standing is Standing.FINDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence set E of a trace (III.1): never collapsed, each source on its own.

    ``terms`` and ``bigrams`` are those of outputs that say what the world is; ``call_terms`` those of
    what was asked and written in all calls.
    """

    sources: tuple[IndexedSource, ...]
    terms: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    call_terms: frozenset[str]
    rare: Rarity
    whole: bool  # whether all of it is embedded, whatever the claims


def index_evidence(trace: Trace, claims: Sequence[Claim], config: Config) -> Evidence:
    """Cut and index the sources of a trace that can be evidence, of a finding or of a failure."""
    wanted = frozenset().union(*(content_terms(claim.text) for claim in claims))
    kept = [source for source in trace.sources if source.is_evidence]
    if kept:
        # Of a call that gave back what was passed to it, not even the arguments say anything.
        silent = (SourceStatus.NOT_CAPTURED, SourceStatus.ECHO)
        kept = [source for source in trace.sources if source.status not in silent]
    cut = []
    for source in kept:
        parts = units(source.text)
        cut.append((source, parts, chunks(source.text, parts, config.chunk_characters)))
    embedded = _embedded([(s, c) for s, _, c in cut], wanted, config.max_chunks_embedded)
    sources = tuple(
        _indexed(source, parts, spans, embedded[source.source_id]) for source, parts, spans in cut
    )
    finding = [indexed for indexed in sources if indexed.finds]
    return Evidence(
        sources=sources,
        terms=frozenset().union(*(indexed.terms for indexed in finding)),
        bigrams=frozenset().union(*(indexed.bigrams for indexed in finding)),
        call_terms=frozenset().union(*(indexed.call_terms for indexed in sources)),
        rare=rarity(indexed.terms | indexed.call_terms for indexed in sources),
        whole=all(len(indexed.embedded) == len(indexed.chunks) for indexed in sources),
    )


def _standing(source: Source) -> Standing:
    if not source.is_evidence:
        return Standing.FAILURE
    if is_catalogue(source):
        return Standing.CATALOGUE
    return Standing.ECHO if is_echo(source) else Standing.FINDING


def _indexed(
    source: Source, parts: tuple[Unit, ...], spans: tuple[Span, ...], embedded: tuple[int, ...]
) -> IndexedSource:
    grouped = _grouped(source.text, parts)
    call = call_lines(source) if source.arguments else ""
    call_parts = units(call)
    call_grouped = _grouped(call, call_parts)
    starts = [span.start for span in spans]
    return IndexedSource(
        source=source,
        standing=_standing(source),
        units=parts,
        groups=grouped,
        group_chunks=tuple(
            bisect_right(starts, parts[group.units[0]].span.start) - 1 for group in grouped
        ),
        group_rarity=rarity(group.terms for group in grouped),
        chunks=spans,
        embedded=embedded,
        terms=frozenset().union(*(group.terms for group in grouped)),
        bigrams=content_bigrams(source.text),
        people=recorded_names(source.text),
        read=ReadText(source.text),
        call=call,
        call_read=ReadText(call),
        call_units=call_parts,
        call_groups=call_grouped,
        call_rarity=rarity(group.terms for group in call_grouped),
        call_terms=frozenset().union(*(group.terms for group in call_grouped)),
    )


def _grouped(text: str, parts: tuple[Unit, ...]) -> tuple[Group, ...]:
    headings = {unit.block: index for index, unit in enumerate(parts) if unit.heading}
    return tuple(
        Group(
            units=indices,
            terms=frozenset().union(*(_terms(parts[index].span.cut(text)) for index in indices)),
            heading=headings[parts[indices[0]].block],
        )
        for indices in groups(text, parts)
    )


def _terms(text: str) -> frozenset[str]:
    """The content terms of a unit, and the short forms of the names in it: claims say "HDL"."""
    short = (acronyms(name) for name in _CAPITALISED.findall(text))
    return content_terms(text).union(*({s for s in forms if len(s) > 2} for forms in short))


def _embedded(
    cut: Sequence[tuple[Source, tuple[Span, ...]]], wanted: frozenset[str], most: int
) -> dict[str, tuple[int, ...]]:
    """Which chunks of each source to embed: all, or in huge traces those that share most words."""
    total = sum(len(spans) for _, spans in cut)
    if total <= most:
        return {source.source_id: tuple(range(len(spans))) for source, spans in cut}
    scored = [
        (-overlap(wanted, content_terms(span.cut(source.text))), position, index)
        for position, (source, spans) in enumerate(cut)
        for index, span in enumerate(spans)
    ]
    kept: dict[str, list[int]] = {source.source_id: [] for source, _ in cut}
    for _, position, index in sorted(scored)[:most]:
        kept[cut[position][0].source_id].append(index)
    return {source_id: tuple(sorted(indices)) for source_id, indices in kept.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What the pipeline is given: two models, a calibrator, and the source families."""

    embedder: Embedder
    nli: NliModel
    calibrator: Calibrator
    families: Families
    judge: Judge | None = None  # a language model, where one is asked
    judge_for: JudgeFor = JudgeFor.UNSURE
    judge_worth: Mapping[JudgeVerdict, float] | None = None  # by a site's labels; None: the prior


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each stage, one entry a call."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time the block under ``stage``; raises `Overdue` before it where the work is to end."""
        GOING.get()()
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - start)

    def add(self, stage: str, seconds: float) -> None:
        """Record one call."""
        self.seconds.setdefault(stage, []).append(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTrace:
    """A trace with its claims and evidence, ready to be judged; ``frozen`` claims were given."""

    trace: Trace
    claims: tuple[Claim, ...]
    evidence: Evidence
    facts: TraceFacts
    prose: Prose
    stated: Following
    families: Mapping[str, str]
    clock: Stopwatch
    frozen: bool = False


def open_window(
    window: Sequence[tuple[Trace, tuple[Claim, ...] | None]], models: Models, config: Config
) -> list[OpenTrace]:
    """Open every trace of a window; traces with the same sources share what was read from them.

    Frozen claims come one a trace, many with the same sources behind them.
    """
    opened: list[OpenTrace] = []
    for trace, claims in window:
        before = opened[-1] if opened and opened[-1].trace.sources == trace.sources else None
        opened.append(open_trace(trace, claims, models, config, before))
    return opened


def open_trace(
    trace: Trace,
    claims: tuple[Claim, ...] | None,
    models: Models,
    config: Config,
    same_sources: OpenTrace | None = None,
) -> OpenTrace:
    """Split the answer (unless ``claims`` are given), index the evidence and read its facts."""
    clock, frozen = Stopwatch(), claims is not None
    families = {s.source_id: models.families.family_of(s) for s in trace.sources}
    if claims is None:
        with clock("decompose"):
            claims = decompose(trace, config, models.families)
    with clock("router"):
        # In huge traces the claims choose what is embedded.
        if same_sources and same_sources.evidence.whole:
            evidence = same_sources.evidence
        else:
            evidence = index_evidence(trace, claims, config)
    with clock("check"):
        facts = same_sources.facts if same_sources else read_trace_facts(trace)
        prose = same_sources.prose if same_sources else read_prose(trace)
        if same_sources:
            stated = same_sources.stated
        else:
            stated = Following(outline=outline_of(trace, facts.values))
    return OpenTrace(
        trace=trace,
        claims=claims,
        evidence=evidence,
        facts=facts,
        prose=prose,
        stated=stated,
        families=families,
        clock=clock,
        frozen=frozen,
    )


def factual_claims(one: OpenTrace) -> list[Claim]:
    """The claims that are judged: factual, and within the limit."""
    return [c for c in one.claims if c.claim_type is ClaimType.FACTUAL and not c.beyond_limit]


def embed_window(opened: Sequence[OpenTrace], embedder: Embedder) -> Vectors:
    """Every distinct text of the window once: factual claims and chunks."""
    texts: dict[str, None] = {}
    shares = []
    for one in opened:
        before = len(texts)
        texts.update((claim.text, None) for claim in factual_claims(one))
        for indexed in one.evidence.sources:
            texts.update((indexed.chunk_text(index), None) for index in indexed.embedded)
        shares.append(len(texts) - before)
    start = time.perf_counter()
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    share_time(time.perf_counter() - start, shares, [one.clock for one in opened], "router")
    return vectors


def share_time(
    seconds: float, shares: Sequence[int], clocks: Sequence[Stopwatch], stage: str
) -> None:
    """A batched call's time, shared among its traces by how much of the batch was theirs."""
    whole = sum(shares)
    for share, clock in zip(shares, clocks, strict=True):
        if share:
            clock.add(stage, seconds * share / whole)
