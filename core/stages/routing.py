"""III.3: rank a claim's candidate sources, and route the claim to the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.config import Config
from core.errors import RouteError
from core.records import Probabilities, RankedSource, Route


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
    readings: Mapping[str, Probabilities],
    tools: Mapping[str, str],
    families: Mapping[str, str],
    config: Config,
    shown: frozenset[str] = frozenset(),
) -> Route:
    """Route a claim to its best source; RouteError when there is none or an identity is in none.

    The ``centroid`` router is the paper's. The ``evidence`` router also weighs what the pair reader
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
            (_evidence_score(c, readings[c.source_id], config), c.source_id)
            if c.source_id in readings
            else (0.01 * _first_score(c, config), c.source_id)
            for c in candidates
        ]
    best = max(score for score, _ in scored)
    scored = [(best if name in shown else score, name) for score, name in scored]
    ranking = tuple(
        RankedSource(
            source_id=source_id, score=round(score, 4), probabilities=readings.get(source_id)
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


def _evidence_score(candidate: Candidate, reading: Probabilities, config: Config) -> float:
    weights = config.route_weights
    return _logistic(
        weights.bias
        + _evidence(candidate, config)
        + weights.entailment * reading.entailment
        + weights.contradiction * reading.contradiction
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
