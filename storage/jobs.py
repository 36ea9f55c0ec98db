"""Jobs: traces that wait for workers; several take from the queue at once, none takes what another has.

A worker holds what it took under a lease. One that is killed renews nothing: its jobs come back when
the lease ends, each to be taken alone, so that a trace that ends workers takes no other with it. What
failed waits twice as long each time and is given up after ``ATTEMPTS``, with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    and_,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from core.errors import NotFound
from core.records import Trace, Verification
from core.records.jobs import ATTEMPTS, GivenUp, Job, QueueCounts, backoff
from storage import traces, verdicts
from storage.columns import in_pieces
from storage.store import SqlStore
from storage.tables import JobRow, TraceVersion

WAITING, TAKEN, DONE, GIVEN_UP = "waiting", "taken", "done", "given_up"
ENDED = f"{ATTEMPTS} workers ended, or went silent, while they had it in hand"
_AT_ONCE = 500

_position, _state, _due = col(JobRow.position), col(JobRow.state), col(JobRow.due)
_attempts, _worker = col(JobRow.attempts), col(JobRow.worker)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The queue of one database; the same for SQLite and PostgreSQL."""

    store: SqlStore

    # ------------------------------------------------------------ asked for

    def put(self, positions: Sequence[int]) -> int:
        """Queue these trace versions; those that wait or are in hand stay. How many were added."""
        added = 0
        with self.store.database.queueing() as connection:
            at_work = select(_position).where(_state.in_((WAITING, TAKEN))).exists()
            # A queue that was worked off begins anew, so that "done" is of what was asked for now.
            connection.execute(delete(JobRow).where(_state == DONE, ~at_work))
        for some in in_pieces(positions, _AT_ONCE):
            with self.store.database.queueing() as connection:
                added += self._put(connection, some)
        return added

    def _put(self, connection: Connection, positions: Sequence[int]) -> int:
        now = self.store.now()
        fresh = {
            "state": WAITING, "due": now, "attempts": 0, "worker": None, "reason": None,
            "asked_by": self.store.actor, "changed_at": now,
        }  # fmt: skip
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        statement = dialect.insert(JobRow).values(
            [{"position": position, **fresh} for position in positions]
        )
        statement = statement.on_conflict_do_update(
            index_elements=["position"], set_=fresh, where=_state.in_((DONE, GIVEN_UP))
        )
        return len(connection.execute(statement.returning(_position)).all())

    def try_again(self) -> int:
        """Queue what was given up, from its first attempt; how many those are."""
        now = self.store.now()
        return self._change(
            _state == GIVEN_UP,
            state=WAITING,
            due=now,
            attempts=0,
            reason=None,
            changed_at=now,
            worker=None,
        )

    def take_out(self) -> int:
        """Take out of the queue what nobody has in hand; how many waited."""
        with self.store.database.queueing() as connection:
            gone = connection.execute(delete(JobRow).where(_state == WAITING).returning(_position))
            return len(gone.all())

    # ------------------------------------------------------------ taken by workers

    def take(self, worker: str, lease_seconds: float, most: int) -> list[Job]:
        """Jobs that nobody has in hand, now this worker's until its lease ends; oldest first.

        One that was tried before is taken alone.
        """
        with self.store.database.queueing() as connection:
            now = self.store.now()
            due = and_(_state.in_((WAITING, TAKEN)), _due <= now)
            ended = and_(_state == TAKEN, _due <= now, _attempts >= ATTEMPTS)
            connection.execute(
                update(JobRow)
                .where(_free(ended, _AT_ONCE))
                .values(state=GIVEN_UP, reason=ENDED, worker=None, changed_at=now)
            )
            for which, count in ((_attempts == 0, most), (_attempts > 0, 1)):
                taken = connection.execute(
                    update(JobRow)
                    .where(_free(and_(due, which), count))
                    .values(
                        state=TAKEN,
                        due=now + timedelta(seconds=lease_seconds),
                        attempts=_attempts + 1,
                        worker=worker,
                        changed_at=now,
                    )
                    .returning(_position, _attempts)
                ).all()
                if taken:
                    return [Job(position=at, attempts=tried) for at, tried in sorted(taken)]
        return []

    def renew(self, worker: str, positions: Sequence[int], lease_seconds: float) -> int:
        """Hold them longer; how many of them are still this worker's."""
        now = self.store.now()
        return self._change(
            _held(worker, positions), due=now + timedelta(seconds=lease_seconds), changed_at=now
        )

    def give_back(self, worker: str, positions: Sequence[int]) -> int:
        """Put back what a worker that stops has not judged; the attempt does not count."""
        now = self.store.now()
        return self._change(
            _held(worker, positions),
            state=WAITING, due=now, attempts=_attempts - 1, worker=None, changed_at=now,
        )  # fmt: skip

    def fail(self, worker: str, job: Job, reason: str) -> bool:
        """Say why a job failed: it waits, or is given up; False when it is no longer this worker's."""
        now = self.store.now()
        last = job.attempts >= ATTEMPTS
        return bool(
            self._change(
                _held(worker, [job.position]),
                state=GIVEN_UP if last else WAITING,
                due=now + backoff(job.attempts),
                reason=reason, worker=None, changed_at=now,
            )
        )  # fmt: skip

    def traces_of(self, jobs: Sequence[Job], run_key: str) -> list[tuple[Job, Trace]]:
        """The traces of these jobs that have no verdict of that run; the others need none."""
        found = []
        with self.store.database.reading() as connection:
            judged = verdicts.judged_by(connection, run_key, [job.position for job in jobs])
            for job in jobs:
                if job.position in judged:
                    continue
                with suppress(NotFound):  # somebody erased it meanwhile, and its job with it
                    found.append((job, traces.trace_at(connection, job.position)))
        return found

    def finish(self, worker: str, run_key: str, judged: Sequence[tuple[Job, Verification]]) -> int:
        """Keep verdicts and end their jobs in one transaction; how many were still this worker's.

        What another worker has meanwhile taken is that one's: its verdict is left to it.
        """
        with self.store.database.writing() as connection:
            now = self.store.now()
            ended = connection.execute(
                update(JobRow)
                .where(_held(worker, [job.position for job, _ in judged]))
                .values(state=DONE, reason=None, changed_at=now)
                .returning(_position)
            ).scalars()
            ours = set(ended)
            ready = [verification for job, verification in judged if job.position in ours]
            verdicts.put_verdicts(connection, run_key, ready, at=now, actor=self.store.actor)
        return len(ours)

    def finish_judged(self, worker: str, positions: Sequence[int]) -> int:
        """End jobs whose traces have their verdict already."""
        return self._change(
            _held(worker, positions), state=DONE, reason=None, changed_at=self.store.now()
        )

    # ------------------------------------------------------------ shown

    def counts(self) -> QueueCounts:
        """How many wait, are in hand, are done and were given up, and how many workers have some."""
        now = self.store.now()
        with self.store.database.reading() as connection:
            rows = connection.execute(select(_state, func.count()).group_by(_state)).all()
            by_state = {state: count for state, count in rows}  # noqa: C416 (a row is no pair)
            workers = connection.execute(
                select(func.count(_worker.distinct())).where(_state == TAKEN, _due > now)
            ).scalar_one()
        return QueueCounts(
            waiting=by_state.get(WAITING, 0),
            taken=by_state.get(TAKEN, 0),
            done=by_state.get(DONE, 0),
            given_up=by_state.get(GIVEN_UP, 0),
            workers=workers,
        )

    def failing(self, limit: int = 50) -> tuple[GivenUp, ...]:
        """What was given up, then what failed and waits for its next attempt, with the reasons."""
        statement = (
            select(JobRow.__table__, col(TraceVersion.trace_id))  # type: ignore[attr-defined]
            .join(TraceVersion, col(TraceVersion.position) == _position)
            .where(or_(_state == GIVEN_UP, and_(_state == WAITING, _attempts > 0)))
            .order_by(_state, _position)
            .limit(limit)
        )
        with self.store.database.reading() as connection:
            return tuple(
                GivenUp(
                    position=row.position,
                    trace_id=row.trace_id,
                    attempts=row.attempts,
                    reason=row.reason or ENDED,
                    next_at=row.due if row.state == WAITING else None,
                )
                for row in connection.execute(statement)
            )

    def _change(self, which: ColumnElement[bool], **values: object) -> int:
        with self.store.database.queueing() as connection:
            changed: CursorResult[object] = connection.execute(
                update(JobRow).where(which).values(**values)
            )
            return changed.rowcount


def _free(which: ColumnElement[bool], most: int) -> ColumnElement[bool]:
    """The first of these rows that no other transaction has locked; SQLite has one writer, no locks."""
    first = select(_position).where(which).order_by(_position).limit(most)
    return _position.in_(select(first.with_for_update(skip_locked=True).cte("free").c.position))


def _held(worker: str, positions: Sequence[int]) -> ColumnElement[bool]:
    return and_(_position.in_(positions), _state == TAKEN, _worker == worker)
