"""How far a project is, counted: done, in hand, left and stuck."""

from __future__ import annotations

import statistics
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.review.assignment import ADJUDICATION_SLOT, STUCK_DAYS
from core.review.items import Progress, QueueState
from core.review.records import Person
from storage import review_tables as tables
from storage.annotations import pace
from storage.review_tables import AssignmentRow


def progress_of(
    connection: Connection, project_id: int, user: Person, *, now: datetime
) -> Progress:
    """How far the project is, and the person in it."""
    done, in_hand = count_mine(connection, project_id, user.person_id)
    by_state = {
        QueueState(row[0]): row[1]
        for row in connection.execute(
            select(col(tables.QueueRow.state), func.count())
            .where(col(tables.QueueRow.project_id) == project_id)
            .group_by(col(tables.QueueRow.state))
        )
    }
    seconds = pace(connection, project_id, user.person_id) or pace(connection, project_id, None)
    return Progress(
        mine_done=done,
        mine_open=in_hand,
        team_done=by_state.get(QueueState.SETTLED, 0),
        total=sum(by_state.values()),
        stuck=count_stuck(connection, project_id, before=now - timedelta(days=STUCK_DAYS)),
        seconds_per_claim=statistics.median(seconds) if seconds else None,
        ties=by_state.get(QueueState.DISAGREEMENT, 0),
        waiting=by_state.get(QueueState.WAITING, 0),
        left_for_me=in_hand + count_left(connection, project_id, user.person_id),
    )


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
