"""A provenance report as JSON by a published schema, for one answer or many."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from core.codec import canonical_json
from core.provenance.records import (
    ChainLink,
    ClaimPlace,
    ClaimProvenance,
    Contradiction,
    Fabrication,
    Omission,
    Override,
    ProvenanceReport,
    RiskLevel,
)
from core.provenance.risk import GROUNDED_FROM, PARAMETRIC_BELOW, WEIGHTS, tier_of
from core.records import Check, FactPlace, Span, State

SCHEMA_VERSION = "2"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailLink:
    """Where the audit trail stood when a report was made: its id, length and last event's hash."""

    trail_id: str
    events: int
    head: str
    intact: bool


def schema() -> dict[str, object]:
    """The published JSON Schema of a report document."""
    text = files("core.provenance").joinpath("schemas", "provenance_report.json").read_text("utf-8")
    found: dict[str, object] = json.loads(text)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The first and the last day of the verdicts that a report is on, in UTC; None: no bound."""

    since: date | None
    until: date | None


def report_document(
    reports: Sequence[ProvenanceReport],
    trail: TrailLink | None = None,
    period: Period | None = None,
) -> dict[str, object]:
    """One answer or many as JSON; the same reports give the same bytes, and ``sha256`` is of them."""
    answers = [answer_document(each) for each in reports]
    body: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "period": None
        if period is None
        else {
            "since": period.since.isoformat() if period.since else None,
            "until": period.until.isoformat() if period.until else None,
        },
        "method": {
            "risk_weights": dict(WEIGHTS),
            "grounded_from": GROUNDED_FROM,
            "parametric_below": PARAMETRIC_BELOW,
        },
        "summary": _summary(reports),
        "answers": answers,
        "audit_trail": None
        if trail is None
        else {
            "trail_id": trail.trail_id,
            "events": trail.events,
            "head": trail.head,
            "intact": trail.intact,
        },
    }
    digest = hashlib.sha256(canonical_json(body).encode("utf-8")).hexdigest()
    return body | {"sha256": f"sha256:{digest}"}


def _summary(reports: Sequence[ProvenanceReport]) -> dict[str, object]:
    claims = [claim for report in reports for claim in report.claims]
    levels = {level.value: sum(c.level is level for c in claims) for level in RiskLevel}
    tiers: dict[str, int] = {}
    for report in reports:
        if not report.overrides:
            name = _tier(report) or "none"
            tiers[name] = tiers.get(name, 0) + 1
    kinds: dict[str, int] = {}
    for check in (check for claim in claims for check in claim.distortions):
        kinds[check.check] = kinds.get(check.check, 0) + 1
    return {
        "answers": len(reports),
        "claims": len(claims),
        "states": {state.value: sum(r.state is state for r in reports) for state in State},
        "claim_states": {state.value: sum(c.state is state for c in claims) for state in State},
        "claims_blocked": sum(claim.level is None for claim in claims),
        "risk_levels": levels,
        "tiers": dict(sorted(tiers.items())),
        "tiers_overridden": {
            each.value: sum(each in report.overrides for report in reports) for each in Override
        },
        "distortions": dict(sorted(kinds.items())),
        "contradictions": sum(len(report.contradictions) for report in reports),
        "omissions_listed": sum(len(report.omissions) for report in reports),
    }


def _tier(report: ProvenanceReport) -> str | None:
    """Seed 004's tier of an answer that stands; None of one that something holds back."""
    return None if report.overrides or report.risk is None else tier_of(report.risk).value


def answer_document(report: ProvenanceReport) -> dict[str, object]:
    """One answer's report under the field names of seed 004."""
    return {
        "trace_id": report.trace_id,
        "content_hash": report.content_hash,
        "task": report.task,
        "state": report.state.value,
        "decision": report.decision,
        "grounding_percentage": report.grounding_percentage,
        "hallucination_count": report.hallucination_count,
        "risk": report.risk,
        "mean_risk": report.mean_risk,
        "level": report.level.value if report.level else None,
        "tier": _tier(report),
        "formula_level": report.formula_level.value if report.formula_level else None,
        "tier_overridden_by": [each.value for each in report.overrides],
        "claims": [_claim(claim) for claim in report.claims],
        "set_aside": dict(report.set_aside),
        "fabricated_citations": [_fabrication(each) for each in report.citations_made_up],
        "turns": report.turns,
        "contradictions": [_contradiction(each) for each in report.contradictions],
        "omitted_facts": [_omission(each) for each in report.omissions],
        "omissions_found": report.omissions_found,
        "versions": {
            "pipeline": report.versions.pipeline,
            "config_sha256": report.versions.config_sha256,
            "embedder": report.versions.embedder,
            "pair_reader": report.versions.pair_reader,
            "precision": report.versions.precision,
            "calibrator": report.versions.calibrator,
        },
    }


def _claim(claim: ClaimProvenance) -> dict[str, object]:
    return {
        "claim_id": claim.claim_id,
        "text": claim.text,
        "span": _span(claim.span),
        "claim_type": claim.claim_type,
        "attribution": claim.grounding.value,
        "attribution_score": claim.grounding_score,
        "relation": claim.relation,
        "support_probability": claim.support,
        "state": claim.state.value,
        "decision": claim.decision,
        "distortions": [_distortion(check) for check in claim.distortions],
        "fabrications": [_fabrication(each) for each in claim.fabrications],
        "risk": {
            "total": claim.risk.total,
            "level": claim.level.value if claim.level else None,
            "formula_level": claim.risk.level.value,
            "attribution": claim.risk.attribution,
            "fidelity": claim.risk.fidelity,
            "entailment": claim.risk.entailment,
            "specificity": claim.risk.specificity,
        },
        "chain": [_link(link) for link in claim.chain],
    }


def _distortion(check: Check) -> dict[str, object]:
    return {
        "kind": check.check,
        "outcome": check.outcome.value,
        "reason": check.reason,
        "claim_span": _span(check.claim_span),
        "facts": [_place(place) for place in check.facts],
    }


def _fabrication(each: Fabrication) -> dict[str, object]:
    return {"text": each.text, "kind": each.kind, "span": _span(each.span)}


def _contradiction(each: Contradiction) -> dict[str, object]:
    return {
        "kind": each.kind,
        "first": _claim_place(each.first),
        "second": _claim_place(each.second),
        "first_said": each.first_said,
        "second_said": each.second_said,
    }


def _claim_place(each: ClaimPlace) -> dict[str, object]:
    return {
        "turn": each.turn,
        "claim_id": each.claim_id,
        "text": each.text,
        "span": _span(each.span),
    }


def _omission(each: Omission) -> dict[str, object]:
    return {
        "severity": each.severity.value,
        "category": each.category,
        "name": each.name,
        "text": each.text,
        "place": _place(each.place),
        "score": each.score,
    }


def _link(link: ChainLink) -> dict[str, object]:
    return {
        "source_id": link.source_id,
        "tool_name": link.tool_name,
        "call_id": link.call_id,
        "arguments": link.arguments,
        "facts": [_place(place) for place in link.facts],
    }


def _place(place: FactPlace) -> dict[str, object]:
    return {"source_id": place.source_id, "span": _span(place.span), "path": place.path}


def _span(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]
