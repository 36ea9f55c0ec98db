"""Part of what waits: the traces of a file, or a sample of them, to be verified before the rest."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import col

from core.records import Trace
from storage import traces
from storage.store import SqlStore
from storage.tables import TraceVersion, Verdict
from storage.traces import is_newest


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
