"""Imports of labels that existed already: what they are matched to, and the way to take one back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, insert, select, true
from sqlmodel import col

from core.errors import Conflict, NotFound
from core.review.assignment import ADJUDICATION_SLOT
from core.review.exchange import ClaimContext, KnownClaim, LabelImport, Place, ReviewsPut
from core.review.items import QueueState
from core.review.packet_reader import PacketReview
from core.review.pre_labels import LabelledClaim
from core.review.records import Person, Project, Role
from storage.annotations import every_adjudication, every_current_annotation, not_withdrawn
from storage.audit import add_rows, append_event, sha256_of
from storage.columns import in_pieces, plain_text
from storage.guidelines import keep_first
from storage.packet_intake import VOTE_IMPORTED, ReviewIntake, people_of
from storage.people import People, allow
from storage.pre_labels import PreLabels, put_pre_labels
from storage.queue import settle_all
from storage.store import SqlStore
from storage.tables import (
    PROJECT,
    AnnotationRow,
    AnnotationWithdrawal,
    AssignmentRow,
    AuditEvent,
    ClaimRow,
    Draft,
    PersonRow,
    PreLabelRow,
    QueueRow,
    TraceVersion,
    about,
)
from storage.traces import is_newest
from storage.trail import Trail

# An import begins with the first of these; what it brought is told by events of its own.
IMPORTED, FINISHED, WITHDRAWN = "labels.imported", "labels.finished", "labels.withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelIntake:
    """Where labels are imported to; implements LabelSink of core's workflows."""

    store: SqlStore
    project: Project

    def claims(self) -> tuple[KnownClaim, ...]:
        """The claims of the project, each of its trace's newest version."""
        wanted = (
            select(
                col(ClaimRow.claim_key),
                col(ClaimRow.claim_id),
                col(ClaimRow.text),
                col(TraceVersion.trace_id),
                col(TraceVersion.content_hash),
            )
            .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
            .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
            .where(is_newest())
            .order_by(col(ClaimRow.claim_key))
        )
        with self.store.database.reading() as connection:
            return tuple(KnownClaim(**row._mapping) for row in connection.execute(wanted))

    def people(self) -> Mapping[str, str]:
        """Every name by which somebody who is here is known → the one that is recorded."""
        everybody = People(store=self.store).everybody()
        return {called: one.name for one in everybody for called in (one.shown, one.name)}

    def contexts(self, claim_keys: Collection[int]) -> Mapping[int, ClaimContext]:
        """What each of these claims was read with, and what its annotators say."""
        claims: dict[int, tuple[int, str]] = {}
        tools: dict[int, Mapping[str, str]] = {}
        places: dict[int, dict[str, Place]] = defaultdict(dict)
        held = and_(
            col(AssignmentRow.project_id) == PROJECT,
            col(AssignmentRow.claim_key) == col(QueueRow.claim_key),
        )
        wanted = (
            select(
                col(QueueRow.claim_key), col(QueueRow.state), col(ClaimRow.position),
                col(AssignmentRow.slot), (col(AssignmentRow.state) == "done").label("decided"),
                col(PersonRow.name), col(Draft.assignment_id).is_not(None).label("draft"),
            )
            .join(ClaimRow, col(ClaimRow.claim_key) == col(QueueRow.claim_key))
            .outerjoin(AssignmentRow, held)
            .outerjoin(PersonRow, col(PersonRow.person_id) == col(AssignmentRow.person_id))
            .outerjoin(Draft, col(Draft.assignment_id) == col(AssignmentRow.assignment_id))
        )  # fmt: skip
        with self.store.database.reading() as connection:
            for keys in in_pieces(sorted(claim_keys)):
                for row in connection.execute(wanted.where(col(QueueRow.claim_key).in_(keys))):
                    claims[row.claim_key] = row.position, row.state
                    if row.name is not None:
                        place = Place(slot=row.slot, decided=row.decided, draft=row.draft)
                        places[row.claim_key][row.name] = place
            # Each document once, however many of its claims are asked for.
            for some in in_pieces(sorted({position for position, _ in claims.values()})):
                documents = connection.execute(
                    select(col(TraceVersion.position), col(TraceVersion.document)).where(
                        col(TraceVersion.position).in_(some)
                    )
                )
                tools |= {row.position: _tools(row.document) for row in documents}
            said = every_current_annotation(connection, claim_keys)
        pre_labels = PreLabels(store=self.store).all(claim_keys)
        return {
            key: ClaimContext(
                tools=tools[position],
                state=QueueState(state),
                places=places[key],
                said={one.reviewer: one.judgement for one in said.get(key, ())},
                pre_label=pre_labels.get(key),
            )
            for key, (position, state) in claims.items()
        }

    def events(self) -> int:
        """How many events the trail of the database has: nothing changed while it stays."""
        return Trail(store=self.store).length()

    def begun(
        self, file: str, sha256: str, *, by: Person, pre_labels: bool, new: int, known: int
    ) -> LabelImport:
        """A new import of that file, or the one that was stopped, of which all is ``known``."""
        for one in self.imports():
            same = (one.sha256, one.pre_labels) == (sha256, pre_labels)
            if same and not one.finished and one.kept <= known:
                return one
        at = self.store.now()
        key = sha256_of(f"{sha256} {self.events()} {at.isoformat()}")
        return LabelImport(
            key=key, file=file, sha256=sha256, at=at, by=by.name, pre_labels=pre_labels, planned=new
        )

    def put_annotations(
        self, reviews: Sequence[PacketReview], of: LabelImport, *, by: Person, last: bool
    ) -> ReviewsPut:
        """Keep some annotations of an import; what is not kept has its reason.

        Raises NotAllowed, and Conflict once the import was taken back.
        """
        put = ReviewsPut()
        people = people_of(self.store, reviews, by, put)
        with self._batch(of, by, last) as connection:
            version = keep_first(connection, of.at)
            intake = ReviewIntake(connection, self.project, put, people, self.store.now(), version)
            intake.put(reviews, by=by, packet=of.key)
        return put

    def put_pre_labels(
        self, rows: Sequence[LabelledClaim], of: LabelImport, *, by: Person, last: bool
    ) -> ReviewsPut:
        """Keep some pre-labels of an import. Raises as ``put_annotations`` does."""
        with self._batch(of, by, last) as connection:
            new, unknown = put_pre_labels(connection, rows, by=by, at=self.store.now())
        return ReviewsPut(votes=new, skipped=[f"{one}: no such claim here" for one in unknown])

    @contextmanager
    def _batch(self, of: LabelImport, by: Person, last: bool) -> Iterator[Connection]:
        """A transaction on part of an import, whose event comes before all that it brings."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import labels")
            told = {row.action for row in _told(connection, of.key)}
            if WITHDRAWN in told:
                raise Conflict("the import was taken back meanwhile")
            detail: dict[str, object] = {"project": self.project.project_id}
            if IMPORTED not in told:
                planned = {"file": of.file, "sha256": of.sha256, "planned": {of.noun: of.planned}}
                told_now = {**detail, **planned, "annotators": of.annotators}
                append_event(connection, self.store.now(), by.name, IMPORTED, of.key, told_now)
            yield connection
            if last and FINISHED not in told:
                detail[of.noun] = _kept(connection, of)
                append_event(connection, self.store.now(), by.name, FINISHED, of.key, detail)

    def imports(self) -> tuple[LabelImport, ...]:
        """The imports of labels into the project that nobody took back, the latest first."""
        with self.store.database.reading() as connection:
            return tuple(reversed(tuple(_imports(connection))))

    def withdraw(self, key: str, *, by: Person) -> int:
        """Take an import back as a whole: how many labels count no longer; they stay as written.

        Raises NotAllowed, NotFound, and Conflict while a decision of a third person rests on one.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "take an import of labels back")
            found = next((one for one in _imports(connection) if one.key == key), None)
            if found is None:
                raise NotFound("no such import of labels counts here")
            if found.pre_labels:
                return self._pre_labels_back(connection, found, by)
            annotations = list(_annotations(connection, key))
            claims = {claim for claim, _, _ in annotations}
            if decided := len(every_adjudication(connection, claims)):
                raise Conflict(
                    f"{decided} of its claims have been adjudicated since: reopen those first"
                )
            rows = [
                {"claim_key": claim, "vote_id": vote, "person_id": by.person_id, "at": now}
                for claim, _, vote in annotations
            ]
            add_rows(
                connection, AnnotationWithdrawal, rows, at=now, actor=by.name, action=WITHDRAWN,
                entity=key, detail={"project": self.project.project_id, "annotations": len(rows)},
            )  # fmt: skip
            said = about(AnnotationRow, AssignmentRow.claim_key, AssignmentRow.person_id)
            for some in in_pieces(annotations):
                connection.execute(
                    delete(AssignmentRow).where(
                        col(AssignmentRow.project_id) == PROJECT,
                        col(AssignmentRow.claim_key).in_({claim for claim, _, _ in some}),
                        col(AssignmentRow.slot) < ADJUDICATION_SLOT,
                        exists().where(
                            said, col(AnnotationRow.vote_id).in_([vote for *_, vote in some])
                        ),
                        ~exists().where(said, not_withdrawn()),
                    )
                )
            settle_all(connection, self.project, claims)
        return len(annotations)

    def _pre_labels_back(self, connection: Connection, found: LabelImport, by: Person) -> int:
        """Of each claim whose latest pre-label is of the import, the one before it that stands."""
        standing = {None, *(one.key for one in _imports(connection))} - {found.key}
        told: dict[int, list[str]] = {}
        wanted = select(col(PreLabelRow.claim_key), col(PreLabelRow.document))
        for row in connection.execute(wanted.order_by(col(PreLabelRow.pre_label_id))):
            told.setdefault(row.claim_key, []).append(row.document)
        back = []
        for claim, documents in told.items():
            of = [json.loads(one).get("import") for one in documents]
            if of[-1] == found.key:
                stand = [one for one, key in zip(documents, of, strict=True) if key in standing]
                last = stand[-1] if stand else json.dumps({"label": None})
                back.append({"claim_key": claim, "document": last})
        if back:
            connection.execute(insert(PreLabelRow), back)
        detail = {"pre_labels": len(back), "digest": sha256_of(json.dumps(back))}
        append_event(connection, self.store.now(), by.name, WITHDRAWN, found.key, detail)
        return len(back)


def _tools(document: str) -> dict[str, str]:
    sources = json.loads(document)["sources"]
    return {plain_text(one["source_id"]): plain_text(one["tool_name"]) for one in sources}


def _told(connection: Connection, key: str | None = None) -> Sequence[Any]:
    """The events of imports of labels, or of one of them, the earliest first."""
    wanted = select(AuditEvent.__table__).where(  # type: ignore[attr-defined]
        col(AuditEvent.action).in_((IMPORTED, FINISHED, WITHDRAWN)),
        true() if key is None else col(AuditEvent.entity) == key,
    )
    return connection.execute(wanted.order_by(col(AuditEvent.sequence))).all()


def _imports(connection: Connection) -> Iterator[LabelImport]:
    """The imports that nobody took back, the earliest first."""
    rows = _told(connection)
    back = {row.entity for row in rows if row.action == WITHDRAWN}
    ended = {row.entity: json.loads(row.detail) for row in rows if row.action == FINISHED}
    for row in rows:
        detail = json.loads(row.detail)
        if row.action != IMPORTED or row.entity in back:
            continue
        # Until 0.19.0 one event told of all that had come in.
        planned, end = detail.get("planned", detail), ended.get(row.entity, detail)
        one = LabelImport(
            key=row.entity, file=detail["file"], sha256=detail["sha256"], at=row.at, by=row.actor,
            pre_labels="pre_labels" in planned, planned=0,
            annotators=tuple(detail.get("annotators", ())),
        )  # fmt: skip
        finished = one.noun in end
        kept = end[one.noun] if finished else _kept(connection, one)
        yield replace(one, planned=planned[one.noun], kept=kept, finished=finished)


def _kept(connection: Connection, one: LabelImport) -> int:
    """How many labels have come in with the import."""
    if not one.pre_labels:
        return sum(1 for _ in _annotations(connection, one.key))
    claims = select(func.count(func.distinct(col(PreLabelRow.claim_key))))
    holding = claims.where(col(PreLabelRow.document).contains(one.key))
    return connection.execute(holding).scalar_one()


def _annotations(connection: Connection, key: str) -> Iterator[tuple[int, int, int]]:
    """Claim, person and row of each annotation that came into the project with the import."""
    events = select(col(AuditEvent.entity), col(AuditEvent.detail)).where(
        col(AuditEvent.action) == VOTE_IMPORTED, col(AuditEvent.detail).contains(key)
    )
    for event in connection.execute(events):
        detail = json.loads(event.detail)
        if detail["packet"] == key:
            ((_, vote, _),) = detail["rows"]
            yield int(event.entity.removeprefix("claim ")), detail["person"], vote
