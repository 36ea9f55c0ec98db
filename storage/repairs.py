"""Repairs and what reviewers said about their edits: added once, never changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    and_,
    exists,
    func,
    insert,
    or_,
    select,
)
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.codec import repair_document, repair_from_document
from core.errors import BadRecord, NotFound, StoreError
from core.records import (
    Decision,
    JsonObject,
    RepairOutcome,
    RepairStatus,
    State,
    Verification,
)
from core.review.records import Judgement
from storage.audit import append_event, sha256_of
from storage.columns import in_pieces, read_as
from storage.records import TraceFilters, TraceRow
from storage.store import SqlStore
from storage.tables import (
    AuditEvent,
    ClaimRow,
    ClaimSignal,
    QueueRow,
    RepairChoice,
    RepairRow,
    TraceVersion,
    Verdict,
)
from storage.traces import is_newest

VERIFIED = "repair.verified"
# What people settled goes before what the verifier says, as in every list.
STOPPED = TraceFilters(states=frozenset({State.BLOCK, State.NEEDS_REVIEW}))


class Choice(StrEnum):
    """What a reviewer does with an edit."""

    ACCEPT = "accept"
    EDIT = "edit"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRepair:
    """A repair with the trace version that it is about.

    ``settled``: what people had settled otherwise than the verifier, a claim's text → what.
    """

    repair_id: int
    trace_id: str
    content_hash: str
    status: RepairStatus
    outcome: RepairOutcome
    actor: str
    repaired_at: datetime
    settled: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChoice:
    """A reviewer's word on one edit; ``text`` is set when the reviewer wrote it anew."""

    action_id: str
    choice: Choice
    text: str | None
    reviewer: str
    chosen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCounts:
    """How often reviewers' last words on edits were which."""

    accepted: int
    edited: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """The repairs of a store; reviewers' choices are events of its audit trail."""

    store: SqlStore

    def put(
        self, content_hash: str, repair: RepairOutcome, settled: Mapping[str, str] | None = None
    ) -> int:
        """Keep a repair, with what people had ``settled`` otherwise than the verifier; its id.

        Raises StoreError for an unknown trace.
        """
        document = {**repair_document(repair), "settled": settled or {}}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
        with self.store.database.writing() as connection:
            position = connection.execute(
                select(col(TraceVersion.position)).where(
                    col(TraceVersion.content_hash) == content_hash
                )
            ).scalar()
            if position is None:
                raise StoreError(f"repair of {content_hash}: no such trace is stored")
            at = self.store.now()
            repair_id = connection.execute(
                insert(RepairRow)
                .values(
                    position=position,
                    actor=self.store.actor,
                    repaired_at=at,
                    status=repair.status.value,
                    document_sha256=sha256_of(text),
                    document=text,
                )
                .returning(col(RepairRow.repair_id))
            ).scalar_one()
            assert repair_id is not None
            append_event(
                connection,
                at,
                self.store.actor,
                "repair.stored",
                content_hash,
                {"repair_id": repair_id, "status": repair.status, "document": sha256_of(text)},
            )
        return repair_id

    def latest(self, content_hash: str) -> StoredRepair:
        """The repair that stands of that trace version; raises NotFound."""
        with self.store.database.reading() as connection:
            found = _repairs(connection, _stands(), col(TraceVersion.content_hash) == content_hash)
        if not found:
            raise NotFound(f"no repair of {content_hash}")
        return found[0]

    def without(self, stale: Collection[int] = ()) -> Iterator[tuple[TraceRow, bool]]:
        """The answers that do not pass and of which no repair stands, in import order; whether one did.

        ``stale`` ones stand no longer.
        """
        offset, blocked = 0, STOPPED
        while rows := self.store.list_traces(blocked, offset=offset, limit=500).rows:
            with self.store.database.reading() as connection:
                repairs = connection.execute(
                    select(
                        col(TraceVersion.trace_id),
                        col(RepairRow.repair_id),
                        _stands().label("stands"),
                    )
                    .join(TraceVersion, col(TraceVersion.position) == col(RepairRow.position))
                    .where(col(TraceVersion.trace_id).in_([row.trace_id for row in rows]))
                ).all()
            ever = {row.trace_id for row in repairs}
            done = {row.trace_id for row in repairs if row.stands and row.repair_id not in stale}
            yield from ((row, row.trace_id in ever) for row in rows if row.trace_id not in done)
            offset += len(rows)

    def on_labels(
        self,
    ) -> Iterator[tuple[int, Mapping[str, str], Verification, Mapping[str, Judgement]]]:
        """Those that stand where people settle something, or did: id, what it rests on, verdict, labels."""
        settled = (
            select(col(ClaimRow.position))
            .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
            .where(col(QueueRow.passes).is_not(None))
        )
        labelled = col(RepairRow.position).in_(settled) | ~col(RepairRow.document).contains(
            '"settled":{}'
        )
        with self.store.database.reading() as connection:
            found = _repairs(connection, _stands(), labelled)
        for one in found:
            people = self.store.by_people(one.content_hash)
            if people or one.settled:
                read = self.store.get_verdict(one.trace_id, content_hash=one.content_hash)
                labels = people.labels if people else {}
                yield one.repair_id, one.settled, read.verification, labels

    def choose(
        self,
        repair_id: int,
        action_id: str,
        choice: Choice,
        *,
        reviewer: str,
        text: str | None = None,
    ) -> None:
        """Keep a reviewer's word on one edit; a later word stands beside it and counts.

        Raises NotFound for an unknown repair or edit, StoreError when ``text`` does not go with
        the choice.
        """
        if (choice is Choice.EDIT) != (text is not None):
            raise StoreError(f"repair {repair_id}: only an edited edit has a text of its own")
        with self.store.database.writing() as connection:
            outcome = _outcome(connection, repair_id)
            if action_id not in {action.action_id for action in outcome.actions}:
                raise NotFound(f"repair {repair_id} has no edit {action_id!r:.200}")
            at = self.store.now()
            connection.execute(
                insert(RepairChoice).values(
                    repair_id=repair_id,
                    action_id=action_id,
                    choice=choice.value,
                    text=text,
                    reviewer=reviewer,
                    chosen_at=at,
                )
            )
            append_event(
                connection,
                at,
                reviewer,
                "repair.chosen",
                action_id,
                {
                    "repair_id": repair_id,
                    "choice": choice,
                    "text": None if text is None else sha256_of(text),
                },
            )

    def record_check(
        self, content_hash: str, text: str, decision: Decision, *, run: str, reviewer: str
    ) -> None:
        """Keep what the verifier says of a text that reviewers' decisions made, as an event.

        ``run`` names what verified it: another model, calibrator or threshold has not said so.
        """
        with self.store.database.writing() as connection:
            append_event(
                connection,
                self.store.now(),
                reviewer,
                VERIFIED,
                content_hash,
                {"text": sha256_of(text), "decision": decision, "run": run},
            )

    def checked(self, content_hash: str, text: str, *, run: str) -> Decision | None:
        """The last word of that run on exactly this text for that trace version; None without one."""
        with self.store.database.reading() as connection:
            details = connection.execute(
                select(col(AuditEvent.detail))
                .where(col(AuditEvent.action) == VERIFIED, col(AuditEvent.entity) == content_hash)
                .order_by(col(AuditEvent.sequence).desc())
            ).scalars()
            told = (json.loads(detail) for detail in details)
            wanted = (sha256_of(text), run)
            found = next((one for one in told if (one["text"], one.get("run")) == wanted), None)
        return None if found is None else Decision(found["decision"])

    def newest(self, *, limit: int = 500) -> Sequence[StoredRepair]:
        """The repair that stands of each answer, the latest first."""
        with self.store.database.reading() as connection:
            return _repairs(connection, _stands(), limit=limit)

    def latest_digests(self) -> Mapping[int, str]:
        """The repair that stands of each answer: its id and the hash of its document."""
        with self.store.database.reading() as connection:
            rows = connection.execute(
                select(col(RepairRow.repair_id), col(RepairRow.document_sha256)).where(_stands())
            ).all()
        return {row.repair_id: row.document_sha256 for row in rows}

    def outcomes(self, repair_ids: Sequence[int]) -> Iterator[tuple[int, RepairOutcome]]:
        """Those repairs, window by window."""
        for wanted in in_pieces(repair_ids, DOCUMENTS_AT_ONCE):
            with self.store.database.reading() as connection:
                rows = connection.execute(
                    select(col(RepairRow.repair_id), col(RepairRow.document)).where(
                        col(RepairRow.repair_id).in_(wanted)
                    )
                ).all()
            yield from ((row.repair_id, _stored(row.document)) for row in rows)

    def choices(self, repair_id: int) -> Mapping[str, StoredChoice]:
        """The last word on each edit, of anybody: action id → choice."""
        statement = (
            select(RepairChoice.__table__)  # type: ignore[attr-defined]
            .where(col(RepairChoice.repair_id) == repair_id)
            .order_by(col(RepairChoice.choice_id))
        )
        with self.store.database.reading() as connection:
            rows = connection.execute(statement).all()
        return {row.action_id: read_as(StoredChoice, row) for row in rows}

    def decided(self, repair_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """The edits of each of those repairs that somebody has decided."""
        found: dict[int, set[str]] = {}
        for wanted in in_pieces(repair_ids, DOCUMENTS_AT_ONCE):
            with self.store.database.reading() as connection:
                rows = connection.execute(
                    select(col(RepairChoice.repair_id), col(RepairChoice.action_id))
                    .where(col(RepairChoice.repair_id).in_(wanted))
                    .distinct()
                ).all()
            for row in rows:
                found.setdefault(row.repair_id, set()).add(row.action_id)
        return {each: frozenset(actions) for each, actions in found.items()}

    def export(self) -> Sequence[JsonObject]:
        """Every repair with all choices about it, the oldest first: what reviewers made of repair."""
        with self.store.database.reading() as connection:
            repairs = _repairs(connection)
            rows = connection.execute(
                select(RepairChoice.__table__).order_by(col(RepairChoice.choice_id))  # type: ignore[attr-defined]
            ).all()
        said: dict[int, list[JsonObject]] = {}
        for row in rows:
            said.setdefault(row.repair_id, []).append(
                {
                    "action_id": row.action_id,
                    "choice": row.choice,
                    "text": row.text,
                    "reviewer": row.reviewer,
                    "at": row.chosen_at.isoformat(),
                }
            )
        return [
            {
                "repair_id": repair.repair_id,
                "trace_id": repair.trace_id,
                "content_hash": repair.content_hash,
                "repaired_at": repair.repaired_at.isoformat(),
                "repair": repair_document(repair.outcome),
                "choices": said.get(repair.repair_id, []),
            }
            for repair in reversed(repairs)
        ]

    def counts(self, stale: Collection[int] = ()) -> ChoiceCounts:
        """Last words on the edits of the repairs that stand and are not ``stale``."""
        said = (
            select(func.max(col(RepairChoice.choice_id)))
            .join(RepairRow, col(RepairRow.repair_id) == col(RepairChoice.repair_id))
            .where(_stands(), col(RepairRow.repair_id).not_in(stale))
            .group_by(col(RepairChoice.repair_id), col(RepairChoice.action_id))
        )
        with self.store.database.reading() as connection:
            rows = connection.execute(
                select(col(RepairChoice.choice), func.count())
                .where(col(RepairChoice.choice_id).in_(said))
                .group_by(col(RepairChoice.choice))
            ).all()
        last = {Choice(choice): number for choice, number in rows}
        return ChoiceCounts(
            accepted=last.get(Choice.ACCEPT, 0),
            edited=last.get(Choice.EDIT, 0),
            rejected=last.get(Choice.REJECT, 0),
        )


DOCUMENTS_AT_ONCE = 200


def _stands() -> ColumnElement[bool]:
    """Whether it is the last repair of an answer's newest version, and the verifier says of each claim
    what it said when the repair was made."""
    latest = select(func.max(col(RepairRow.repair_id))).group_by(col(RepairRow.position))
    newest = select(col(TraceVersion.position)).where(is_newest())
    then, now = _run(col(Verdict.verified_at) <= col(RepairRow.repaired_at)), _run()
    return and_(
        col(RepairRow.repair_id).in_(latest),
        col(RepairRow.position).in_(newest),
        or_(then.is_(None), then == now, and_(~_says_more(then, now), ~_says_more(now, then))),
    )


def _run(*conditions: ColumnElement[bool]) -> ScalarSelect[Any]:
    """The run of the last verdict on the repaired version for which that holds."""
    return (
        select(col(Verdict.run_id))
        .where(col(Verdict.position) == col(RepairRow.position), *conditions)
        .order_by(col(Verdict.verdict_id).desc())
        .limit(1)
        .correlate(RepairRow)
        .scalar_subquery()
    )


def _says_more(run: ScalarSelect[Any], other: ScalarSelect[Any]) -> ColumnElement[bool]:
    """Whether the one run says of a claim of the repaired version what the other does not."""
    said, same = aliased(ClaimSignal), aliased(ClaimSignal)
    alike = exists().where(
        col(same.claim_key) == col(said.claim_key),
        col(same.run_id) == other,
        *(
            col(getattr(same, name)).is_not_distinct_from(col(getattr(said, name)))
            for name in ("decision", "verdict", "attribution", "routed_source_id")
        ),
    )
    return exists().where(
        col(ClaimRow.position) == col(RepairRow.position),
        col(said.claim_key) == col(ClaimRow.claim_key),
        col(said.run_id) + 0
        == run,  # by the claim: a run's index would lead through all its claims
        ~alike,
    )


def _stored(text: str) -> RepairOutcome:
    try:
        return repair_from_document(json.loads(text))
    except BadRecord as error:
        raise StoreError(f"a stored repair cannot be read: {error.located()}") from None


def _outcome(connection: Connection, repair_id: int) -> RepairOutcome:
    text = connection.execute(
        select(col(RepairRow.document)).where(col(RepairRow.repair_id) == repair_id)
    ).scalar()
    if text is None:
        raise NotFound(f"no repair {repair_id}")
    return _stored(text)


def _repairs(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None
) -> list[StoredRepair]:
    statement = (
        select(
            RepairRow.__table__,  # type: ignore[attr-defined]
            col(TraceVersion.trace_id),
            col(TraceVersion.content_hash),
        )
        .join(TraceVersion, col(TraceVersion.position) == col(RepairRow.position))
        .where(*conditions)
        .order_by(col(RepairRow.repair_id).desc())
        .limit(limit)
    )
    return [
        StoredRepair(
            repair_id=row.repair_id,
            trace_id=row.trace_id,
            content_hash=row.content_hash,
            status=RepairStatus(row.status),
            outcome=_stored(row.document),
            actor=row.actor,
            repaired_at=row.repaired_at,
            settled=json.loads(row.document).get("settled", {}),
        )
        for row in connection.execute(statement)
    ]
