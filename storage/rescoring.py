"""Rescoring: the latest verdicts of a store, given back to be decided again by another calibrator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.records import Verification
from storage.store import SqlStore
from storage.tables import Run, TraceVersion, Verdict
from storage.traces import is_newest
from storage.verdicts import stored_verification

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
