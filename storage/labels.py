"""Labels: what people said about claims and what stands, in a handful of statements a project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select
from sqlmodel import col

from core.review.adjudication import resolve
from core.review.records import (
    Adjudication,
    ReviewedClaim,
    ReviewStatus,
    Signal,
    Split,
    Vote,
)
from storage.adjudications import every_adjudication
from storage.claims import SIGNAL_COLUMNS, signal_from
from storage.projects import project_at
from storage.review_tables import (
    AdjudicationRow,
    ClaimRow,
    ClaimSignal,
    TraceSplit,
    VoteRow,
)
from storage.store import SqlStore
from storage.tables import Run, TraceSlice, TraceVersion
from storage.votes import every_current_vote


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The reviewed claims of a store."""

    store: SqlStore

    def reviewed(
        self,
        project_id: int,
        *,
        statuses: Collection[ReviewStatus] | None = None,
        since: datetime | None = None,
        features: bool = True,
    ) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in, in the order of their traces.

        ``since``: only those with a vote or an adjudication at that time or later. Without
        ``features``, signals come without them, in half the time.
        """
        return tuple(
            claim
            for claim in self._all(project_id, features)
            if (statuses is None or claim.resolution.status in statuses)
            and (since is None or _last(claim.votes, claim.adjudication) >= since)
        )

    def rows_with_features(self, project_id: int) -> tuple[ReviewedClaim, ...]:
        """The claims that have a final label and the features from which a forest learns."""
        return tuple(
            claim
            for claim in self.reviewed(project_id)
            if claim.resolution.final is not None
            and claim.signal is not None
            and claim.signal.features is not None
        )

    def unfinished(self, project_id: int) -> int:
        """How many claims have a vote, and readings still to come."""
        with self.store.database.reading() as connection:
            begun = connection.execute(
                select(func.count(func.distinct(col(VoteRow.claim_key)))).where(
                    col(VoteRow.project_id) == project_id
                )
            ).scalar_one()
        return begun - len(self._all(project_id, False))

    def _all(self, project_id: int, features: bool) -> tuple[ReviewedClaim, ...]:
        """All settled claims; kept in memory until anything is written that they show."""
        key = (str(self.store.database.engine.url), project_id, features)
        with self.store.database.reading() as connection:
            mark = _mark(connection, project_id)
            kept = _KEPT.get(key)
            if kept is None or kept[0] != mark:
                while len(_KEPT) >= KEPT_AT_MOST:
                    _KEPT.pop(next(iter(_KEPT)), None)
                kept = _KEPT[key] = (mark, _reviewed(connection, project_id, features))
        return kept[1]


# A project with 100,000 votes takes seconds to put together, and a page asks for it on every click.
# The records are frozen; two sessions that fill the same place at once write the same value.
KEPT_AT_MOST = 2
_KEPT: dict[tuple[str, int, bool], tuple[tuple[object, ...], tuple[ReviewedClaim, ...]]] = {}


def _mark(connection: Connection, project_id: int) -> tuple[object, ...]:
    """What changes whenever a settled claim does: these tables only ever grow, and settings count up.

    An erased trace shows in the number of traces.
    """
    newest: list[ColumnElement[Any]] = [
        func.max(col(VoteRow.vote_id)),
        func.max(col(VoteRow.at)),
        func.max(col(AdjudicationRow.adjudication_id)),
        func.max(col(ClaimSignal.signal_id)),
        func.count(col(TraceSplit.trace_key)),
        func.count(col(TraceVersion.position)),
    ]
    settings = project_at(connection, project_id)
    found = [connection.execute(select(one)).scalar() for one in newest]
    return (settings.version, *found)


def _reviewed(connection: Connection, project_id: int, features: bool) -> tuple[ReviewedClaim, ...]:
    reads = project_at(connection, project_id).settings.reads_per_claim
    votes = every_current_vote(connection, project_id)
    decided = every_adjudication(connection, project_id)
    voted = select(col(VoteRow.claim_key)).where(col(VoteRow.project_id) == project_id)
    signals = _signals(connection, voted, features)
    slices = _slices(connection, voted)
    found = []
    for row in _claims(connection, voted):
        claim_votes, adjudication = votes[row.claim_key], decided.get(row.claim_key)
        resolution = resolve(claim_votes, adjudication, reads=reads)
        if resolution is None:
            continue
        signal = signals.get(row.claim_key)
        found.append(
            ReviewedClaim(
                claim_key=row.claim_key,
                claim_id=row.claim_id,
                trace_id=row.trace_id,
                content_hash=row.content_hash,
                text=row.text,
                category=row.category,
                slices=tuple(slices.get(row.position, ())),
                family=signal.routed_family if signal else None,
                split=None if row.split is None else Split(row.split),
                votes=claim_votes,
                adjudication=adjudication,
                resolution=resolution,
                signal=signal,
                inclusion_probability=claim_votes[0].inclusion_probability,
                detail={"trace_key": row.trace_key},
            )
        )
    return tuple(found)


def _claims(connection: Connection, voted: Select[Any]) -> Iterable[Row[*tuple[Any, ...]]]:
    return connection.execute(
        select(
            col(ClaimRow.claim_key),
            col(ClaimRow.claim_id),
            col(ClaimRow.position),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            col(TraceVersion.trace_key),
            col(TraceVersion.content_hash),
            col(TraceVersion.category),
            col(TraceSplit.split),
        )
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .outerjoin(TraceSplit, col(TraceSplit.trace_key) == col(TraceVersion.trace_key))
        .where(col(ClaimRow.claim_key).in_(voted))
        .order_by(col(ClaimRow.position), col(ClaimRow.number), col(ClaimRow.claim_key))
    ).all()


def _signals(connection: Connection, voted: Select[Any], features: bool) -> Mapping[int, Signal]:
    columns = SIGNAL_COLUMNS if features else SIGNAL_COLUMNS[:-1]
    latest = (
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(voted))
        .group_by(col(ClaimSignal.claim_key))
    )
    rows = connection.execute(
        select(col(ClaimSignal.claim_key), *columns, col(Run.run_key))
        .join(Run, col(Run.run_id) == col(ClaimSignal.run_id))
        .where(col(ClaimSignal.signal_id).in_(latest))
    )
    return {row.claim_key: signal_from(row._mapping) for row in rows}


def _slices(connection: Connection, voted: Select[Any]) -> Mapping[int, list[str]]:
    positions = select(col(ClaimRow.position)).where(col(ClaimRow.claim_key).in_(voted))
    rows = connection.execute(
        select(col(TraceSlice.position), col(TraceSlice.slice))
        .where(col(TraceSlice.position).in_(positions))
        .order_by(col(TraceSlice.slice))
    )
    found: dict[int, list[str]] = {}
    for row in rows:
        found.setdefault(row.position, []).append(row.slice)
    return found


def _last(votes: Collection[Vote], adjudication: Adjudication | None) -> datetime:
    times = [vote.at for vote in votes]
    return max([*times, adjudication.at] if adjudication else times)
