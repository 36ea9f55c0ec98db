"""Lists of traces with their latest verdict: filtered, sorted and cut into pages by the database."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVarTuple

from sqlalchemy import (
    ColumnElement,
    ColumnExpressionArgument,
    Connection,
    Row,
    Select,
    and_,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.records import Decision, State
from core.review.readers import is_blind
from core.review.records import Person
from storage import records
from storage.columns import plain_text
from storage.listing_conditions import (
    of_batch,
    same_trace,
    with_cause,
    with_flag,
    with_reader,
    with_tag,
)
from storage.records import Order, TraceFilters
from storage.tables import Run, TraceSlice, TraceVersion, Verdict
from storage.traces import is_newest
from storage.triage_tables import VerdictTier
from storage.unread import yet_to_judge
from storage.verdicts import COUNT_COLUMNS, counts

Columns = TypeVarTuple("Columns")

QUESTION_CHARACTERS = 500  # a list shows no more


def list_traces(
    connection: Connection, filters: TraceFilters, *, order: Order, offset: int, limit: int
) -> records.TracePage:
    """One page of the newest trace versions that pass the filters."""
    passing, hidden = _passing(connection, filters), _hidden(filters.viewer)
    counting = select(func.count()).select_from(TraceVersion)
    if _asks_for_verdict(filters):
        counting = _joined(counting, hidden)
    total = connection.execute(counting.where(passing)).scalar_one()
    columns = select(
        col(TraceVersion.trace_id),
        col(TraceVersion.content_hash),
        col(TraceVersion.version),
        col(TraceVersion.position),
        func.substr(col(TraceVersion.question), 1, QUESTION_CHARACTERS).label("question"),
        col(TraceVersion.category),
        col(TraceVersion.format),
        col(TraceVersion.file),
        col(TraceVersion.sources),
        col(TraceVersion.imported_at),
    ).add_columns(*COUNT_COLUMNS, col(Verdict.decision), col(Verdict.verified_at), col(Run.run_key))
    columns = columns.add_columns(hidden.label("withheld"), col(VerdictTier.state))
    statement = (
        _joined(columns.select_from(TraceVersion), hidden)
        .where(passing)
        .order_by(*_order(order))
        .offset(offset)
        .limit(limit)
    )
    rows = tuple(map(_row, connection.execute(statement)))
    return records.TracePage(rows=rows, total=total, offset=offset)


def overview(connection: Connection, viewer: Person | None = None) -> records.Overview:
    """How many newest traces there are, by decision of their latest verdict, as ``viewer`` sees it."""
    hidden = _hidden(viewer)
    # Told apart once a trace, here: in the join as well it would be asked twice.
    decided = _joined(
        select(col(Verdict.decision), col(VerdictTier.state), hidden.label("withheld")).select_from(
            TraceVersion
        )
    ).where(is_newest())
    each = decided.subquery()
    rows = connection.execute(
        select(each.c.decision, each.c.state, each.c.withheld, func.count()).group_by(
            each.c.decision, each.c.state, each.c.withheld
        )
    ).all()
    decisions: Counter[Decision] = Counter()
    states: Counter[State] = Counter()
    for decision, state, withheld, count in rows:
        if decision is not None and not withheld:
            decisions[Decision(decision)] += count
            if state is not None and decision != Decision.UNAVAILABLE.value:
                states[State(state)] += count
    return records.Overview(
        traces=sum(count for *_, count in rows),
        by_decision=dict(decisions),
        by_state=dict(states),
        withheld=sum(count for *_, withheld, count in rows if withheld),
    )


def find_neighbours(
    connection: Connection, filters: TraceFilters, order: Order, trace_id: str, near: int
) -> records.Neighbours | None:
    """Where the trace stands in that list, looked for at place ``near`` first; None: not in it."""
    from_place = max(0, near - 2)
    page = list_traces(connection, filters, order=order, offset=from_place, limit=3)
    ids = [row.trace_id for row in page.rows]
    if trace_id not in ids or from_place + ids.index(trace_id) + 1 != near:
        # The list has changed since: somebody decided, verified or erased something.
        hidden = _hidden(filters.viewer)
        names = _joined(select(col(TraceVersion.trace_id)).select_from(TraceVersion), hidden)
        rows = connection.execute(
            names.where(_passing(connection, filters)).order_by(*_order(order))
        )
        ids, from_place = list(rows.scalars()), 0
    if trace_id not in ids:
        return None
    at = ids.index(trace_id)
    return records.Neighbours(
        place=from_place + at + 1,
        total=page.total,
        before=ids[at - 1] if at else None,
        after=ids[at + 1] if at + 1 < len(ids) else None,
    )


def files(connection: Connection) -> tuple[records.NamedCount, ...]:
    """The files that the newest traces came from, the last added first."""
    file = col(TraceVersion.file)
    rows = connection.execute(
        select(file, func.count())
        .where(is_newest(), file.is_not(None))
        .group_by(file)
        .order_by(func.max(col(TraceVersion.position)).desc())
    )
    return tuple(records.NamedCount(name=str(row[0]), count=row[1]) for row in rows)


def categories(connection: Connection) -> tuple[records.NamedCount, ...]:
    """The categories of the newest traces, the most frequent first."""
    category = col(TraceVersion.category)
    rows = connection.execute(
        select(category, func.count())
        .where(is_newest(), category.is_not(None))
        .group_by(category)
        .order_by(func.count().desc(), category)
    )
    return tuple(records.NamedCount(name=str(row[0]), count=row[1]) for row in rows)


def slices(connection: Connection) -> tuple[records.NamedCount, ...]:
    """The slices of the newest traces, the most frequent first."""
    name = col(TraceSlice.slice)
    rows = connection.execute(
        select(name, func.count())
        .join_from(TraceSlice, TraceVersion, same_trace())
        .where(is_newest())
        .group_by(name)
        .order_by(func.count().desc(), name)
    )
    return tuple(records.NamedCount(name=str(row[0]), count=row[1]) for row in rows)


def _hidden(viewer: Person | None) -> ColumnElement[bool]:
    """Whether the verdict on the trace is hidden from who looks."""
    return yet_to_judge(viewer) if viewer is not None and is_blind(viewer) else false()


def _joined(
    statement: Select[*Columns], hidden: ColumnElement[bool] | None = None
) -> Select[*Columns]:
    """The statement with each trace's latest verdict, where there is one that is not hidden."""
    latest = aliased(Verdict)
    newest = (
        select(func.max(col(latest.verdict_id)))
        .where(col(latest.position) == col(TraceVersion.position))
        .correlate(TraceVersion)
        .scalar_subquery()
    )
    seen = and_(col(Verdict.verdict_id) == newest, ~(false() if hidden is None else hidden))
    graded = col(VerdictTier.verdict_id) == col(Verdict.verdict_id)
    run = col(Run.run_id) == col(Verdict.run_id)
    return statement.outerjoin(Verdict, seen).outerjoin(Run, run).outerjoin(VerdictTier, graded)


def _asks_for_verdict(filters: TraceFilters) -> bool:
    """Whether the latest verdict has a say in which traces pass."""
    of_verdict = (
        filters.decisions,
        filters.states,
        filters.verdicts,
        filters.conflated,
        filters.cause,
    )
    return any(of_verdict) or filters.verified is not None


def _passing(connection: Connection, filters: TraceFilters) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [is_newest()]
    if filters.decisions:
        wanted = [decision.value for decision in filters.decisions]
        conditions.append(col(Verdict.decision).in_(wanted))
    if filters.states:
        wanted = [state.value for state in filters.states]
        unavailable = col(Verdict.decision) == Decision.UNAVAILABLE.value
        conditions += [col(VerdictTier.state).in_(wanted), ~unavailable]
    if filters.verdicts:
        conditions.append(or_(*(Verdict.__table__.c[v.value] > 0 for v in filters.verdicts)))  # type: ignore[attr-defined]
    if filters.conflated:
        conditions.append(col(Verdict.conflations) > 0)
    if filters.verified is not None:
        verdict_id = col(Verdict.verdict_id)
        conditions.append(verdict_id.is_not(None) if filters.verified else verdict_id.is_(None))
        if not filters.verified:
            conditions.append(~_hidden(filters.viewer))
    if filters.category is not None:
        conditions.append(col(TraceVersion.category) == filters.category)
    if filters.slice is not None:
        conditions.append(
            select(1)
            .where(same_trace(), col(TraceSlice.slice) == filters.slice)
            .correlate(TraceVersion)
            .exists()
        )
    if filters.file is not None:
        conditions.append(col(TraceVersion.file) == filters.file)
    if filters.batch is not None:
        conditions.append(of_batch(connection, filters.batch))
    if filters.cause is not None:
        conditions.append(with_cause(filters.cause))
    if filters.tag is not None:
        conditions.append(with_tag(filters.tag))
    if filters.flagged:
        conditions.append(with_flag())
    if filters.assigned_to is not None:
        conditions.append(with_reader(filters.assigned_to))
    if filters.search.strip():
        conditions.append(_saying(filters.search.strip()))
    return and_(*conditions)


def _saying(words: str) -> ColumnElement[bool]:
    searched = (
        col(TraceVersion.trace_id),
        col(TraceVersion.question),
        col(TraceVersion.answer),
    )
    sought = plain_text(words)
    return or_(*(column.icontains(sought, autoescape=True) for column in searched))


def _order(order: Order) -> tuple[ColumnExpressionArgument[Any], ...]:
    imported = col(TraceVersion.position)
    if order is Order.NEWEST:
        return (imported.desc(),)
    if order is Order.TRACE_ID:
        return (col(TraceVersion.trace_id), imported)
    if order is Order.MOST_BLOCKED:
        return (func.coalesce(col(Verdict.blocked), -1).desc(), imported)
    if order is Order.MOST_CONFLATIONS:
        return (func.coalesce(col(Verdict.conflations), -1).desc(), imported)
    return (imported,)


def _row(row: Row[*tuple[Any, ...]]) -> records.TraceRow:
    verified = row.decision is not None
    return records.TraceRow(
        trace_id=row.trace_id,
        content_hash=row.content_hash,
        version=row.version,
        position=row.position,
        question=row.question,
        category=row.category,
        format=row.format,
        file=row.file,
        sources=row.sources,
        imported_at=row.imported_at,
        decision=Decision(row.decision) if verified else None,
        state=State(row.state) if verified else None,
        counts=counts(row._mapping) if verified else None,
        run_key=row.run_key,
        verified_at=row.verified_at,
        withheld=bool(row.withheld),
    )
