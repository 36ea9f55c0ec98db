"""III.1 and III.2: a trace with its claims, its evidence cut and embedded, its facts read once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from core.attribution.families import Families
from core.config import Config
from core.decomposition.claims import decompose
from core.evidence.checks import TraceFacts, read_trace_facts
from core.indexing import Evidence, Vectors, index_evidence
from core.ports import Calibrator, Embedder, Judge, PairReader
from core.provenance.distortions.alignment import Prose, read_prose
from core.records import Claim, ClaimType, Trace
from core.records.judge import JudgeFor


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What the pipeline is given: two models, a calibrator, and the source families."""

    embedder: Embedder
    reader: PairReader
    calibrator: Calibrator
    families: Families
    judge: Judge | None = None  # a language model, where one is asked
    judge_for: JudgeFor = JudgeFor.UNSURE


def _nothing() -> None:
    """Nobody has said how long the work may take."""


# Called between two steps of the work on a trace; raises `Overdue` when it is not wanted any more.
GOING: ContextVar[Callable[[], None]] = ContextVar("going", default=_nothing)


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
    return OpenTrace(
        trace=trace,
        claims=claims,
        evidence=evidence,
        facts=facts,
        prose=prose,
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
