"""A reviewed claim as one line of an adjudicated packet (formats.md, section 4), and back.

What section 4 has no field for, and another database needs to keep the very same annotations, is in the
line's ``review_record``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.codec import citation_document, record_document, versions_document
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Relation,
    Source,
    SourceStatus,
    Trace,
    VerdictLabel,
    Verification,
)
from core.review.records import (
    Adjudication,
    Annotation,
    Judgement,
    ReviewedClaim,
    Signal,
)

Json = dict[str, object]

RELATION_OF = {
    VerdictLabel.SUPPORTED: Relation.ENTAILMENT,
    VerdictLabel.CONTRADICTED: Relation.CONTRADICTION,
    VerdictLabel.UNSUPPORTED: Relation.NEUTRAL,
    VerdictLabel.NOT_ENOUGH_EVIDENCE: Relation.NEUTRAL,
}


# ---------------------------------------------------------------- to JSON


def packet_row(claim: ReviewedClaim, trace: Trace, verdict: Verification | None) -> Json:
    """The line of one reviewed claim; ``verdict`` is the document of the run that it was shown with."""
    final = claim.resolution.final
    stated = _stated(verdict, claim.claim_id)
    versions = [annotation.guideline_version for annotation in claim.annotations]
    if claim.adjudication is not None:
        versions.append(claim.adjudication.guideline_version)
    row: Json = {
        "claim_id": claim.claim_id,
        "trace_id": claim.trace_id,
        "claim": claim.text,
        "stated_attribution": stated,
        "category": claim.category,
        "sources": [_source(source) for source in trace.sources],
        "label": final.label.value if final and final.label else None,
        "relation": relation_of(final),
        "gold_source_ids": list(final.source_ids) if final else [],
        "gold_attribution": _gold_attribution(final, stated),
        "slices": list(claim.slices),
    }
    if claim.split is not None:
        row["split"] = claim.split.value
    row["adjudication"] = {
        "status": claim.resolution.status.value,
        "final": None
        if final is None
        else {**judgement_document(final), "relation": relation_of(final)},
        "votes": [_annotation(annotation) for annotation in claim.annotations],
        "adjudication": None
        if claim.adjudication is None
        else {
            "reviewer": claim.adjudication.reviewer,
            "at": _at(claim.adjudication.at),
            "cause": claim.adjudication.cause.value,
            "rationale": claim.adjudication.rationale,
        },
        "inclusion_probability": claim.inclusion_probability,
        "guideline_version": max(versions, default=None),
        "verifier_versions": None if verdict is None else versions_document(verdict.versions),
    }
    row["citations"] = [
        citation_document(finding)
        for each in claims_of(verdict)
        if each.claim.claim_id == claim.claim_id
        for finding in each.citations
    ]
    row["review_record"] = {
        "claim_id": claim.claim_id,
        "content_hash": claim.content_hash,
        "votes": [_annotation_record(annotation) for annotation in claim.annotations],
        "adjudication": _adjudication_record(claim.adjudication) if claim.adjudication else None,
        "signal": _signal(claim.signal) if claim.signal else None,
    }
    return row


def judgement_document(judgement: Judgement) -> Json:
    """The answers of a person; what few judgements have is there only where it says something."""
    document: Json = {
        "support": judgement.label.value if judgement.label else None,
        "source_id": judgement.source_id,
        "conflation": judgement.conflation,
    }
    if judgement.label is None:
        document |= {"not_a_claim": True, "correction": judgement.correction or None}
    if judgement.more_source_ids:
        document["more_source_ids"] = list(judgement.more_source_ids)
    if judgement.passages:
        document["passages"] = [record_document(each) for each in judgement.passages]
    return document


def relation_of(final: Judgement | None) -> str | None:
    """The final label as a relation; None without one, and for what is no claim."""
    return RELATION_OF[final.label].value if final and final.label else None


def _source(source: Source) -> Json:
    # A source without a status is read as one that is evidence.
    status = {} if source.status is SourceStatus.OK else {"status": source.status.value}
    return {
        "source_id": source.source_id,
        "tool_name": source.tool_name,
        "text": source.text,
        **status,
    }


def _stated(verdict: Verification | None, claim_id: str) -> str | None:
    for each in claims_of(verdict):
        if each.claim.claim_id == claim_id and each.claim.stated is not None:
            return each.claim.stated.text if each.claim.stated.text.strip() else None
    return None


def claims_of(verdict: Verification | None) -> Sequence[ClaimVerdict]:
    """The claims of a verdict; none without one."""
    return () if verdict is None else verdict.claims


def _gold_attribution(final: Judgement | None, stated: str | None) -> str | None:
    if final is None or final.conflation is None:
        return None
    if final.conflation:
        return AttributionStatus.CONFLATION.value
    # "No conflation" is a match only where the answer credits a source at all.
    return AttributionStatus.MATCH.value if stated else None


def _annotation(annotation: Annotation) -> Json:
    return {
        "reviewer": annotation.reviewer,
        "at": _at(annotation.at),
        **judgement_document(annotation.judgement),
        "confidence": annotation.confidence,
        "rationale": annotation.rationale,
        "saw_model_output": annotation.saw_model_output,
        "changed_after_reveal": annotation.changed_after_reveal,
        "seconds": annotation.seconds,
        # Beside what it became once the machine's view was seen.
        **({"first": judgement_document(annotation.first)} if annotation.first else {}),
    }


def _annotation_record(annotation: Annotation) -> Json:
    return {
        "slot": annotation.slot,
        "first": None if annotation.first is None else judgement_document(annotation.first),
        "exposures": [{"what": each.what, "at": _at(each.at)} for each in annotation.exposures],
        "queue_reason": annotation.queue_reason.value,
        "inclusion_probability": annotation.inclusion_probability,
        "guideline_version": annotation.guideline_version,
        "run_key": annotation.run_key,
        "threshold": annotation.threshold,
    }


def _adjudication_record(adjudication: Adjudication) -> Json:
    return {
        **judgement_document(adjudication.judgement),
        "guideline_needs_fix": adjudication.guideline_needs_fix,
        "rule": adjudication.rule,
        "guideline_version": adjudication.guideline_version,
    }


def _signal(signal: Signal) -> Json:
    return {
        "run_key": signal.run_key,
        "decision": signal.decision.value,
        "verdict": signal.verdict.value if signal.verdict else None,
        "support_probability": signal.probability,
        "threshold": signal.threshold,
        "routed_source_id": signal.routed_source_id,
        "routed_family": signal.routed_family,
        "attribution": signal.attribution.value,
        "calibrator_input": None if signal.features is None else record_document(signal.features),
    }


def _at(moment: datetime) -> str:
    return moment.isoformat()
