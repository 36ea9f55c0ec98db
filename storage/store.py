"""The store: everything that the workflows and the screens ask of the database, as one object."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, func, insert, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.records import IngestReport, Trace, Verification, Versions
from core.review.records import Person
from storage import audit, listing, records, traces, verdicts
from storage.checking import check_database
from storage.engine import Database, open_database
from storage.migrate import migrate
from storage.records import Order, TraceFilters, TracesPut
from storage.tables import ImportRecord, Run, TraceVersion, Verdict
from storage.traces import is_newest
from storage.verdicts import stored_verification

# What a report of an import counts, as its columns are called.
_COUNTED = ("new", "changed", "unchanged", "skipped_count", "without_answer", "without_evidence")
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
        at, files = self.now(), [asdict(file) for file in report.files]
        counted = {name: getattr(report, name) for name in _COUNTED}
        with self.database.writing() as connection:
            number = connection.execute(
                insert(ImportRecord)
                .values(
                    imported_at=at,
                    actor=self.actor,
                    files=json.dumps(files),
                    tools=json.dumps([asdict(tool) for tool in report.tools]),
                    skipped=json.dumps(report.skipped),
                    **counted,
                )
                .returning(col(ImportRecord.import_id))
            ).scalar_one()
            told = {name: counted[name] for name in ("new", "changed", "unchanged")}
            audit.append_event(
                connection,
                at,
                self.actor,
                "files.imported",
                f"import {number}",
                {"files": files, **told, "skipped": report.skipped_count},
            )

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

    def by_people(self, content_hash: str) -> records.ByPeople | None:
        """What people made of the answer with that content; None where none of it is settled."""
        with self.database.reading() as connection:
            return listing.by_people(connection, content_hash)

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

    def near(self, trace_id: str, words: str, slice: str | None = None) -> list[Trace]:
        """The nearest traces of a trace's file (and slice) whose documents hold the words."""
        with self.database.reading() as connection:
            return traces.near(connection, trace_id, words, slice)

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

    def audit_events(
        self, *, newest_first: bool = True, limit: int | None = None, offset: int = 0
    ) -> tuple[records.AuditEvent, ...]:
        """A stretch of the audit trail."""
        with self.database.reading() as connection:
            return audit.events(connection, newest_first=newest_first, limit=limit, offset=offset)

    def verify_chain(self) -> records.AuditReport:
        """Check every link of the trail, every row against it, its seals and its anchors."""
        return check_database(self.database)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoped(SqlStore):
    """The same database, in which only these trace versions are there to be verified."""

    positions: tuple[int, ...] = ()

    def traces_without_run(self, run_key: str) -> Iterator[Trace]:
        """Those of them that have no verdict of that run key, in their order here."""
        for position in self._waiting(run_key):
            with self.database.reading() as connection:
                trace = traces.trace_at(connection, position)
            yield trace

    def count_without_run(self, run_key: str) -> int:
        """How many ``traces_without_run`` would give."""
        return len(self._waiting(run_key))

    def _waiting(self, run_key: str) -> list[int]:
        with self.database.reading() as connection:
            waiting = set(traces.waiting(connection, run_key, after=0, limit=2**31 - 1))
        return [position for position in self.positions if position in waiting]


def only(store: SqlStore, positions: Sequence[int]) -> Scoped:
    """The store with those trace versions alone to verify."""
    return Scoped(
        database=store.database, actor=store.actor, now=store.now, positions=tuple(positions)
    )


def newest_of_file(store: SqlStore, file: str | None) -> list[int]:
    """The newest trace versions that came from that file (None: from any), in import order."""
    statement = select(col(TraceVersion.position)).where(is_newest())
    if file is not None:
        statement = statement.where(col(TraceVersion.file) == file)
    with store.database.reading() as connection:
        rows = connection.execute(statement.order_by(col(TraceVersion.position)))
        return [position for position in rows.scalars() if position is not None]


def unverified(store: SqlStore) -> list[int]:
    """The newest trace versions that nothing was ever said about, in import order."""
    position = col(TraceVersion.position)
    said = select(col(Verdict.verdict_id)).where(col(Verdict.position) == position).exists()
    statement = select(position).where(is_newest(), ~said).order_by(position)
    with store.database.reading() as connection:
        return [found for found in connection.execute(statement).scalars() if found is not None]


def sample_of(positions: Sequence[int], size: int) -> list[int]:
    """So many of them, drawn at random, the same ones every time."""
    drawn = random.Random(f"sample of {len(positions)} to {positions[-1] if positions else 0}")
    return sorted(drawn.sample(list(positions), min(size, len(positions))))


Columns = TypeVarTuple("Columns")

WINDOW_ANSWERS = 100
WINDOW_CHARACTERS = 32_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Implements ``core.workflows.rescore.RescoringStore`` on a store."""

    store: SqlStore

    def count_to_rescore(self, calibrator: str) -> int:
        """How many newest traces have a latest verdict by another calibrator."""
        with self.store.database.reading() as connection:
            return connection.execute(
                select(func.count()).select_from(_other(select(1), calibrator).subquery())
            ).scalar_one()

    def verdicts_to_rescore(self, calibrator: str) -> Iterator[Sequence[Verification]]:
        """Those verdicts, each with its trace's content hash, in import order, window by window."""
        position = col(TraceVersion.position)
        last = 0
        while True:
            # Short transactions: the verdicts are written while these are read.
            with self.store.database.reading() as connection:
                rows = connection.execute(
                    _other(select(position, func.length(col(Verdict.document))), calibrator)
                    .where(position > last)
                    .order_by(position)
                    .limit(WINDOW_ANSWERS)
                ).all()
                if not rows:
                    return
                chosen: list[int] = []
                characters = 0
                for number, length in rows:
                    if chosen and characters + length > WINDOW_CHARACTERS:
                        break
                    chosen.append(number)
                    characters += length
                found = connection.execute(
                    _other(
                        select(col(TraceVersion.content_hash), col(Verdict.document)), calibrator
                    )
                    .where(position.in_(chosen))
                    .order_by(position)
                ).all()
            yield [
                replace(stored_verification(document), content_hash=content)
                for content, document in found
            ]
            last = chosen[-1]

    def put_verdicts(self, run_key: str, verdicts: Sequence[Verification]) -> None:
        """Keep verdicts in one transaction."""
        self.store.put_verdicts(run_key, verdicts)


def _other(statement: Select[*Columns], calibrator: str) -> Select[*Columns]:
    """The latest verdict of each newest trace where another calibrator gave it."""
    return (
        statement.select_from(TraceVersion)
        .join(Verdict, col(Verdict.verdict_id) == _latest())
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .where(is_newest(), col(Run.calibrator) != calibrator)
    )


def _latest() -> ColumnElement[int]:
    later = aliased(Verdict)
    return (
        select(func.max(col(later.verdict_id)))
        .where(col(later.position) == col(TraceVersion.position))
        .correlate(TraceVersion)
        .scalar_subquery()
    )
