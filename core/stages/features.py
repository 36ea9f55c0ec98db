"""III.5: the calibrator's input, with the names and definitions of Appendix B."""

from __future__ import annotations

from collections.abc import Mapping

from core.config import Config
from core.records import Claim, Entailment, Features, LiteralCheck, Relation, Route
from core.text.tokens import content_terms, overlap

CATEGORICAL = ("verifier_label", "category", "pred_tool", "status")
NUMERIC = (
    "route_score",
    "pred_score",
    "routing_margin",
    "term_overlap",
    "all_term_overlap",
    "claim_terms_n",
    "protected_n",
    "protected_missing",
    "protected_missing_all",
    "evidence_chunks_n",
    "claim_len",
    "has_stated_attr",
    "score_x_route",
    "score_x_overlap",
    "route_x_overlap",
    "neutral",
    "entailment",
    "contradiction",
    "weak_route_high_score",
    "strong_route",
    "score_x_route_squared",
)


def build_features(
    claim: Claim,
    route: Route,
    entailment: Entailment,
    literals: LiteralCheck,
    *,
    category: str | None,
    evidence_terms: frozenset[str],
    absent_everywhere: frozenset[str],
    chunks_n: int,
    signals: Mapping[str, float],
    config: Config,
) -> Features:
    """The verifier's own signals for one claim and its routed source (III.5, Appendix B).

    ``evidence_terms`` are those of the whole trace, ``absent_everywhere`` the values that no source
    and no call of it holds; ``chunks_n`` counts the routed source's chunks. ``signals`` are taken as
    they are, after the paper's: words, values, checks and readings. ``score_x_route_squared`` is
    (score · route)², as Appendix B's figures show. Numbers are rounded to 4 decimals.
    """
    label = literals.relation
    score = entailment.probabilities.of(label)
    terms = content_terms(claim.text)
    checked = literals.values
    missing_all = sum(1 for c in checked if not c.present and c.value.text in absent_everywhere)
    numeric = {
        "route_score": route.score,
        "pred_score": score,
        "routing_margin": route.margin,
        "term_overlap": literals.term_overlap,
        "all_term_overlap": overlap(terms, evidence_terms),
        "claim_terms_n": len(terms),
        "protected_n": len(checked),
        "protected_missing": sum(1 for c in checked if not c.present),
        "protected_missing_all": missing_all,
        "evidence_chunks_n": chunks_n,
        "claim_len": len(claim.text.split()),
        "has_stated_attr": float(claim.stated is not None),
        "score_x_route": score * route.score,
        "score_x_overlap": score * literals.term_overlap,
        "route_x_overlap": route.score * literals.term_overlap,
        "neutral": float(label is Relation.NEUTRAL),
        "entailment": float(label is Relation.ENTAILMENT),
        "contradiction": float(label is Relation.CONTRADICTION),
        "weak_route_high_score": float(
            route.score < config.weak_route_below and score >= config.high_score_from
        ),
        "strong_route": float(route.score >= config.strong_route_from),
        "score_x_route_squared": (score * route.score) ** 2,
    }
    return Features(
        categorical={
            "verifier_label": label.value,
            "category": category or "none",
            "pred_tool": route.tool_name,
            "status": f"rescued_{label.value}" if literals.rescued else f"routed_{label.value}",
        },
        numeric={name: round(float(numeric[name]), 4) for name in NUMERIC}
        | {name: round(float(value), 4) for name, value in signals.items()},
    )
