"""Reading requests: claims that come to somebody before the rest of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, or_, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.review.records import Person, Project
from storage.audit import append_event
from storage.review_tables import AssignmentRow, ClaimRow, Decline, QueueRow
from storage.triage_tables import ReadingRequest


def ask_for(
    connection: Connection,
    project: Project,
    positions: Sequence[int],
    reader: Person | None,
    *,
    by: Person,
    at: datetime,
) -> None:
    """These traces' claims come first: to that person, or to whoever asks next (None)."""
    if not positions:
        return
    _forget(connection, project, positions, reader, now=False)
    connection.execute(
        insert(ReadingRequest),
        [_values(project, position, None, reader, False, at) for position in positions],
    )
    append_event(
        connection,
        at=at,
        actor=by.name,
        action="traces.assigned" if reader else "traces.queued",
        entity=f"{len(positions)} traces" if len(positions) > 1 else f"trace {positions[0]}",
        detail={
            "project": project.project_id,
            "positions": list(positions),
            "person": reader.person_id if reader else None,
        },
    )


def withdraw(
    connection: Connection, project: Project, positions: Sequence[int], *, by: Person, at: datetime
) -> None:
    """These traces' claims come in the order of the queue again."""
    connection.execute(
        delete(ReadingRequest).where(
            col(ReadingRequest.project_id) == project.project_id,
            col(ReadingRequest.position).in_(positions),
        )
    )
    append_event(
        connection,
        at=at,
        actor=by.name,
        action="traces.unassigned",
        entity=f"{len(positions)} traces",
        detail={"project": project.project_id, "positions": list(positions)},
    )


def turn_to(
    connection: Connection,
    project: Project,
    position: int,
    claim_key: int | None,
    reader: Person,
    *,
    at: datetime,
) -> None:
    """The reader opened this trace's claims themselves: that claim first, then the others."""
    _forget(connection, project, [position], reader, now=True)
    wanted = [None] if claim_key is None else [claim_key, None]
    connection.execute(
        insert(ReadingRequest),
        [_values(project, position, each, reader, True, at) for each in wanted],
    )


def next_requested(
    connection: Connection, project_id: int, person_id: int, *free: ColumnElement[bool]
) -> Row[tuple[int, str, float | None]] | None:
    """The queue's row of the claim that was asked for first, among those ``free`` for the person."""
    # What they opened themselves last, then what was given to them, then what anybody should read.
    order = (
        col(ReadingRequest.now).desc(),
        col(ReadingRequest.person_id).is_(None),
        col(ReadingRequest.claim_key).is_(None),
        col(ReadingRequest.request_id),
        col(ClaimRow.number),
    )
    # Not joined: SQLite would begin with the queue, and read all of it where nothing was asked for.
    waiting = (
        select(1)
        .where(
            col(QueueRow.project_id) == project_id,
            col(QueueRow.claim_key) == col(ClaimRow.claim_key),
            col(QueueRow.missing) > 0,
            *free,
        )
        .correlate(ClaimRow)
        .exists()
    )
    asked = connection.execute(
        select(col(ClaimRow.claim_key))
        .select_from(ReadingRequest)
        .join(ClaimRow, col(ClaimRow.position) == col(ReadingRequest.position))
        .where(
            col(ReadingRequest.project_id) == project_id,
            or_(
                col(ReadingRequest.person_id) == person_id,
                col(ReadingRequest.person_id).is_(None),
            ),
            or_(
                col(ReadingRequest.claim_key).is_(None),
                col(ReadingRequest.claim_key) == col(ClaimRow.claim_key),
            ),
            waiting,
        )
        .order_by(*order)
        .limit(1)
    ).scalar()
    if asked is None:
        return None
    return connection.execute(
        select(
            col(QueueRow.claim_key), col(QueueRow.reason), col(QueueRow.inclusion_probability)
        ).where(col(QueueRow.project_id) == project_id, col(QueueRow.claim_key) == asked)
    ).one()  # type: ignore[return-value]


def kept_for_others(project_id: int, person_id: int) -> ColumnElement[bool]:
    """Whether as many people as readings are missing were given the claim and have yet to take it."""
    theirs = aliased(ReadingRequest)
    taken = (
        select(1)
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
            col(AssignmentRow.person_id) == col(theirs.person_id),
        )
        .correlate(QueueRow, theirs)
        .exists()
    )
    passed_on = (
        select(1)
        .where(
            col(Decline.project_id) == project_id,
            col(Decline.claim_key) == col(QueueRow.claim_key),
            col(Decline.person_id) == col(theirs.person_id),
        )
        .correlate(QueueRow, theirs)
        .exists()
    )
    waiting = (
        select(func.count(func.distinct(col(theirs.person_id))))
        .select_from(theirs)
        .join(ClaimRow, col(ClaimRow.position) == col(theirs.position))
        .where(
            col(ClaimRow.claim_key) == col(QueueRow.claim_key),
            col(theirs.project_id) == project_id,
            col(theirs.person_id) != person_id,
            ~col(theirs.now),
            ~taken,
            ~passed_on,
        )
        .correlate(QueueRow)
        .scalar_subquery()
    )
    return waiting >= col(QueueRow.missing)


def _forget(
    connection: Connection,
    project: Project,
    positions: Sequence[int],
    reader: Person | None,
    *,
    now: bool,
) -> None:
    person = col(ReadingRequest.person_id)
    whose = person.is_(None) if reader is None else person == reader.person_id
    connection.execute(
        delete(ReadingRequest).where(
            col(ReadingRequest.project_id) == project.project_id,
            # What somebody opened before is not what they want now, wherever it is.
            col(ReadingRequest.now) if now else col(ReadingRequest.position).in_(positions),
            whose,
        )
    )


def _values(
    project: Project,
    position: int,
    claim_key: int | None,
    reader: Person | None,
    now: bool,
    at: datetime,
) -> dict[str, object]:
    return {
        "project_id": project.project_id,
        "position": position,
        "claim_key": claim_key,
        "person_id": reader.person_id if reader else None,
        "now": now,
        "at": at,
    }
