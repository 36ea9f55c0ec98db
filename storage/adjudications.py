"""Adjudications: what a third person decided. The last one on a claim counts, unless it was reopened.

No row ever changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, select
from sqlmodel import col

from core.review.items import Assignment
from core.review.records import Adjudication, Cause, Judgement
from storage.audit import add_row
from storage.columns import plain_text
from storage.judgements import judgement_columns, judgement_of, with_names
from storage.review_tables import AdjudicationRow
from storage.triage_tables import AdjudicationReopening


def put_adjudication(
    connection: Connection,
    assignment: Assignment,
    judgement: Judgement,
    *,
    cause: Cause,
    guideline_needs_fix: bool,
    rule: str | None,
    rationale: str,
    shown: Sequence[int],
    guideline_version: int,
    nonce: str,
    at: datetime,
    actor: str,
) -> Adjudication:
    """Write an adjudication for the assignment in hand, with its event."""
    add_row(
        connection,
        AdjudicationRow,
        {
            "project_id": assignment.project_id,
            "claim_key": assignment.claim_key,
            "person_id": assignment.person_id,
            **judgement_columns(judgement),
            "cause": cause.value,
            "guideline_needs_fix": guideline_needs_fix,
            "rule": rule,
            "rationale": plain_text(rationale),
            "shown_order": json.dumps(list(shown)),
            "guideline_version": guideline_version,
            "nonce": nonce,
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
    found = adjudication_of(connection, assignment.project_id, assignment.claim_key)
    assert found is not None
    return found


def adjudication_of(connection: Connection, project_id: int, claim_key: int) -> Adjudication | None:
    """The adjudication that counts on a claim."""
    statement = _standing(project_id).where(col(AdjudicationRow.claim_key) == claim_key)
    rows = connection.execute(statement).all()
    return _adjudication(rows[-1]) if rows else None


def every_adjudication(connection: Connection, project_id: int) -> Mapping[int, Adjudication]:
    """The adjudication that counts on every claim of a project: claim key → adjudication."""
    rows = connection.execute(_standing(project_id))
    return {row.claim_key: _adjudication(row) for row in rows}


def stands() -> ColumnElement[bool]:
    """Whether nobody has reopened the adjudication in the row."""
    return col(AdjudicationRow.adjudication_id).not_in(
        select(col(AdjudicationReopening.adjudication_id))
    )


def _standing(project_id: int) -> Any:
    """The adjudications of a project that stand, the oldest first."""
    return with_names(AdjudicationRow, "adjudication_id", project_id).where(stands())


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
