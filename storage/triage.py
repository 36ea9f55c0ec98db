"""Triage: what people say of traces, who reads which first, and what goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from core.errors import NotFound
from core.review.assignment import check_reason
from core.review.items import Assignment
from core.review.records import Person, Project, Role
from storage import assignments, erasing, listing_conditions, marks, reading_requests, reopening
from storage.columns import plain_text
from storage.erasing import Erased
from storage.marks import Mark, MarkKind
from storage.people import allow, person_at
from storage.projects import project_at
from storage.records import TraceMarks
from storage.reopening import Decided
from storage.review_tables import ClaimRow, Draft
from storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """An import that brought traces: its files, when, and how many."""

    import_id: int
    files: str
    at: datetime
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Flags, comments, tags, reading requests, erasing and reopening, one transaction a write."""

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
            positions = _known(marks.newest_positions(connection, trace_ids), trace_ids)
            marks.add_marks(
                connection, positions, kind, text, by=person, at=self.store.now(), claim_id=claim_id
            )

    def marks_on(self, trace_id: str) -> tuple[Mark, ...]:
        """Every mark on the newest version of a trace, the oldest first; raises NotFound."""
        with self.store.database.reading() as connection:
            found = marks.newest_positions(connection, [trace_id])
            return marks.marks_on(connection, *_known(found, [trace_id]))

    def standing(self, trace_ids: Sequence[str]) -> Mapping[str, TraceMarks]:
        """What stands of the marks on these traces: trace id → marks."""
        with self.store.database.reading() as connection:
            positions = marks.newest_positions(connection, trace_ids)
            found = marks.standing_marks(connection, list(positions.values()))
            return {each: found[position] for each, position in positions.items()}

    def tags(self) -> tuple[str, ...]:
        """Every tag that was ever given."""
        with self.store.database.reading() as connection:
            return marks.tags_in_use(connection)

    def positions(self, trace_ids: Sequence[str]) -> list[int]:
        """The positions of the newest versions of these traces; raises NotFound."""
        with self.store.database.reading() as connection:
            return _known(marks.newest_positions(connection, trace_ids), trace_ids)

    # ------------------------------------------------------------ who reads what first

    def assign(
        self, project: Project, trace_ids: Sequence[str], reader: Person | None, *, by: Person
    ) -> None:
        """These traces' claims come first to that person, or to whoever asks next (None).

        Raises NotAllowed for anybody but a lead, and for a reader who does not read claims.
        """
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "assign traces")
            if reader is not None:
                allow(connection, reader, Role.REVIEWER, "be given claims to read")
            positions = _known(marks.newest_positions(connection, trace_ids), trace_ids)
            reading_requests.ask_for(
                connection, project, positions, reader, by=by, at=self.store.now()
            )

    def unassign(self, project: Project, trace_ids: Sequence[str], *, by: Person) -> None:
        """These traces' claims come in the order of the queue again (lead)."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "assign traces")
            positions = _known(marks.newest_positions(connection, trace_ids), trace_ids)
            reading_requests.withdraw(connection, project, positions, by=by, at=self.store.now())

    def turn_to(self, project: Project, trace_id: str, claim_id: str | None, *, by: Person) -> bool:
        """From a verdict to its claims: they come next to that person, the named one first.

        A claim in hand that nothing was answered of goes back to the queue; False: one was begun,
        and stays first. Raises NotAllowed, NotFound.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.REVIEWER, "review claims")
            project = project_at(connection, project.project_id)
            (position,) = _known(marks.newest_positions(connection, [trace_id]), [trace_id])
            claim_key = connection.execute(
                select(col(ClaimRow.claim_key)).where(
                    col(ClaimRow.position) == position, col(ClaimRow.claim_id) == claim_id
                )
            ).scalar()
            reading_requests.turn_to(connection, project, position, claim_key, by, at=now)
            held = assignments.open_annotation(connection, project.project_id, by.person_id)
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
                for number, files, at, traces in listing_conditions.batches(connection)
            )

    def causes(self) -> Mapping[str, int]:
        """How many stored verdicts hold a claim back for each cause."""
        with self.store.database.reading() as connection:
            return listing_conditions.causes(connection)

    def erase_file(self, file: str, reason: str, *, by: Person) -> Erased:
        """Erase the traces of a file that nobody has judged (lead); raises NotAllowed, InputError."""
        stated = plain_text(check_reason(reason, "erasing traces"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "erase traces")
            return erasing.erase(
                connection,
                erasing.of_file(connection, file),
                reason=stated,
                actor=by.name,
                at=self.store.now(),
            )

    def erase(self, trace_ids: Sequence[str], reason: str, *, by: Person) -> Erased:
        """Erase the newest version of these traces, as ``erase_file`` does."""
        stated = plain_text(check_reason(reason, "erasing traces"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "erase traces")
            positions = _known(marks.newest_positions(connection, trace_ids), trace_ids)
            return erasing.erase(
                connection, positions, reason=stated, actor=by.name, at=self.store.now()
            )

    # ------------------------------------------------------------ adjudications

    def decided(self, project: Project, viewer: Person) -> tuple[Decided, ...]:
        """The adjudications that stand and the viewer may reopen, the latest first."""
        with self.store.database.reading() as connection:
            return reopening.decided(connection, project, viewer)

    def reopen(self, project: Project, claim_key: int, reason: str, *, by: Person) -> None:
        """Take an adjudication up again; raises NotAllowed, Conflict, InputError."""
        stated = plain_text(check_reason(reason, "reopening an adjudication"))
        with self.store.database.writing() as connection:
            reopening.reopen(
                connection,
                project_at(connection, project.project_id),
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
