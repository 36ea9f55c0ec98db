"""The provenance of one verified answer: on the same claims, facts and checks as its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.distortions.checks import CHECK_NAMES
from core.distortions.reading import read_sentence
from core.evidence.chart.checks import read_chart_facts
from core.provenance.contradictions import find_contradictions
from core.provenance.fabrication import (
    everything_captured,
    fabricated_citations,
    fabricated_values,
)
from core.provenance.omissions import OmissionWeights, find_omissions, packaged_weights
from core.provenance.records import ChainLink, ClaimProvenance, Grounding, ProvenanceReport
from core.provenance.risk import (
    grounding_of,
    grounding_score,
    level_of,
    risk_of,
    unjudged_risk,
)
from core.records import (
    CitationFinding,
    Claim,
    ClaimType,
    ClaimVerdict,
    FactPlace,
    Judged,
    SetAside,
    Trace,
    Verification,
    answer_state,
    state_of,
)

# The seed's names of what a stretch of an answer is.
_TYPES = {
    ClaimType.FACTUAL: "FACTUAL_CLAIM",
    ClaimType.OPINION: "OPINION",
    ClaimType.ADVICE: "PROCEDURAL",
    ClaimType.META: "CONNECTIVE",
    ClaimType.BOILERPLATE: "CONNECTIVE",
    ClaimType.QUESTION: "CONNECTIVE",
}


def analyse(
    verified: Verification,
    *,
    earlier: Sequence[Sequence[Claim]] = (),
    citations: Sequence[CitationFinding] = (),
    weights: OmissionWeights | None = None,
) -> ProvenanceReport:
    """The report on one answer; ``earlier`` are all claims of each turn before it, the oldest first."""
    trace = verified.trace
    turns = [*earlier, [each.claim for each in verified.claims]]
    claims = claims_of(verified)
    omissions, found = find_omissions(trace, read_chart_facts(trace), weights or packaged_weights())
    risks = [claim.risk.total for claim in claims]
    worst = max(risks) if risks else None
    return ProvenanceReport(
        trace_id=trace.trace_id,
        content_hash=verified.content_hash,
        task=trace.question,
        state=answer_state(verified),
        decision=verified.answer.decision.value,
        claims=claims,
        set_aside=_set_aside(verified),
        citations_made_up=fabricated_citations(citations),
        turns=len(turns),
        contradictions=find_contradictions(turns),
        omissions=omissions,
        omissions_found=found,
        risk=worst,
        mean_risk=round(sum(risks) / len(risks), 4) if risks else None,
        formula_level=level_of(worst) if worst is not None else None,
        versions=verified.versions,
    )


def claims_of(verified: Verification) -> tuple[ClaimProvenance, ...]:
    """Every claim that is not set aside, traced to its sources, in the answer's order."""
    evidence = everything_captured(verified.trace)
    return tuple(
        _claim(each, verified.trace, evidence)
        for each in verified.claims
        if not isinstance(each.outcome, SetAside)
    )


def claim_type_of(claim: Claim) -> str:
    """FACTUAL_CLAIM, OPINION, PROCEDURAL, HEDGE or CONNECTIVE; a hedged fact is checked all the same."""
    if claim.claim_type is ClaimType.FACTUAL:
        hedged = any(c.value in ("tentative", "hedge") for c in read_sentence(claim.text).cues)
        return "HEDGE" if hedged else "FACTUAL_CLAIM"
    return _TYPES[claim.claim_type]


def _claim(verdict: ClaimVerdict, trace: Trace, evidence: str) -> ClaimProvenance:
    made_up = fabricated_values(verdict, evidence)
    outcome = verdict.outcome
    judged = outcome if isinstance(outcome, Judged) else None
    score = grounding_score(judged) if judged is not None else 0.0
    return ClaimProvenance(
        claim_id=verdict.claim.claim_id,
        text=verdict.claim.text,
        span=verdict.claim.span,
        claim_type=claim_type_of(verdict.claim),
        grounding=grounding_of(score) if judged is not None else Grounding.UNCERTAIN,
        grounding_score=score,
        relation=judged.literals.relation.value if judged is not None else None,
        support=judged.support.probability if judged is not None else None,
        state=state_of(verdict),
        decision=verdict.decision.value,
        distortions=tuple(c for c in judged.checks if c.check in CHECK_NAMES) if judged else (),
        fabrications=made_up,
        risk=risk_of(judged, made_up) if judged is not None else unjudged_risk(),
        chain=tuple(_chain(judged, trace)) if judged is not None else (),
    )


def _chain(judged: Judged, trace: Trace) -> Iterator[ChainLink]:
    """The routed call first, then every other call whose facts a check has used."""
    facts: dict[str, list[FactPlace]] = {judged.route.source_id: []}
    for check in judged.checks:
        places = check.derivation.inputs if check.derivation is not None else check.facts
        for place in places:
            facts.setdefault(place.source_id, []).append(place)
    known = {source.source_id: source for source in trace.sources}
    for source_id, used in facts.items():
        source = known.get(source_id)
        if source is not None:
            yield ChainLink(
                source_id=source_id,
                tool_name=source.tool_name,
                call_id=source.call_id,
                arguments=source.arguments,
                facts=tuple(dict.fromkeys(used)),
            )


def _set_aside(verified: Verification) -> dict[str, int]:
    counts = Counter(
        claim_type_of(each.claim) for each in verified.claims if isinstance(each.outcome, SetAside)
    )
    return dict(sorted(counts.items()))
