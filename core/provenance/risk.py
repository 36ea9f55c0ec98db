"""One risk a claim: attribution, fidelity, entailment and specificity, weighed as seed 004 has it."""

from __future__ import annotations

from collections.abc import Sequence

from core.provenance.records import Fabrication, Grounding, RiskLevel, RiskScore, Tier
from core.records import Check, Judged, Outcome

WEIGHTS = {"attribution": 0.30, "fidelity": 0.25, "entailment": 0.30, "specificity": 0.15}
# Upper bounds of the levels and of the tiers; what reaches the last is CRITICAL, or D.
LEVELS = ((0.25, RiskLevel.LOW), (0.50, RiskLevel.MEDIUM), (0.75, RiskLevel.HIGH))
TIERS = ((0.10, Tier.S), (0.25, Tier.A), (0.50, Tier.B), (0.75, Tier.C))
# Likeness to the evidence tells no good claim from a bad one on the development packet (AUROC 0.478,
# docs/decisions/measured-once.md): of the claims called grounded 14 % are to block, of the mixed 11 %, of
# the parametric 8 %. So the cut-offs only describe: they stand near the 5th and the 55th percentile.
GROUNDED_FROM, PARAMETRIC_BELOW = 0.60, 0.35
_UNCERTAIN = 0.5  # of a part that nothing was measured for


def grounding_score(judged: Judged) -> float:
    """How much a claim is like its evidence: the mean of meaning (cosine) and of shared words."""
    numeric = judged.features.numeric
    meaning = numeric.get("source_nearest", judged.route.score)
    words = numeric.get("evidence_rare_overlap", judged.literals.term_overlap)
    return round(max(0.0, min(1.0, (meaning + words) / 2)), 4)


def grounding_of(score: float) -> Grounding:
    """Grounded, mixed, or the model's own knowledge."""
    if score >= GROUNDED_FROM:
        return Grounding.CONTEXT_GROUNDED
    return Grounding.PARAMETRIC if score < PARAMETRIC_BELOW else Grounding.MIXED


def risk_of(judged: Judged, fabrications: Sequence[Fabrication]) -> RiskScore:
    """The risk of a judged claim; every part rises with what speaks against it."""
    said = judged.entailment.probabilities
    best = max(said.entailment, judged.features.numeric.get("entailment_any", 0.0))
    values = len(judged.literals.values)
    return weighed(
        attribution=1.0 - grounding_score(judged),
        fidelity=_fidelity(judged.checks, fabrications),
        entailment=1.0 - best,
        specificity=min(1.0, len(fabrications) / values) if values else 0.0,
    )


def unjudged_risk() -> RiskScore:
    """The risk of a claim that no stage could judge: nothing is known of any part."""
    return weighed(
        attribution=_UNCERTAIN, fidelity=_UNCERTAIN, entailment=1.0, specificity=_UNCERTAIN
    )


def weighed(
    *, attribution: float, fidelity: float, entailment: float, specificity: float
) -> RiskScore:
    """The weighted sum of four parts, each 0 to 1, and its level."""
    total = round(
        WEIGHTS["attribution"] * attribution
        + WEIGHTS["fidelity"] * fidelity
        + WEIGHTS["entailment"] * entailment
        + WEIGHTS["specificity"] * specificity,
        4,
    )
    return RiskScore(
        attribution=round(attribution, 4),
        fidelity=round(fidelity, 4),
        entailment=round(entailment, 4),
        specificity=round(specificity, 4),
        total=total,
        level=level_of(total),
    )


def _fidelity(checks: Sequence[Check], fabrications: Sequence[Fabrication]) -> float:
    """1 for what is shown to be told otherwise, half for what is nowhere, 0 for what checks support."""
    if any(check.veto or check.outcome is Outcome.CONTRADICTS for check in checks):
        return 1.0
    if fabrications:
        return 0.5
    return 0.0 if any(check.outcome is Outcome.SUPPORTS for check in checks) else 0.25


def level_of(risk: float) -> RiskLevel:
    """LOW below 0.25, MEDIUM below 0.50, HIGH below 0.75, then CRITICAL."""
    return next((level for bound, level in LEVELS if risk < bound), RiskLevel.CRITICAL)


def tier_of(risk: float) -> Tier:
    """S below 0.10, A below 0.25, B below 0.50, C below 0.75, then D."""
    return next((tier for bound, tier in TIERS if risk < bound), Tier.D)
