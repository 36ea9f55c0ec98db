"""Assignments: who annotates which claim, and until when. These rows change; annotations do not."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlmodel import col

from core.errors import Conflict, NotFound, StoreError
from core.review import leases
from core.review.assignment import ADJUDICATION_SLOT, lease_until
from core.review.items import Assignment, OpenAssignment
from core.review.records import Person, Project, QueueReason
from core.review.sampling import audit_turn
from storage import queue, tables
from storage.annotations import annotations_of, not_withdrawn
from storage.audit import append_event
from storage.columns import in_pieces, plain_text, read_as
from storage.queue import settle
from storage.tables import (
    PROJECT,
    SHOWN_NAME,
    AnnotationRow,
    AssignmentRow,
    AuditEvent,
    ClaimRow,
    QueueRow,
    TraceVersion,
    about,
)

ASSIGNED = "claim.assigned"


def open_annotation(connection: Connection, person_id: int) -> Assignment | None:
    """The annotation in the person's hands: of several the one that is new or was shown last.

    Somebody holds several after taking something back: that comes first, then the one before it.
    """
    shown = col(AssignmentRow.shown_at)
    return _first(
        connection,
        _select()
        .where(col(AssignmentRow.person_id) == person_id, col(AssignmentRow.state) == "open")
        .where(col(AssignmentRow.slot) < ADJUDICATION_SLOT)
        .order_by(None)
        .order_by(shown.is_not(None), shown.desc(), col(AssignmentRow.assignment_id)),
    )


def open_adjudication(connection: Connection, person_id: int) -> Assignment | None:
    """The disagreement in the person's hands."""
    return _first(
        connection,
        _select()
        .where(col(AssignmentRow.person_id) == person_id, col(AssignmentRow.state) == "open")
        .where(col(AssignmentRow.slot) == ADJUDICATION_SLOT),
    )


def assignment_of(connection: Connection, claim_key: int, person_id: int) -> Assignment | None:
    """The person's assignment of that claim, open or done."""
    return _first(
        connection,
        _select().where(
            col(AssignmentRow.claim_key) == claim_key, col(AssignmentRow.person_id) == person_id
        ),
    )


def assignments_of(connection: Connection, claim_keys: Sequence[int]) -> Iterator[Assignment]:
    """Every assignment of those claims."""
    for keys in in_pieces(claim_keys):
        of = _select().where(col(AssignmentRow.claim_key).in_(keys))
        yield from map(_assignment, connection.execute(of))


def assignment_at(connection: Connection, assignment_id: int) -> Assignment:
    """That assignment; raises NotFound when it is gone (given back, or its lease ran out)."""
    found = _first(connection, _select().where(col(AssignmentRow.assignment_id) == assignment_id))
    if found is None:
        raise NotFound(leases.GONE)
    return found


def own(connection: Connection, assignment_id: int, user: Person) -> Assignment:
    """That assignment, if it is the person's; raises NotFound otherwise."""
    return leases.check_own(assignment_at(connection, assignment_id), user)


def open_assignments(connection: Connection) -> tuple[OpenAssignment, ...]:
    """Every claim that somebody holds, the one that has not moved longest first."""
    latest_annotations = (
        select(func.max(col(AnnotationRow.vote_id)))
        .where(
            about(AnnotationRow, AssignmentRow.claim_key, AssignmentRow.person_id), not_withdrawn()
        )
        .correlate(AssignmentRow)
        .scalar_subquery()
    )
    rows: Sequence[Any] = connection.execute(
        select(
            AssignmentRow.__table__,  # type: ignore[attr-defined]
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            SHOWN_NAME.label("holder"),
            col(tables.Draft.updated_at),
            col(AnnotationRow.at).label("voted_at"),
        )
        .join(ClaimRow, col(ClaimRow.claim_key) == col(AssignmentRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(tables.PersonRow, col(tables.PersonRow.person_id) == col(AssignmentRow.person_id))
        .outerjoin(
            tables.Draft, col(tables.Draft.assignment_id) == col(AssignmentRow.assignment_id)
        )
        .outerjoin(AnnotationRow, col(AnnotationRow.vote_id) == latest_annotations)
        .where(col(AssignmentRow.state) == "open")
    ).all()
    assignment = (
        OpenAssignment(
            assignment_id=row.assignment_id,
            claim_key=row.claim_key,
            claim_id=row.claim_id,
            text=row.text,
            trace_id=row.trace_id,
            slot=row.slot,
            holder=row.holder,
            since=row.created_at,
            lease_until=row.lease_until,
            moved_at=leases.moved_at(row.created_at, row.shown_at, row.updated_at, row.voted_at),
            reconsidered=row.voted_at is not None,
        )
        for row in rows
    )
    return tuple(sorted(assignment, key=lambda one: (one.moved_at, one.assignment_id)))


def take(
    connection: Connection, project: Project, user: Person, *, now: datetime
) -> Assignment | None:
    """The next claim of the queue, from now on in the person's hands; None when none is left."""
    given = connection.execute(select(func.max(col(AssignmentRow.assignment_id)))).scalar() or 0
    queued = queue.next_to_read(
        connection,
        project,
        user.person_id,
        audit_first=audit_turn(project.project_id, given, project.settings.audit_share),
    )
    if queued is None:
        return None
    assignment = _take(connection, project, user, queued, now=now)
    if assignment is None:
        raise StoreError(f"claim {queued.claim_key}: the queue offers an annotation that is taken")
    return assignment


def take_again(
    connection: Connection, project: Project, user: Person, claim_key: int, *, now: datetime
) -> Assignment:
    """A claim that the person gave back, in their hands again; raises Conflict once others have it."""
    queued = queue.queued_claim(connection, claim_key)
    assignment = _take(connection, project, user, queued, now=now) if queued else None
    if assignment is None:
        raise Conflict(leases.PASSED_ON)
    return assignment


def _take(
    connection: Connection, project: Project, user: Person, queued: queue.Queued, *, now: datetime
) -> Assignment | None:
    others = connection.execute(
        select(
            col(AssignmentRow.slot),
            col(AssignmentRow.reason),
            col(AssignmentRow.inclusion_probability),
        ).where(
            col(AssignmentRow.project_id) == PROJECT,
            col(AssignmentRow.claim_key) == queued.claim_key,
            col(AssignmentRow.slot) < ADJUDICATION_SLOT,
        )
    ).all()
    slot = leases.slot_for(
        [read_as(leases.Slot, row) for row in others],
        queued.reason,
        queued.inclusion_probability,
        project.settings,
    )
    if slot is None:
        return None
    return _insert(connection, project, user, queued.claim_key, slot, now=now)


def take_disagreement(
    connection: Connection, project: Project, user: Person, *, now: datetime
) -> Assignment | None:
    """The oldest disagreement that the person may decide, from now on in their hands."""
    claim_key = queue.next_disagreement(connection, user.person_id)
    if claim_key is None:
        return None
    tie = leases.Slot(
        slot=ADJUDICATION_SLOT, reason=QueueReason.DISAGREEMENT, inclusion_probability=None
    )
    return _insert(connection, project, user, claim_key, tie, now=now)


def expire(connection: Connection, project: Project, user: Person, *, now: datetime) -> None:
    """Give back what others held too long; a decision being reconsidered stands as it was."""
    # Without an order: with one, SQLite would walk through all assignments instead of the late ones.
    late = connection.execute(
        _select()
        .where(
            col(AssignmentRow.state) == "open",
            col(AssignmentRow.lease_until) < now,
            col(AssignmentRow.person_id) != user.person_id,
        )
        .order_by(None)
    ).all()
    for row in sorted(late, key=lambda row: row.assignment_id):
        give_back(
            connection, project, _assignment(row), now=now, actor=user.name, reason="lease ran out"
        )


def give_back(
    connection: Connection,
    project: Project,
    assignment: Assignment,
    *,
    now: datetime,
    actor: str,
    reason: str,
) -> None:
    """Take a claim out of somebody's hands."""
    said = annotations_of(connection, assignment.claim_key, person_id=assignment.person_id)
    if leases.given_back(assignment, annotated=bool(said)):
        close(connection, assignment)
    else:
        connection.execute(
            delete(AssignmentRow).where(
                col(AssignmentRow.assignment_id) == assignment.assignment_id
            )
        )
    append_event(
        connection,
        now,
        actor,
        "claim.released",
        f"claim {assignment.claim_key}",
        {
            "project": assignment.project_id,
            "slot": assignment.slot,
            "person": assignment.person_id,
            "from": "open",
            "to": None,
            "reason": reason,
        },
    )
    settle(connection, project, assignment.claim_key)


def renew(
    connection: Connection, project: Project, assignment: Assignment, *, now: datetime
) -> None:
    """Hold the claim for another lease."""
    _keep(connection, leases.renewed(assignment, project.settings, now))


def mint(connection: Connection, assignment: Assignment, *, now: datetime) -> str:
    """A nonce for this rendering."""
    nonce = secrets.token_hex(16)
    _keep(connection, leases.shown(assignment, nonce, now))
    return nonce


def close(connection: Connection, assignment: Assignment) -> None:
    """The assignment is done; what was typed is in the annotation."""
    _keep(connection, leases.done(assignment))
    connection.execute(
        delete(tables.Draft).where(col(tables.Draft.assignment_id) == assignment.assignment_id)
    )


def reopen(
    connection: Connection, project: Project, assignment: Assignment, *, now: datetime
) -> None:
    """The claim is in the person's hands again."""
    _keep(connection, leases.reopened(assignment, project.settings, now))


def mark_revealed(connection: Connection, assignment: Assignment, *, now: datetime) -> None:
    """From now on the person has seen the machine's view."""
    _keep(connection, leases.revealed(assignment, now))


def place_of(connection: Connection, claim_key: int) -> Row[*tuple[Any, ...]]:
    """A claim as it was cut when it was put in the queue, and the trace version that it is of."""
    return connection.execute(
        select(
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(ClaimRow.span_start),
            col(ClaimRow.span_end),
            col(TraceVersion.trace_id),
            col(TraceVersion.content_hash),
            col(TraceVersion.position),
        )
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(col(ClaimRow.claim_key) == claim_key)
    ).one()


def source_texts(connection: Connection, claim_key: int) -> dict[str, str]:
    """The texts of the sources of the claim's trace, by id as annotations name them."""
    document = connection.execute(
        select(col(TraceVersion.document))
        .join(ClaimRow, col(ClaimRow.position) == col(TraceVersion.position))
        .where(col(ClaimRow.claim_key) == claim_key)
    ).scalar_one()
    sources = json.loads(document)["sources"]
    return {plain_text(source["source_id"]): source["text"] for source in sources}


# ---------------------------------------------------------------- how far


def _insert(
    connection: Connection,
    project: Project,
    user: Person,
    claim_key: int,
    slot: leases.Slot,
    *,
    now: datetime,
) -> Assignment:
    assignment_id = connection.execute(
        insert(AssignmentRow)
        .values(
            claim_key=claim_key,
            slot=slot.slot,
            person_id=user.person_id,
            state="open",
            reason=slot.reason.value,
            inclusion_probability=slot.inclusion_probability,
            created_at=now,
            lease_until=lease_until(now, project.settings),
        )
        .returning(col(AssignmentRow.assignment_id))
    ).scalar_one()
    assert assignment_id is not None
    # Not the reason: it tells what the machine thinks, and the trail may be read by a reviewer.
    append_event(
        connection,
        now,
        user.name,
        ASSIGNED,
        f"claim {claim_key}",
        {
            "project": project.project_id,
            "slot": slot.slot,
            "person": user.person_id,
            "from": None,
            "to": "open",
        },
    )
    settle(connection, project, claim_key)
    return assignment_at(connection, assignment_id)


def _keep(connection: Connection, assignment: Assignment) -> None:
    """Write down what of an assignment changes."""
    connection.execute(
        update(AssignmentRow)
        .where(col(AssignmentRow.assignment_id) == assignment.assignment_id)
        .values(
            state="open" if assignment.open else "done",
            lease_until=assignment.lease_until,
            shown_at=assignment.shown_at,
            nonce=assignment.nonce,
            revealed_at=assignment.revealed_at,
        )
    )


def _select() -> Select[*tuple[Any, ...]]:
    return (
        select(
            AssignmentRow.__table__,  # type: ignore[attr-defined]
            (col(AssignmentRow.state) == "open").label("open"),
        )
        .where(col(AssignmentRow.project_id) == PROJECT)
        .order_by(col(AssignmentRow.assignment_id))
    )


def _first(connection: Connection, statement: Select[*tuple[Any, ...]]) -> Assignment | None:
    row = connection.execute(statement.limit(1)).first()
    return None if row is None else _assignment(row)


def _assignment(row: Row[*tuple[Any, ...]]) -> Assignment:
    return read_as(Assignment, row)


# ---------------------------------------------------------------- checked


def differences(connection: Connection) -> Iterator[str]:
    """Where assignments are not what events, annotations and adjudications tell of."""

    def rows(*columns: object, where: Sequence[ColumnElement[bool]] = ()) -> Iterator[Any]:
        return iter(connection.execute(select(*map(col, columns)).where(*where)))

    annotation, tie, own = AnnotationRow, tables.AdjudicationRow, AssignmentRow
    chances: dict[tuple[int, int], set[float | None]] = defaultdict(set)
    for model in (annotation, QueueRow):
        for row in rows(model.project_id, model.claim_key, model.inclusion_probability):
            chances[row.project_id, row.claim_key].add(row.inclusion_probability)
    read = {
        tuple(row)
        for row in rows(
            annotation.project_id,
            annotation.claim_key,
            annotation.slot,
            annotation.person_id,
            where=[not_withdrawn()],
        )
    }
    ended = read | {
        (row.project_id, row.claim_key, ADJUDICATION_SLOT, row.person_id)
        for row in rows(tie.project_id, tie.claim_key, tie.person_id)
    }
    begun = set(ended)
    events = select(col(AuditEvent.entity), col(AuditEvent.detail))
    for event in connection.execute(events.where(col(AuditEvent.action) == ASSIGNED)):
        told, claim = json.loads(event.detail), int(event.entity.removeprefix("claim "))
        begun.add((told["project"], claim, told["slot"], told["person"]))
    there = set()
    place = (own.project_id, own.claim_key, own.slot, own.person_id)
    for row in rows(*place, own.assignment_id, own.state, own.inclusion_probability):
        there.add(tuple(row[:4]))
        if tuple(row[:4]) not in (ended if row.state == "done" else begun):
            yield f"assignment {row.assignment_id}: nothing tells of it"
        elif row.slot != ADJUDICATION_SLOT and (
            row.inclusion_probability not in chances[row.project_id, row.claim_key]
        ):
            yield f"assignment {row.assignment_id}: has another chance of being drawn than its claim"
    for project, claim, slot, person in sorted(read - there):
        yield f"assignment of claim {claim} ({slot}) to person {person} in project {project}: is gone"
