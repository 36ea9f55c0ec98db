"""Stage 3: how sure a claim looks, and with it how much work its verification gets (001)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.citations.claim_records import Confidence, Ranking, Similarity
from core.citations.normal import norm_v1
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.text.tokens import content_terms, overlap

BASE, HIGH, MEDIUM = 0.5, 0.85, 0.50
STRONG, NAMED, WEAK, DEDUCTION = 0.3, 0.2, 0.1, 0.2
DISABLED = 0.3  # everything is verified in full

_QUOTED = re.compile(r"[\"“]([^\"“”]{3,})[\"”]")
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:[ \t]+[A-Z][\w'’.-]*)+|(?<=[a-z,] )[A-Z][\w'’-]{2,}")
_HEDGES = re.compile(
    r"\b(?:approximately|around|about|roughly|may|might|possibly|likely|perhaps|probably|seemingly|"
    r"apparently|reportedly|allegedly)\b",
    re.I,
)
_COMPARES = re.compile(
    r"\b(?:(?:more|less|greater|fewer|higher|lower) than|similar to|compared (?:to|with)|relative to|"
    r"versus|vs\.?)(?!\w)",
    re.I,
)
_DERIVED = re.compile(
    r"\b(?:totall?ing|total(?: of)?|combined|on average|average of|sum of|calculated|estimated|"
    r"projected)\b",
    re.I,
)
_SUBJECTIVE = re.compile(r"\b(?:significant(?:ly)?|substantial(?:ly)?|notabl[ey]|major)\b", re.I)
_SUPERLATIVE = re.compile(r"\b(?:best|worst|largest|smallest|most|least|highest|lowest)\b", re.I)
_CREDITS = re.compile(
    r"\b(?:according to|reported by|as (?:stated|reported|noted) (?:in|by))\b", re.I
)
_FACTUAL = re.compile(
    r"\b(?:was|were|is|are)\s+(?:founded|established|born|located|headquartered|published|released|"
    r"built|opened|created)\b",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """A claim's confidence, its level, and the signals that made it."""

    score: float
    level: Confidence
    signals: tuple[str, ...]


def classify_confidence(
    claim: str,
    quote: str,
    *,
    enabled: bool = True,
    method: Ranking = Ranking.KEYWORD,
    similarity: Similarity | None = None,
) -> Signals:
    """Confidence by signals of language (keyword), by similarity (semantic), or by both (hybrid)."""
    if not enabled:
        return Signals(score=DISABLED, level=Confidence.LOW, signals=("disabled",))
    if method is Ranking.SEMANTIC:
        score = _similar(similarity, claim, quote)
        return _signals(score, ("similarity",))
    found = _weighed(claim, quote, similarity)
    score = BASE + sum(weight for _, weight in found)
    if method is Ranking.HYBRID:
        score = (max(0.0, min(1.0, score)) + _similar(similarity, claim, quote)) / 2
    return _signals(score, tuple(name for name, _ in found))


def _signals(score: float, names: tuple[str, ...]) -> Signals:
    bounded = round(max(0.0, min(1.0, score)), 4)
    level = Confidence.LOW
    if bounded >= MEDIUM:
        level = Confidence.HIGH if bounded >= HIGH else Confidence.MEDIUM
    return Signals(score=bounded, level=level, signals=names)


def _similar(similarity: Similarity | None, claim: str, quote: str) -> float:
    if similarity is None:
        raise ValueError("this method needs a similarity")
    return similarity(claim, quote)


def _weighed(claim: str, quote: str, similarity: Similarity | None) -> list[tuple[str, float]]:
    """The signals of a claim against its quote, each with its weight."""
    plain = norm_v1(quote)
    found: list[tuple[str, float]] = []
    quotes = _QUOTED.findall(claim)
    # A quotation counts when the evidence has it: quote marks alone prove nothing.
    if quotes and all(norm_v1(one) in plain for one in quotes):
        found.append(("quote", STRONG))
    found += _exact(claim, quote)
    names = _NAME.findall(claim)
    if names and all(norm_v1(name) in plain for name in names):
        found.append(("entity", NAMED))
    if similarity is not None and similarity(claim, quote) > HIGH:
        found.append(("similarity", WEAK))
    if similarity is None and overlap(content_terms(claim), content_terms(quote)) > HIGH:
        found.append(("words", WEAK))
    found += [("credits", WEAK)] * bool(_CREDITS.search(claim))
    found += [("factual", WEAK)] * bool(_FACTUAL.search(claim))
    found += [("hedge", -DEDUCTION)] * len(_HEDGES.findall(claim))
    for name, pattern in (
        ("compares", _COMPARES),
        ("derived", _DERIVED),
        ("subjective", _SUBJECTIVE),
    ):
        found += [(name, -DEDUCTION)] * bool(pattern.search(claim))
    superlative = _SUPERLATIVE.search(claim)
    if superlative and superlative.group().lower() not in plain:
        found.append(("superlative", -DEDUCTION))
    return found


def _exact(claim: str, quote: str) -> list[tuple[str, float]]:
    """Whether every number, and every date, of the claim stands in the quote as it is."""
    stated = {(one.kind, one.amount, one.unit) for one in read_quantities(quote)}
    asked = read_quantities(claim)
    dates = [one for one in asked if one.kind is QuantityKind.DATE]
    numbers = [one for one in asked if one.kind is not QuantityKind.DATE]
    found = []
    for name, group in (("number", numbers), ("date", dates)):
        if group and all((one.kind, one.amount, one.unit) in stated for one in group):
            found.append((name, STRONG))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What routing by confidence saves at one threshold, and what it then passes wrongly."""

    threshold: float
    saved: float
    missed: float
    wrong: int


def routing_curve(
    scored: Sequence[tuple[float, bool]], thresholds: Sequence[float]
) -> tuple[Routing, ...]:
    """For each threshold: the share of claims spared full verification, and of wrong ones among them.

    ``scored`` are (confidence, whether the claim is right); ``missed`` is a share of
    all wrong claims. Without any, nothing can be missed.
    """
    wrong = sum(not right for _, right in scored)
    curve = []
    for threshold in thresholds:
        spared = [right for score, right in scored if score >= threshold]
        missed = sum(not right for right in spared)
        curve.append(
            Routing(
                threshold=threshold,
                saved=round(len(spared) / len(scored), 4) if scored else 0.0,
                missed=round(missed / wrong, 4) if wrong else 0.0,
                wrong=wrong,
            )
        )
    return tuple(curve)
