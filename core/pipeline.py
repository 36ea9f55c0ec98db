"""verify(trace, models, config): the paper's stages in the paper's order, one line each.

Claims are judged one at a time; only the two models work in batches, across claims and traces, so
every window of traces passes through three steps: `rank_claim` up to the pairs that must be read, one
batched reading, and `judge_or_block` for each claim. What a batch holds never shows in a result.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from core.attribution.attribute import attribute
from core.attribution.families import Families
from core.config import PIPELINE_VERSION, Config
from core.decomposition.claims import decompose
from core.errors import ReadingError, StageError
from core.evidence.names import other_person
from core.evidence.values import value_present
from core.indexing import Evidence, IndexedSource, Vectors, index_evidence
from core.ports import Calibrator, Embedder, PairReader
from core.records import (
    Claim,
    ClaimType,
    ClaimVerdict,
    Entailment,
    Features,
    Judged,
    LiteralCheck,
    OtherSource,
    PairReading,
    Premise,
    RankedSource,
    Route,
    SetAside,
    Trace,
    Unjudged,
    Verification,
    Versions,
)
from core.stages.alignment import align_tokens
from core.stages.calibration import decide_support
from core.stages.decision import decide_answer, decide_claim
from core.stages.entailment import judge_relation
from core.stages.features import build_features
from core.stages.literals import check_literals
from core.stages.premise import select_premise
from core.stages.routing import Candidate, rank_sources, route_claim, similarities
from core.text.tokens import content_terms, weighted_overlap

WINDOW = 8  # traces whose pairs share a batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What the pipeline is given: two models, a calibrator, and the source families."""

    embedder: Embedder
    reader: PairReader
    calibrator: Calibrator
    families: Families


def verify(trace: Trace, models: Models, config: Config) -> Verification:
    """The verdict on one trace: every claim, its source, and the answer's gate."""
    return next(verify_all([trace], models, config))


def verify_all(traces: Iterable[Trace], models: Models, config: Config) -> Iterator[Verification]:
    """Verify traces in order; memory holds one window of them at a time."""
    pending = iter(traces)
    while window := list(islice(pending, WINDOW)):
        yield from _verify_window([(trace, None) for trace in window], models, config)


def verify_claims(
    frozen: Iterable[tuple[Trace, tuple[Claim, ...]]], models: Models, config: Config
) -> Iterator[Verification]:
    """Like `verify_all` on frozen claims (claim packets): decomposition is not invoked (IV.2)."""
    pending = iter(frozen)
    while window := list(islice(pending, WINDOW * 4)):
        yield from _verify_window(window, models, config)


def versions(models: Models, config: Config) -> Versions:
    """What names a run: the same trace under the same versions gives the same bytes."""
    return Versions(
        pipeline=PIPELINE_VERSION,
        config_sha256=config.sha256(models.families.digest),
        embedder=models.embedder.name,
        pair_reader=models.reader.name,
        precision=models.reader.precision,
        calibrator=models.calibrator.name,
    )


# ---------------------------------------------------------------- one window of traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One claim with its candidates ranked and the premises of those that will be read."""

    claim: Claim
    candidates: tuple[Candidate, ...]
    premises: Mapping[str, Premise]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTrace:
    """A trace with its claims and evidence, ready to be judged."""

    trace: Trace
    claims: tuple[Claim, ...]
    evidence: Evidence
    families: Mapping[str, str]
    clock: Stopwatch


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each stage, one entry a call."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time the block under ``stage``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - start)

    def add(self, stage: str, seconds: float) -> None:
        """Record one call."""
        self.seconds.setdefault(stage, []).append(seconds)


def _verify_window(
    window: Sequence[tuple[Trace, tuple[Claim, ...] | None]], models: Models, config: Config
) -> Iterator[Verification]:
    opened = [open_trace(trace, claims, models, config) for trace, claims in window]
    vectors = embed_window(opened, models.embedder)
    cases = [
        [rank_claim(claim, one, vectors, config) for claim in factual_claims(one)] for one in opened
    ]
    readings = read_window(opened, cases, models.reader)
    for one, of_trace in zip(opened, cases, strict=True):
        judged = {
            case.claim.claim_id: judge_or_block(case, one, readings, models, config)
            for case in of_trace
        }
        yield _conclude(one, judged, models, config)


def open_trace(
    trace: Trace, claims: tuple[Claim, ...] | None, models: Models, config: Config
) -> OpenTrace:
    """III.1 and III.2: split the answer (unless ``claims`` are given) and index the evidence."""
    clock = Stopwatch()
    families = {s.source_id: models.families.family_of(s) for s in trace.sources}
    if claims is None:
        with clock("decompose"):
            claims = decompose(trace, config, models.families)
    with clock("router"):
        evidence = index_evidence(trace, claims, config)
    return OpenTrace(trace=trace, claims=claims, evidence=evidence, families=families, clock=clock)


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
    _share(time.perf_counter() - start, shares, [one.clock for one in opened], "router")
    return vectors


def rank_claim(claim: Claim, one: OpenTrace, vectors: Vectors, config: Config) -> Case:
    """III.3: rank the sources, and narrow those that will be read to what the claim is about."""
    with one.clock("router"):
        candidates = tuple(_candidate(claim, s, one, vectors) for s in one.evidence.sources)
        ranking = rank_sources(candidates, config)
        by_id = {indexed.source.source_id: indexed for indexed in one.evidence.sources}
        premises = {
            ranked.source_id: _premise(claim, by_id[ranked.source_id], one, vectors, config)
            for ranked in _to_read(claim, ranking, one.families, config)
        }
    return Case(claim=claim, candidates=candidates, premises=premises)


def _candidate(claim: Claim, indexed: IndexedSource, one: OpenTrace, vectors: Vectors) -> Candidate:
    centroid, nearest = 0.0, 0.0
    if indexed.embedded:
        rows = np.stack([vectors[indexed.chunk_text(index)] for index in indexed.embedded])
        centroid, nearest = similarities(vectors[claim.text], rows)
    # Whether a value is present is looked up only where words are shared at all: traces with
    # thousands of outputs would otherwise be searched once a value and output.
    terms = content_terms(claim.text)
    shared = weighted_overlap(terms, indexed.terms, one.evidence.rare)
    values = [
        (value, shared > 0 and value_present(value, indexed.source.text))
        for value in claim.protected_values
    ]
    return Candidate(
        source_id=indexed.source.source_id,
        centroid=centroid,
        nearest=nearest,
        overlap=round(shared, 4),
        values=sum(present for _, present in values) / len(values) if values else 1.0,
        identity=all(present for value, present in values if value.identity)
        and not _about_another(claim, indexed),
    )


def _about_another(claim: Claim, indexed: IndexedSource) -> bool:
    """Whether the record names a patient, and not the one whom the claim is about."""
    if not claim.patient_specific or not claim.subject:
        return False
    return other_person(claim.subject, indexed.people) is not None


def _to_read(
    claim: Claim, ranking: Sequence[RankedSource], families: Mapping[str, str], config: Config
) -> list[RankedSource]:
    """The first candidates, and those that the answer credits: a conflation is judged against both."""
    chosen = list(ranking[: config.read_sources])
    if claim.stated is not None:
        credited = [
            ranked
            for ranked in ranking[config.read_sources :]
            if ranked.source_id in (claim.stated.source_id, *claim.stated.also)
            or families[ranked.source_id] == claim.stated.family
        ]
        chosen += credited[:2]
    return chosen


def _premise(
    claim: Claim, indexed: IndexedSource, one: OpenTrace, vectors: Vectors, config: Config
) -> Premise:
    cosines = {
        index: round(float((vectors[claim.text] * vectors[indexed.chunk_text(index)]).sum()), 4)
        for index in indexed.embedded
    }
    closeness = [cosines.get(chunk, 0.0) for chunk in indexed.group_chunks]
    return select_premise(
        claim,
        indexed.source,
        indexed.units,
        indexed.groups,
        closeness,
        indexed.group_rarity,
        config,
    )


Readings = Mapping[tuple[str, str], PairReading | None]


def read_window(
    opened: Sequence[OpenTrace], cases: Sequence[Sequence[Case]], reader: PairReader
) -> Readings:
    """III.4: every distinct (premise, claim) pair of the window in one call."""
    pairs: dict[tuple[str, str], None] = {}
    shares = []
    for of_trace in cases:
        before = len(pairs)
        for case in of_trace:
            pairs.update(((p.text, case.claim.text), None) for p in case.premises.values())
        shares.append(len(pairs) - before)
    start = time.perf_counter()
    readings = dict(zip(pairs, reader.read(list(pairs)), strict=True)) if pairs else {}
    _share(time.perf_counter() - start, shares, [one.clock for one in opened], "nli")
    return readings


def _share(seconds: float, shares: Sequence[int], clocks: Sequence[Stopwatch], stage: str) -> None:
    """A batched call's time, shared among its traces by how much of the batch was theirs."""
    whole = sum(shares)
    for share, clock in zip(shares, clocks, strict=True):
        if share:
            clock.add(stage, seconds * share / whole)


# ---------------------------------------------------------------- one claim


def judge_or_block(
    case: Case, one: OpenTrace, readings: Readings, models: Models, config: Config
) -> Judged | Unjudged:
    """Judge one claim; a failed stage blocks it (III.7). The project's only such ``except``."""
    try:
        return _judge(case, one, readings, models, config)
    except StageError as error:
        return Unjudged(stage=error.stage, reason=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What reading one source gave: the routed one, or another that might support the claim too."""

    entailment: Entailment
    literals: LiteralCheck
    features: Features


def _judge(
    case: Case, one: OpenTrace, readings: Readings, models: Models, config: Config
) -> Judged:
    claim = case.claim
    read = {source_id: readings[(p.text, claim.text)] for source_id, p in case.premises.items()}
    with one.clock("conflation_route"):
        route = _route(case, read, one, config)
    premise, reading = case.premises[route.source_id], read[route.source_id]
    if reading is None:
        raise ReadingError("the statement is too long for the reader to take in whole")
    alignment = align_tokens(claim, reading, config)
    with one.clock("calibrate"):
        examined = _examine(case, route, read, one, config)
        chances = models.calibrator.probabilities([e.features for e in examined.values()])
        probabilities = dict(zip(examined, map(float, chances), strict=True))
        support = decide_support(probabilities[route.source_id], models.calibrator.threshold)
    with one.clock("conflation_check"):
        saying = frozenset(
            source_id
            for source_id, found in examined.items()
            if (source_id == route.source_id or _holds_all(found.literals))
            and _lacks_nothing(found.literals)
            and says_it(probabilities[source_id], support.threshold, config)
        )
        attribution = attribute(
            claim,
            route,
            families=one.families,
            supporters=saying,
            catalogue=models.families,
        )
    routed = examined[route.source_id]
    return Judged(
        route=route,
        premise=premise,
        entailment=routed.entailment,
        alignment=alignment,
        literals=routed.literals,
        features=routed.features,
        support=support,
        attribution=attribution,
        others=tuple(
            OtherSource(source_id=source_id, features=found.features)
            for source_id, found in examined.items()
            if source_id != route.source_id and _holds_all(found.literals)
        ),
    )


def _lacks_nothing(literals: LiteralCheck) -> bool:
    return not literals.missing and not literals.identity_mismatches


def _holds_all(literals: LiteralCheck) -> bool:
    """Whether another source than the routed one writes every literal: only then may it speak."""
    return _lacks_nothing(literals) and not literals.unwritten


def says_it(probability: float, threshold: float, config: Config) -> bool:
    """Whether a source that holds all the claim's literals says it (III.6).

    By the gate's measure, or by the lower one of attribution. What the reader took the pair for is
    not asked: a source that is rightly credited, and read as neutral, would leave the credit to
    another that says the same.
    """
    return probability >= min(threshold, config.attribution_support_probability)


def _route(
    case: Case, read: Mapping[str, PairReading | None], one: OpenTrace, config: Config
) -> Route:
    said = {source_id: r.probabilities for source_id, r in read.items() if r is not None}
    tools = {source.source_id: source.tool_name for source in one.trace.sources}
    return route_claim(case.candidates, said, tools, one.families, config)


def _examine(
    case: Case,
    route: Route,
    read: Mapping[str, PairReading | None],
    one: OpenTrace,
    config: Config,
) -> dict[str, Examined]:
    """III.4 and III.5 for every source that was read: who else could support the claim?"""
    found = {}
    by_id = {indexed.source.source_id: indexed for indexed in one.evidence.sources}
    for source_id, reading in read.items():
        if reading is None:
            continue
        entailment = judge_relation(reading)
        indexed, premise = by_id[source_id], case.premises[source_id]
        literals = check_literals(
            case.claim, premise, indexed.source, indexed.people, entailment, config
        )
        features = build_features(
            case.claim,
            _taken(route, indexed, one),
            entailment,
            literals,
            category=one.trace.category,
            evidence_terms=one.evidence.terms,
            evidence_text=one.evidence.text,
            chunks_n=len(indexed.chunks),
            config=config,
        )
        found[source_id] = Examined(entailment=entailment, literals=literals, features=features)
    return found


def _taken(route: Route, indexed: IndexedSource, one: OpenTrace) -> Route:
    """The same ranking with another source taken, which leads by nothing."""
    source = indexed.source
    if source.source_id == route.source_id:
        return route
    ranked = next(r for r in route.ranking if r.source_id == source.source_id)
    return replace(
        route,
        source_id=source.source_id,
        tool_name=source.tool_name,
        family=one.families[source.source_id],
        score=ranked.score,
        margin=0.0,
    )


# ---------------------------------------------------------------- the answer


def _conclude(
    one: OpenTrace,
    judged: Mapping[str, Judged | Unjudged],
    models: Models,
    config: Config,
) -> Verification:
    with one.clock("decide"):
        verdicts = tuple(_verdict(claim, judged, config) for claim in one.claims)
        answer = decide_answer(one.trace, verdicts)
    spent = {stage: tuple(seconds) for stage, seconds in one.clock.seconds.items()}
    return Verification(
        trace=one.trace,
        families=one.families,
        claims=verdicts,
        answer=answer,
        versions=versions(models, config),
        latency_seconds=spent | {"total": (sum(sum(seconds) for seconds in spent.values()),)},
    )


def _verdict(claim: Claim, judged: Mapping[str, Judged | Unjudged], config: Config) -> ClaimVerdict:
    if claim.beyond_limit:
        outcome: Judged | Unjudged | SetAside = Unjudged(
            stage="claims", reason=claim.reason or f"beyond the first {config.max_claims} claims"
        )
    elif claim.claim_type is not ClaimType.FACTUAL:
        outcome = SetAside(reason=claim.reason or claim.claim_type.value)
    else:
        outcome = judged[claim.claim_id]
    return decide_claim(claim, outcome, config)
