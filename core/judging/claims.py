"""III.4 to III.6 for one claim: its readings put together, calibrated, and compared with the credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.config import Config
from core.decide import (
    calibrate,
    holds_all,
    judge,
    review_from_of,
    threshold_kind_of,
    threshold_of,
)
from core.errors import ReadingError
from core.indexing import IndexedSource
from core.judging.cases import Case, Readings, close_signals, shown_sources
from core.judging.opening import Models, OpenTrace
from core.judging.signals import ClaimSignals, claim_signals, source_signals
from core.provenance.distortions.checks import check_drift
from core.records import (
    Entailment,
    Features,
    Judged,
    LiteralCheck,
    Measurements,
    OtherSource,
    PairReading,
    Premise,
    Route,
)
from core.stages.alignment import align_tokens
from core.stages.entailment import judge_relation
from core.stages.features import build_features
from core.stages.literals import check_literals
from core.stages.routing import route_claim


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReading:
    """One window of a source with what the reader said of it."""

    premise: Premise
    reading: PairReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What reading one source gave: the routed one, or another that might support the claim too."""

    entailment: Entailment
    literals: LiteralCheck
    features: Features


def judge_claim(
    case: Case, one: OpenTrace, readings: Readings, models: Models, config: Config
) -> Judged:
    """Everything the stages leave about one claim; a stage that cannot judge it raises StageError."""
    claim = case.claim
    read = {
        source_id: _read(windows, claim.text, readings)
        for source_id, windows in case.windows.items()
    }
    with one.clock("conflation_route"):
        route = _route(case, read, one, config)
    if not read[route.source_id]:
        raise ReadingError("the statement is too long for the reader to take in whole")
    telling = _most_telling(read[route.source_id])
    with one.clock("check"):
        drift = check_drift(
            claim,
            one.prose,
            case.checks,
            [window.reading.probabilities for window in read[route.source_id]],
            [w.reading.probabilities for windows in read.values() for w in windows],
        )
    alignment = align_tokens(claim, telling.reading, config, telling.premise)
    with one.clock("calibrate"):
        examined = _examine(case, route, read, readings, one, config)
        routed = examined[route.source_id]
        measured = Measurements(
            route=route,
            premise=telling.premise,
            entailment=routed.entailment,
            alignment=alignment,
            literals=routed.literals,
            features=routed.features,
            checks=case.checks if drift is None else (*case.checks, drift),
            others=tuple(
                OtherSource(source_id=source_id, features=found.features)
                for source_id, found in examined.items()
                if source_id != route.source_id and holds_all(found.literals)
            ),
        )
        (chances,) = calibrate([measured], models.calibrator)
    with one.clock("conflation_check"):
        return judge(
            claim,
            measured,
            chances,
            threshold_of(models.calibrator, measured.route.family),
            families=one.families,
            catalogue=models.families,
            config=config,
            review_from=review_from_of(models.calibrator),
            threshold_kind=threshold_kind_of(models.calibrator, measured.route.family),
        )


def _read(windows: Sequence[Premise], claim: str, readings: Readings) -> tuple[WindowReading, ...]:
    found = []
    for premise in windows:
        pair = (premise.text, claim)
        reading = readings.pairs[pair]
        if reading is not None:
            found.append(WindowReading(premise=premise, reading=reading))
    return tuple(found)


def _most_telling(windows: Sequence[WindowReading]) -> WindowReading:
    """The window that entails most: a claim is supported when one place says it."""
    return max(windows, key=lambda window: window.reading.probabilities.entailment)


def _route(
    case: Case, read: Mapping[str, tuple[WindowReading, ...]], one: OpenTrace, config: Config
) -> Route:
    said = {
        source_id: _most_telling(windows).reading.probabilities
        for source_id, windows in read.items()
        if windows
    }
    tools = {source.source_id: source.tool_name for source in one.trace.sources}
    shown = shown_sources(case.checks) & said.keys()
    return route_claim(case.candidates, said, tools, one.families, config, frozenset(shown))


def _examine(
    case: Case,
    route: Route,
    read: Mapping[str, tuple[WindowReading, ...]],
    readings: Readings,
    one: OpenTrace,
    config: Config,
) -> dict[str, Examined]:
    """III.4 and III.5 for every source that was read: who else could support the claim?"""
    by_id = {indexed.source.source_id: indexed for indexed in one.evidence.sources}
    about = claim_signals(case.claim, case.checks, one)
    return {
        source_id: _examined(case, route, by_id[source_id], read, readings, about, one, config)
        for source_id, windows in read.items()
        if windows
    }


def _examined(
    case: Case,
    route: Route,
    indexed: IndexedSource,
    read: Mapping[str, tuple[WindowReading, ...]],
    readings: Readings,
    about: ClaimSignals,
    one: OpenTrace,
    config: Config,
) -> Examined:
    windows = read[indexed.source.source_id]
    telling = _most_telling(windows)
    entailment = judge_relation(telling.reading)
    literals = check_literals(
        case.claim,
        telling.premise,
        f"{indexed.source.text}\n{indexed.call}" if indexed.call else indexed.source.text,
        indexed.people,
        entailment,
        config,
    )
    # Another source speaks for itself: what the routed one says is no support of it.
    own = indexed.source.source_id != route.source_id
    heard = [windows] if own else list(read.values())
    everywhere = [window for found in heard for window in found]
    features = build_features(
        case.claim,
        _taken(route, indexed, one),
        entailment,
        literals,
        category=one.trace.category,
        evidence_terms=one.evidence.terms,
        absent_everywhere=frozenset(
            text
            for text, present in about.values_in_findings.items()
            if not present and not about.values_in_calls[text]
        ),
        chunks_n=len(indexed.chunks),
        signals=source_signals(
            case.claim,
            indexed,
            case,
            about,
            [window.reading.probabilities for window in windows],
            [w.reading.probabilities for w in everywhere if not w.premise.call],
            [w.reading.probabilities for w in everywhere if w.premise.call],
        )
        | close_signals(
            case,
            [indexed.source.source_id] if own else read,
            readings.close,
            about.shared["own_work"],
        ),
        config=config,
    )
    return Examined(entailment=entailment, literals=literals, features=features)


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
