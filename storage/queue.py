"""The queue: one row a claim, kept in step with runs, assignments and annotations.

A row says where its claim stands (core/review/sampling.py), how many annotations nobody has taken, and
how far it is. Claims come first to somebody by an annotation request; those of an agreement round that is
being read come to nobody else. Everything here runs in the transaction of the write that it follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    union,
    update,
)
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.review.annotating import Standing, standing_of
from core.review.assignment import ADJUDICATION_SLOT
from core.review.items import QueueState
from core.review.leases import stream_order
from core.review.records import Person, Project, ProjectSettings, QueueReason, Signal
from core.review.sampling import DOUBTFUL, Place, audit_draw, place_claim
from storage.annotations import (
    every_adjudication,
    every_annotation,
    every_current_annotation,
)
from storage.audit import append_event
from storage.claims import SIGNAL_COLUMNS, signal_from
from storage.columns import in_pieces, read_as
from storage.tables import (
    PROJECT,
    AgreementRoundRow,
    AnnotationRequest,
    AnnotationRow,
    AssignmentRow,
    ClaimRow,
    ClaimSignal,
    Decline,
    ProjectRow,
    QueueRow,
    RoundAnnotator,
    RoundClaimRow,
    RoundClosingRow,
    RoundLabelRow,
    Run,
    TraceSlice,
    TraceVersion,
    Verdict,
    about,
)
from storage.traces import is_newest


def open_round(connection: Connection) -> int | None:
    """The round that is being read: its newest, until closed or read by all."""
    newest: int | None = connection.execute(
        select(func.max(col(AgreementRoundRow.round_id)))
    ).scalar()
    if newest is None:
        return None
    closed, claims, annotators, labels = (
        connection.execute(select(func.count()).where(column == newest)).scalar_one()
        for column in (
            col(RoundClosingRow.round_id),
            col(RoundClaimRow.round_id),
            col(RoundAnnotator.round_id),
            col(RoundLabelRow.round_id),
        )
    )
    return None if closed or labels >= claims * annotators else newest


def not_in_round(round_id: int | None) -> ColumnElement[bool]:
    """The claim of the queue's row does not wait for that round."""
    if round_id is None:
        return true()
    keys = select(col(RoundClaimRow.claim_key)).where(col(RoundClaimRow.round_id) == round_id)
    return col(QueueRow.claim_key).not_in(keys)


def waits_in_round(connection: Connection, person_id: int, trace_key: str) -> bool:
    """Whether the person has yet to read a claim of that trace in a round that was not closed."""
    found = connection.execute(
        select(1)
        .select_from(RoundAnnotator)
        .join(RoundClaimRow, col(RoundClaimRow.round_id) == col(RoundAnnotator.round_id))
        .join(ClaimRow, col(ClaimRow.claim_key) == col(RoundClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .outerjoin(
            RoundLabelRow,
            (col(RoundLabelRow.round_id) == col(RoundAnnotator.round_id))
            & (col(RoundLabelRow.claim_key) == col(RoundClaimRow.claim_key))
            & (col(RoundLabelRow.person_id) == person_id),
        )
        .where(
            col(RoundAnnotator.person_id) == person_id,
            col(TraceVersion.trace_key) == trace_key,
            col(RoundLabelRow.label_id).is_(None),
            ~exists().where(col(RoundClosingRow.round_id) == col(RoundAnnotator.round_id)),
        )
        .limit(1)
    ).first()
    return found is not None


def ask_for(
    connection: Connection,
    project: Project,
    positions: Sequence[int],
    annotator: Person | None,
    *,
    by: Person,
    at: datetime,
) -> None:
    """These traces' claims come first: to that person, or to whoever asks next (None)."""
    if not positions:
        return
    _forget(connection, positions, annotator, now=False)
    connection.execute(
        insert(AnnotationRequest),
        [_values(position, None, annotator, False, at) for position in positions],
    )
    append_event(
        connection,
        at,
        by.name,
        "traces.assigned" if annotator else "traces.queued",
        f"{len(positions)} traces" if len(positions) > 1 else f"trace {positions[0]}",
        {
            "project": project.project_id,
            "positions": list(positions),
            "person": annotator.person_id if annotator else None,
        },
    )


def withdraw(
    connection: Connection, project: Project, positions: Sequence[int], *, by: Person, at: datetime
) -> None:
    """These traces' claims come in the order of the queue again."""
    connection.execute(
        delete(AnnotationRequest).where(col(AnnotationRequest.position).in_(positions))
    )
    append_event(
        connection,
        at,
        by.name,
        "traces.unassigned",
        f"{len(positions)} traces",
        {"project": project.project_id, "positions": list(positions)},
    )


def turn_to(
    connection: Connection, position: int, claim_key: int | None, annotator: Person, *, at: datetime
) -> None:
    """The annotator opened this trace's claims themselves: that claim first, then the others."""
    _forget(connection, [position], annotator, now=True)
    wanted = [None] if claim_key is None else [claim_key, None]
    connection.execute(
        insert(AnnotationRequest), [_values(position, each, annotator, True, at) for each in wanted]
    )


def next_requested(
    connection: Connection, person_id: int, *free: ColumnElement[bool]
) -> Queued | None:
    """The claim that was asked for first, among those ``free`` for the person."""
    # What they opened themselves last, then what was given to them, then what anybody should read.
    order = (
        col(AnnotationRequest.now).desc(),
        col(AnnotationRequest.person_id).is_(None),
        col(AnnotationRequest.claim_key).is_(None),
        col(AnnotationRequest.request_id),
        col(ClaimRow.number),
    )
    # Not joined: SQLite would begin with the queue, and read all of it where nothing was asked for.
    waiting = exists().where(
        col(QueueRow.project_id) == PROJECT,
        col(QueueRow.claim_key) == col(ClaimRow.claim_key),
        col(QueueRow.missing) > 0,
        *free,
    )
    asked = connection.execute(
        select(col(ClaimRow.claim_key))
        .select_from(AnnotationRequest)
        .join(ClaimRow, col(ClaimRow.position) == col(AnnotationRequest.position))
        .where(
            col(AnnotationRequest.project_id) == PROJECT,
            or_(
                col(AnnotationRequest.person_id) == person_id,
                col(AnnotationRequest.person_id).is_(None),
            ),
            or_(
                col(AnnotationRequest.claim_key).is_(None),
                col(AnnotationRequest.claim_key) == col(ClaimRow.claim_key),
            ),
            waiting,
        )
        .order_by(*order)
        .limit(1)
    ).scalar()
    return None if asked is None else queued_claim(connection, asked)


def kept_for_others(person_id: int) -> ColumnElement[bool]:
    """Whether as many people as annotations are missing were given the claim and have yet to take it."""
    theirs = aliased(AnnotationRequest)
    taken, passed_on = (
        exists()
        .where(about(table, QueueRow.claim_key, theirs.person_id))
        .correlate(QueueRow, theirs)
        for table in (AssignmentRow, Decline)
    )
    waiting = (
        select(func.count(func.distinct(col(theirs.person_id))))
        .select_from(theirs)
        .join(ClaimRow, col(ClaimRow.position) == col(theirs.position))
        .where(
            col(ClaimRow.claim_key) == col(QueueRow.claim_key),
            col(theirs.person_id) != person_id,
            ~col(theirs.now),
            ~taken,
            ~passed_on,
        )
        .correlate(QueueRow)
        .scalar_subquery()
    )
    return waiting >= col(QueueRow.missing)


def _forget(
    connection: Connection, positions: Sequence[int], annotator: Person | None, *, now: bool
) -> None:
    person = col(AnnotationRequest.person_id)
    whose = person.is_(None) if annotator is None else person == annotator.person_id
    connection.execute(
        delete(AnnotationRequest).where(
            col(AnnotationRequest.project_id) == PROJECT,
            # What somebody opened before is not what they want now, wherever it is.
            col(AnnotationRequest.now) if now else col(AnnotationRequest.position).in_(positions),
            whose,
        )
    )


def _values(
    position: int, claim_key: int | None, annotator: Person | None, now: bool, at: datetime
) -> dict[str, object]:
    return {
        "position": position,
        "claim_key": claim_key,
        "person_id": annotator.person_id if annotator else None,
        "now": now,
        "at": at,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The next claim of somebody's queue."""

    claim_key: int
    reason: QueueReason
    inclusion_probability: float | None


_QUEUED = (col(QueueRow.claim_key), col(QueueRow.reason), col(QueueRow.inclusion_probability))


def the_project(connection: Connection) -> Project | None:
    """The project as it is now; None before its first use."""
    row = connection.execute(
        select(ProjectRow.__table__).where(col(ProjectRow.project_id) == PROJECT)  # type: ignore[attr-defined]
    ).first()
    if row is None:
        return None
    settings = read_as(ProjectSettings, row)
    return Project(project_id=row.project_id, settings=settings, version=row.version)


# ---------------------------------------------------------------- what runs find


def follow(connection: Connection, position: int, signals: Mapping[int, Signal]) -> None:
    """Queue the claims that a run found in a trace, instead of what earlier runs found there.

    What nobody has begun of earlier versions and earlier cuts of the answer leaves the queues.
    """
    project = the_project(connection)
    if project is None or not _newest(connection, position):
        return
    other = aliased(TraceVersion)
    same_trace = (
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(other, col(other.trace_key) == col(TraceVersion.trace_key))
        .where(col(other.position) == position)
    )
    former = [key for key in connection.execute(same_trace).scalars() if key not in signals]
    for some in in_pieces(former):
        connection.execute(
            delete(QueueRow).where(
                col(QueueRow.claim_key).in_(some),
                col(QueueRow.state) == QueueState.WAITING.value,
            )
        )
    slices = set(
        connection.execute(
            select(col(TraceSlice.slice)).where(col(TraceSlice.position) == position)
        ).scalars()
    )
    draws = list(_identities(connection, list(signals)))
    if project.settings.slice is None or project.settings.slice in slices:
        _put(connection, project, draws, signals)


Identity = tuple[int, str, str, str, str]  # claim key, trace key, claim id, its text and its hash


def _identities(connection: Connection, keys: Sequence[int]) -> Iterator[Identity]:
    for some in in_pieces(keys):
        rows = connection.execute(
            select(
                col(ClaimRow.claim_key),
                col(TraceVersion.trace_key),
                col(ClaimRow.claim_id),
                col(ClaimRow.text),
                col(ClaimRow.text_sha256),
            )
            .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
            .where(col(ClaimRow.claim_key).in_(some))
        )
        for row in rows:
            yield row.claim_key, row.trace_key, row.claim_id, row.text, row.text_sha256


def _put(
    connection: Connection,
    project: Project,
    identities: Sequence[Identity],
    signals: Mapping[int, Signal],
) -> None:
    there = _queued(connection, [one[0] for one in identities])
    new, moved = [], []
    for claim_key, trace_key, claim_id, text, text_sha256 in identities:
        draw = audit_draw(project.project_id, trace_key, claim_id, text_sha256)
        place = place_claim(draw, signals[claim_key], project.settings.audit_share, text)
        if claim_key in there:
            moved.append((claim_key, place))
        else:
            new.append({"claim_key": claim_key, **_columns(project, place)})
    if new:
        connection.execute(insert(QueueRow), new)
    for claim_key, place in moved:
        connection.execute(
            update(QueueRow)
            .where(
                col(QueueRow.claim_key) == claim_key,
                col(QueueRow.state) == QueueState.WAITING.value,
            )
            .values(
                audit=place.audit,
                rank=place.rank,
                reason=place.reason.value,
                inclusion_probability=place.inclusion_probability,
            )
        )


def _columns(project: Project, place: Place) -> dict[str, object]:
    return {
        "audit": place.audit,
        "rank": place.rank,
        "reason": place.reason.value,
        "inclusion_probability": place.inclusion_probability,
        "missing": project.settings.reads_per_claim,
        "state": QueueState.WAITING.value,
    }


def _queued(connection: Connection, keys: Collection[int]) -> set[int]:
    found: set[int] = set()
    for some in in_pieces(list(keys)):
        found |= set(
            connection.execute(
                select(col(QueueRow.claim_key)).where(col(QueueRow.claim_key).in_(some))
            ).scalars()
        )
    return found


def _newest(connection: Connection, position: int) -> bool:
    found = connection.execute(
        select(col(TraceVersion.position)).where(
            col(TraceVersion.position) == position, is_newest()
        )
    ).scalar()
    return found is not None


# ---------------------------------------------------------------- what people take


def next_to_read(
    connection: Connection, project: Project, person_id: int, *, audit_first: bool
) -> Queued | None:
    """The claim that the person should read next: what was asked for, then by ``stream_order``.

    Unless an audit's turn has come, what else is doubtful in the answer that they read last comes
    first, in its order: its question and sources are in their mind.
    """
    # An agreement round shows the same claims to all of its annotators before anybody else reads them.
    aside = not_in_round(open_round(connection))
    free = (*not_yet(person_id), aside)
    asked = next_requested(connection, person_id, *free)
    if asked is not None:
        return asked
    free = (col(QueueRow.project_id) == PROJECT, *free, ~kept_for_others(person_id))
    ranked = select(*_QUEUED).order_by(col(QueueRow.rank), col(QueueRow.claim_key))
    beside = (
        select(*_QUEUED)
        .join(ClaimRow, col(ClaimRow.claim_key) == col(QueueRow.claim_key))
        .where(col(QueueRow.rank) <= DOUBTFUL, col(ClaimRow.position) == _read_last(person_id))
        .order_by(col(ClaimRow.number))
    )
    for missing, audit in stream_order(project.settings.reads_per_claim, audit_first=audit_first):
        stream = (col(QueueRow.missing) == missing, col(QueueRow.audit) == literal(audit), *free)
        for wanted in (ranked,) if audit else (beside, ranked):
            row = connection.execute(wanted.where(*stream).limit(1)).first()
            if row is not None:
                return read_as(Queued, row)
    return None


def _read_last(person_id: int) -> ScalarSelect[int]:
    """The trace version whose claim the person had in hand last."""
    return (
        select(col(ClaimRow.position))
        .join(AssignmentRow, col(AssignmentRow.claim_key) == col(ClaimRow.claim_key))
        .where(col(AssignmentRow.person_id) == person_id)
        .order_by(col(AssignmentRow.assignment_id).desc())
        .limit(1)
        .scalar_subquery()
    )


def queued_claim(connection: Connection, claim_key: int) -> Queued | None:
    """That claim as it stands in the queue; None once it is there no more."""
    row = connection.execute(select(*_QUEUED).where(col(QueueRow.claim_key) == claim_key)).first()
    return None if row is None else read_as(Queued, row)


def next_disagreement(connection: Connection, person_id: int) -> int | None:
    """The oldest claim whose annotations differ, that nobody is deciding and this person has not read."""
    key: int | None = connection.execute(
        select(col(QueueRow.claim_key))
        .where(*_open_disagreements(person_id))
        .order_by(col(QueueRow.claim_key))
        .limit(1)
    ).scalar()
    return key


def count_disagreements(connection: Connection, person_id: int) -> int:
    """How many disagreements the person may take."""
    return connection.execute(
        select(func.count()).select_from(QueueRow).where(*_open_disagreements(person_id))
    ).scalar_one()


def _open_disagreements(person_id: int) -> tuple[ColumnElement[bool], ...]:
    deciding = exists().where(
        col(AssignmentRow.project_id) == PROJECT,
        col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
        col(AssignmentRow.slot) == ADJUDICATION_SLOT,
    )
    return (
        col(QueueRow.project_id) == PROJECT,
        col(QueueRow.state) == QueueState.DISAGREEMENT.value,
        ~deciding,
        *not_yet(person_id),
    )


def not_yet(person_id: int) -> tuple[ColumnElement[bool], ...]:
    """The person neither has nor has read nor has given back the claim of the queue's row."""
    mine, given_back = (
        exists().where(about(table, QueueRow.claim_key, person_id))
        for table in (AssignmentRow, Decline)
    )
    return ~mine, ~given_back


def settle(connection: Connection, project: Project, claim_key: int) -> QueueState:
    """Bring the queue's row of one claim up to what people hold and have said; its state."""
    return settle_all(connection, project, [claim_key])[claim_key].state


def _told(standing: Standing) -> dict[str, object]:
    return {
        "missing": standing.missing,
        "state": standing.state.value,
        "passes": standing.passes,
    }


def fill_passes(connection: Connection) -> None:
    """Keep what final labels say of the claims that were settled before that was kept."""
    if project := the_project(connection):
        settle_all(connection, project, every_annotation(connection))


def rebuild(connection: Connection, project: Project) -> None:
    """Queue all claims anew; what people hold and have said keeps its place in it."""
    connection.execute(delete(QueueRow))
    begun = union(
        select(col(AssignmentRow.claim_key)), select(col(AnnotationRow.claim_key))
    ).subquery()
    touched = _latest(
        connection,
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(select(begun.c.claim_key)))
        .group_by(col(ClaimSignal.claim_key)),
    )
    latest = {**_latest(connection, _eligible(project)), **touched}
    for keys in in_pieces(sorted(latest)):
        signals = _signals(connection, [latest[key] for key in keys])
        _put(connection, project, list(_identities(connection, keys)), signals)
    settle_all(connection, project, touched)


def settle_all(
    connection: Connection, project: Project, claim_keys: Collection[int]
) -> Mapping[int, Standing]:
    """What ``settle`` does, for many claims in a handful of statements: how far each is."""
    standings: dict[Standing, list[int]] = {}
    found = _standings(connection, project, claim_keys)
    for key, standing in found.items():
        standings.setdefault(standing, []).append(key)
    for standing, keys in standings.items():
        for some in in_pieces(keys):
            connection.execute(
                update(QueueRow).where(col(QueueRow.claim_key).in_(some)).values(**_told(standing))
            )
    return found


def _standings(
    connection: Connection, project: Project, claim_keys: Collection[int]
) -> Mapping[int, Standing]:
    """How far each of the claims is, by what people hold and have said."""
    annotations = every_current_annotation(connection, claim_keys)
    decided = every_adjudication(connection, claim_keys)
    open_slots: dict[int, list[bool]] = {}
    for keys in in_pieces(list(claim_keys)):
        for row in connection.execute(
            select(col(AssignmentRow.claim_key), col(AssignmentRow.state)).where(
                col(AssignmentRow.project_id) == PROJECT,
                col(AssignmentRow.claim_key).in_(keys),
                col(AssignmentRow.slot) < ADJUDICATION_SLOT,
            )
        ):
            open_slots.setdefault(row.claim_key, []).append(row.state == "open")
    return {
        key: standing_of(
            project.settings, annotations.get(key, ()), decided.get(key), open_slots.get(key, ())
        )
        for key in claim_keys
    }


def differences(connection: Connection) -> Iterator[str]:
    """Where a queue is not what claims, signals, settings and annotations make of it."""
    if project := the_project(connection):
        columns = (
            QueueRow.state,
            QueueRow.missing,
            QueueRow.passes,
            QueueRow.audit,
            QueueRow.inclusion_probability,
        )
        statement = select(col(QueueRow.claim_key), *map(col, columns), col(QueueRow.reason))
        rows = {row.claim_key: row for row in connection.execute(statement)}
        wanted = _latest(connection, _eligible(project))
        standings = _standings(connection, project, rows)
        for key in sorted(wanted.keys() - rows.keys()):
            yield f"queue of project {project.project_id}: claim {key} is gone"
        for key, trace_key, claim_id, _, text_sha256 in _identities(connection, list(rows)):
            draw = audit_draw(project.project_id, trace_key, claim_id, text_sha256)
            row, share = rows[key], project.settings.audit_share
            drawn = (True, min(share, 1.0)) if draw < share else (False, None)
            told = _told(standings[key])
            found = {name: getattr(row, name) for name in told}
            if found != told or (row.audit, row.inclusion_probability) != drawn:
                yield f"queue of project {project.project_id}: claim {key} stands elsewhere than it should"
    known = select(col(ClaimRow.claim_key))
    strays = select(col(QueueRow.project_id), col(QueueRow.claim_key)).where(
        col(QueueRow.project_id).not_in(select(col(ProjectRow.project_id)))
        | col(QueueRow.claim_key).not_in(known)
    )
    for project_id, key in connection.execute(strays):
        yield f"queue of project {project_id}: claim {key} is none of this database"


def _eligible(project: Project) -> Select[Any]:
    """The latest signals of the claims that the latest verdict on a trace's newest version found."""
    verdict = select(func.max(col(Verdict.verdict_id))).group_by(col(Verdict.position))
    found = (
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(Verdict, col(Verdict.position) == col(ClaimRow.position))
        .join(
            ClaimSignal,
            (col(ClaimSignal.claim_key) == col(ClaimRow.claim_key))
            & (col(ClaimSignal.run_id) == col(Verdict.run_id)),
        )
        .where(col(Verdict.verdict_id).in_(verdict), is_newest())
    )
    if project.settings.slice is not None:
        found = found.join(
            TraceSlice, col(TraceSlice.position) == col(TraceVersion.position)
        ).where(col(TraceSlice.slice) == project.settings.slice)
    return (
        select(func.max(col(ClaimSignal.signal_id)))
        .where(col(ClaimSignal.claim_key).in_(found))
        .group_by(col(ClaimSignal.claim_key))
    )


def _latest(connection: Connection, signal_ids: Select[Any]) -> dict[int, int]:
    """The claims that those signals are of: claim key → signal id."""
    rows = connection.execute(
        select(col(ClaimSignal.claim_key), col(ClaimSignal.signal_id)).where(
            col(ClaimSignal.signal_id).in_(signal_ids)
        )
    )
    return {row.claim_key: row.signal_id for row in rows}


def _signals(connection: Connection, signal_ids: Sequence[int]) -> dict[int, Signal]:
    """A few signals by claim key, with their features: by these the queue is ordered too."""
    rows = connection.execute(
        select(col(ClaimSignal.claim_key), *SIGNAL_COLUMNS, col(Run.run_key))
        .join(Run, col(Run.run_id) == col(ClaimSignal.run_id))
        .where(col(ClaimSignal.signal_id).in_(signal_ids))
    )
    return {row.claim_key: signal_from(row._mapping) for row in rows}
