"""Annotations, adjudications and drafts: what people said of claims, or have typed so far.

A later annotation of the same reviewer supersedes, the last adjudication counts unless it was reopened;
no row of either ever changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, insert, select
from sqlmodel import col

from core.codec.fields import plain
from core.records import VerdictLabel
from core.review.annotating import Decision, NewAnnotation, current
from core.review.assignment import LEAST_PACED, PACE_ANNOTATIONS
from core.review.items import Assignment, Draft
from core.review.records import (
    Adjudication,
    Annotation,
    Cause,
    Exposure,
    Judgement,
    Passage,
    QueueReason,
    Support,
    Unfit,
)
from storage import tables
from storage.audit import add_row
from storage.columns import in_pieces, plain_text
from storage.tables import (
    PROJECT,
    AdjudicationReopening,
    AdjudicationRow,
    AnnotationRow,
    AnnotationWithdrawal,
    PersonRow,
    about,
)

# What few judgements have: a key each in the column ``more``, and there only where it says something.
_MORE = ("correction", "more_source_ids", "passages")


def judgement_columns(judgement: Judgement, first: Judgement | None = None) -> dict[str, object]:
    """The columns that hold a judgement, and what few have of the ``first`` before the reveal."""
    more = _more(judgement)
    if of_first := _more(first):
        more["first"] = of_first
    return {
        "support": judgement.support.value,
        "source_id": judgement.source_id,
        "conflation": judgement.conflation,
        "more": json.dumps(more, sort_keys=True) if more else None,
    }


def _more(judgement: Judgement | None) -> dict[str, object]:
    if judgement is None:
        return {}
    return {name: plain(value) for name in _MORE if (value := getattr(judgement, name))}


def judgement_of(row: Row[Any]) -> Judgement:
    """The judgement of a row."""
    return _judgement(row.support, row.source_id, row.conflation, _said_more(row))


def _said_more(row: Row[Any]) -> Mapping[str, Any]:
    return {} if row.more is None else json.loads(row.more)


def _judgement(
    support: str, source_id: str | None, conflation: bool | None, more: Mapping[str, Any]
) -> Judgement:
    return Judgement(
        support=support_of(support),
        source_id=source_id,
        conflation=conflation,
        correction=more.get("correction", ""),
        more_source_ids=tuple(more.get("more_source_ids", ())),
        passages=tuple(Passage(**each) for each in more.get("passages", ())),
    )


def support_of(text: str) -> Support:
    """The answer to whether it is supported, as the database holds it."""
    return Unfit.NOT_A_CLAIM if text == Unfit.NOT_A_CLAIM.value else VerdictLabel(text)


def annotation_columns(said: NewAnnotation | Annotation) -> dict[str, object]:
    """The columns of what a reviewer said, without who, when and in which place."""
    first = said.first
    return {
        **judgement_columns(said.judgement, first),
        "first_support": None if first is None else first.support.value,
        "first_source_id": None if first is None else first.source_id,
        "first_conflation": None if first is None else first.conflation,
        "confidence": said.confidence,
        "rationale": plain_text(said.rationale),
        "saw_model_output": said.saw_model_output,
        "changed_after_reveal": said.changed_after_reveal,
        "exposures": json.dumps(
            [{"what": one.what, "at": one.at.isoformat()} for one in said.exposures]
        ),
        "seconds": said.seconds,
        "guideline_version": said.guideline_version,
        "run_key": said.run_key,
        "threshold": said.threshold,
    }


def with_names(table: type[AnnotationRow] | type[AdjudicationRow], key: str) -> Any:
    """The rows that nobody took back, with the name of the person, the oldest first;
    ``key`` numbers them."""
    columns: Mapping[str, Any] = table.__table__.c  # type: ignore[union-attr]
    return (
        select(table.__table__, col(PersonRow.name))  # type: ignore[union-attr]
        .join(PersonRow, col(PersonRow.person_id) == columns["person_id"])
        .where(
            columns["project_id"] == PROJECT,
            not_withdrawn() if table is AnnotationRow else stands(),
        )
        .order_by(columns[key])
    )


def not_withdrawn() -> ColumnElement[bool]:
    """Whether nobody has taken back the annotation in the row."""
    return col(AnnotationRow.vote_id).not_in(select(col(AnnotationWithdrawal.vote_id)))


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
        AnnotationRow,
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
        for annotation in annotations_of(connection, assignment.claim_key)
        if annotation.vote_id == vote_id
    )


def annotations_of(
    connection: Connection, claim_key: int, *, person_id: int | None = None
) -> tuple[Annotation, ...]:
    """Every annotation on a claim as written, the oldest first."""
    statement = with_names(AnnotationRow, "vote_id").where(
        col(AnnotationRow.claim_key) == claim_key
    )
    if person_id is not None:
        statement = statement.where(col(AnnotationRow.person_id) == person_id)
    return tuple(map(_annotation, connection.execute(statement)))


def current_annotations(connection: Connection, claim_key: int) -> tuple[Annotation, ...]:
    """The annotations that count, one a reviewer, by slot."""
    return current(annotations_of(connection, claim_key))


def every_annotation(
    connection: Connection, claim_keys: Collection[int] | None = None
) -> Mapping[int, list[Annotation]]:
    """The annotations as written on every claim, or on some: claim key → annotations."""
    by_claim: dict[int, list[Annotation]] = {}
    statement = with_names(AnnotationRow, "vote_id")
    for row in _of_claims(connection, statement, AnnotationRow, claim_keys):
        by_claim.setdefault(row.claim_key, []).append(_annotation(row))
    return by_claim


def every_current_annotation(
    connection: Connection, claim_keys: Collection[int] | None = None
) -> Mapping[int, tuple[Annotation, ...]]:
    """Of the same, those that count."""
    found = every_annotation(connection, claim_keys)
    return {claim_key: current(annotations) for claim_key, annotations in found.items()}


def _of_claims(
    connection: Connection, statement: Any, table: Any, claim_keys: Collection[int] | None
) -> Iterator[Row[Any]]:
    """What the statement finds of the table, or of it about some claims."""
    if claim_keys is None:
        yield from connection.execute(statement).yield_per(2000)
        return
    for keys in in_pieces(list(claim_keys)):
        yield from connection.execute(statement.where(col(table.claim_key).in_(keys)))


def pace(connection: Connection, person_id: int | None) -> Sequence[float]:
    """The seconds of recent first annotations of a person, or of anybody; none of few: one claim
    that somebody was called away from would say "8 hours left"."""
    statement = (
        select(col(AnnotationRow.seconds))
        # What came with an import was not timed.
        .where(col(AnnotationRow.seconds) > 0)
        .order_by(col(AnnotationRow.vote_id).desc())
        .limit(PACE_ANNOTATIONS)
    )
    if person_id is not None:
        statement = statement.where(col(AnnotationRow.person_id) == person_id)
    seconds = list(connection.execute(statement).scalars())
    return seconds if len(seconds) >= LEAST_PACED else []


def latest_annotations(connection: Connection, person_id: int) -> list[Row[Any]]:
    """The latest annotations of a person: rows of vote_id, claim_key and at, the latest first."""
    return list(
        connection.execute(
            select(col(AnnotationRow.vote_id), col(AnnotationRow.claim_key), col(AnnotationRow.at))
            .where(col(AnnotationRow.person_id) == person_id)
            .order_by(col(AnnotationRow.vote_id).desc())
            .limit(PACE_ANNOTATIONS)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """A person's own annotation that counts, as their list shows it.

    ``open``: its claim is in their hands; ``adjudicated``: a third person has decided it.
    """

    claim_key: int
    text: str
    trace_id: str
    content_hash: str
    question: str
    judgement: Judgement
    rationale: str
    at: datetime
    open: bool
    adjudicated: bool


def own_annotations(connection: Connection, person_id: int) -> tuple[Mine, ...]:
    """A person's annotations that count and that were assigned to them, the latest first."""
    said, claim, trace = AnnotationRow, tables.ClaimRow, tables.TraceVersion
    its_own = about(tables.AssignmentRow, said.claim_key, person_id)
    rows: Sequence[Any] = connection.execute(
        select(
            said.__table__,  # type: ignore[attr-defined]
            col(claim.text),
            col(trace.trace_id),
            col(trace.content_hash),
            col(trace.question),
            (col(tables.AssignmentRow.state) == "open").label("open"),
            exists()
            .where(
                col(AdjudicationRow.project_id) == PROJECT,
                col(AdjudicationRow.claim_key) == col(said.claim_key),
                stands(),
            )
            .label("adjudicated"),
        )
        .join(claim, col(claim.claim_key) == col(said.claim_key))
        .join(trace, col(trace.position) == col(claim.position))
        .join(tables.AssignmentRow, its_own)
        .where(
            col(said.vote_id).in_(
                select(func.max(col(said.vote_id)))
                .where(col(said.person_id) == person_id, not_withdrawn())
                .group_by(col(said.claim_key))
            )
        )
        .order_by(col(said.vote_id).desc())
    ).all()
    names = [field.name for field in fields(Mine) if field.name != "judgement"]
    return tuple(
        Mine(judgement=judgement_of(row), **{name: getattr(row, name) for name in names})
        for row in rows
    )


def _annotation(row: Row[Any]) -> Annotation:
    first = None
    if row.first_support is not None:
        first = _judgement(
            row.first_support,
            row.first_source_id,
            row.first_conflation,
            _said_more(row).get("first", {}),
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


def put_adjudication(
    connection: Connection,
    assignment: Assignment,
    decision: Decision,
    shown: Sequence[int],
    *,
    guideline_version: int,
    at: datetime,
    actor: str,
) -> Adjudication:
    """Write an adjudication for the assignment in hand, with its event."""
    add_row(
        connection,
        AdjudicationRow,
        {
            "claim_key": assignment.claim_key,
            "person_id": assignment.person_id,
            **judgement_columns(decision.judgement),
            "cause": decision.cause.value,
            "guideline_needs_fix": decision.guideline_needs_fix,
            "rule": decision.rule,
            "rationale": plain_text(decision.rationale),
            "shown_order": json.dumps(list(shown)),
            "guideline_version": guideline_version,
            "nonce": decision.nonce,
            "at": at,
        },
        at=at,
        actor=actor,
        action="claim.adjudicated",
        entity=f"claim {assignment.claim_key}",
        detail={
            "project": assignment.project_id,
            "votes": list(shown),
            "guideline": guideline_version,
        },
    )
    found = adjudication_of(connection, assignment.claim_key)
    assert found is not None
    return found


def adjudication_of(connection: Connection, claim_key: int) -> Adjudication | None:
    """The adjudication that counts on a claim."""
    return every_adjudication(connection, [claim_key]).get(claim_key)


def every_adjudication(
    connection: Connection, claim_keys: Collection[int] | None = None
) -> Mapping[int, Adjudication]:
    """The adjudication that counts on every claim, or on some: claim key → adjudication."""
    statement = with_names(AdjudicationRow, "adjudication_id")
    rows = _of_claims(connection, statement, AdjudicationRow, claim_keys)
    return {row.claim_key: _adjudication(row) for row in rows}


def stands() -> ColumnElement[bool]:
    """Whether nobody has reopened the adjudication in the row."""
    return col(AdjudicationRow.adjudication_id).not_in(
        select(col(AdjudicationReopening.adjudication_id))
    )


def _adjudication(row: Row[Any]) -> Adjudication:
    return Adjudication(
        adjudication_id=row.adjudication_id,
        claim_key=row.claim_key,
        reviewer=row.name,
        judgement=judgement_of(row),
        cause=Cause(row.cause),
        guideline_needs_fix=row.guideline_needs_fix,
        rule=row.rule,
        rationale=row.rationale,
        at=row.at,
        guideline_version=row.guideline_version,
    )


def put_draft(
    connection: Connection, assignment: Assignment, draft: Draft, *, now: datetime
) -> None:
    """Keep what was entered so far instead of what was kept before."""
    document = json.dumps(asdict(draft))
    connection.execute(
        delete(tables.Draft).where(col(tables.Draft.assignment_id) == assignment.assignment_id)
    )
    connection.execute(
        insert(tables.Draft).values(
            assignment_id=assignment.assignment_id, document=document, updated_at=now
        )
    )


def draft_of(connection: Connection, assignment_id: int) -> Draft | None:
    """What was entered so far."""
    text = connection.execute(
        select(col(tables.Draft.document)).where(col(tables.Draft.assignment_id) == assignment_id)
    ).scalar()
    return None if text is None else _DRAFT.validate_json(text)


_DRAFT = TypeAdapter(Draft)
