"""A line of an adjudicated packet back as the judgements it holds (formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.codec import Fields
from core.errors import BadRecord
from core.records import (
    JsonObject,
)
from core.review.packet_fields import (
    read_choice,
    read_confidence,
    read_exposures,
    read_flag,
    read_judgement,
    read_moment,
    read_name,
    read_object,
    read_objects,
    read_optional,
)
from core.review.records import (
    Adjudication,
    Annotation,
    Cause,
    Judgement,
    QueueReason,
    ReviewStatus,
)


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


def is_reviewed(record: object) -> bool:
    """Whether a packet's record says how its label came about."""
    return isinstance(record, Mapping) and isinstance(record.get("adjudication"), Mapping)


def review_from_json(record: JsonObject) -> PacketReview:
    """What ``packet_row`` wrote; raises BadRecord naming the JSON path of a wrong value.

    Only the fields of section 4 are needed; what ``review_record`` would add has plain defaults.
    """
    read = Fields(record, "")
    said = read_object(record, "adjudication", "adjudication")
    more = record.get("review_record")
    extra: Mapping[str, object] = more if isinstance(more, Mapping) else {}
    status = read_choice(said, "status", ReviewStatus)
    final = said.value.get("final")
    annotations = read_objects(said.value, "votes", "adjudication.votes")
    records = (
        read_objects(extra, "votes", "review_record.votes")
        if "votes" in extra
        else [None] * len(annotations)
    )
    if len(records) != len(annotations):
        raise BadRecord(
            f"expected one record an annotation, found {len(records)} for {len(annotations)}",
            path="review_record.votes",
        )
    shared = _Shared(
        guideline_version=said.read(int | None, "guideline_version") or 1,
        inclusion_probability=said.read(float | None, "inclusion_probability"),
    )
    return PacketReview(
        claim_id=read_optional(extra, "claim_id") or read.string("claim_id"),
        trace_id=read.string("trace_id"),
        text=read.string("claim"),
        content_hash=read_optional(extra, "content_hash"),
        status=status,
        final=None
        if final is None
        else read_judgement(read_object(said.value, "final", "adjudication.final")),
        annotations=tuple(
            _read_annotation(annotation, kept, slot, shared)
            for slot, (annotation, kept) in enumerate(zip(annotations, records, strict=True), 1)
        ),
        adjudication=_read_adjudication(said, extra, shared),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What all annotations of a line have in common unless their own record says otherwise."""

    guideline_version: int
    inclusion_probability: float | None


def _read_annotation(
    annotation: Fields, kept: Fields | None, slot: int, shared: _Shared
) -> Annotation:
    first = kept.value.get("first") if kept else None
    return Annotation(
        vote_id=0,
        claim_key=0,
        reviewer=read_name(annotation, "reviewer"),
        slot=(kept.read(int | None, "slot") if kept else None) or slot,
        judgement=read_judgement(annotation),
        first=None
        if kept is None or first is None
        else read_judgement(read_object(kept.value, "first", kept.at("first"))),
        confidence=read_confidence(annotation),
        rationale=annotation.optional_string("rationale") or "",
        saw_model_output=read_flag(annotation, "saw_model_output") or False,
        changed_after_reveal=read_flag(annotation, "changed_after_reveal") or False,
        exposures=() if kept is None else read_exposures(kept),
        seconds=annotation.read(float | None, "seconds") or 0.0,
        at=read_moment(annotation, "at"),
        queue_reason=QueueReason.SECOND_READ
        if kept is None
        else read_choice(kept, "queue_reason", QueueReason),
        inclusion_probability=shared.inclusion_probability
        if kept is None
        else kept.read(float | None, "inclusion_probability"),
        guideline_version=(kept.read(int | None, "guideline_version") if kept else None)
        or shared.guideline_version,
        run_key=(kept.optional_string("run_key") if kept else None) or "",
        threshold=kept.read(float | None, "threshold") if kept else None,
    )


def _read_adjudication(
    said: Fields, extra: Mapping[str, object], shared: _Shared
) -> Adjudication | None:
    if said.value.get("adjudication") is None:
        return None
    decided = read_object(said.value, "adjudication", "adjudication.adjudication")
    kept = (
        None
        if extra.get("adjudication") is None
        else read_object(extra, "adjudication", "review_record.adjudication")
    )
    judged = kept or read_object(said.value, "final", "adjudication.final")
    return Adjudication(
        adjudication_id=0,
        claim_key=0,
        reviewer=read_name(decided, "reviewer"),
        judgement=read_judgement(judged),
        cause=read_choice(decided, "cause", Cause),
        guideline_needs_fix=bool(kept and read_flag(kept, "guideline_needs_fix")),
        rule=kept.optional_string("rule") if kept else None,
        rationale=decided.optional_string("rationale") or "",
        at=read_moment(decided, "at"),
        guideline_version=(kept.read(int | None, "guideline_version") if kept else None)
        or shared.guideline_version,
    )
