"""The people of the big database and what they said: assignments, annotations, decisions and their
trail."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from databases import workspace_of
from sqlalchemy import Connection, insert, select, update
from sqlmodel import SQLModel, col

from core.errors import NotFound
from core.review.items import QueueState
from core.review.records import Person, ProjectSettings, Role
from storage.audit import BEGINNING, event_hash, row_hash
from storage.records import AuditEvent
from storage.store import SqlStore
from storage.tables import AdjudicationRow, AnnotationRow, AssignmentRow, ClaimRow, QueueRow
from storage.tables import AuditEvent as EventRow

PEOPLE = 20
ROWS_AT_ONCE = 2_000
DIFFER, DECIDED = 20, 40  # every so many-th claim is read differently, and is decided by a third
MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def staff(store: SqlStore) -> tuple[Person, list[Person]]:
    """The reviewer who is measured, 20 others, and a project of two annotations a claim."""
    people, projects = workspace_of(store).people, workspace_of(store).projects
    lead, project = people.local(), projects.default()
    if project.settings.reads_per_claim != 2:
        projects.change(
            project,
            ProjectSettings(reads_per_claim=2, dwell_milliseconds=0),
            by=lead,
            reason="for a measurement",
        )
    wanted = ["Measured", *(f"Reviewer {n:02d}" for n in range(PEOPLE))]
    for name in wanted:
        try:
            people.by_name(name)
        except NotFound:
            people.add(name, {Role.REVIEWER, Role.ADJUDICATOR}, by=lead)
    everybody = {person.name: person for person in people.everybody()}
    return everybody[wanted[0]], [everybody[name] for name in wanted[1:]]


def put_annotations(store: SqlStore, others: Sequence[Person], claims: int) -> None:
    """Let that many claims be read twice; where the two differ, a third has decided every second."""
    with store.database.writing() as connection:
        keys = connection.scalars(
            select(col(ClaimRow.claim_key)).order_by(col(ClaimRow.claim_key)).limit(claims)
        ).all()
        for some in (keys[at : at + ROWS_AT_ONCE] for at in range(0, len(keys), ROWS_AT_ONCE)):
            connection.execute(insert(AssignmentRow), list(_assignments(others, some)))
            connection.execute(insert(AnnotationRow), list(_annotations(others, some)))
            if decisions := list(_decisions(others, some)):
                connection.execute(insert(AdjudicationRow), decisions)
            _stand(connection, some)
            _tell(connection, others, some)


def _annotator(others: Sequence[Person], claim_key: int, slot: int) -> Person:
    return others[(claim_key + slot) % len(others)]


def _at(claim_key: int, slot: int) -> datetime:
    """Spread over half a year."""
    return MONDAY + timedelta(hours=claim_key % 4_000, minutes=slot)


def _slots(claim_key: int) -> tuple[int, ...]:
    return (1, 2, 3) if claim_key % DECIDED == 0 else (1, 2)


def _assignments(others: Sequence[Person], keys: Sequence[int]) -> Iterator[dict[str, object]]:
    for key in keys:
        for slot in _slots(key):
            yield {
                "claim_key": key,
                "slot": slot,
                "person_id": _annotator(others, key, slot).person_id,
                "state": "done",
                "reason": "uncertain",
                "created_at": _at(key, slot),
                "lease_until": _at(key, slot),
            }


def _annotations(others: Sequence[Person], keys: Sequence[int]) -> Iterator[dict[str, object]]:
    for key in keys:
        for slot in (1, 2):
            supported = (key % 3 != 0) != (slot == 2 and key % DIFFER == 0)
            yield {
                "claim_key": key,
                "person_id": _annotator(others, key, slot).person_id,
                "slot": slot,
                "support": "supported" if supported else "unsupported",
                "source_id": "chart" if supported else None,
                "conflation": False,
                "rationale": "",
                "saw_model_output": False,
                "changed_after_reveal": False,
                "exposures": "[]",
                "seconds": 5.0 + key % 40,
                "queue_reason": "uncertain",
                "guideline_version": 1,
                "run_key": "sha256:" + "1" * 64,
                "threshold": 0.65,
                "nonce": f"n{key}-{slot}",
                "at": _at(key, slot),
            }


def _decisions(others: Sequence[Person], keys: Sequence[int]) -> Iterator[dict[str, object]]:
    for key in keys:
        if key % DECIDED == 0:
            yield {
                "claim_key": key,
                "person_id": _annotator(others, key, 3).person_id,
                "support": "supported",
                "source_id": "chart",
                "conflation": False,
                "cause": "ambiguous_claim",
                "guideline_needs_fix": False,
                "rationale": "The visit note decides.",
                "shown_order": "[]",
                "guideline_version": 1,
                "nonce": f"n{key}-3",
                "at": _at(key, 3),
            }


def _stand(connection: Connection, keys: Sequence[int]) -> None:
    """Bring the queue up to what was said."""
    tied = [key for key in keys if key % DIFFER == 0 and key % DECIDED]
    done = sorted(set(keys) - set(tied))
    for some, state in ((done, QueueState.SETTLED), (tied, QueueState.DISAGREEMENT)):
        for start in range(0, len(some), 500):  # a statement holds a limited number of values
            connection.execute(
                update(QueueRow)
                .where(col(QueueRow.claim_key).in_(some[start : start + 500]))
                .values(missing=0, state=state.value)
            )


def _tell(connection: Connection, others: Sequence[Person], keys: Sequence[int]) -> None:
    """Append the events of those annotations to the trail, two an annotation, as the product words them."""
    said = {person.person_id: person.name for person in others}
    last = connection.execute(
        select(col(EventRow.sequence), col(EventRow.hash))
        .order_by(col(EventRow.sequence).desc())
        .limit(1)
    ).one()
    sequence, previous = last.sequence, last.hash or BEGINNING
    rows = []
    for table, key, action in (
        (AnnotationRow, "vote_id", "vote.cast"),
        (AdjudicationRow, "adjudication_id", "claim.adjudicated"),
    ):
        for row in _written(connection, table, key, keys):
            for what, detail in (
                ("claim.assigned", {"project": row["project_id"], "from": None, "to": "open"}),
                (
                    action,
                    {
                        "project": row["project_id"],
                        "rows": [[table.__tablename__, row[key], row_hash(row)]],
                    },
                ),
            ):
                sequence += 1
                link = AuditEvent(
                    sequence=sequence,
                    at=row["at"],
                    actor=said[row["person_id"]],
                    action=what,
                    entity=f"claim {row['claim_key']}",
                    detail=json.dumps(detail, sort_keys=True),
                    previous_hash=previous,
                    hash="",
                )
                previous = event_hash(link)
                rows.append({**dataclasses.asdict(link), "hash": previous})
    connection.execute(insert(EventRow), rows)


def _written(
    connection: Connection, table: type[SQLModel], key: str, keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    """The rows about these claims as the database gives them back: their hashes are of that."""
    target = table.__table__  # type: ignore[attr-defined]
    found = connection.execute(
        select(target)
        .where(target.c.claim_key >= keys[0], target.c.claim_key <= keys[-1])
        .order_by(target.c[key])
    )
    return (dict(row._mapping) for row in found)
