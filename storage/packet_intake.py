"""What an import of a packet adds: traces, verdicts, splits, and the annotations that are not here yet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.codec import verdict_document
from core.errors import NotFound
from core.records import Trace, Verification
from core.review.assignment import ADJUDICATION_SLOT, free_slot
from core.review.exchange import PacketSignature, ReviewsPut
from core.review.packet_reader import PacketReview
from core.review.records import Adjudication, Annotation, Person, Project, QueueReason, Role, Split
from storage import assignments
from storage.annotations import (
    adjudication_of,
    annotation_columns,
    annotations_of,
    judgement_columns,
)
from storage.audit import add_row, append_event
from storage.columns import about, plain_text
from storage.guidelines import Guidelines
from storage.keys import foreign, trusted_keys
from storage.people import People, allow
from storage.pre_labels import key_of_claim
from storage.queue import settle
from storage.records import TracesPut
from storage.signatures import signatures_of
from storage.splits import Splits
from storage.store import SqlStore
from storage.tables import (
    AdjudicationRow,
    AnnotationRow,
    AssignmentRow,
    AuditEvent,
)

BOTH_ANNOTATIONS = 2
TAKEN_UNSIGNED = "packet.taken_unsigned"
VOTE_IMPORTED, LABELS_IMPORTED = "vote.imported", "labels.imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketIntake:
    """Where an import of a packet goes; implements PacketSink of core's workflows."""

    store: SqlStore
    project: Project

    def allow_import(self, user: Person) -> None:
        """Raise NotAllowed unless the person is a lead."""
        with self.store.database.reading() as connection:
            allow(connection, user, Role.LEAD, "import reviews")

    def distrust(self, signatures: Sequence[PacketSignature]) -> str | None:
        """Why none of these is the standing signature of somebody whom this machine trusts."""
        keys, doubts = trusted_keys(), []
        with self.store.database.reading() as connection:
            gone = {
                digest
                for digest in {one.manifest_sha256 for one in signatures}
                if (here := signatures_of(connection, digest)) and not any(x.stands for x in here)
            }
        for one in signatures:
            back = not one.stands or one.manifest_sha256 in gone
            why = "taken back since" if back else foreign(one, keys)
            if why is None and one.public_key is not None:
                return None
            doubts.append(f"{one.signer}: {why or 'a name without a key'}")
        return (
            f"the packet is not signed by anybody trusted here ({'; '.join(doubts) or 'unsigned'})"
        )

    def take_unsigned(self, user: Person, manifest_sha256: str, why: str) -> None:
        """Keep, once a packet, that the person took it although nobody trusted has signed it."""
        with self.store.database.writing() as connection:
            allow(connection, user, Role.LEAD, "import reviews")
            kept = select(col(AuditEvent.sequence)).where(
                col(AuditEvent.action) == TAKEN_UNSIGNED, col(AuditEvent.entity) == manifest_sha256
            )
            if connection.execute(kept.limit(1)).first() is None:
                append_event(
                    connection,
                    self.store.now(),
                    user.name,
                    TAKEN_UNSIGNED,
                    manifest_sha256,
                    {"reason": why},
                )

    def put_traces(self, traces_in: Sequence[Trace]) -> TracesPut:
        """Keep traces by content hash."""
        return self.store.put_traces(traces_in)

    def put_verdicts(self, run_key: str, verdicts_in: Sequence[Verification]) -> None:
        """Keep verdicts, each on the trace version that its content hash names."""
        self.store.put_verdicts(run_key, verdicts_in)

    def own_verdicts(self, run_key: str, verdicts: Sequence[Verification]) -> frozenset[str]:
        """The content hashes of those that stand here already, word for word."""
        found = set()
        for one in verdicts:
            if one.content_hash is None:
                continue
            try:
                kept = self.store.get_verdict(
                    one.trace.trace_id, content_hash=one.content_hash, run_key=run_key
                ).verification
            except NotFound:
                continue
            kept = replace(kept, content_hash=one.content_hash)
            if verdict_document(kept) == verdict_document(one):
                found.add(one.content_hash)
        return frozenset(found)

    def guideline_texts(self) -> Mapping[int, str]:
        """The guideline's versions here."""
        return {one.version: one.text for one in Guidelines(store=self.store).versions()}

    def put_splits(self, splits: Mapping[str, Split], *, by: Person) -> ReviewsPut:
        """Keep the side of the split that traces stand on, where nobody has said another."""
        self.allow_import(by)
        put, here = ReviewsPut(), Splits(store=self.store)
        known = here.known(list(splits))
        for trace_id, split in splits.items():
            if trace_id not in known:
                here.say(trace_id, split, by=by.name)
                put.splits += 1
            elif known[trace_id] is not split:
                put.skipped.append(
                    f"{trace_id}: is {known[trace_id].value} here and {split.value} in the packet"
                )
        return put

    def put_reviews(
        self,
        reviews: Sequence[PacketReview],
        *,
        by: Person,
        manifest_sha256: str,
        machine_profiles: Mapping[str, str],
        told: Mapping[str, object] | None = None,
    ) -> ReviewsPut:
        """Keep the annotations and adjudications that are not here yet, each with its event.

        ``told`` is the detail of one event for all of them, where there is anything new.

        People who are not here come without a role. An annotation that would stand behind a newer
        one of the same person, or for which no annotation is left, is skipped with its reason.
        Raises NotAllowed.
        """
        put = ReviewsPut()
        people = self._people(reviews, by, put, machine_profiles)
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import reviews")
            for review in reviews:
                claim_key = key_of_claim(connection, review)
                if claim_key is None:
                    put.skipped.append(
                        f"{review.claim_id}: no such claim here; import and verify its trace first"
                    )
                    continue
                before = put.votes + put.adjudications
                entry = _Entry(
                    connection=connection,
                    intake=self,
                    claim_key=claim_key,
                    claim_id=review.claim_id,
                    by=by,
                    manifest_sha256=manifest_sha256,
                    put=put,
                )
                for annotation in review.annotations:
                    entry.annotation(annotation, people[_plain_name(annotation.reviewer)])
                if review.adjudication is not None:
                    decided = review.adjudication
                    entry.adjudication(decided, people[_plain_name(decided.reviewer)])
                if put.votes + put.adjudications > before:
                    settle(connection, self.project, claim_key)
            if told is not None and put.votes:
                detail = {**told, "project": self.project.project_id, "annotations": put.votes}
                at = self.store.now()
                append_event(connection, at, by.name, LABELS_IMPORTED, manifest_sha256, detail)
        return put

    def _people(
        self,
        reviews: Sequence[PacketReview],
        by: Person,
        put: ReviewsPut,
        profiles: Mapping[str, str],
    ) -> Mapping[str, Person]:
        people = People(store=self.store)
        here = {person.person_id for person in people.everybody()}
        known: dict[str, Person] = {}
        names = [annotation.reviewer for review in reviews for annotation in review.annotations]
        names += [r.adjudication.reviewer for r in reviews if r.adjudication is not None]
        for name in map(_plain_name, names):
            if name not in known:
                known[name] = people.add_from_packet(name, profiles.get(name), by=by)
                put.people += known[name].person_id not in here
                here.add(known[name].person_id)
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One claim of a packet on its way into the database, inside one transaction."""

    connection: Connection
    intake: PacketIntake
    claim_key: int
    claim_id: str
    by: Person
    manifest_sha256: str
    put: ReviewsPut

    def annotation(self, annotation: Annotation, person: Person) -> None:
        """Keep an annotation unless it, or a newer one of the person, is here, or it was taken back."""
        project_id = self.intake.project.project_id
        own = annotations_of(
            self.connection, project_id, self.claim_key, person_id=person.person_id
        )
        if any((one.at, one.judgement) == (annotation.at, annotation.judgement) for one in own):
            self.put.votes_known += 1
            return
        if any(one.at >= annotation.at for one in own):
            self._skip(f"{person.name} has judged it anew here since")
            return
        if self._taken_back(AnnotationRow, annotation, person):
            return
        slot = self._slot(person, annotation)
        if slot is None:
            return
        self._add(
            AnnotationRow,
            {
                "slot": slot,
                **annotation_columns(annotation),
                "reason": None,
                "queue_reason": annotation.queue_reason.value,
                "inclusion_probability": annotation.inclusion_probability,
            },
            annotation,
            person,
            action=VOTE_IMPORTED,
        )
        self.put.votes += 1

    def adjudication(self, decided: Adjudication, person: Person) -> None:
        """Keep an adjudication unless it, or a newer one, is here."""
        project_id = self.intake.project.project_id
        here = adjudication_of(self.connection, project_id, self.claim_key)
        if here is not None and (here.at, here.judgement) == (decided.at, decided.judgement):
            self.put.adjudications_known += 1
            return
        if here is not None and here.at >= decided.at:
            self._skip("somebody has decided it anew here since")
            return
        if self._taken_back(AdjudicationRow, decided, person):
            return
        if annotations_of(self.connection, project_id, self.claim_key, person_id=person.person_id):
            self._skip(f"{person.name} has read it, and cannot break the tie")
            return
        self._hold(person, ADJUDICATION_SLOT, QueueReason.DISAGREEMENT, None)
        self._add(
            AdjudicationRow,
            {
                **judgement_columns(decided.judgement),
                "cause": decided.cause.value,
                "guideline_needs_fix": decided.guideline_needs_fix,
                "rule": decided.rule,
                "rationale": plain_text(decided.rationale),
                "shown_order": "[]",
                "guideline_version": decided.guideline_version,
            },
            decided,
            person,
            action="adjudication.imported",
        )
        self.put.adjudications += 1

    def _taken_back(
        self,
        table: type[AnnotationRow] | type[AdjudicationRow],
        said: Annotation | Adjudication,
        person: Person,
    ) -> bool:
        """Whether it is here as written and counts no longer: a packet does not undo that."""
        own = about(table, self.intake.project.project_id, self.claim_key, person.person_id)
        written = select(col(table.at)).where(own, col(table.at) == said.at).limit(1)
        if self.connection.execute(written).first() is None:
            return False
        self._skip(f"what {person.name} said was taken back here")
        return True

    def _add(
        self,
        table: type[AnnotationRow] | type[AdjudicationRow],
        values: Mapping[str, object],
        said: Annotation | Adjudication,
        person: Person,
        *,
        action: str,
    ) -> None:
        project_id = self.intake.project.project_id
        key = f"{table.__tablename__} {project_id} {self.claim_key} {person.person_id} {said.at}"
        add_row(
            self.connection,
            table,
            {
                "project_id": project_id,
                "claim_key": self.claim_key,
                "person_id": person.person_id,
                **values,
                # Of what it is, so that the database itself refuses the same one twice.
                "nonce": hashlib.sha256(key.encode()).hexdigest(),
                "at": said.at,
            },
            at=self.intake.store.now(),
            actor=self.by.name,
            action=action,
            entity=f"claim {self.claim_key}",
            detail={
                "project": project_id,
                "person": person.person_id,
                "packet": self.manifest_sha256,
            },
        )

    def _slot(self, person: Person, annotation: Annotation) -> int | None:
        project_id = self.intake.project.project_id
        assignment = assignments.assignment_of(
            self.connection, project_id, self.claim_key, person.person_id
        )
        if assignment is not None:
            if assignment.slot == ADJUDICATION_SLOT:
                self._skip(f"{person.name} breaks the tie here, and cannot read it as well")
                return None
            assignments.close(self.connection, assignment)
            return assignment.slot
        taken = set(
            self.connection.execute(
                select(col(AssignmentRow.slot)).where(
                    col(AssignmentRow.project_id) == project_id,
                    col(AssignmentRow.claim_key) == self.claim_key,
                )
            ).scalars()
        )
        wanted = (
            annotation.slot if annotation.slot in (1, 2) and annotation.slot not in taken else None
        )
        slot = wanted or free_slot(taken, BOTH_ANNOTATIONS)
        if slot is None:
            self._skip(f"both annotations are somebody else's here; {person.name}'s is left out")
            return None
        self._hold(person, slot, annotation.queue_reason, annotation.inclusion_probability)
        return slot

    def _hold(
        self,
        person: Person,
        slot: int,
        reason: QueueReason,
        inclusion_probability: float | None,
    ) -> None:
        """Take the place of the annotation or adjudication, so that nobody is asked for it again."""
        project_id = self.intake.project.project_id
        taken = self.connection.execute(
            select(col(AssignmentRow.assignment_id)).where(
                col(AssignmentRow.project_id) == project_id,
                col(AssignmentRow.claim_key) == self.claim_key,
                (col(AssignmentRow.slot) == slot)
                | (col(AssignmentRow.person_id) == person.person_id),
            )
        ).first()
        if taken is not None:
            return
        now = self.intake.store.now()
        self.connection.execute(
            insert(AssignmentRow).values(
                project_id=project_id,
                claim_key=self.claim_key,
                slot=slot,
                person_id=person.person_id,
                state="done",
                reason=reason.value,
                inclusion_probability=inclusion_probability,
                created_at=now,
                lease_until=now,
            )
        )

    def _skip(self, reason: str) -> None:
        self.put.skipped.append(f"{self.claim_id}: {reason}")


def _plain_name(name: str) -> str:
    return " ".join(plain_text(name).split())
