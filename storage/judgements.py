"""What annotations and adjudications have in common in the database: a judgement, by somebody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import col

from core.records import VerdictLabel
from core.review.annotating import NewAnnotation
from core.review.records import Annotation, Judgement
from storage.columns import plain_text
from storage.review_tables import AdjudicationRow, PersonRow, VoteRow


def judgement_columns(judgement: Judgement) -> dict[str, object]:
    """The columns that hold a judgement."""
    return {
        "support": judgement.support.value,
        "source_id": judgement.source_id,
        "conflation": judgement.conflation,
    }


def judgement_of(row: Row[Any]) -> Judgement:
    """The judgement of a row."""
    return Judgement(
        support=VerdictLabel(row.support), source_id=row.source_id, conflation=row.conflation
    )


def annotation_columns(said: NewAnnotation | Annotation) -> dict[str, object]:
    """The columns of what a reviewer said, without who, when and in which place."""
    first = said.first
    return {
        **judgement_columns(said.judgement),
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


def with_names(table: type[VoteRow] | type[AdjudicationRow], key: str, project_id: int) -> Any:
    """The rows of a project with the name of the person, the oldest first; ``key`` numbers them."""
    columns: Mapping[str, Any] = table.__table__.c  # type: ignore[union-attr]
    return (
        select(table.__table__, col(PersonRow.name))  # type: ignore[union-attr]
        .join(PersonRow, col(PersonRow.person_id) == columns["person_id"])
        .where(columns["project_id"] == project_id)
        .order_by(columns[key])
    )
