"""Triage: what people say of traces, who reads which first, what goes, what is decided anew.

Marks (flags, comments, tags) are added and never changed: the latest word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Select, delete, false, insert, select
from sqlmodel import col

from core.errors import Conflict, InputError, NotAllowed, NotFound
from core.review.assignment import ADJUDICATION_SLOT, check_reason
from core.review.items import Assignment
from core.review.records import Cause, Person, Project, Role, Support
from storage import assignments, erasing, listing, queue
from storage.annotations import adjudication_of, stands
from storage.audit import add_row, append_event
from storage.columns import plain_text, read_as
from storage.erasing import Erased
from storage.people import allow, person_at
from storage.projects import project_at
from storage.queue import settle
from storage.records import TraceMarks
from storage.store import SqlStore
from storage.tables import (
    PROJECT,
    SHOWN_NAME,
    AdjudicationReopening,
    AdjudicationRow,
    AnnotationRequest,
    AssignmentRow,
    ClaimRow,
    Draft,
    PersonRow,
    TraceMark,
    TraceVersion,
)
from storage.traces import trace_key

COMMENT_CHARACTERS, TAG_CHARACTERS = 4_000, 60


class MarkKind(StrEnum):
    """What a mark says."""

    FLAG = "flag"
    UNFLAG = "unflag"
    COMMENT = "comment"
    TAG = "tag"
    UNTAG = "untag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark as written: by whom, when, on which claim (None: the whole answer)."""

    kind: MarkKind
    text: str
    claim_id: str | None
    person: str
    at: datetime


def add_marks(
    connection: Connection,
    positions: Sequence[int],
    kind: MarkKind,
    text: str,
    *,
    by: Person,
    at: datetime,
    claim_id: str | None = None,
) -> None:
    """Say the same of each trace; the trail tells that it was said, not what. Raises InputError."""
    said = " ".join(plain_text(text).split()) if kind is not MarkKind.COMMENT else plain_text(text)
    limit = COMMENT_CHARACTERS if kind is MarkKind.COMMENT else TAG_CHARACTERS
    if kind in (MarkKind.COMMENT, MarkKind.TAG, MarkKind.UNTAG) and not said.strip():
        raise InputError("there is nothing in it", path=kind.value)
    if len(said) > limit:
        raise InputError(f"expected at most {limit:,} characters", path=kind.value)
    if not positions:
        return
    connection.execute(
        insert(TraceMark),
        [
            {
                "position": position,
                "claim_id": claim_id,
                "kind": kind.value,
                "text": said.strip(),
                "person_id": by.person_id,
                "at": at,
            }
            for position in positions
        ],
    )
    append_event(
        connection,
        at,
        by.name,
        "trace.marked",
        f"{len(positions)} traces" if len(positions) > 1 else f"trace {positions[0]}",
        {"kind": kind.value, "positions": list(positions)},
    )


def marks_on(connection: Connection, position: int) -> tuple[Mark, ...]:
    """Every mark on a trace as written, the oldest first."""
    rows: Sequence[Any] = connection.execute(
        select(TraceMark.__table__, SHOWN_NAME.label("person"))  # type: ignore[attr-defined]
        .join(PersonRow, col(PersonRow.person_id) == col(TraceMark.person_id))
        .where(col(TraceMark.position) == position)
        .order_by(col(TraceMark.mark_id))
    ).all()
    return tuple(read_as(Mark, row) for row in rows)


def standing_marks(connection: Connection, positions: Collection[int]) -> Mapping[int, TraceMarks]:
    """What stands of the marks on these traces, and who is to read them: position → marks."""
    flags: dict[int, dict[str, bool]] = {}
    tags: dict[int, dict[str, bool]] = {}
    comments: dict[int, int] = {}
    annotators: dict[int, list[str]] = {}
    for row in connection.execute(
        select(
            col(TraceMark.position),
            col(TraceMark.kind),
            col(TraceMark.text),
            SHOWN_NAME.label("name"),
        )
        .join(PersonRow, col(PersonRow.person_id) == col(TraceMark.person_id))
        .where(col(TraceMark.position).in_(positions))
        .order_by(col(TraceMark.mark_id))
    ):
        kind = MarkKind(row.kind)
        if kind is MarkKind.COMMENT:
            comments[row.position] = comments.get(row.position, 0) + 1
        elif kind in (MarkKind.FLAG, MarkKind.UNFLAG):
            flags.setdefault(row.position, {})[row.name] = kind is MarkKind.FLAG
        else:
            tags.setdefault(row.position, {})[row.text] = kind is MarkKind.TAG
    for asked in connection.execute(
        select(col(AnnotationRequest.position), SHOWN_NAME.label("name"))
        .outerjoin(PersonRow, col(PersonRow.person_id) == col(AnnotationRequest.person_id))
        .where(
            col(AnnotationRequest.position).in_(positions), col(AnnotationRequest.now) == false()
        )
        .order_by(col(AnnotationRequest.request_id))
    ):
        annotators.setdefault(asked.position, []).append(asked.name or "")
    return {
        position: TraceMarks(
            flagged_by=tuple(name for name, on in flags.get(position, {}).items() if on),
            tags=tuple(sorted(name for name, on in tags.get(position, {}).items() if on)),
            comments=comments.get(position, 0),
            annotators=tuple(dict.fromkeys(annotators.get(position, ()))),
        )
        for position in positions
    }


def tags_in_use(connection: Connection) -> tuple[str, ...]:
    """Every tag that was ever given, by name."""
    rows = connection.execute(
        select(col(TraceMark.text)).where(col(TraceMark.kind) == MarkKind.TAG.value).distinct()
    )
    return tuple(sorted(rows.scalars()))


def newest_positions(connection: Connection, trace_ids: Sequence[str]) -> dict[str, int]:
    """The newest version of each of these traces: id → position; unknown ones are left out."""
    keys = {trace_key(each): each for each in trace_ids}
    rows = connection.execute(
        select(col(TraceVersion.trace_key), col(TraceVersion.position))
        .where(col(TraceVersion.trace_key).in_(list(keys)))
        .order_by(col(TraceVersion.version))
    )
    return {keys[row.trace_key]: row.position for row in rows}


LISTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An adjudication that stands, as a list shows it."""

    claim_key: int
    claim_id: str
    text: str
    trace_id: str
    support: Support
    cause: Cause
    decided_by: str
    at: datetime


def decided(connection: Connection, viewer: Person) -> tuple[Decided, ...]:
    """The adjudications that stand and the viewer may reopen, the latest first.

    A lead sees all of them, an adjudicator their own: they know what they decided.
    """
    person = person_at(connection, viewer.person_id)
    statement: Select[*tuple[Any, ...]] = (
        select(
            col(AdjudicationRow.claim_key),
            col(AdjudicationRow.support),
            col(AdjudicationRow.cause),
            col(AdjudicationRow.at),
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            SHOWN_NAME.label("decided_by"),
        )
        .join(ClaimRow, col(ClaimRow.claim_key) == col(AdjudicationRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(PersonRow, col(PersonRow.person_id) == col(AdjudicationRow.person_id))
        .where(stands())
        .order_by(col(AdjudicationRow.adjudication_id).desc())
        .limit(LISTED)
    )
    if Role.LEAD not in person.roles:
        statement = statement.where(col(AdjudicationRow.person_id) == person.person_id)
    return tuple(read_as(Decided, row) for row in connection.execute(statement))


def reopen(
    connection: Connection,
    project: Project,
    claim_key: int,
    *,
    reason: str,
    by: Person,
    at: datetime,
) -> None:
    """Take the claim's adjudication up again; its two annotations differ as before.

    Whoever decided it may, and a lead. Raises NotAllowed, and Conflict where none stands.
    """
    person = person_at(connection, by.person_id)
    standing = adjudication_of(connection, claim_key)
    if standing is None:
        raise Conflict("no adjudication of this claim stands: it may have been reopened already")
    its_own = standing.reviewer == person.name and Role.ADJUDICATOR in person.roles
    if Role.AUDITOR in person.roles or not (Role.LEAD in person.roles or its_own):
        raise NotAllowed("an adjudication is reopened by a lead, or by who decided it")
    add_row(
        connection,
        AdjudicationReopening,
        {
            "claim_key": claim_key,
            "adjudication_id": standing.adjudication_id,
            "person_id": person.person_id,
            "reason": reason,
            "at": at,
        },
        at=at,
        actor=person.name,
        action="adjudication.reopened",
        entity=f"claim {claim_key}",
        detail={
            "project": project.project_id,
            "from": standing.adjudication_id,
            "to": None,
            "reason": reason,
        },
    )
    third = select(col(AssignmentRow.assignment_id)).where(
        col(AssignmentRow.project_id) == PROJECT,
        col(AssignmentRow.claim_key) == claim_key,
        col(AssignmentRow.slot) == ADJUDICATION_SLOT,
    )
    connection.execute(delete(Draft).where(col(Draft.assignment_id).in_(third)))
    connection.execute(delete(AssignmentRow).where(col(AssignmentRow.assignment_id).in_(third)))
    settle(connection, project, claim_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """An import that brought traces: its files, when, and how many."""

    import_id: int
    files: str
    at: datetime
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Flags, comments, tags, annotation requests, erasing and reopening, one transaction a write."""

    store: SqlStore

    # ------------------------------------------------------------ marks

    def mark(
        self,
        trace_ids: Sequence[str],
        kind: MarkKind,
        text: str = "",
        *,
        by: Person,
        claim_id: str | None = None,
    ) -> None:
        """Flag, comment or tag traces, or take that back; raises InputError, NotFound."""
        with self.store.database.writing() as connection:
            person = person_at(connection, by.person_id)
            positions = _known(newest_positions(connection, trace_ids), trace_ids)
            add_marks(
                connection, positions, kind, text, by=person, at=self.store.now(), claim_id=claim_id
            )

    def marks_on(self, trace_id: str) -> tuple[Mark, ...]:
        """Every mark on the newest version of a trace, the oldest first; raises NotFound."""
        with self.store.database.reading() as connection:
            found = newest_positions(connection, [trace_id])
            return marks_on(connection, *_known(found, [trace_id]))

    def standing(self, trace_ids: Sequence[str]) -> Mapping[str, TraceMarks]:
        """What stands of the marks on these traces: trace id → marks."""
        with self.store.database.reading() as connection:
            positions = newest_positions(connection, trace_ids)
            found = standing_marks(connection, list(positions.values()))
            return {each: found[position] for each, position in positions.items()}

    def tags(self) -> tuple[str, ...]:
        """Every tag that was ever given."""
        with self.store.database.reading() as connection:
            return tags_in_use(connection)

    def positions(self, trace_ids: Sequence[str]) -> list[int]:
        """The positions of the newest versions of these traces; raises NotFound."""
        with self.store.database.reading() as connection:
            return _known(newest_positions(connection, trace_ids), trace_ids)

    # ------------------------------------------------------------ who reads what first

    def assign(self, trace_ids: Sequence[str], annotator: Person | None, *, by: Person) -> None:
        """These traces' claims come first to that person, or to whoever asks next (None).

        Raises NotAllowed for anybody but a lead, and for an annotator who does not read claims.
        """
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "assign traces")
            if annotator is not None:
                allow(connection, annotator, Role.REVIEWER, "be given claims to read")
            positions = _known(newest_positions(connection, trace_ids), trace_ids)
            project = project_at(connection)
            queue.ask_for(connection, project, positions, annotator, by=by, at=self.store.now())

    def unassign(self, trace_ids: Sequence[str], *, by: Person) -> None:
        """These traces' claims come in the order of the queue again (lead)."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "assign traces")
            positions = _known(newest_positions(connection, trace_ids), trace_ids)
            project = project_at(connection)
            queue.withdraw(connection, project, positions, by=by, at=self.store.now())

    def turn_to(self, trace_id: str, claim_id: str | None, *, by: Person) -> bool:
        """From a verdict to its claims: they come next to that person, the named one first.

        A claim in hand that nothing was answered of goes back to the queue; False: one was begun,
        and stays first. Raises NotAllowed, NotFound.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.REVIEWER, "review claims")
            project = project_at(connection)
            (position,) = _known(newest_positions(connection, [trace_id]), [trace_id])
            claim_key = connection.execute(
                select(col(ClaimRow.claim_key)).where(
                    col(ClaimRow.position) == position, col(ClaimRow.claim_id) == claim_id
                )
            ).scalar()
            queue.turn_to(connection, position, claim_key, by, at=now)
            held = assignments.open_annotation(connection, by.person_id)
            if held is None:
                return True
            if self._begun(held):
                return False
            assignments.give_back(
                connection, project, held, now=now, actor=by.name,
                reason="turned to another answer",
            )  # fmt: skip
            return True

    def _begun(self, held: Assignment) -> bool:
        with self.store.database.reading() as connection:
            found = connection.execute(
                select(1).where(col(Draft.assignment_id) == held.assignment_id)
            ).first()
        return found is not None

    # ------------------------------------------------------------ files

    def batches(self) -> tuple[Batch, ...]:
        """The imports that brought something, the latest first."""
        with self.store.database.reading() as connection:
            return tuple(
                Batch(import_id=number, files=files, at=at, traces=traces)
                for number, files, at, traces in listing.batches(connection)
            )

    def causes(self) -> Mapping[str, int]:
        """How many stored verdicts hold a claim back for each cause."""
        with self.store.database.reading() as connection:
            return listing.causes(connection)

    def erase_file(self, file: str, reason: str, *, by: Person) -> Erased:
        """Erase the traces of a file that nobody has judged (lead); raises NotAllowed, InputError."""
        return self._erase(lambda connection: erasing.of_file(connection, file), reason, by)

    def erase(self, trace_ids: Sequence[str], reason: str, *, by: Person) -> Erased:
        """Erase the newest version of these traces, as ``erase_file`` does."""
        return self._erase(
            lambda connection: _known(newest_positions(connection, trace_ids), trace_ids),
            reason,
            by,
        )

    def _erase(
        self, find: Callable[[Connection], Sequence[int]], reason: str, by: Person
    ) -> Erased:
        stated = plain_text(check_reason(reason, "erasing traces"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "erase traces")
            done = erasing.erase(
                connection, find(connection), reason=stated, actor=by.name, at=self.store.now()
            )
        self.store.database.empty_log()
        return done

    # ------------------------------------------------------------ adjudications

    def decided(self, viewer: Person) -> tuple[Decided, ...]:
        """The adjudications that stand and the viewer may reopen, the latest first."""
        with self.store.database.reading() as connection:
            return decided(connection, viewer)

    def reopen(self, claim_key: int, reason: str, *, by: Person) -> None:
        """Take an adjudication up again; raises NotAllowed, Conflict, InputError."""
        stated = plain_text(check_reason(reason, "reopening an adjudication"))
        with self.store.database.writing() as connection:
            reopen(
                connection,
                project_at(connection),
                claim_key,
                reason=stated,
                by=by,
                at=self.store.now(),
            )


def _known(found: Mapping[str, int], wanted: Sequence[str]) -> list[int]:
    missing = [each for each in wanted if each not in found]
    if missing:
        raise NotFound(f"no trace {missing[0]!r:.200}")
    return [found[each] for each in wanted]
