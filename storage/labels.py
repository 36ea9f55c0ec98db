"""Labels: what people said about claims and what stands, in a handful of statements."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, exists, func, select, union
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.review.adjudication import resolve
from core.review.records import (
    Adjudication,
    Annotation,
    ReviewedClaim,
    Signal,
    Split,
)
from storage.annotations import (
    every_adjudication,
    every_current_annotation,
    not_withdrawn,
)
from storage.claims import SIGNAL_COLUMNS, signal_from
from storage.projects import project_at
from storage.store import SqlStore
from storage.tables import (
    PROJECT,
    AdjudicationReopening,
    AdjudicationRow,
    AnnotationRow,
    AnnotationWithdrawal,
    ClaimRow,
    ClaimSignal,
    QueueRow,
    Run,
    TraceSlice,
    TraceSplit,
    TraceVersion,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The reviewed claims of a store."""

    store: SqlStore

    def reviewed(self, *, features: bool = True) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in, in the order of their traces.

        They are kept in memory, and brought up to what was written since. Without ``features``, signals
        come without them, in half the time.
        """
        key = self._key(features)
        with self.store.database.reading() as connection:
            mark = _mark(connection)
            kept = _KEPT.get(key)
            if kept is None or kept.mark != mark:
                found = None if kept is None else _brought_up(connection, kept, mark)
                while key not in _KEPT and len(_KEPT) >= KEPT_AT_MOST:
                    _KEPT.pop(next(iter(_KEPT)), None)
                if found is None:
                    with _uncollected():
                        found = _read(connection, mark, features)
                kept = _KEPT[key] = found
        return kept.claims

    def next_probabilities(self, count: int) -> tuple[float, ...]:
        """The support of the claims that come next in the queue, audits aside."""
        said = aliased(ClaimSignal)
        latest = (
            select(func.max(col(said.signal_id)))
            .where(col(said.claim_key) == col(QueueRow.claim_key))
            .correlate(QueueRow)
            .scalar_subquery()
        )
        wanted = (
            select(col(ClaimSignal.probability))
            .select_from(QueueRow)
            .join(ClaimSignal, col(ClaimSignal.signal_id) == latest)
            .where(
                col(QueueRow.project_id) == PROJECT,
                col(QueueRow.missing) > 0,
                col(QueueRow.audit).is_(False),
                col(ClaimSignal.probability).is_not(None),
            )
            .order_by(col(QueueRow.rank), col(QueueRow.claim_key))
            .limit(count)
        )
        with self.store.database.reading() as connection:
            return tuple(connection.execute(wanted).scalars())  # type: ignore[arg-type]  # none is null

    def waiting_traces(self, most: int) -> tuple[str, ...]:
        """The traces with a claim that nobody has taken, the one that comes first in the queue first."""
        wanted = (
            select(col(TraceVersion.trace_id))
            .join(ClaimRow, col(ClaimRow.position) == col(TraceVersion.position))
            .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
            .where(col(QueueRow.missing) > 0)
            .group_by(col(TraceVersion.trace_id))
            .order_by(func.min(col(QueueRow.rank)), col(TraceVersion.trace_id))
            .limit(most)
        )
        with self.store.database.reading() as connection:
            return tuple(connection.execute(wanted).scalars())

    def unfinished(self) -> int:
        """How many claims have an annotation, and annotations still to come."""
        with self.store.database.reading() as connection:
            begun = connection.execute(
                select(func.count(func.distinct(col(AnnotationRow.claim_key)))).where(
                    not_withdrawn()
                )
            ).scalar_one()
        # Whichever is in memory already: with features or without, the claims are the same.
        features = self._key(True) in _KEPT
        return begun - len(self.reviewed(features=features))

    def _key(self, features: bool) -> tuple[str, bool]:
        return (str(self.store.database.engine.url), features)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Records by the hundred thousand make the collector go over all of them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """What changes whenever a settled claim does: these tables only ever grow, and settings count up.

    ``voted_at`` belongs to ``annotation``: another database in the same place has another one. An erased
    trace shows in the number of traces.
    """

    settings: int
    traces: int
    splits: int
    annotation: int
    withdrawal: int
    voted_at: datetime | None
    decision: int
    reopening: int
    signal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """The settled claims as of a mark; ``placed`` is claim key → (place in the order, claim)."""

    mark: _Mark
    features: bool
    placed: Mapping[int, _Placed]
    claims: tuple[ReviewedClaim, ...]


_Placed = tuple[tuple[int, int, int], ReviewedClaim]  # (position of its trace, number, claim key)

# A project with 100,000 annotations takes seconds to put together, and a page asks for it on every click.
# The records are frozen; two sessions that fill the same place at once write the same value.
KEPT_AT_MOST = 2
# With more claims to read again than this, reading all of them is hardly slower.
BROUGHT_UP_AT_MOST = 200
_KEPT: dict[tuple[str, bool], _Kept] = {}


def _mark(connection: Connection) -> _Mark:
    ever: dict[str, Any] = {
        "traces": func.count(col(TraceVersion.position)),
        "splits": func.count(col(TraceSplit.trace_key)),
        "withdrawal": func.max(col(AnnotationWithdrawal.withdrawal_id)),
        "decision": func.max(col(AdjudicationRow.adjudication_id)),
        "reopening": func.max(col(AdjudicationReopening.reopening_id)),
        "signal": func.max(col(ClaimSignal.signal_id)),
    }
    found = connection.execute(
        select(*(select(wanted).scalar_subquery().label(name) for name, wanted in ever.items()))
    ).one()
    last = connection.execute(
        select(col(AnnotationRow.vote_id), col(AnnotationRow.at))
        .order_by(col(AnnotationRow.vote_id).desc())
        .limit(1)
    ).first()
    return _Mark(
        settings=project_at(connection).version,
        annotation=last.vote_id if last else 0,
        voted_at=last.at if last else None,
        **{name: number or 0 for name, number in found._mapping.items()},
    )


def _read(connection: Connection, mark: _Mark, features: bool) -> _Kept:
    """All settled claims, in a handful of statements."""
    voted = select(col(AnnotationRow.claim_key)).where(not_withdrawn())
    annotations = every_current_annotation(connection)
    decided = every_adjudication(connection)
    placed = _reviewed(connection, voted, annotations, decided, features)
    return _in_order(mark, features, placed)


def _brought_up(connection: Connection, kept: _Kept, mark: _Mark) -> _Kept | None:
    """What was kept, with the claims read again that something was written about since.

    None when that cannot be told, or is too much.
    """
    before = kept.mark
    if (mark.settings, mark.traces) != (before.settings, before.traces):
        return None
    same = connection.execute(
        select(col(AnnotationRow.at)).where(col(AnnotationRow.vote_id) == before.annotation)
    ).scalar()
    if same != before.voted_at:
        return None
    keys = _written_about(connection, before)
    if len(keys) > BROUGHT_UP_AT_MOST:
        return None
    placed = dict(kept.placed)
    for key in keys:
        placed.pop(key, None)
    if keys:
        annotations = every_current_annotation(connection, keys)
        decided = every_adjudication(connection, keys)
        some = select(col(ClaimRow.claim_key)).where(col(ClaimRow.claim_key).in_(keys))
        placed |= _reviewed(connection, some, annotations, decided, kept.features)
    if mark.splits != before.splits:
        placed = _with_splits(connection, placed)
    return _in_order(mark, kept.features, placed)


def _written_about(connection: Connection, since: _Mark) -> list[int]:
    """The claims with annotations that somebody or a run said something about after that mark."""
    voted = exists().where(
        col(AnnotationRow.project_id) == PROJECT,
        col(AnnotationRow.claim_key) == col(ClaimSignal.claim_key),
    )
    rows = connection.execute(
        union(
            select(col(AnnotationRow.claim_key)).where(
                col(AnnotationRow.vote_id) > since.annotation
            ),
            select(col(AnnotationWithdrawal.claim_key)).where(
                col(AnnotationWithdrawal.withdrawal_id) > since.withdrawal
            ),
            select(col(AdjudicationRow.claim_key)).where(
                col(AdjudicationRow.adjudication_id) > since.decision
            ),
            select(col(AdjudicationReopening.claim_key)).where(
                col(AdjudicationReopening.reopening_id) > since.reopening
            ),
            select(col(ClaimSignal.claim_key)).where(
                col(ClaimSignal.signal_id) > since.signal, voted
            ),
        ).limit(BROUGHT_UP_AT_MOST + 1)
    )
    return list(rows.scalars())


def _with_splits(connection: Connection, placed: Mapping[int, _Placed]) -> dict[int, _Placed]:
    rows = connection.execute(select(col(TraceSplit.trace_key), col(TraceSplit.split)))
    said = {row.trace_key: Split(row.split) for row in rows}
    return {
        key: (place, claim)
        if claim.split is (split := said.get(str(claim.detail["trace_key"])))
        else (place, replace(claim, split=split))
        for key, (place, claim) in placed.items()
    }


def _in_order(mark: _Mark, features: bool, placed: Mapping[int, _Placed]) -> _Kept:
    ordered = sorted(placed.values(), key=lambda one: one[0])
    claims = tuple(claim for _, claim in ordered)
    return _Kept(mark=mark, features=features, placed=placed, claims=claims)


def _reviewed(
    connection: Connection,
    wanted: Select[Any],
    annotations: Mapping[int, tuple[Annotation, ...]],
    decided: Mapping[int, Adjudication],
    features: bool,
) -> dict[int, _Placed]:
    """Those of the wanted claims whose annotations are all in; ``wanted`` selects claim keys."""
    reads = project_at(connection).settings.reads_per_claim
    signals = _signals(connection, wanted, features)
    slices = _slices(connection, wanted)
    found: dict[int, _Placed] = {}
    for row in _claims(connection, wanted):
        of_claim, adjudication = annotations.get(row.claim_key, ()), decided.get(row.claim_key)
        resolution = resolve(of_claim, adjudication, reads=reads)
        if resolution is None:
            continue
        signal = signals.get(row.claim_key)
        claim = ReviewedClaim(
            claim_key=row.claim_key,
            claim_id=row.claim_id,
            trace_id=row.trace_id,
            content_hash=row.content_hash,
            text=row.text,
            category=row.category,
            slices=tuple(slices.get(row.position, ())),
            family=signal.routed_family if signal else None,
            split=None if row.split is None else Split(row.split),
            annotations=of_claim,
            adjudication=adjudication,
            resolution=resolution,
            signal=signal,
            inclusion_probability=of_claim[0].inclusion_probability,
            detail={"trace_key": row.trace_key},
        )
        found[row.claim_key] = ((row.position, row.number, row.claim_key), claim)
    return found


def _claims(connection: Connection, wanted: Select[Any]) -> Iterable[Row[*tuple[Any, ...]]]:
    return connection.execute(
        select(
            col(ClaimRow.claim_key),
            col(ClaimRow.claim_id),
            col(ClaimRow.position),
            col(ClaimRow.number),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            col(TraceVersion.trace_key),
            col(TraceVersion.content_hash),
            col(TraceVersion.category),
            col(TraceSplit.split),
        )
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .outerjoin(TraceSplit, col(TraceSplit.trace_key) == col(TraceVersion.trace_key))
        .where(col(ClaimRow.claim_key).in_(wanted))
    ).all()


def _signals(connection: Connection, wanted: Select[Any], features: bool) -> Mapping[int, Signal]:
    columns = SIGNAL_COLUMNS if features else SIGNAL_COLUMNS[:-1]
    latest = (
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(wanted))
        .group_by(col(ClaimSignal.claim_key))
    )
    rows = connection.execute(
        select(col(ClaimSignal.claim_key), *columns, col(Run.run_key))
        .join(Run, col(Run.run_id) == col(ClaimSignal.run_id))
        .where(col(ClaimSignal.signal_id).in_(latest))
    )
    return {row.claim_key: signal_from(row._mapping) for row in rows}


def _slices(connection: Connection, wanted: Select[Any]) -> Mapping[int, list[str]]:
    positions = select(col(ClaimRow.position)).where(col(ClaimRow.claim_key).in_(wanted))
    rows = connection.execute(
        select(col(TraceSlice.position), col(TraceSlice.slice))
        .where(col(TraceSlice.position).in_(positions))
        .order_by(col(TraceSlice.slice))
    )
    found: dict[int, list[str]] = {}
    for row in rows:
        found.setdefault(row.position, []).append(row.slice)
    return found
