"""A line of an adjudicated packet back as the judgements it holds (formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from core.codec import Fields
from core.errors import BadRecord
from core.records import (
    JsonObject,
    VerdictLabel,
)
from core.review.records import (
    SUPPORT_LABELS,
    Adjudication,
    Annotation,
    Cause,
    Exposure,
    Judgement,
    QueueReason,
    ReviewStatus,
)

Choice = TypeVar("Choice", ReviewStatus, QueueReason, Cause, VerdictLabel)


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
