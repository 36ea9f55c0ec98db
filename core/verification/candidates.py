"""III.3: a claim checked, its candidate sources ranked, what is read of the first ones, its route."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.binding.bind import BINDINGS, with_bindings
from core.config import Config
from core.distortions.checks import check_distortions
from core.errors import RouteError
from core.evidence.checks import check_claim
from core.evidence.names import other_person
from core.evidence.stated_whole import WHOLE
from core.evidence.written import OUTLINE, SAVED
from core.ports import taught_close
from core.records import (
    Check,
    Claim,
    Outcome,
    Premise,
    Probabilities,
    RankedSource,
    Route,
)
from core.text.tokens import content_terms, overlap, weighted_overlap
from core.verification.premise import (
    FocusedPremise,
    call_windows,
    focused_premise_of,
    head_of,
    nearest_window,
    select_premise,
    shown_window,
    told_in,
)
from core.verification.prepare import (
    IndexedSource,
    Models,
    OpenTrace,
    Standing,
    Vectors,
    factual_claims,
)

# A claim of these is about tools, for which alone a list of tools is evidence.
_ABOUT_TOOLS = content_terms("tool tools server servers api capability access function")
_CATALOGUE_WEIGHT = 0.25
# What finds all of a claim in one place: a signal of its own, beside what finds a part of it.
WHOLES = frozenset({WHOLE, OUTLINE, SAVED})
UNCOUNTED = WHOLES | BINDINGS  # what binds a value is no signal that the calibrator was fitted on
SHOWN_WHOLE = WHOLES | {"status"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One claim with its checks, its candidates ranked, and the windows of those to be read.

    ``windows`` has one to five premises a source, the longest first; each is read by itself.
    ``focused`` has the least of each of these sources that could show the claim.
    """

    claim: Claim
    checks: tuple[Check, ...]
    candidates: tuple[Candidate, ...]
    windows: Mapping[str, tuple[Premise, ...]]
    focused: Mapping[str, FocusedPremise]


def rank_claims(one: OpenTrace, vectors: Vectors, models: Models, config: Config) -> list[Case]:
    """`rank_claim` of every factual claim of a trace, for these models' NLI model."""
    closely = taught_close(models.nli)
    return [
        rank_claim(claim, one, vectors, config, closely=closely) for claim in factual_claims(one)
    ]


def rank_claim(
    claim: Claim, one: OpenTrace, vectors: Vectors, config: Config, *, closely: bool = True
) -> Case:
    """Check the claim, rank the sources, and narrow those to be read to what the claim is about.

    ``closely``: whether the claim's focused premise is looked for, which not every NLI model can read.
    """
    with one.clock("check"):
        checks = check_claim(claim, one.facts)
        distortions = check_distortions(claim, one.prose)
        checks, bound = with_bindings(claim, one.stated, one.trace.question, checks)
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
        focused = {
            source_id: focused_premise_of(claim, checks, by_id[source_id], one.facts.values)
            for source_id in (windows if closely else ())
        }
    return Case(
        claim=claim,
        checks=(*checks, *distortions, *bound),
        candidates=candidates,
        windows=windows,
        focused=focused,
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
    values = [(value, shared > 0 and indexed.holds(value)) for value in claim.protected_values]
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
    head = head_of(claim, indexed) if alone else None
    if indexed.units:
        cosines = {
            index: round(float((vectors[claim.text] * vectors[indexed.chunk_text(index)]).sum()), 4)
            for index in indexed.embedded
        }
        closeness = [cosines.get(chunk, 0.0) for chunk in indexed.group_chunks]
        if first:
            found.append(select_premise(claim, indexed, closeness, config, head))
        near = nearest_window(claim, indexed, closeness, config, head)
        if all(near.text != premise.text for premise in found):
            found.append(near)
    if shown := told_in(checks, indexed.source.source_id):
        facts = shown_window(indexed, shown, config, head)
        if facts is not None and all(facts.text != premise.text for premise in found):
            found.append(facts)
    if indexed.call and (not found or overlap(terms, indexed.call_terms) >= config.read_call_from):
        found += call_windows(claim, indexed, config)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What the router knows of one (claim, source) before any reading; all in [-1, 1].

    ``centroid`` is the paper's cosine of claim and source centroid, ``nearest`` that of the nearest
    chunk, ``overlap`` the rarity-weighted share of the claim's terms that the source holds,
    ``values`` the share of its protected values (1 when it has none), ``identity`` whether the
    source holds every identity value of the claim.
    """

    source_id: str
    centroid: float
    nearest: float
    overlap: float
    values: float
    identity: bool


def similarities(
    claim: NDArray[np.float64], chunk_vectors: NDArray[np.float64]
) -> tuple[float, float]:
    """Cosine of a claim with a source's centroid and with its nearest chunk (III.3).

    ``claim`` is a unit vector, shape (d,); ``chunk_vectors`` are unit rows, shape (n, d), n ≥ 1.
    """
    centroid = chunk_vectors.mean(axis=0)
    length = float(np.sqrt((centroid * centroid).sum()))
    # Sums instead of matrix products: their last bits do not depend on how many rows there are.
    near = (chunk_vectors * claim).sum(axis=1)
    cosine = float((centroid * claim).sum()) / length if length else 0.0
    return round(cosine, 4), round(float(near.max()), 4)


def rank_sources(candidates: Sequence[Candidate], config: Config) -> tuple[RankedSource, ...]:
    """Candidates by first-pass score, best first; ties go to the earlier source, so runs repeat."""
    score = _centroid_score if config.router == "centroid" else _first_score
    ranked = [
        RankedSource(source_id=c.source_id, score=round(score(c, config), 4)) for c in candidates
    ]
    return tuple(sorted(ranked, key=lambda r: -r.score))


def route_claim(
    candidates: Sequence[Candidate],
    nli_scores: Mapping[str, Probabilities],
    tools: Mapping[str, str],
    families: Mapping[str, str],
    config: Config,
    shown: frozenset[str] = frozenset(),
) -> Route:
    """Route a claim to its best source; RouteError when there is none or an identity is in none.

    The ``centroid`` router is the paper's. The ``evidence`` router also weighs what the NLI model
    said of each candidate: unlike the paper, where one topical centroid decides before anything is
    read, and a same-topic wrong chart wins as often as not (source accuracy 0.503 in Table 4). A
    source that is ``shown`` to state all of the claim is as good as the best, and comes first.
    """
    if not candidates:
        raise RouteError("no tool output of this trace can be evidence")
    if config.router == "centroid":
        scored = [(_centroid_score(c, config), c.source_id) for c in candidates]
    else:
        # Those that were not read come behind all that were, in first-pass order.
        scored = [
            (_evidence_score(c, nli_scores[c.source_id], config), c.source_id)
            if c.source_id in nli_scores
            else (0.01 * _first_score(c, config), c.source_id)
            for c in candidates
        ]
    best = max(score for score, _ in scored)
    scored = [(best if name in shown else score, name) for score, name in scored]
    ranking = tuple(
        RankedSource(
            source_id=source_id, score=round(score, 4), probabilities=nli_scores.get(source_id)
        )
        for score, source_id in sorted(
            scored, key=lambda pair: (-round(pair[0], 4), pair[1] not in shown)
        )
    )
    top = ranking[0]
    margin = top.score - ranking[1].score if len(ranking) > 1 else top.score
    return Route(
        source_id=top.source_id,
        tool_name=tools[top.source_id],
        family=families[top.source_id],
        score=top.score,
        margin=round(margin, 4),
        ranking=ranking,
    )


def _centroid_score(candidate: Candidate, config: Config) -> float:
    return candidate.centroid


def _first_score(candidate: Candidate, config: Config) -> float:
    return _logistic(config.route_weights.bias + _evidence(candidate, config))


def _evidence_score(candidate: Candidate, nli_score: Probabilities, config: Config) -> float:
    weights = config.route_weights
    return _logistic(
        weights.bias
        + _evidence(candidate, config)
        + weights.entailment * nli_score.entailment
        + weights.contradiction * nli_score.contradiction
    )


def _evidence(candidate: Candidate, config: Config) -> float:
    weights = config.route_weights
    return (
        weights.centroid * candidate.centroid
        + weights.nearest * candidate.nearest
        + weights.overlap * candidate.overlap
        + weights.values * candidate.values
        + weights.identity * (1.0 if candidate.identity else 0.0)
    )


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))
