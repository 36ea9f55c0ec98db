"""A reviewed claim as one line of an adjudicated packet (formats.md, section 4), and back.

What section 4 has no field for, and another database needs to keep the very same annotations, is in the
line's ``review_record``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from core.codec import Fields, citation_document, versions_document
from core.errors import BadRecord
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    JsonObject,
    Relation,
    Source,
    SourceStatus,
    Trace,
    VerdictLabel,
    Verification,
)
from core.review.records import (
    SUPPORT_LABELS,
    Adjudication,
    Annotation,
    Cause,
    Exposure,
    Judgement,
    QueueReason,
    ReviewedClaim,
    ReviewStatus,
    Signal,
)

Json = dict[str, object]
Choice = TypeVar("Choice", ReviewStatus, QueueReason, Cause, VerdictLabel)

RELATION_OF = {
    VerdictLabel.SUPPORTED: Relation.ENTAILMENT,
    VerdictLabel.CONTRADICTED: Relation.CONTRADICTION,
    VerdictLabel.UNSUPPORTED: Relation.NEUTRAL,
    VerdictLabel.NOT_ENOUGH_EVIDENCE: Relation.NEUTRAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketReview:
    """What one line of a packet says about a claim; ids of rows are 0, they are a database's own.

    ``content_hash`` and ``span`` are None in a packet that was not written here.
    """

    claim_id: str
    trace_id: str
    text: str
    content_hash: str | None
    status: ReviewStatus
    final: Judgement | None
    annotations: tuple[Annotation, ...]
    adjudication: Adjudication | None


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
        "label": final.support.value if final else None,
        "relation": RELATION_OF[final.support].value if final else None,
        "gold_source_ids": [final.source_id] if final and final.source_id is not None else [],
        "gold_attribution": _gold_attribution(final, stated),
        "slices": list(claim.slices),
    }
    if claim.split is not None:
        row["split"] = claim.split.value
    row["adjudication"] = {
        "status": claim.resolution.status.value,
        "final": None
        if final is None
        else {
            "support": final.support.value,
            "relation": RELATION_OF[final.support].value,
            "source_id": final.source_id,
            "conflation": final.conflation,
        },
        "votes": [_vote(annotation) for annotation in claim.annotations],
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
        "votes": [_vote_record(annotation) for annotation in claim.annotations],
        "adjudication": _adjudication_record(claim.adjudication),
        "signal": _signal(claim.signal),
    }
    return row


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


def _vote(annotation: Annotation) -> Json:
    return {
        "reviewer": annotation.reviewer,
        "at": _at(annotation.at),
        "support": annotation.judgement.support.value,
        "source_id": annotation.judgement.source_id,
        "conflation": annotation.judgement.conflation,
        "confidence": annotation.confidence,
        "rationale": annotation.rationale,
        "saw_model_output": annotation.saw_model_output,
        "changed_after_reveal": annotation.changed_after_reveal,
        "seconds": annotation.seconds,
    }


def _vote_record(annotation: Annotation) -> Json:
    return {
        "slot": annotation.slot,
        "first": None if annotation.first is None else judgement_json(annotation.first),
        "exposures": [{"what": each.what, "at": _at(each.at)} for each in annotation.exposures],
        "queue_reason": annotation.queue_reason.value,
        "inclusion_probability": annotation.inclusion_probability,
        "guideline_version": annotation.guideline_version,
        "run_key": annotation.run_key,
        "threshold": annotation.threshold,
    }


def judgement_json(judgement: Judgement) -> Json:
    """The two answers of a reading."""
    return {
        "support": judgement.support.value,
        "source_id": judgement.source_id,
        "conflation": judgement.conflation,
    }


def _adjudication_record(adjudication: Adjudication | None) -> Json | None:
    if adjudication is None:
        return None
    return {
        **judgement_json(adjudication.judgement),
        "guideline_needs_fix": adjudication.guideline_needs_fix,
        "rule": adjudication.rule,
        "guideline_version": adjudication.guideline_version,
    }


def _signal(signal: Signal | None) -> Json | None:
    if signal is None:
        return None
    return {
        "run_key": signal.run_key,
        "decision": signal.decision.value,
        "verdict": signal.verdict.value if signal.verdict else None,
        "support_probability": signal.probability,
        "threshold": signal.threshold,
        "routed_source_id": signal.routed_source_id,
        "routed_family": signal.routed_family,
        "attribution": signal.attribution.value,
        "calibrator_input": None
        if signal.features is None
        else {
            "categorical_features": dict(signal.features.categorical),
            "numeric_features": dict(signal.features.numeric),
        },
    }


def _at(moment: datetime) -> str:
    return moment.isoformat()


# ---------------------------------------------------------------- from JSON


def is_reviewed(record: object) -> bool:
    """Whether a packet's record says how its label came about."""
    return isinstance(record, Mapping) and isinstance(record.get("adjudication"), Mapping)


def review_from_json(record: JsonObject) -> PacketReview:
    """What ``packet_row`` wrote; raises BadRecord naming the JSON path of a wrong value.

    Only the fields of section 4 are needed; what ``review_record`` would add has plain defaults.
    """
    read = Fields(record, "")
    said = _object(record, "adjudication", "adjudication")
    more = record.get("review_record")
    extra: Mapping[str, object] = more if isinstance(more, Mapping) else {}
    status = _choice(said, "status", ReviewStatus)
    final = said.value.get("final")
    annotations = _objects(said.value, "votes", "adjudication.votes")
    records = (
        _objects(extra, "votes", "review_record.votes")
        if "votes" in extra
        else [None] * len(annotations)
    )
    if len(records) != len(annotations):
        raise BadRecord(
            f"expected one record a vote, found {len(records)} for {len(annotations)}",
            path="review_record.votes",
        )
    shared = _Shared(
        guideline_version=said.optional_integer("guideline_version") or 1,
        inclusion_probability=said.optional_number("inclusion_probability"),
    )
    return PacketReview(
        claim_id=_optional(extra, "claim_id") or read.string("claim_id"),
        trace_id=read.string("trace_id"),
        text=read.string("claim"),
        content_hash=_optional(extra, "content_hash"),
        status=status,
        final=None
        if final is None
        else _judgement(_object(said.value, "final", "adjudication.final")),
        annotations=tuple(
            _read_vote(annotation, kept, slot, shared)
            for slot, (annotation, kept) in enumerate(zip(annotations, records, strict=True), 1)
        ),
        adjudication=_read_adjudication(said, extra, shared),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What all annotations of a line have in common unless their own record says otherwise."""

    guideline_version: int
    inclusion_probability: float | None


def _read_vote(annotation: Fields, kept: Fields | None, slot: int, shared: _Shared) -> Annotation:
    first = kept.value.get("first") if kept else None
    return Annotation(
        vote_id=0,
        claim_key=0,
        reviewer=_name(annotation, "reviewer"),
        slot=(kept.optional_integer("slot") if kept else None) or slot,
        judgement=_judgement(annotation),
        first=None
        if kept is None or first is None
        else _judgement(_object(kept.value, "first", kept.at("first"))),
        confidence=_confidence(annotation),
        rationale=annotation.optional_string("rationale") or "",
        saw_model_output=_flag(annotation, "saw_model_output") or False,
        changed_after_reveal=_flag(annotation, "changed_after_reveal") or False,
        exposures=() if kept is None else _exposures(kept),
        seconds=annotation.optional_number("seconds") or 0.0,
        at=_moment(annotation, "at"),
        queue_reason=QueueReason.SECOND_READ
        if kept is None
        else _choice(kept, "queue_reason", QueueReason),
        inclusion_probability=shared.inclusion_probability
        if kept is None
        else kept.optional_number("inclusion_probability"),
        guideline_version=(kept.optional_integer("guideline_version") if kept else None)
        or shared.guideline_version,
        run_key=(kept.optional_string("run_key") if kept else None) or "",
        threshold=kept.optional_number("threshold") if kept else None,
    )


def _read_adjudication(
    said: Fields, extra: Mapping[str, object], shared: _Shared
) -> Adjudication | None:
    if said.value.get("adjudication") is None:
        return None
    decided = _object(said.value, "adjudication", "adjudication.adjudication")
    kept = (
        None
        if extra.get("adjudication") is None
        else _object(extra, "adjudication", "review_record.adjudication")
    )
    judged = kept or _object(said.value, "final", "adjudication.final")
    return Adjudication(
        adjudication_id=0,
        claim_key=0,
        reviewer=_name(decided, "reviewer"),
        judgement=_judgement(judged),
        cause=_choice(decided, "cause", Cause),
        guideline_needs_fix=bool(kept and _flag(kept, "guideline_needs_fix")),
        rule=kept.optional_string("rule") if kept else None,
        rationale=decided.optional_string("rationale") or "",
        at=_moment(decided, "at"),
        guideline_version=(kept.optional_integer("guideline_version") if kept else None)
        or shared.guideline_version,
    )


def _judgement(read: Fields) -> Judgement:
    support = _choice(read, "support", VerdictLabel)
    if support not in SUPPORT_LABELS:
        raise BadRecord("unjudged is no judgement of a person", path=read.at("support"))
    return Judgement(
        support=support,
        source_id=read.optional_string("source_id"),
        conflation=_flag(read, "conflation"),
    )


def _exposures(kept: Fields) -> tuple[Exposure, ...]:
    return tuple(
        Exposure(what=each.string("what"), at=_moment(each, "at"))
        for each in _objects(kept.value, "exposures", kept.at("exposures"))
    )


def _confidence(annotation: Fields) -> int | None:
    value = annotation.optional_integer("confidence")
    if value is not None and not 1 <= value <= 5:
        raise BadRecord(f"expected 1 to 5, found {value}", path=annotation.at("confidence"))
    return value


def _name(read: Fields, key: str) -> str:
    name = read.string(key)
    if not name.strip():
        raise BadRecord("expected a name, found only blanks", path=read.at(key))
    return name


def _flag(read: Fields, key: str) -> bool | None:
    value = read.value.get(key)
    if value is not None and not isinstance(value, bool):
        raise read.wrong(key, "true, false or null")
    return value


def _moment(read: Fields, key: str) -> datetime:
    text = read.string(key)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadRecord(f"expected a time with its zone, found {text!r:.60}", path=read.at(key))
    return moment


def _optional(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


def _object(value: Mapping[str, object], key: str, path: str) -> Fields:
    found = value.get(key)
    if not isinstance(found, Mapping):
        raise BadRecord("expected an object", path=path)
    return Fields(found, path)


def _objects(value: Mapping[str, object], key: str, path: str) -> list[Fields]:
    found = value.get(key)
    if not isinstance(found, list):
        raise BadRecord("expected a list", path=path)
    return [_object({"": each}, "", f"{path}[{index}]") for index, each in enumerate(found)]


def _choice(read: Fields, key: str, kind: type[Choice]) -> Choice:
    text = read.string(key)
    for choice in kind:
        if choice.value == text:
            return choice
    expected = ", ".join(choice.value for choice in kind)
    raise BadRecord(f"expected one of {expected}, found {text!r:.60}", path=read.at(key))
