"""The store: everything that the workflows and the screens ask of the database, as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from core.records import IngestReport, Trace, Verification, Versions
from core.review.records import Person
from storage import audit, imports, listing, records, traces, verdicts
from storage.checking import check_database
from storage.engine import Database, open_database
from storage.migrate import migrate
from storage.records import Order, TraceFilters, TracesPut

WAITING_AT_ONCE = 500  # positions of waiting traces looked up in one go


def utc_now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def open_store(given: str | None = None, *, actor: str = "local") -> SqlStore:
    """The store at ``given`` (a file or URL), else at PROVENANCEGUARD_DB, else data/workbench.db.

    Creates or upgrades the schema. Raises ConfigError, ComponentUnavailable, StoreError.
    """
    database = open_database(given)
    migrate(database)
    return SqlStore(database=database, actor=actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStore:
    """Implements core.ports.Store on SQLite and PostgreSQL; safe to share between threads.

    ``actor`` is who the audit trail names; ``now`` gives the time of what is written.
    """

    database: Database
    actor: str
    now: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        """Where the data is, without a password."""
        return self.database.name

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    # ------------------------------------------------------------ written by workflows

    def put_traces(self, traces_in: Iterable[Trace]) -> TracesPut:
        """Keep traces by content hash; the same trace twice changes nothing.

        Commits window by window, so memory is bounded and a stopped import keeps what it read.
        """
        count = TracesPut()
        for window in traces.windows(traces_in):
            with self.database.writing() as connection:
                put = traces.put_window(connection, window, at=self.now(), actor=self.actor)
            count.new += put.new
            count.changed += put.changed
            count.unchanged += put.unchanged
        return count

    def files_of(self, trace_ids: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
        """For each of these ids that is known: content hash → file, of every version of it."""
        with self.database.reading() as connection:
            return traces.files_of(connection, trace_ids)

    def put_import(self, report: IngestReport) -> None:
        """Keep the report of an import: what was understood of its files, and what was not."""
        with self.database.writing() as connection:
            imports.put_import(connection, report, at=self.now(), actor=self.actor)

    def put_verdicts(self, run_key: str, verdicts_in: Iterable[Verification]) -> None:
        """Keep verdicts, each on the trace version that its content hash names, in one transaction."""
        ready = list(verdicts_in)
        with self.database.writing() as connection:
            verdicts.put_verdicts(connection, run_key, ready, at=self.now(), actor=self.actor)

    def traces_without_run(self, run_key: str) -> Iterator[Trace]:
        """The newest version of each trace that has no verdict of that run key, in import order."""
        return self._newest(run_key)

    def newest_traces(self) -> Iterator[Trace]:
        """The newest version of each trace, whatever is stored about it, in import order."""
        return self._newest(None)

    def _newest(self, run_key: str | None) -> Iterator[Trace]:
        # Short transactions, one trace in memory: verdicts are written while this is read.
        last = 0
        while True:
            with self.database.reading() as connection:
                window = traces.waiting(connection, run_key, after=last, limit=WAITING_AT_ONCE)
            if not window:
                return
            for position in window:
                with self.database.reading() as connection:
                    trace = traces.trace_at(connection, position)
                yield trace
            last = window[-1]

    # ------------------------------------------------------------ read by screens and the terminal

    def count_without_run(self, run_key: str) -> int:
        """How many traces ``traces_without_run`` would give."""
        with self.database.reading() as connection:
            return traces.count_waiting(connection, run_key)

    def list_traces(
        self,
        filters: TraceFilters | None = None,
        *,
        order: Order = Order.IMPORTED,
        offset: int = 0,
        limit: int = 50,
    ) -> records.TracePage:
        """One page of the newest trace versions, each with its latest verdict."""
        with self.database.reading() as connection:
            return listing.list_traces(
                connection, filters or TraceFilters(), order=order, offset=offset, limit=limit
            )

    def overview(self, viewer: Person | None = None) -> records.Overview:
        """How many traces there are, by decision, as ``viewer`` may see it."""
        with self.database.reading() as connection:
            return listing.overview(connection, viewer)

    def neighbours(
        self, trace_id: str, filters: TraceFilters, order: Order, near: int
    ) -> records.Neighbours | None:
        """Where the trace stands in that list, and what is beside it; None: it is not in it."""
        with self.database.reading() as connection:
            return listing.find_neighbours(connection, filters, order, trace_id, near)

    def files(self) -> tuple[records.NamedCount, ...]:
        """The files that traces came from, the last added first."""
        with self.database.reading() as connection:
            return listing.files(connection)

    def count_traces(self) -> int:
        """How many traces there are."""
        return self.overview().traces

    def count_unverified(self) -> int:
        """How many traces have no verdict at all."""
        return self.overview().waiting

    def newest_versions(self) -> Versions | None:
        """What produced the newest run; None before there is one."""
        runs = self.runs()
        return runs[0].versions if runs else None

    def categories(self) -> tuple[records.NamedCount, ...]:
        """The categories that traces have, the most frequent first."""
        with self.database.reading() as connection:
            return listing.categories(connection)

    def slices(self) -> tuple[records.NamedCount, ...]:
        """The slices that traces name, the most frequent first."""
        with self.database.reading() as connection:
            return listing.slices(connection)

    def get_trace(self, trace_id: str, content_hash: str | None = None) -> records.StoredTrace:
        """The newest version of a trace, or the one with that content; raises NotFound."""
        with self.database.reading() as connection:
            return traces.get_trace(connection, trace_id, content_hash)

    def get_verdict(
        self, trace_id: str, *, content_hash: str | None = None, run_key: str | None = None
    ) -> records.StoredVerdict:
        """The latest verdict on a trace (or of that version, or by that run); raises NotFound."""
        with self.database.reading() as connection:
            return verdicts.get_verdict(
                connection, trace_id, content_hash=content_hash, run_key=run_key
            )

    def runs(self) -> tuple[records.StoredRun, ...]:
        """What produced the verdicts, the latest first."""
        with self.database.reading() as connection:
            return verdicts.runs(connection)

    def imports(self, *, limit: int | None = None) -> tuple[records.StoredImport, ...]:
        """The imports, the latest first."""
        with self.database.reading() as connection:
            return imports.imports(connection, limit=limit)

    def audit_events(
        self, *, newest_first: bool = True, limit: int | None = None, offset: int = 0
    ) -> tuple[records.AuditEvent, ...]:
        """A stretch of the audit trail."""
        with self.database.reading() as connection:
            return audit.events(connection, newest_first=newest_first, limit=limit, offset=offset)

    def verify_chain(self) -> records.AuditReport:
        """Check every link of the trail, every row against it, its seals and its anchors."""
        return check_database(self.database)
