"""The queue of each project: one row a claim, kept in step with runs, assignments and annotations.

A row says where its claim stands (core/review/sampling.py), how many readings nobody has taken, and
how far it is. Everything here runs in the transaction of the write that it follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, select, update
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import QueueState
from core.review.leases import stream_order
from core.review.records import Project, ProjectSettings, QueueReason, Signal
from core.review.sampling import Place, audit_draw, place_claim
from storage.reading_requests import kept_for_others, next_requested
from storage.review_tables import (
    AssignmentRow,
    ClaimRow,
    Decline,
    ProjectRow,
    QueueRow,
)
from storage.round_conditions import not_in_round, open_round
from storage.tables import TraceSlice, TraceVersion
from storage.traces import is_newest

ROWS_AT_ONCE = 500
Key = TypeVar("Key", int, int | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The next claim of somebody's queue."""

    claim_key: int
    reason: QueueReason
    inclusion_probability: float | None


def projects(connection: Connection) -> tuple[Project, ...]:
    """All projects, the first first."""
    rows = connection.execute(
        select(ProjectRow.__table__).order_by(col(ProjectRow.project_id))  # type: ignore[attr-defined]
    )
    return tuple(
        Project(
            project_id=row.project_id,
            settings=ProjectSettings(
                name=row.name,
                reads_per_claim=row.reads_per_claim,
                decide_first=row.decide_first,
                dwell_milliseconds=row.dwell_milliseconds,
                lease_minutes=row.lease_minutes,
                audit_share=row.audit_share,
                slice=row.slice,
            ),
            version=row.version,
        )
        for row in rows
    )


# ---------------------------------------------------------------- what runs find


def follow(connection: Connection, position: int, signals: Mapping[int, Signal]) -> None:
    """Queue the claims that a run found in a trace, instead of what earlier runs found there.

    What nobody has begun of earlier versions and earlier cuts of the answer leaves the queues.
    """
    every = projects(connection)
    if not every or not _newest(connection, position):
        return
    other = aliased(TraceVersion)
    same_trace = (
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(other, col(other.trace_key) == col(TraceVersion.trace_key))
        .where(col(other.position) == position)
    )
    former = [key for key in connection.execute(same_trace).scalars() if key not in signals]
    for some in _pieces(former):
        connection.execute(
            delete(QueueRow).where(
                col(QueueRow.claim_key).in_(some),
                col(QueueRow.state) == QueueState.WAITING.value,
            )
        )
    slices = set(
        connection.execute(
            select(col(TraceSlice.slice)).where(col(TraceSlice.position) == position)
        ).scalars()
    )
    draws = list(_identities(connection, list(signals)))
    for project in every:
        if project.settings.slice is None or project.settings.slice in slices:
            _put(connection, project, draws, signals)


def fill(connection: Connection, project: Project, signals: Mapping[int, Signal]) -> None:
    """Queue those claims for a project that has none of them yet."""
    for keys in _pieces(list(signals)):
        _put(connection, project, list(_identities(connection, keys)), signals)


def empty(connection: Connection, project_id: int) -> None:
    """Take everything out of a project's queue."""
    connection.execute(delete(QueueRow).where(col(QueueRow.project_id) == project_id))


Identity = tuple[int, str, str, str]  # claim key, trace key, claim id, hash of its text


def _identities(connection: Connection, keys: Sequence[int]) -> Iterator[Identity]:
    for some in _pieces(keys):
        rows = connection.execute(
            select(
                col(ClaimRow.claim_key),
                col(TraceVersion.trace_key),
                col(ClaimRow.claim_id),
                col(ClaimRow.text_sha256),
            )
            .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
            .where(col(ClaimRow.claim_key).in_(some))
        )
        for row in rows:
            yield row.claim_key, row.trace_key, row.claim_id, row.text_sha256


def _put(
    connection: Connection,
    project: Project,
    identities: Sequence[Identity],
    signals: Mapping[int, Signal],
) -> None:
    there = _queued(connection, project.project_id, [one[0] for one in identities])
    new, moved = [], []
    for claim_key, trace_key, claim_id, text_sha256 in identities:
        draw = audit_draw(project.project_id, trace_key, claim_id, text_sha256)
        place = place_claim(draw, signals[claim_key], project.settings.audit_share)
        if claim_key in there:
            moved.append((claim_key, place))
        else:
            new.append({"claim_key": claim_key, **_columns(project, place)})
    if new:
        connection.execute(insert(QueueRow), new)
    for claim_key, place in moved:
        connection.execute(
            update(QueueRow)
            .where(
                col(QueueRow.project_id) == project.project_id,
                col(QueueRow.claim_key) == claim_key,
                col(QueueRow.state) == QueueState.WAITING.value,
            )
            .values(
                audit=place.audit,
                rank=place.rank,
                reason=place.reason.value,
                inclusion_probability=place.inclusion_probability,
            )
        )


def _columns(project: Project, place: Place) -> dict[str, object]:
    return {
        "project_id": project.project_id,
        "audit": place.audit,
        "rank": place.rank,
        "reason": place.reason.value,
        "inclusion_probability": place.inclusion_probability,
        "missing": project.settings.reads_per_claim,
        "state": QueueState.WAITING.value,
    }


def _queued(connection: Connection, project_id: int, keys: Collection[int]) -> set[int]:
    found: set[int] = set()
    for some in _pieces(list(keys)):
        found |= set(
            connection.execute(
                select(col(QueueRow.claim_key)).where(
                    col(QueueRow.project_id) == project_id, col(QueueRow.claim_key).in_(some)
                )
            ).scalars()
        )
    return found


def _newest(connection: Connection, position: int) -> bool:
    found = connection.execute(
        select(col(TraceVersion.position)).where(
            col(TraceVersion.position) == position, is_newest()
        )
    ).scalar()
    return found is not None


def _pieces(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    # A statement holds a limited number of values.
    for start in range(0, len(keys), ROWS_AT_ONCE):
        yield keys[start : start + ROWS_AT_ONCE]


# ---------------------------------------------------------------- what people take


def set_standing(
    connection: Connection, project_id: int, claim_key: int, *, missing: int, state: QueueState
) -> None:
    """How many readings of the claim nobody has, and how far it is."""
    connection.execute(
        update(QueueRow)
        .where(col(QueueRow.project_id) == project_id, col(QueueRow.claim_key) == claim_key)
        .values(missing=missing, state=state.value)
    )


def next_to_read(
    connection: Connection, project: Project, person_id: int, *, audit_first: bool
) -> Queued | None:
    """The claim that the person should read next: what was asked for, then by ``stream_order``."""
    # A calibration round shows the same claims to all of its readers before anybody else reads them.
    aside = not_in_round(open_round(connection, project.project_id))
    free = (*not_yet(project.project_id, person_id), aside)
    asked = next_requested(connection, project.project_id, person_id, *free)
    if asked is not None:
        return Queued(
            claim_key=asked.claim_key,
            reason=QueueReason(asked.reason),
            inclusion_probability=asked.inclusion_probability,
        )
    order = stream_order(project.settings.reads_per_claim, audit_first=audit_first)
    for missing, audit in order:
        row = connection.execute(
            select(
                col(QueueRow.claim_key),
                col(QueueRow.reason),
                col(QueueRow.inclusion_probability),
            )
            .where(
                col(QueueRow.project_id) == project.project_id,
                col(QueueRow.missing) == missing,
                col(QueueRow.audit) == literal(audit),
                *free,
                ~kept_for_others(project.project_id, person_id),
            )
            .order_by(col(QueueRow.rank), col(QueueRow.claim_key))
            .limit(1)
        ).first()
        if row is not None:
            return Queued(
                claim_key=row.claim_key,
                reason=QueueReason(row.reason),
                inclusion_probability=row.inclusion_probability,
            )
    return None


def queued_claim(connection: Connection, project_id: int, claim_key: int) -> Queued | None:
    """That claim as it stands in the queue; None once it is there no more."""
    row = connection.execute(
        select(col(QueueRow.reason), col(QueueRow.inclusion_probability)).where(
            col(QueueRow.project_id) == project_id, col(QueueRow.claim_key) == claim_key
        )
    ).first()
    if row is None:
        return None
    return Queued(
        claim_key=claim_key,
        reason=QueueReason(row.reason),
        inclusion_probability=row.inclusion_probability,
    )


def next_disagreement(connection: Connection, project_id: int, person_id: int) -> int | None:
    """The oldest claim whose readings differ, that nobody is deciding and this person has not read."""
    key: int | None = connection.execute(
        select(col(QueueRow.claim_key))
        .where(*_open_disagreements(project_id, person_id))
        .order_by(col(QueueRow.claim_key))
        .limit(1)
    ).scalar()
    return key


def count_disagreements(connection: Connection, project_id: int, person_id: int) -> int:
    """How many disagreements the person may take."""
    return connection.execute(
        select(func.count())
        .select_from(QueueRow)
        .where(*_open_disagreements(project_id, person_id))
    ).scalar_one()


def _open_disagreements(project_id: int, person_id: int) -> tuple[ColumnElement[bool], ...]:
    deciding = (
        select(1)
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
            col(AssignmentRow.slot) == ADJUDICATION_SLOT,
        )
        .correlate(QueueRow)
        .exists()
    )
    return (
        col(QueueRow.project_id) == project_id,
        col(QueueRow.state) == QueueState.DISAGREEMENT.value,
        ~deciding,
        *not_yet(project_id, person_id),
    )


def not_yet(project_id: int, person_id: int) -> tuple[ColumnElement[bool], ...]:
    """The person neither has nor has read nor has given back the claim of the queue's row."""
    mine = (
        select(1)
        .where(
            col(AssignmentRow.project_id) == project_id,
            col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
            col(AssignmentRow.person_id) == person_id,
        )
        .correlate(QueueRow)
        .exists()
    )
    given_back = (
        select(1)
        .where(
            col(Decline.claim_key) == col(QueueRow.claim_key),
            col(Decline.project_id) == project_id,
            col(Decline.person_id) == person_id,
        )
        .correlate(QueueRow)
        .exists()
    )
    return ~mine, ~given_back
