"""Openings: who has seen the machine's verdict on an answer, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, insert, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.errors import NotFound
from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import Withheld
from core.review.readers import is_blind
from core.review.records import Exposure
from storage.annotations import not_withdrawn, stands
from storage.audit import append_event
from storage.listing import yet_to_judge
from storage.people import person_at
from storage.queue import waits_in_round
from storage.tables import (
    PROJECT,
    AdjudicationRow,
    AnnotationRow,
    AssignmentRow,
    ClaimRow,
    ProjectRow,
    Run,
    TraceVersion,
    Verdict,
    VerdictOpening,
    about,
)

VERDICT_PAGE = "verdict page"


def withheld(connection: Connection, person_id: int, content_hash: str) -> Withheld | None:
    """Why the person must not see what the machine says of any version of this trace; None: may.

    They hold one of its claims undecided, in a project that wants the decision first. A lease that
    ran out counts while nobody else has taken the claim: it would come back to them. Whoever leads
    nobody must not see it either while one of its claims may still come to them.
    """
    this = aliased(TraceVersion)
    slots = connection.execute(
        select(col(AssignmentRow.slot))
        .join(ProjectRow, col(ProjectRow.project_id) == col(AssignmentRow.project_id))
        .join(ClaimRow, col(ClaimRow.claim_key) == col(AssignmentRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(this, col(this.trace_key) == col(TraceVersion.trace_key))
        .where(
            col(this.content_hash) == content_hash,
            col(AssignmentRow.person_id) == person_id,
            col(AssignmentRow.state) == "open",
            col(ProjectRow.decide_first),
            ~_decided(),
        )
    ).scalars()
    found = sorted(slots)
    if not found:
        if _in_round(connection, person_id, content_hash):
            return Withheld.ANNOTATION
        return _unread(connection, person_id, content_hash)
    return Withheld.DISAGREEMENT if found[0] == ADJUDICATION_SLOT else Withheld.ANNOTATION


def _in_round(connection: Connection, person_id: int, content_hash: str) -> bool:
    trace_key = connection.execute(
        select(col(TraceVersion.trace_key)).where(col(TraceVersion.content_hash) == content_hash)
    ).scalar()
    return trace_key is not None and waits_in_round(connection, person_id, trace_key)


def _unread(connection: Connection, person_id: int, content_hash: str) -> Withheld | None:
    person = person_at(connection, person_id)
    if not is_blind(person):
        return None
    found = connection.execute(
        select(1).where(col(TraceVersion.content_hash) == content_hash, yet_to_judge(person))
    ).first()
    return None if found is None else Withheld.UNREAD


def seen(connection: Connection, person_id: int, content_hash: str, run_key: str) -> bool:
    """Whether it is written down that the person saw this verdict."""
    found = connection.execute(
        select(col(VerdictOpening.opening_id))
        .join(TraceVersion, col(TraceVersion.position) == col(VerdictOpening.position))
        .join(Run, col(Run.run_id) == col(VerdictOpening.run_id))
        .where(
            col(TraceVersion.content_hash) == content_hash,
            col(VerdictOpening.person_id) == person_id,
            col(Run.run_key) == run_key,
        )
    ).first()
    return found is not None


def has_seen_any(connection: Connection, person_id: int) -> bool:
    """Whether it is written down that the person saw some verdict."""
    found = connection.execute(
        select(col(VerdictOpening.opening_id))
        .where(col(VerdictOpening.person_id) == person_id)
        .limit(1)
    ).first()
    return found is not None


def note(
    connection: Connection,
    person_id: int,
    content_hash: str,
    run_key: str,
    *,
    at: datetime,
    actor: str,
) -> None:
    """Write down that the person sees this verdict from now on; raises NotFound for no verdict."""
    place = _place(connection, content_hash, run_key)
    connection.execute(
        insert(VerdictOpening).values(
            position=place.position, person_id=person_id, run_id=place.run_id, at=at
        )
    )
    append_event(
        connection, at, actor, "verdict.opened", content_hash, {"person": person_id, "run": run_key}
    )


def exposures_of(connection: Connection, person_id: int, claim_key: int) -> Sequence[Exposure]:
    """Since when the person has seen a verdict on any version of the claim's trace; () for never."""
    own = aliased(TraceVersion)
    at = connection.execute(
        select(col(VerdictOpening.at))
        .join(TraceVersion, col(TraceVersion.position) == col(VerdictOpening.position))
        .join(own, col(own.trace_key) == col(TraceVersion.trace_key))
        .join(ClaimRow, col(ClaimRow.position) == col(own.position))
        .where(
            col(ClaimRow.claim_key) == claim_key,
            col(VerdictOpening.person_id) == person_id,
        )
        .order_by(col(VerdictOpening.opening_id))
        .limit(1)
    ).scalar()
    return () if at is None else (Exposure(what=VERDICT_PAGE, at=at),)


def _place(connection: Connection, content_hash: str, run_key: str) -> Row[*tuple[Any, ...]]:
    found = connection.execute(
        select(col(Verdict.position), col(Verdict.run_id))
        .join(TraceVersion, col(TraceVersion.position) == col(Verdict.position))
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .where(col(TraceVersion.content_hash) == content_hash, col(Run.run_key) == run_key)
    ).first()
    if found is None:
        raise NotFound(f"no verdict on {content_hash} by run {run_key}")
    return found


def _decided() -> ColumnElement[bool]:
    """Whether the holder of the assignment has judged its claim before."""
    read = exists().where(
        about(AnnotationRow, AssignmentRow.claim_key, AssignmentRow.person_id),
        col(AssignmentRow.slot) < ADJUDICATION_SLOT,
        not_withdrawn(),
    )
    settled = exists().where(
        col(AdjudicationRow.project_id) == PROJECT,
        col(AdjudicationRow.claim_key) == col(AssignmentRow.claim_key),
        col(AssignmentRow.slot) == ADJUDICATION_SLOT,
        stands(),
    )
    return read | settled
