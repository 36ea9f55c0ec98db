"""III.3 and III.4: a claim's candidates ranked, and the windows of the first ones read in one batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.config import Config
from core.evidence.checks import check_claim
from core.evidence.names import other_person
from core.evidence.outline import OUTLINE
from core.evidence.saved import SAVED
from core.evidence.stated_whole import WHOLE
from core.evidence.values import value_present
from core.indexing import IndexedSource, Standing, Vectors
from core.judging.closest import Closest, closest_of, told_in
from core.judging.opening import GOING, Models, OpenTrace, factual_claims, share_time
from core.ports import PairReader, taught_close
from core.provenance.distortions.checks import check_distortions
from core.records import (
    CLOSE_FEATURE,
    CLOSE_READ_FEATURE,
    Check,
    Claim,
    Outcome,
    PairReading,
    Premise,
    RankedSource,
)
from core.stages.premise import (
    call_windows,
    head_of,
    nearest_window,
    select_premise,
    shown_window,
)
from core.stages.routing import Candidate, rank_sources, similarities
from core.text.tokens import content_terms, overlap, weighted_overlap

Pairs = Mapping[tuple[str, str], PairReading | None]

# A claim of these is about tools, for which alone a list of tools is evidence.
_ABOUT_TOOLS = content_terms("tool tools server servers api capability access function")
_CATALOGUE_WEIGHT = 0.25
AT_ONCE = 256  # pairs; between two such parts the reading can be ended
# What finds all of a claim in one place: a signal of its own, beside what finds a part of it.
UNCOUNTED = frozenset({WHOLE, OUTLINE, SAVED})
SHOWN_WHOLE = UNCOUNTED | {"status"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What the reader said of each (premise, claim): of windows, and of what is closest to a claim;
    None of the latter where it was not taught to read that."""

    pairs: Pairs
    close: Pairs | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One claim with its checks, its candidates ranked, and the windows of those to be read.

    ``windows`` has one to five premises a source, the longest first; each is read by itself.
    ``closest`` has the least of each of these sources that could show the claim.
    """

    claim: Claim
    checks: tuple[Check, ...]
    candidates: tuple[Candidate, ...]
    windows: Mapping[str, tuple[Premise, ...]]
    closest: Mapping[str, Closest]


def rank_claims(one: OpenTrace, vectors: Vectors, models: Models, config: Config) -> list[Case]:
    """`rank_claim` of every factual claim of a trace, for these models' reader."""
    closely = taught_close(models.reader)
    return [
        rank_claim(claim, one, vectors, config, closely=closely) for claim in factual_claims(one)
    ]


def rank_claim(
    claim: Claim, one: OpenTrace, vectors: Vectors, config: Config, *, closely: bool = True
) -> Case:
    """Check the claim, rank the sources, and narrow those to be read to what the claim is about.

    ``closely``: whether what is closest to the claim is looked for, which not every reader can read.
    """
    with one.clock("check"):
        checks = check_claim(claim, one.facts)
        distortions = check_distortions(claim, one.prose)
    with one.clock("router"):
        told = [check for check in checks if check.check not in UNCOUNTED]
        candidates = tuple(_candidate(claim, s, told, one, vectors) for s in one.evidence.sources)
        ranking = rank_sources(candidates, config)
        by_id = {indexed.source.source_id: indexed for indexed in one.evidence.sources}
        windows = {
            ranked.source_id: _windows(
                claim, by_id[ranked.source_id], told, vectors, config, first=place == 0
            )
            for place, ranked in enumerate(_to_read(claim, ranking, checks, one.families, config))
        }
        closest = {
            source_id: closest_of(claim, checks, by_id[source_id], one.facts.values)
            for source_id in (windows if closely else ())
        }
    return Case(
        claim=claim,
        checks=(*checks, *distortions),
        candidates=candidates,
        windows=windows,
        closest=closest,
    )


def _candidate(
    claim: Claim,
    indexed: IndexedSource,
    checks: Sequence[Check],
    one: OpenTrace,
    vectors: Vectors,
) -> Candidate:
    centroid, nearest = 0.0, 0.0
    if indexed.embedded:
        rows = np.stack([vectors[indexed.chunk_text(index)] for index in indexed.embedded])
        centroid, nearest = similarities(vectors[claim.text], rows)
    # Whether a value is present is looked up only where words are shared at all: traces with
    # thousands of outputs would otherwise be searched once a value and output.
    terms = content_terms(claim.text)
    weight = 1.0
    if indexed.standing is Standing.CATALOGUE and not terms & _ABOUT_TOOLS:
        weight = _CATALOGUE_WEIGHT
    shared = weight * weighted_overlap(terms, indexed.terms | indexed.call_terms, one.evidence.rare)
    values = [
        (
            value,
            shared > 0
            and (
                value_present(value, indexed.source.text)
                or bool(indexed.call)
                and value_present(value, indexed.call)
            ),
        )
        for value in claim.protected_values
    ]
    present = sum(found for _, found in values) / len(values) if values else 1.0
    return Candidate(
        source_id=indexed.source.source_id,
        centroid=round(weight * centroid, 4),
        nearest=round(weight * nearest, 4),
        overlap=round(shared, 4),
        values=round(weight * max(present, _checked_share(checks, indexed.source.source_id)), 4),
        identity=all(found for value, found in values if value.identity)
        and not _about_another(claim, indexed),
    )


def _checked_share(checks: Sequence[Check], source_id: str) -> float:
    """The share of the checks that found something which this source supports."""
    told = [check for check in checks if check.outcome is not Outcome.SILENT]
    if not told:
        return 0.0
    here = [
        check
        for check in told
        if check.outcome is Outcome.SUPPORTS
        and any(place.source_id == source_id for place in check.facts)
    ]
    return len(here) / len(told)


def _about_another(claim: Claim, indexed: IndexedSource) -> bool:
    """Whether the record names a patient, and not the one whom the claim is about."""
    if not claim.patient_specific or not claim.subject:
        return False
    return other_person(claim.subject, indexed.people) is not None


def shown_sources(checks: Sequence[Check]) -> frozenset[str]:
    """The sources of which one place states all that the claim says; none where a check objects."""
    if any(check.outcome is Outcome.CONTRADICTS for check in checks):
        return frozenset()
    return frozenset(
        place.source_id
        for check in checks
        if check.check in SHOWN_WHOLE and check.outcome is Outcome.SUPPORTS and check.binding == 1.0
        for place in check.facts
    )


def _to_read(
    claim: Claim,
    ranking: Sequence[RankedSource],
    checks: Sequence[Check],
    families: Mapping[str, str],
    config: Config,
) -> list[RankedSource]:
    """The first candidates, those that are shown to state the claim whole, and those that the answer
    credits: a conflation is judged against both."""
    chosen = list(ranking[: config.read_sources])
    shown = shown_sources(checks)
    chosen += [each for each in ranking[config.read_sources :] if each.source_id in shown][:1]
    if claim.stated is not None:
        credited = [
            ranked
            for ranked in ranking[config.read_sources :]
            if ranked.source_id in (claim.stated.source_id, *claim.stated.also)
            or families[ranked.source_id] == claim.stated.family
        ]
        chosen += credited[:1]
    return chosen


def _windows(
    claim: Claim,
    indexed: IndexedSource,
    checks: Sequence[Check],
    vectors: Vectors,
    config: Config,
    *,
    first: bool,
) -> tuple[Premise, ...]:
    """What is read of one source: of the first candidate the long window too."""
    found: list[Premise] = []
    terms = content_terms(claim.text)
    # Where a source records several people, no line at its front says whose the others are.
    alone = len(indexed.people) <= 1
    head = head_of(claim, indexed.source, indexed.units, indexed.groups) if alone else None
    if indexed.units:
        cosines = {
            index: round(float((vectors[claim.text] * vectors[indexed.chunk_text(index)]).sum()), 4)
            for index in indexed.embedded
        }
        closeness = [cosines.get(chunk, 0.0) for chunk in indexed.group_chunks]
        about = (indexed.source, indexed.units, indexed.groups, closeness, indexed.group_rarity)
        if first:
            found.append(select_premise(claim, *about, config, head))
        near = nearest_window(claim, *about, config, head)
        if all(near.text != premise.text for premise in found):
            found.append(near)
    if shown := told_in(checks, indexed.source.source_id):
        facts = shown_window(indexed.source, indexed.units, indexed.groups, shown, config, head)
        if facts is not None and all(facts.text != premise.text for premise in found):
            found.append(facts)
    if indexed.call and (not found or overlap(terms, indexed.call_terms) >= config.read_call_from):
        found += call_windows(
            claim,
            indexed.source.source_id,
            indexed.call,
            indexed.call_units,
            indexed.call_groups,
            indexed.call_rarity,
            config,
        )
    return tuple(found)


def read_window(
    opened: Sequence[OpenTrace], cases: Sequence[Sequence[Case]], reader: PairReader
) -> Readings:
    """III.4: every distinct (premise, claim) pair of the window in one call, and what is closest to each
    claim in another where the reader was taught to read that."""
    pairs: dict[tuple[str, str], None] = {}
    shares = []
    for of_trace in cases:
        before = len(pairs)
        for case in of_trace:
            for windows in case.windows.values():
                pairs |= {(premise.text, case.claim.text): None for premise in windows}
        shares.append(len(pairs) - before)
    start = time.perf_counter()
    readings = Readings(
        pairs=_read(pairs, reader.read),
        close=read_closest([case for of_trace in cases for case in of_trace], reader),
    )
    share_time(time.perf_counter() - start, shares, [one.clock for one in opened], "nli")
    return readings


def read_closest(cases: Sequence[Case], reader: PairReader) -> Pairs | None:
    """What a reader that was taught to read close says of what is closest to each claim; else None."""
    if not taught_close(reader):
        return None
    pairs = {
        (text, case.claim.text): None
        for case in cases
        for closest in case.closest.values()
        for text in closest.texts
    }
    return _read(pairs, reader.read_close)


def close_signals(
    case: Case, source_ids: Iterable[str], close: Pairs | None, own_work: float
) -> dict[str, float]:
    """The best reading of what is closest to the claim in these sources, and whether it was looked for:
    where nothing in them shares a word with the claim, that is 0.

    As of windows, what was asked or written speaks only for what the agent itself did.
    """
    if close is None:
        return {CLOSE_FEATURE: 0.0, CLOSE_READ_FEATURE: 0.0}
    said = []
    for closest in (case.closest[source_id] for source_id in source_ids):
        texts = closest.texts if own_work > 0 else (closest.output,)
        said += [reading for text in texts if (reading := close.get((text, case.claim.text)))]
    best = max((reading.probabilities.entailment for reading in said), default=0.0)
    return {CLOSE_FEATURE: best, CLOSE_READ_FEATURE: 1.0}


def _read(
    pairs: Mapping[tuple[str, str], None],
    read: Callable[[Sequence[tuple[str, str]]], list[PairReading | None]],
) -> Pairs:
    wanted, found = list(pairs), list[PairReading | None]()
    for at in range(0, len(wanted), AT_ONCE):
        GOING.get()()
        found += read(wanted[at : at + AT_ONCE])
    return dict(zip(wanted, found, strict=True))
