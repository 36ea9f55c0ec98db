"""How far a project is, counted: done, in hand, left and stuck."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.review.assignment import ADJUDICATION_SLOT
from storage import review_tables as tables
from storage.review_tables import AssignmentRow


def count_mine(connection: Connection, project_id: int, person_id: int) -> tuple[int, int]:
    """How many readings the person has done, and how many are in hand."""
    rows = connection.execute(
        select(col(AssignmentRow.state), func.count())
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.person_id) == person_id,
            col(AssignmentRow.slot) < ADJUDICATION_SLOT,
        )
        .group_by(col(AssignmentRow.state))
    ).all()
    found = {row[0]: row[1] for row in rows}
    return found.get("done", 0), found.get("open", 0)


def count_left(connection: Connection, project_id: int, person_id: int) -> int:
    """How many readings that nobody has taken the person may still do."""
    row = tables.QueueRow
    missing = (col(row.project_id) == project_id, col(row.missing) > 0)

    def how_many(*conditions: Any) -> int:
        return connection.execute(
            select(func.count()).select_from(row).where(*missing, *conditions)
        ).scalar_one()

    # Counted from the person's side, so that it costs what the person has done, not the queue.
    mine = select(col(AssignmentRow.claim_key)).where(
        col(AssignmentRow.project_id) == project_id, col(AssignmentRow.person_id) == person_id
    )
    returned = select(col(tables.Decline.claim_key)).where(
        col(tables.Decline.project_id) == project_id, col(tables.Decline.person_id) == person_id
    )
    return how_many() - how_many(col(row.claim_key).in_(mine.union(returned)))


def count_stuck(connection: Connection, project_id: int, *, before: datetime) -> int:
    """How many begun claims nobody has touched since then."""
    row = tables.QueueRow
    latest = (
        select(func.max(col(AssignmentRow.created_at)))
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.claim_key) == col(row.claim_key),
        )
        .correlate(row)
        .scalar_subquery()
    )
    return connection.execute(
        select(func.count())
        .select_from(row)
        .where(
            col(row.project_id) == project_id,
            col(row.state).in_(("reading", "tied")),
            latest < before,
        )
    ).scalar_one()
