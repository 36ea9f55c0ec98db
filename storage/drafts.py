"""Drafts: what a reviewer has typed so far on an assignment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select
from sqlmodel import col

from core.records import VerdictLabel
from core.review.items import Assignment, Draft
from storage import review_tables as tables


def put_draft(
    connection: Connection, assignment: Assignment, draft: Draft, *, now: datetime
) -> None:
    """Keep what was entered so far instead of what was kept before."""
    document = json.dumps(
        {
            "support": draft.support,
            "source_id": draft.source_id,
            "source_answered": draft.source_answered,
            "conflation": draft.conflation,
            "confidence": draft.confidence,
            "rationale": draft.rationale,
        }
    )
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
    if text is None:
        return None
    read: Mapping[str, Any] = json.loads(text)
    return Draft(
        support=None if read["support"] is None else VerdictLabel(read["support"]),
        source_id=read["source_id"],
        source_answered=read["source_answered"],
        conflation=read["conflation"],
        confidence=read["confidence"],
        rationale=read["rationale"],
    )
