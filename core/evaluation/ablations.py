"""Variants of the verifier that need no fitting: the same NLI scores, decided differently (V.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from core.records import Decision, Probabilities, Relation, VerdictLabel

# The verdict that a relation stands for when nothing else is asked.
VERDICT_OF: Mapping[Relation, VerdictLabel] = {
    Relation.ENTAILMENT: VerdictLabel.SUPPORTED,
    Relation.CONTRADICTION: VerdictLabel.CONTRADICTED,
    Relation.NEUTRAL: VerdictLabel.NOT_ENOUGH_EVIDENCE,
}
ROUTE_CUTOFF = 0.2
TOP_K = 3


def nli_only(found: Prediction) -> Prediction:
    """Supported when the routed source's raw NLI label is entailment, whatever else was found."""
    if found.probabilities is None:
        return found
    return decided_by(found, found.probabilities.relation)


def uncalibrated(found: Prediction) -> Prediction:
    """The relation after lexical rescue as the verdict, with every other check left in place."""
    if found.relation is None:
        return found
    plain = decided_by(found, found.relation)
    if not found.forced or plain.blocked:
        return plain
    return replace(plain, decision=Decision.BLOCK, verdict=found.if_supported, cause=found.cause)


def route_cutoff(found: Prediction, cutoff: float = ROUTE_CUTOFF) -> Prediction:
    """No source below a route score of ``cutoff``: the claim blocks before it is read (Table 15)."""
    if not found.ranking or found.ranking[0].score >= cutoff:
        return uncalibrated(found)
    return without_source(found)


def no_source_top_k(found: Prediction, k: int = TOP_K) -> Prediction:
    """Supported by the first of the top ``k`` sources that entails it; by none, it has no source."""
    for ranked in found.ranking[:k]:
        if _entails(ranked.probabilities):
            return replace(
                decided_by(found, Relation.ENTAILMENT),
                routed_source_id=ranked.source_id,
                probabilities=ranked.probabilities,
            )
    return decided_by(found, Relation.NEUTRAL) if found.ranking else found


def block_all(found: Prediction) -> Prediction:
    """Blocks every claim: what any verifier must beat where most claims are bad."""
    return decided_by(found, Relation.NEUTRAL)


def without_source(found: Prediction) -> Prediction:
    """The claim blocked for want of a source."""
    return replace(
        decided_by(found, Relation.NEUTRAL), routed_source_id=None, relation=None, ranking=()
    )


def decided_by(found: Prediction, relation: Relation) -> Prediction:
    """The claim with ``relation`` as its only evidence."""
    passes = relation is Relation.ENTAILMENT
    return replace(
        found,
        relation=relation,
        decision=Decision.ALLOW if passes else Decision.BLOCK,
        verdict=VERDICT_OF[relation],
        cause=Cause.NONE if passes else Cause.SUPPORT,
        forced=False,
    )


PLAIN: Mapping[str, tuple[str, Callable[[Prediction], Prediction]]] = {
    "uncalibrated": ("The relation is the verdict; other checks stay.", uncalibrated),
    "nli-only": ("The raw NLI label alone.", nli_only),
    "route-threshold": (f"No source below a route score of {ROUTE_CUTOFF}.", route_cutoff),
    "no-source-top-k": (f"The first of {TOP_K} sources that entails it.", no_source_top_k),
    "block-all": ("Blocks everything.", block_all),
}


def apply_plain(name: str, predictions: Sequence[Prediction]) -> list[Prediction]:
    """All predictions under one of the ``PLAIN`` variants."""
    return [PLAIN[name][1](found) for found in predictions]


def route_scores(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction]
) -> list[tuple[float, bool, bool]]:
    """(route score, source-eligible, right source) of every routed claim, for Table 15."""
    return [
        (
            found.ranking[0].score,
            row.source_eligible,
            found.routed_source_id in row.gold_source_ids,
        )
        for row, found in zip(rows, predictions, strict=True)
        if found.ranking and row.scored
    ]


def _entails(probabilities: Probabilities | None) -> bool:
    return probabilities is not None and probabilities.relation is Relation.ENTAILMENT
