"""Appendix A-C: a verification as the JSON document that other programs rely on."""

from __future__ import annotations

from collections.abc import Mapping

from core.records import (
    Check,
    CheckedValue,
    Claim,
    ClaimVerdict,
    FactPlace,
    Judged,
    Probabilities,
    Span,
    Unjudged,
    Verification,
)

Json = dict[str, object]


def verdict_document(verification: Verification) -> Json:
    """The verdict of one trace in the published format (one line of ``verify``'s output)."""
    trace = verification.trace
    return {
        "trace_id": trace.trace_id,
        "question": trace.question,
        "answer": trace.answer,
        "decision": verification.answer.decision.value,
        "reasons": list(verification.answer.reasons),
        "sources": [
            {
                "source_id": source.source_id,
                "tool_name": source.tool_name,
                "family": verification.families[source.source_id],
                "text": source.text,
                "status": source.status.value,
            }
            for source in trace.sources
        ],
        "claims": [_claim(verdict) for verdict in verification.claims],
        "repair": None,
        "versions": {
            "pipeline": verification.versions.pipeline,
            "config_sha256": verification.versions.config_sha256,
            "embedder": verification.versions.embedder,
            "pair_reader": verification.versions.pair_reader,
            "precision": verification.versions.precision,
            "calibrator": verification.versions.calibrator,
        },
        "latency_seconds": _latency(verification.latency_seconds),
    }


def _claim(verdict: ClaimVerdict) -> Json:
    claim, outcome = verdict.claim, verdict.outcome
    document: Json = {
        "claim_id": claim.claim_id,
        "text": claim.text,
        "span": _span(claim.span),
        "said": claim.said,
        "claim_type": claim.claim_type.value,
        "stated_attribution": _stated(claim),
        "protected_values": [
            {"text": v.text, "kind": v.kind, "normalised": v.normalised, "present": None}
            for v in claim.protected_values
        ],
        "unwritten_values": [],
        "routed_source": None,
        "premise": None,
        "nli": None,
        "alignment": None,
        "calibrator_input": None,
        "support_probability": None,
        "threshold": None,
        "support_decision": None,
        "checks": [],
        "verdict": verdict.verdict.value if verdict.verdict else None,
        "attribution": {
            "status": "none",
            "stated_family": claim.stated.family if claim.stated else None,
            "routed_family": None,
            "reason": outcome.reason if isinstance(outcome, Unjudged) else "",
        },
        "decision": verdict.decision.value,
        "reasons": list(verdict.reasons),
    }
    if isinstance(outcome, Judged):
        document |= _measurements(claim, outcome)
    return document


def _value(checked: CheckedValue) -> Json:
    return {
        "text": checked.value.text,
        "kind": checked.value.kind,
        "normalised": checked.value.normalised,
        "present": checked.present,
        "span": _span(checked.value.span),
        "nearest": checked.nearest,
        "identity": checked.value.identity,
    }


def _measurements(claim: Claim, judged: Judged) -> Json:
    route, premise, attribution = judged.route, judged.premise, judged.attribution
    return {
        "protected_values": [
            _value(checked) for checked in judged.literals.values if checked.settles
        ],
        "unwritten_values": [_value(checked) for checked in judged.literals.unwritten],
        "routed_source": {
            "source_id": route.source_id,
            "tool_name": route.tool_name,
            "family": route.family,
            "route_score": route.score,
            "routing_margin": route.margin,
            "ranking": [
                {"source_id": r.source_id, "score": r.score, "nli": _probabilities(r.probabilities)}
                for r in route.ranking
            ],
        },
        "premise": {
            "source_id": premise.source_id,
            "text": premise.text,
            "spans": [_span(span) for span in premise.spans],
            "truncated": premise.truncated,
            **({"call": premise.call} if premise.call else {}),
        },
        "nli": {
            "relation": judged.literals.relation.value,
            "probabilities": _probabilities(judged.entailment.probabilities),
            "rescued": judged.literals.rescued,
        },
        "alignment": {
            "tokens": [
                {"text": t.text, "span": _span(t.span), "score": t.score, "weak": t.weak}
                for t in judged.alignment.tokens
            ],
            "supported_token_ratio": judged.alignment.supported_token_ratio,
        },
        "calibrator_input": {
            "categorical_features": dict(judged.features.categorical),
            "numeric_features": dict(judged.features.numeric),
        },
        "support_probability": judged.support.probability,
        "threshold": judged.support.threshold,
        "support_decision": "supported" if judged.support.supported else "blocked",
        "checks": [_check(check) for check in judged.checks],
        "attribution": {
            "status": attribution.status.value,
            "stated_family": attribution.stated_family,
            "routed_family": attribution.routed_family,
            "reason": attribution.reason,
        },
        "rescoring": _rescoring(claim, judged),
    }


def _check(check: Check) -> Json:
    derivation = check.derivation
    return {
        "check": check.check,
        "outcome": check.outcome.value,
        "veto": check.veto,
        "claim_span": _span(check.claim_span) if check.claim_span else None,
        "facts": [_place(place) for place in check.facts],
        "derivation": None
        if derivation is None
        else {
            "operation": derivation.operation,
            "inputs": [_place(place) for place in derivation.inputs],
            "result": derivation.result,
            "tolerance": derivation.tolerance,
            "text": derivation.text,
        },
        "reason": check.reason,
    }


def _place(place: FactPlace) -> Json:
    return {
        "source_id": place.source_id,
        "span": _span(place.span) if place.span else None,
        "path": place.path,
    }


def _rescoring(claim: Claim, judged: Judged) -> Json:
    """What else another calibrator needs to decide the claim again without reading anything.

    The other sources' features are given where they differ from the routed source's.
    """
    routed = judged.features
    return {
        "patient_specific": claim.patient_specific,
        "identity_mismatches": list(judged.literals.identity_mismatches),
        "others": [
            {
                "source_id": other.source_id,
                "categorical_features": _different(other.features.categorical, routed.categorical),
                "numeric_features": _different(other.features.numeric, routed.numeric),
            }
            for other in judged.others
        ],
    }


def _different(features: Mapping[str, object], from_: Mapping[str, object]) -> Json:
    return {name: value for name, value in features.items() if value != from_.get(name)}


def _stated(claim: Claim) -> Json | None:
    if claim.stated is None:
        return None
    return {
        "text": claim.stated.text,
        "span": _span(claim.stated.span),
        "family": claim.stated.family,
        "source_id": claim.stated.source_id,
        "also": list(claim.stated.also),
    }


def _probabilities(probabilities: Probabilities | None) -> Json | None:
    if probabilities is None:
        return None
    return {
        "entailment": probabilities.entailment,
        "neutral": probabilities.neutral,
        "contradiction": probabilities.contradiction,
    }


def _span(span: Span) -> list[int]:
    return [span.start, span.end]


def _latency(latency: Mapping[str, tuple[float, ...]]) -> Json:
    document: Json = {name: list(seconds) for name, seconds in latency.items() if name != "total"}
    document["total"] = sum(latency.get("total", ()))
    return document
