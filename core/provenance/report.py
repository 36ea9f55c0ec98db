"""A provenance report as JSON by a published schema, for one answer or many."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from core.codec import canonical_json, plain
from core.provenance.records import (
    ClaimProvenance,
    Fabrication,
    Override,
    ProvenanceReport,
    RiskLevel,
)
from core.provenance.risk import GROUNDED_FROM, PARAMETRIC_BELOW, WEIGHTS, tier_of
from core.records import State

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
            name: day.isoformat() if day else None
            for name, day in (("since", period.since), ("until", period.until))
        },
        "method": {
            "risk_weights": dict(WEIGHTS),
            "grounded_from": GROUNDED_FROM,
            "parametric_below": PARAMETRIC_BELOW,
        },
        "summary": _summary(reports),
        "answers": answers,
        "audit_trail": plain(trail),
    }
    digest = hashlib.sha256(canonical_json(body).encode("utf-8")).hexdigest()
    return body | {"sha256": f"sha256:{digest}"}


def _summary(reports: Sequence[ProvenanceReport]) -> dict[str, object]:
    claims = [claim for report in reports for claim in report.claims]
    levels = {level.value: sum(c.level is level for c in claims) for level in RiskLevel}
    tiers = Counter(_tier(report) or "none" for report in reports if not report.overrides)
    kinds = Counter(check.check for claim in claims for check in claim.distortions)
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
        "level": plain(report.level),
        "tier": _tier(report),
        "formula_level": plain(report.formula_level),
        "tier_overridden_by": plain(report.overrides),
        "claims": [_claim(claim) for claim in report.claims],
        "set_aside": dict(report.set_aside),
        "fabricated_citations": [_fabrication(each) for each in report.citations_made_up],
        "critical_fabrications": [_fabrication(each) for each in report.critical_fabrications],
        "turns": report.turns,
        "contradictions": plain(report.contradictions),
        "omitted_facts": plain(report.omissions),
        "omissions_found": report.omissions_found,
        "versions": {name: getattr(report.versions, name) for name in _VERSIONS},
    }


# What names a run in a report; a judge's name, where one was asked, is part of "pipeline".
_VERSIONS = ("pipeline", "config_sha256", "embedder", "pair_reader", "precision", "calibrator")


def _claim(claim: ClaimProvenance) -> dict[str, object]:
    risk = claim.risk
    return {
        "claim_id": claim.claim_id,
        "text": claim.text,
        "span": plain(claim.span),
        "claim_type": claim.claim_type,
        "attribution": claim.grounding.value,
        "attribution_score": claim.grounding_score,
        "relation": claim.relation,
        "support_probability": claim.support,
        "state": claim.state.value,
        "decision": claim.decision,
        "distortions": [
            {
                "kind": check.check,
                "outcome": check.outcome.value,
                "reason": check.reason,
                "claim_span": plain(check.claim_span),
                "facts": plain(check.facts),
            }
            for check in claim.distortions
        ],
        "fabrications": [_fabrication(each) for each in claim.fabrications],
        "risk": {
            "total": risk.total,
            "level": plain(claim.level),
            "formula_level": risk.level.value,
            **{name: getattr(risk, name) for name in WEIGHTS},
        },
        "chain": plain(claim.chain),
    }


def _fabrication(each: Fabrication) -> dict[str, object]:
    return {"text": each.text, "kind": each.kind, "span": plain(each.span)}
