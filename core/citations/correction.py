"""Stage 5: keep, replace, remove or add a citation, by any way of comparing texts (001)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.citations.claim_records import (
    Action,
    CitedClaim,
    Correction,
    EvidenceSpan,
    FiveWay,
    Judge,
    Ranking,
    Similarity,
)
from core.citations.preselection import HYBRID_KEYWORD_WEIGHT, alike
from core.citations.records_of import run_terms
from core.text.tokens import rarity, weighted_overlap

THRESHOLD = 0.3  # from which other evidence is good enough to be cited
LEAD = 0.1  # by which it must be more like the claim than what is cited
UNLIKE = 0.1  # below which what is cited has nothing of the claim


def correct_citation(
    claim: CitedClaim,
    verdict: FiveWay,
    pool: Sequence[EvidenceSpan],
    *,
    enabled: bool = True,
    method: Ranking = Ranking.HYBRID,
    similarity: Similarity | None = None,
    judge: Judge | None = None,
    alternates: bool = False,
    threshold: float = THRESHOLD,
    keyword_weight: float = HYBRID_KEYWORD_WEIGHT,
) -> Correction:
    """What to do with one claim's citation, given its verdict and all evidence there is.

    A right citation is kept. Else the evidence most like the claim replaces it, when it is like
    enough, clearly more so than what is cited and, where there is a judge, says more of the claim.
    Unlike the seed, a citation is removed only when it has nothing of the claim: a paraphrase that
    a judge did not recognise is not a wrong citation.
    """
    if not enabled or verdict is FiveWay.SUPPORTED:
        reason = "the citation is right" if enabled else "correction is off"
        return Correction(action=Action.KEEP, method=method, reason=reason)

    score = _scorer(claim, pool, method, similarity, keyword_weight)
    current = score(claim.evidence) if claim.evidence else 0.0
    says = judge(claim.text, claim.evidence.quote).entailment if judge and claim.evidence else 0.0
    for similar, evidence in _best(claim, pool, score, threshold):
        if similar < current + LEAD:
            break
        if judge is None or judge(claim.text, evidence.quote).entailment > says:
            keeps = alternates and verdict is FiveWay.PARTIAL
            return Correction(
                action=Action.ADD_ALTERNATE if keeps else Action.REPLACE,
                method=method,
                evidence=evidence,
                similarity=round(similar, 4),
                reason=f"other evidence is more like the claim ({similar:.2f} against {current:.2f})",
            )
    if verdict in (FiveWay.UNSUPPORTED, FiveWay.NEI) and current < UNLIKE:
        return Correction(action=Action.REMOVE, method=method, reason="no evidence says it")
    # A contradicted claim keeps its citation: that is where a reader sees that it is wrong.
    return Correction(action=Action.KEEP, method=method, reason="no better evidence was found")


def _scorer(
    claim: CitedClaim,
    pool: Sequence[EvidenceSpan],
    method: Ranking,
    similarity: Similarity | None,
    keyword_weight: float,
) -> Callable[[EvidenceSpan], float]:
    """How like the claim a span is by one method; words count by how few spans of the pool have them."""
    terms = run_terms(claim.text)
    cited = [claim.evidence] if claim.evidence else []
    held = {id(one): run_terms(one.quote) for one in (*pool, *cited)}
    weights = rarity(held.values())

    def score(evidence: EvidenceSpan) -> float:
        if method not in (Ranking.KEYWORD, Ranking.HYBRID):
            return alike(claim.text, evidence.quote, method, similarity)
        words = weighted_overlap(terms, held[id(evidence)], weights)
        if method is Ranking.KEYWORD:
            return words
        if similarity is None:
            raise ValueError(f"{method.value} needs a similarity")
        likeness = similarity(claim.text, evidence.quote)
        return keyword_weight * words + (1 - keyword_weight) * likeness

    return score


def _best(
    claim: CitedClaim,
    pool: Sequence[EvidenceSpan],
    score: Callable[[EvidenceSpan], float],
    threshold: float,
) -> list[tuple[float, EvidenceSpan]]:
    """The other evidence that is like the claim, most like it first."""
    cited = claim.evidence
    scored = [
        (score(one), one)
        for one in pool
        if cited is None or (one.source_id, one.span) != (cited.source_id, cited.span)
    ]
    good = [pair for pair in scored if pair[0] >= threshold]
    return sorted(good, key=lambda pair: (-pair[0], pair[1].source_id, pair[1].span.start))


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionTally:
    """How often a method was right: of citations that were wrong, and of those that were right."""

    method: Ranking
    wrong: int
    restored: int
    right: int
    broken: int
    actions: tuple[tuple[str, int], ...]

    @property
    def accuracy(self) -> float | None:
        """The share of wrong citations that lead to the right source afterwards; None without any."""
        return round(self.restored / self.wrong, 4) if self.wrong else None

    @property
    def false_positive_rate(self) -> float | None:
        """The share of right citations that were taken away or replaced; None without any."""
        return round(self.broken / self.right, 4) if self.right else None


def tally_corrections(
    method: Ranking,
    corrected: Sequence[tuple[CitedClaim, Correction, frozenset[str]]],
) -> CorrectionTally:
    """The log of one method over (claim as cited, correction, ids of the sources that are right)."""
    wrong = restored = right = broken = 0
    for claim, correction, gold in corrected:
        was_right = claim.evidence is not None and claim.evidence.source_id in gold
        new = correction.evidence.source_id if correction.evidence else None
        if was_right:
            right += 1
            broken += correction.action is Action.REMOVE or (
                correction.action is Action.REPLACE and new not in gold
            )
        else:
            wrong += 1
            changed = correction.action in (Action.REPLACE, Action.ADD_ALTERNATE)
            restored += (changed and new in gold) or (
                correction.action is Action.REMOVE and not gold
            )
    actions = Counter(correction.action.value for _, correction, _ in corrected)
    return CorrectionTally(
        method=method,
        wrong=wrong,
        restored=restored,
        right=right,
        broken=broken,
        actions=tuple(sorted(actions.items())),
    )
