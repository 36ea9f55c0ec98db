"""The six stages of claim-level citation, each with a switch and what happens without it (001)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.citations.claim_records import (
    CitedClaim,
    Confidence,
    Correction,
    Depth,
    EvidenceSpan,
    IsolatedVerdict,
    Judge,
    Ranking,
    Similarity,
)
from core.citations.confidence import Signals, classify_confidence
from core.citations.correction import correct_citation
from core.citations.isolated import verify_isolated
from core.citations.preselection import alike, select_spans
from core.records import Source

Writes = Callable[[str, str], str | None]  # (quote, topic) to one sentence, or None: nothing to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Which stages run; the defaults are seed 001's."""

    preselection: bool = True
    interleaving: bool = True
    confidence: bool = True
    correction: bool = True
    numeric: bool = True
    abstention: bool = True
    nei: bool = True
    retrieval: bool = False  # look for evidence in the whole pool before a claim is given up
    alternates: bool = False
    ranking: Ranking = Ranking.KEYWORD
    correction_method: Ranking = Ranking.KEYWORD


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A claim with everything that the stages found."""

    claim: CitedClaim
    confidence: Signals
    verdict: IsolatedVerdict
    correction: Correction


def check_claims(
    claims: Sequence[CitedClaim],
    sources: Sequence[Source],
    judge: Judge,
    *,
    query: str = "",
    switches: Switches | None = None,
    similarity: Similarity | None = None,
) -> tuple[CheckedClaim, ...]:
    """Stages 1 and 3 to 6 over claims that exist: their confidence, verdict and corrected citation."""
    on = switches or Switches()
    pool = select_spans(
        sources,
        query or " ".join(claim.text for claim in claims),
        enabled=on.preselection,
        ranking=on.ranking,
        similarity=similarity,
    )
    return tuple(_checked(claim, pool, judge, on, similarity) for claim in claims)


def _checked(
    claim: CitedClaim,
    pool: Sequence[EvidenceSpan],
    judge: Judge,
    on: Switches,
    similarity: Similarity | None,
) -> CheckedClaim:
    quote = claim.evidence.quote if claim.evidence else None
    signals = classify_confidence(claim.text, quote or "", enabled=on.confidence)
    verdict = _verdict(claim.text, quote, judge, signals.level, on)
    if on.retrieval and verdict.verdict.value in ("unsupported", "nei"):
        verdict = _retrieved(claim.text, pool, judge, signals.level, on) or verdict
    correction = correct_citation(
        claim,
        verdict.verdict,
        pool,
        enabled=on.correction,
        method=on.correction_method,
        similarity=similarity,
        judge=judge,
        alternates=on.alternates,
    )
    return CheckedClaim(claim=claim, confidence=signals, verdict=verdict, correction=correction)


def _verdict(
    text: str, quote: str | None, judge: Judge, level: Confidence, on: Switches
) -> IsolatedVerdict:
    return verify_isolated(
        text,
        quote,
        judge,
        confidence=level,
        numeric=on.numeric,
        nei=on.nei,
        abstain=on.abstention,
    )


def _retrieved(
    text: str, pool: Sequence[EvidenceSpan], judge: Judge, level: Confidence, on: Switches
) -> IsolatedVerdict | None:
    """The verdict by the evidence of the pool most like the claim, where that supports it."""
    if not pool:
        return None
    best = _most_alike(text, pool)
    found = _verdict(text, best.quote, judge, level, on)
    if found.verdict.value != "supported":
        return None
    return replace(found, reason=f"{found.reason}; found in {best.source_id}")


def _most_alike(text: str, pool: Sequence[EvidenceSpan]) -> EvidenceSpan:
    return max(pool, key=lambda one: alike(text, one.quote, Ranking.KEYWORD))


def write_interleaved(
    pool: Sequence[EvidenceSpan],
    topics: Sequence[str],
    writes: Writes,
    judge: Judge,
    *,
    enabled: bool = True,
    per_topic: int = 5,
    least: float = 0.1,
) -> Iterator[CitedClaim]:
    """Stage 2: for each topic choose evidence, have one sentence written from it alone, and check that.

    A sentence that its evidence does not entail is not used, and that evidence is left. Switched
    off, sentences are written from all evidence at once and then given the one most like them.
    """
    if not enabled:
        for topic in topics:
            text = writes("\n".join(one.quote for one in pool), topic)
            if text and pool:
                yield CitedClaim(text=text, evidence=_most_alike(text, pool))
        return
    left = list(pool)
    for topic in topics:
        written = 0
        ranked = sorted(left, key=lambda one: -alike(topic, one.quote, Ranking.KEYWORD))
        for evidence in ranked:
            if written == per_topic or alike(topic, evidence.quote, Ranking.KEYWORD) < least:
                break
            text = writes(evidence.quote, topic)
            left.remove(evidence)
            if text and judge(text, evidence.quote).entailment >= 0.5:
                written += 1
                yield CitedClaim(text=text, evidence=evidence)


def saved_share(checked: Sequence[CheckedClaim]) -> float | None:
    """The share of claims that were spared the full chain of questions; None without claims."""
    if not checked:
        return None
    spared = sum(one.verdict.depth is not Depth.CHAIN for one in checked)
    return round(spared / len(checked), 4)
