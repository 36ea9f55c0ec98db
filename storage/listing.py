"""Lists of traces with their latest verdict: filtered, sorted and cut into pages by the database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVarTuple

from sqlalchemy import (
    ColumnElement,
    ColumnExpressionArgument,
    Connection,
    Row,
    Select,
    and_,
    case,
    exists,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.records import AttributionStatus, Decision, State, VerdictLabel
from core.review.adjudication import FOUND_WRONG, resolve
from core.review.items import QueueState
from core.review.readers import is_blind
from core.review.records import Person, Role, Unfit
from storage import records
from storage.annotations import adjudication_of, current_annotations, not_withdrawn, stands
from storage.columns import plain_text
from storage.records import Order, TraceFilters
from storage.tables import (
    PROJECT,
    AdjudicationRow,
    AnnotationRequest,
    AnnotationRow,
    AssignmentRow,
    ClaimBlock,
    ClaimRow,
    ClaimSignal,
    Decline,
    ImportRecord,
    ProjectRow,
    QueueRow,
    Run,
    TraceMark,
    TraceSlice,
    TraceVersion,
    Verdict,
    VerdictCause,
    VerdictState,
    about,
)
from storage.traces import is_newest
from storage.verdicts import COUNT_COLUMNS, counts


def same_trace() -> ColumnElement[bool]:
    """Whether the slice is one of the trace version."""
    return col(TraceVersion.position) == col(TraceSlice.position)


def with_cause(cause: str) -> ColumnElement[bool]:
    """Whether the verdict holds a claim back for that cause."""
    return exists().where(
        col(VerdictCause.verdict_id) == col(Verdict.verdict_id),
        col(VerdictCause.cause) == cause,
    )


def of_batch(connection: Connection, import_id: int) -> ColumnElement[bool]:
    """Whether the trace version came with that import.

    An import names its files and its end; what an earlier import brought from them came before.
    """
    rows = connection.execute(
        select(col(ImportRecord.import_id), col(ImportRecord.files), col(ImportRecord.imported_at))
        .where(col(ImportRecord.import_id) <= import_id)
        .order_by(col(ImportRecord.import_id).desc())
    ).all()
    if not rows or rows[0].import_id != import_id:
        return false()
    names = _names(rows[0].files)
    earlier = next((row.imported_at for row in rows[1:] if names & _names(row.files)), None)
    came = [
        col(TraceVersion.file).in_(sorted(names)),
        col(TraceVersion.imported_at) <= rows[0].imported_at,
    ]
    if earlier is not None:
        came.append(col(TraceVersion.imported_at) > earlier)
    return and_(*came)


def _names(files: str) -> set[str]:
    return {plain_text(str(each["file"])) for each in json.loads(files)}


def with_flag() -> ColumnElement[bool]:
    """Whether the latest word of somebody on a flag of the trace is that it is flagged."""
    return _standing("flag", "unflag")


def with_tag(tag: str) -> ColumnElement[bool]:
    """Whether the latest word on that tag is that the trace has it."""
    return _standing("tag", "untag", plain_text(tag))


def _standing(given: str, taken: str, text: str | None = None) -> ColumnElement[bool]:
    """Whether a mark was given that nobody (of a flag: its giver) has taken back later."""
    later = aliased(TraceMark)
    same = col(later.text) == col(TraceMark.text)
    if text is None:
        same = col(later.person_id) == col(TraceMark.person_id)
    taken_back = exists().where(
        col(later.position) == col(TraceMark.position),
        col(later.kind) == taken,
        same,
        col(later.mark_id) > col(TraceMark.mark_id),
    )
    conditions = [
        col(TraceMark.position) == col(TraceVersion.position),
        col(TraceMark.kind) == given,
        ~taken_back,
    ]
    if text is not None:
        conditions.append(col(TraceMark.text) == text)
    return select(1).where(*conditions).correlate(TraceVersion).exists()


def with_reader(person_id: int) -> ColumnElement[bool]:
    """Whether somebody gave the trace to that person to read."""
    return exists().where(
        col(AnnotationRequest.position) == col(TraceVersion.position),
        col(AnnotationRequest.person_id) == person_id,
        col(AnnotationRequest.now) == false(),
    )


def batches(connection: Connection) -> list[tuple[int, str, Any, int]]:
    """The imports that brought something, the latest first: (id, files, when, how many traces)."""
    rows = connection.execute(
        select(
            col(ImportRecord.import_id),
            col(ImportRecord.files),
            col(ImportRecord.imported_at),
            (col(ImportRecord.new) + col(ImportRecord.changed)).label("traces"),
        )
        .where(col(ImportRecord.new) + col(ImportRecord.changed) > 0)
        .order_by(col(ImportRecord.import_id).desc())
    )
    return [
        (row.import_id, " + ".join(sorted(_names(row.files))), row.imported_at, row.traces)
        for row in rows
    ]


def causes(connection: Connection) -> dict[str, int]:
    """How many stored verdicts hold a claim back for each cause."""
    rows = connection.execute(
        select(col(VerdictCause.cause), func.count()).group_by(col(VerdictCause.cause))
    )
    return {row[0]: row[1] for row in rows}


def yet_to_judge(person: Person, trace: Any = TraceVersion) -> ColumnElement[bool]:
    """Whether the person may still be given a claim of any version of the trace in that row.

    Such claims wait in a project that wants the decision first, and the person has neither read them
    nor passed them on for good.
    """
    states = _states(person.roles)
    if not states:
        return false()
    other = aliased(TraceVersion)
    mine, passed_on, taken_up_again = (
        exists().where(about(table, QueueRow.claim_key, person.person_id))
        for table in (AnnotationRow, Decline, AssignmentRow)
    )
    return (
        select(1)
        .select_from(other)
        .join(ClaimRow, col(ClaimRow.position) == col(other.position))
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .join(ProjectRow, col(ProjectRow.project_id) == col(QueueRow.project_id))
        .where(
            col(other.trace_key) == col(trace.trace_key),
            col(QueueRow.state).in_(states),
            col(ProjectRow.decide_first),
            ~mine.where(not_withdrawn()),
            or_(~passed_on, taken_up_again),
        )
        .correlate(trace)
        .exists()
    )


def _states(roles: Collection[Role]) -> list[str]:
    """The states of claims that somebody with these roles may be given."""
    reading = [QueueState.WAITING, QueueState.READING] if Role.REVIEWER in roles else []
    deciding = [QueueState.DISAGREEMENT] if Role.ADJUDICATOR in roles else []
    return [state.value for state in (*reading, *deciding)]


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
    columns = columns.add_columns(hidden.label("withheld"), _state().label("state"))
    statement = (
        _joined(columns.select_from(TraceVersion), hidden)
        .where(passing)
        .order_by(*_order(order))
        .offset(offset)
        .limit(limit)
    )
    found = connection.execute(statement).all()
    here = col(TraceVersion.position).in_([row.position for row in found])
    moved = _moved_by_people(connection, hidden, here)
    rows = tuple(_row(row, moved.get(row.position)) for row in found)
    return records.TracePage(rows=rows, total=total, offset=offset)


def overview(connection: Connection, viewer: Person | None = None) -> records.Overview:
    """How many newest traces there are, by decision of their latest verdict, as ``viewer`` sees it."""
    hidden = _hidden(viewer)
    # Told apart once a trace, here: in the join as well it would be asked twice.
    decided = _joined(
        select(
            col(Verdict.decision),
            _state().label("state"),
            hidden.label("withheld"),
            *COUNT_COLUMNS,
        ).select_from(TraceVersion)
    ).where(is_newest())
    each = decided.subquery()
    group = (each.c.decision, each.c.state, each.c.withheld)
    names = [column.name for column in each.c][len(group) :]
    sums = [func.coalesce(func.sum(each.c[name]), 0).label(name) for name in names]
    rows = connection.execute(
        select(*group, func.count().label("traces"), *sums).group_by(*group)
    ).all()
    moved: Counter[str] = Counter()
    for change in _moved_by_people(connection, hidden, is_newest()).values():
        moved.update(change)
    decisions: Counter[Decision] = Counter()
    states: Counter[State] = Counter()
    claims: Counter[str] = Counter()
    for row in rows:
        if row.decision is None or row.withheld:
            continue
        decisions[Decision(row.decision)] += row.traces
        claims.update({name: int(row._mapping[name]) for name in names})
        if row.state is not None and row.decision != Decision.UNAVAILABLE.value:
            states[State(row.state)] += row.traces
    return records.Overview(
        traces=sum(row.traces for row in rows),
        by_decision=dict(decisions),
        by_state=dict(states),
        withheld=sum(row.traces for row in rows if row.withheld),
        claims=counts(claims) if decisions else None,
        by_people=counts(_sum(claims, moved)) if moved else None,
    )


def _moved_by_people(
    connection: Connection, hidden: ColumnElement[bool], which: ColumnElement[bool]
) -> dict[int, Counter[str]]:
    """By how much people's final labels change the counts of the latest verdicts: position → name → number.

    Only traces of which people have settled something are in it.
    """
    settled = (
        _joined(
            select(
                col(TraceVersion.position),
                col(QueueRow.passes),
                _final_support().label("support"),
                col(ClaimSignal.decision),
                col(ClaimSignal.verdict),
                col(ClaimSignal.attribution),
                col(ClaimBlock.signal_id).is_not(None).label("shown"),
            ).select_from(TraceVersion),
            hidden,
        )
        .join(ClaimRow, col(ClaimRow.position) == col(TraceVersion.position))
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .join(
            ClaimSignal,
            and_(
                col(ClaimSignal.claim_key) == col(ClaimRow.claim_key),
                col(ClaimSignal.run_id) == col(Verdict.run_id),
            ),
        )
        .outerjoin(ClaimBlock, col(ClaimBlock.signal_id) == col(ClaimSignal.signal_id))
        .where(which, col(QueueRow.passes).is_not(None))
        .subquery()
    )
    moved: dict[int, Counter[str]] = {}
    for row in connection.execute(
        select(*settled.c, func.count().label("claims")).group_by(*settled.c)
    ):
        change = moved.setdefault(row.position, Counter())
        for name, sign in _moves(row):
            change[name] += sign * row.claims
    return moved


def _final_support() -> ColumnElement[str | None]:
    """What the final label of the queue's row says of support."""
    # The annotations that a label rests on say the same of support: the last written one will do.
    supports = [
        select(col(table.support))
        .where(
            col(table.project_id) == PROJECT,
            col(table.claim_key) == col(QueueRow.claim_key),
            counted,
        )
        .order_by(number.desc())
        .limit(1)
        .correlate(QueueRow)
        .scalar_subquery()
        for table, number, counted in (
            (AdjudicationRow, col(AdjudicationRow.adjudication_id), stands()),
            (AnnotationRow, col(AnnotationRow.vote_id), not_withdrawn()),
        )
    ]
    return func.coalesce(*supports)


def _moves(row: Row[*tuple[Any, ...]]) -> Iterator[tuple[str, int]]:
    """What the verifier counted a claim as, and what people's label makes it count as."""
    yield row.verdict or VerdictLabel.UNJUDGED.value, -1
    if row.decision == Decision.BLOCK.value:
        yield "blocked", -1
    if row.attribution == AttributionStatus.CONFLATION.value and row.shown:
        yield "conflations", -1
    if row.support == Unfit.NOT_A_CLAIM.value:
        yield "set_aside", 1
        return
    supported = row.support == VerdictLabel.SUPPORTED.value
    yield row.support, 1
    if not row.passes:
        yield "blocked", 1
        yield "conflations", int(supported)


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
    return _counted(
        connection, category, select(category, func.count()).where(category.is_not(None))
    )


def slices(connection: Connection) -> tuple[records.NamedCount, ...]:
    """The slices of the newest traces, the most frequent first."""
    name = col(TraceSlice.slice)
    statement = select(name, func.count()).join_from(TraceSlice, TraceVersion, same_trace())
    return _counted(connection, name, statement)


def _counted(
    connection: Connection, name: ColumnExpressionArgument[Any], statement: Select[*Columns]
) -> tuple[records.NamedCount, ...]:
    rows: Sequence[Any] = connection.execute(
        statement.where(is_newest()).group_by(name).order_by(func.count().desc(), name)
    ).all()
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
    graded = col(VerdictState.verdict_id) == col(Verdict.verdict_id)
    run = col(Run.run_id) == col(Verdict.run_id)
    return statement.outerjoin(Verdict, seen).outerjoin(Run, run).outerjoin(VerdictState, graded)


def _with_label(*says: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a final label says so of a claim of the trace version; read once for a whole list."""
    labelled = (
        select(col(ClaimRow.position))
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .where(*says)
    )
    return col(TraceVersion.position).in_(labelled)


def _with_open_claim(*, shown: bool) -> ColumnElement[bool]:
    """Whether the latest run stopped a claim of the trace version that has no final label.

    ``shown``: one that it showed to be wrong.
    """
    settled = exists().where(
        col(QueueRow.claim_key) == col(ClaimRow.claim_key), col(QueueRow.passes).is_not(None)
    )
    stopped = (
        select(1)
        .select_from(ClaimRow)
        .join(ClaimSignal, col(ClaimSignal.claim_key) == col(ClaimRow.claim_key))
        .where(
            col(ClaimRow.position) == col(TraceVersion.position),
            col(ClaimSignal.run_id) == col(Verdict.run_id),
            col(ClaimSignal.decision) == Decision.BLOCK.value,
            ~settled,
        )
    )
    if shown:
        stopped = stopped.join(ClaimBlock, col(ClaimBlock.signal_id) == col(ClaimSignal.signal_id))
    return stopped.correlate(TraceVersion, Verdict).exists()


def _state() -> ColumnElement[str | None]:
    """The state of the answer: what people settled of its claims goes before what the verifier says.

    A claim that they found wrong blocks it, one that they could not confirm needs review; of what stopped
    it, a claim with a label counts no more (``state_of_final``). None where no verdict is seen.
    """
    verified = col(VerdictState.state)
    stops = col(QueueRow.passes).is_(False)
    return case(
        (verified.is_(None), None),
        (_with_label(stops, _final_support().in_(FOUND_WRONG)), State.BLOCK.value),
        (~_with_label(col(QueueRow.passes).is_not(None)), verified),
        (_with_open_claim(shown=True), State.BLOCK.value),
        (_with_label(stops), State.NEEDS_REVIEW.value),
        (col(Verdict.blocked) == 0, verified),
        (_with_open_claim(shown=False), State.NEEDS_REVIEW.value),
        else_=State.ALLOW.value,
    )


def by_people(connection: Connection, content_hash: str) -> records.ByPeople | None:
    """What people made of the answer with that content; None where they have settled none of its claims."""
    here = col(TraceVersion.content_hash) == content_hash
    rows = connection.execute(
        select(col(ClaimRow.claim_id), col(QueueRow.claim_key), col(ProjectRow.reads_per_claim))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .join(ProjectRow, col(ProjectRow.project_id) == col(QueueRow.project_id))
        .where(here, col(QueueRow.passes).is_not(None))
        .order_by(col(QueueRow.passes).desc())  # what stops goes last
    )
    final = {}
    for claim_id, key, reads in rows:
        annotations = current_annotations(connection, key)
        adjudication = adjudication_of(connection, key)
        found = resolve(annotations, adjudication, reads=reads)
        if found is not None and found.final is not None:
            at = adjudication.at if adjudication else max(each.at for each in annotations)
            final[claim_id] = (found.final, at)
    state = connection.execute(
        _joined(select(_state()).select_from(TraceVersion)).where(here)
    ).scalar()
    return records.ByPeople(state=State(state), final=final) if final and state else None


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
        conditions += [_state().in_(wanted), ~unavailable]
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
        of_slice = same_trace() & (col(TraceSlice.slice) == filters.slice)
        conditions.append(exists().where(of_slice))
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


def _row(row: Row[*tuple[Any, ...]], moved: Counter[str] | None) -> records.TraceRow:
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
        by_people=counts(_sum(row._mapping, moved)) if verified and moved else None,
        run_key=row.run_key,
        verified_at=row.verified_at,
        withheld=bool(row.withheld),
    )


def _sum(found: Mapping[Any, Any], moved: Counter[str]) -> dict[str, int]:
    names = (*(label.value for label in VerdictLabel), "set_aside", "blocked", "conflations")
    return {name: found[name] + moved[name] for name in names}
