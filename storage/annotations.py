"""Annotations: readings as written. A later row of the same reviewer supersedes; no row ever changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlmodel import col

from core.records import VerdictLabel
from core.review.annotating import NewAnnotation, current
from core.review.assignment import PACE_READINGS
from core.review.items import Assignment
from core.review.records import Annotation, Exposure, Judgement, QueueReason
from storage.audit import add_row
from storage.judgements import annotation_columns, judgement_of, with_names
from storage.review_tables import VoteRow


def put_annotation(
    connection: Connection,
    assignment: Assignment,
    new: NewAnnotation,
    *,
    at: datetime,
    actor: str,
    action: str,
) -> Annotation:
    """Write an annotation for the assignment in hand, with its event."""
    values: dict[str, object] = {
        "project_id": assignment.project_id,
        "claim_key": assignment.claim_key,
        "person_id": assignment.person_id,
        "slot": assignment.slot,
        **annotation_columns(new),
        "reason": new.reason,
        "queue_reason": assignment.reason.value,
        "inclusion_probability": assignment.inclusion_probability,
        "nonce": new.nonce,
        "at": at,
    }
    # Ids and hashes alone: what was said is for nobody's eyes before the claim is settled.
    vote_id = add_row(
        connection,
        VoteRow,
        values,
        at=at,
        actor=actor,
        action=action,
        entity=f"claim {assignment.claim_key}",
        detail={
            "project": assignment.project_id,
            "slot": assignment.slot,
            "from": new.supersedes,
            "reason": new.reason,
            "guideline": new.guideline_version,
            "run": new.run_key,
        },
    )
    return next(
        annotation
        for annotation in annotations_of(connection, assignment.project_id, assignment.claim_key)
        if annotation.vote_id == vote_id
    )


def annotations_of(
    connection: Connection, project_id: int, claim_key: int, *, person_id: int | None = None
) -> tuple[Annotation, ...]:
    """Every annotation on a claim as written, the oldest first."""
    statement = with_names(VoteRow, "vote_id", project_id).where(
        col(VoteRow.claim_key) == claim_key
    )
    if person_id is not None:
        statement = statement.where(col(VoteRow.person_id) == person_id)
    return tuple(map(_vote, connection.execute(statement)))


def current_annotations(
    connection: Connection, project_id: int, claim_key: int
) -> tuple[Annotation, ...]:
    """The annotations that count, one a reviewer, by slot."""
    return current(annotations_of(connection, project_id, claim_key))


def every_current_annotation(
    connection: Connection, project_id: int
) -> Mapping[int, tuple[Annotation, ...]]:
    """The annotations that count on every claim of a project: claim key → annotations, in one statement."""
    by_claim: dict[int, list[Annotation]] = {}
    for annotation in map(
        _vote, connection.execute(with_names(VoteRow, "vote_id", project_id)).yield_per(2000)
    ):
        by_claim.setdefault(annotation.claim_key, []).append(annotation)
    return {claim_key: current(annotations) for claim_key, annotations in by_claim.items()}


def pace(connection: Connection, project_id: int, person_id: int | None) -> Sequence[float]:
    """The seconds of recent first readings of a person, or of anybody."""
    statement = (
        select(col(VoteRow.seconds))
        .where(col(VoteRow.project_id) == project_id)
        .order_by(col(VoteRow.vote_id).desc())
        .limit(PACE_READINGS)
    )
    if person_id is not None:
        statement = statement.where(col(VoteRow.person_id) == person_id)
    return list(connection.execute(statement).scalars())


def latest_annotations(connection: Connection, project_id: int, person_id: int) -> list[Row[Any]]:
    """The latest annotations of a person: rows of vote_id, claim_key and at, the latest first."""
    return list(
        connection.execute(
            select(col(VoteRow.vote_id), col(VoteRow.claim_key), col(VoteRow.at))
            .where(col(VoteRow.project_id) == project_id, col(VoteRow.person_id) == person_id)
            .order_by(col(VoteRow.vote_id).desc())
            .limit(PACE_READINGS)
        )
    )


def _vote(row: Row[Any]) -> Annotation:
    first = None
    if row.first_support is not None:
        first = Judgement(
            support=VerdictLabel(row.first_support),
            source_id=row.first_source_id,
            conflation=row.first_conflation,
        )
    return Annotation(
        vote_id=row.vote_id,
        claim_key=row.claim_key,
        reviewer=row.name,
        slot=row.slot,
        judgement=judgement_of(row),
        first=first,
        confidence=row.confidence,
        rationale=row.rationale,
        saw_model_output=row.saw_model_output,
        changed_after_reveal=row.changed_after_reveal,
        exposures=() if row.exposures == "[]" else _exposures(row.exposures),
        seconds=row.seconds,
        at=row.at,
        queue_reason=QueueReason(row.queue_reason),
        inclusion_probability=row.inclusion_probability,
        guideline_version=row.guideline_version,
        run_key=row.run_key,
        threshold=row.threshold,
    )


def _exposures(document: str) -> tuple[Exposure, ...]:
    return tuple(
        Exposure(what=one["what"], at=datetime.fromisoformat(one["at"]))
        for one in json.loads(document)
    )
