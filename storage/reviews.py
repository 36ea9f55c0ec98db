"""Reviews: the review workflow's database, one transaction a write; implements core's ReviewStore.

Inside each write's transaction, under the write lock: the person's roles of this moment, the
project's settings, the assignment, the nonce and the time on screen, then the rows and their event.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.review.items import OpenAssignment, Progress, Withheld
from core.review.readers import require_reader
from core.review.records import Person
from storage import assignments, exposure_log
from storage.adjudicating import Adjudicating
from storage.people import person_at
from storage.progress import progress_of
from storage.reading_claims import ReadingClaims


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews(ReadingClaims, Adjudicating):
    """Implements core.review.ports.ReviewStore on SQLite and PostgreSQL."""

    def open_assignments(self, project_id: int, user: Person) -> tuple[OpenAssignment, ...]:
        """Every claim that somebody holds, the one that has not moved longest first.

        Raises NotAllowed for anybody who is neither lead nor auditor now.
        """
        with self.store.database.reading() as connection:
            require_reader(person_at(connection, user.person_id), "see who holds which claim")
            return assignments.open_assignments(connection, project_id)

    def open_verdict(self, user: Person, content_hash: str, run_key: str) -> Withheld | None:
        """Write down that the person sees this verdict now; or why they must not see it yet."""
        with self.store.database.reading() as connection:
            why = exposure_log.withheld(connection, user.person_id, content_hash)
            if why or exposure_log.seen(connection, user.person_id, content_hash, run_key):
                return why
        with self.store.database.writing() as connection:
            # Asked again: a claim of it may have come into their hands in another tab.
            why = exposure_log.withheld(connection, user.person_id, content_hash)
            if why is None and not exposure_log.seen(
                connection, user.person_id, content_hash, run_key
            ):
                exposure_log.note(
                    connection,
                    user.person_id,
                    content_hash,
                    run_key,
                    at=self.store.now(),
                    actor=user.name,
                )
            return why

    def has_opened(self, user: Person) -> bool:
        """Whether the person has seen any verdict of the machine."""
        with self.store.database.reading() as connection:
            return exposure_log.has_seen_any(connection, user.person_id)

    def progress(self, project_id: int, user: Person) -> Progress:
        """How far the project is."""
        with self.store.database.reading() as connection:
            return progress_of(connection, project_id, user, now=self.store.now())
