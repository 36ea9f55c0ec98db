"""What an import of a packet adds: traces, verdicts, splits, and the annotations that are not here yet."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.codec import verdict_document
from core.errors import NotFound
from core.records import Trace, Verification
from core.review.assignment import ADJUDICATION_SLOT, free_slot
from core.review.exchange import PacketSignature, ReviewsPut
from core.review.packet_reader import PacketReview
from core.review.records import (
    SPLIT_WORDS,
    Adjudication,
    Annotation,
    Person,
    Project,
    QueueReason,
    Role,
    Split,
)
from storage import assignments
from storage.annotations import (
    annotation_columns,
    every_adjudication,
    every_annotation,
    judgement_columns,
)
from storage.audit import add_said, append_event
from storage.columns import in_pieces, plain_text
from storage.guidelines import Guidelines
from storage.keys import foreign, trusted_keys
from storage.people import People, allow
from storage.pre_labels import keys_of_claims
from storage.queue import settle_all
from storage.records import TracesPut
from storage.signatures import signatures_of
from storage.splits import Splits
from storage.store import SqlStore
from storage.tables import PROJECT, AdjudicationRow, AnnotationRow, AssignmentRow, AuditEvent

BOTH_ANNOTATIONS = 2
TAKEN_UNSIGNED = "packet.taken_unsigned"
VOTE_IMPORTED = "vote.imported"


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
            if (before := known.get(trace_id)) is None:
                here.say(trace_id, split, by=by.name)
                put.splits += 1
            elif before is not split:
                sides = f"{SPLIT_WORDS[before]} here and {SPLIT_WORDS[split]} in the packet"
                put.skipped.append(f"{trace_id}: is {sides}")
        return put

    def put_reviews(
        self,
        reviews: Sequence[PacketReview],
        *,
        by: Person,
        manifest_sha256: str,
        machine_profiles: Mapping[str, str],
    ) -> ReviewsPut:
        """Keep the annotations and adjudications that are not here yet, each with its event.

        People who are not here come without a role. An annotation that would stand behind a newer
        one of the same person, or for which no annotation is left, is skipped with its reason.
        Raises NotAllowed.
        """
        put = ReviewsPut()
        people = people_of(self.store, reviews, by, put, machine_profiles)
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import reviews")
            intake = ReviewIntake(connection, self.project, put, people, self.store.now())
            intake.put(reviews, by=by, packet=manifest_sha256)
        return put


def people_of(
    store: SqlStore,
    reviews: Sequence[PacketReview],
    by: Person,
    put: ReviewsPut,
    profiles: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, Person]:
    """Whoever said something in the reviews, by plain name; who is not here yet is added."""
    people = People(store=store)
    here = {one.name: one for one in people.everybody()}
    ids = {one.person_id for one in here.values()}
    named: dict[str, Person] = {}
    for name in dict.fromkeys(_plain_name(said.reviewer) for one in reviews for said in _said(one)):
        origin = profiles.get(name)
        found = here.get(name) if origin is None else None
        named[name] = found or people.add_from_packet(name, origin, by=by)
        put.people += named[name].person_id not in ids
        ids.add(named[name].person_id)
    return named


def _said(review: PacketReview) -> Sequence[Annotation | Adjudication]:
    return (*review.annotations, *([review.adjudication] if review.adjudication else []))


class ReviewIntake:
    """Reviews on their way into the database, inside one transaction; ``result`` counts what is new.

    What is here of their claims is read at once, and what is to be added is written at once. Where
    ``guideline_version`` is given, annotations were made under it.
    """

    def __init__(
        self,
        connection: Connection,
        project: Project,
        result: ReviewsPut,
        people: Mapping[str, Person],
        at: datetime,
        guideline_version: int | None = None,
    ) -> None:
        self.connection, self.project, self.result = connection, project, result
        self.people, self.at, self.guideline_version = people, at, guideline_version
        self.held: dict[tuple[int, int], dict[str, object]] = {}  # claim and person
        self.rows: dict[type[AnnotationRow] | type[AdjudicationRow], list[dict[str, Any]]] = {
            AnnotationRow: [],
            AdjudicationRow: [],
        }

    def put(self, reviews: Sequence[PacketReview], *, by: Person, packet: str) -> None:
        """Keep what is not here yet, each with its event, and bring the queue up to it."""
        keys = keys_of_claims(self.connection, reviews)
        self._read([key for key in keys if key is not None])
        for review, key in zip(reviews, keys, strict=True):
            if key is None:
                why: list[str | None] = ["no such claim here; import and verify its trace first"]
            else:
                why = [
                    self._add(key, said, self.people[_plain_name(said.reviewer)])
                    for said in _said(review)
                ]
            self.result.skipped += [f"{review.claim_id}: {one}" for one in why if one]
        if self.held:
            self.connection.execute(insert(AssignmentRow), list(self.held.values()))
        for table, rows in self.rows.items():
            action = VOTE_IMPORTED if table is AnnotationRow else "adjudication.imported"
            add_said(
                self.connection, table, rows, at=self.at, actor=by.name, action=action,
                detail={"packet": packet},
            )  # fmt: skip
        changed = {row["claim_key"] for rows in self.rows.values() for row in rows}
        settle_all(self.connection, self.project, changed)

    def _read(self, keys: Sequence[int]) -> None:
        of = (self.connection, keys)
        self.annotations = defaultdict(list, every_annotation(*of))
        self.adjudications = defaultdict(
            list, {key: [one] for key, one in every_adjudication(*of).items()}
        )
        self.assignments = {
            (one.claim_key, one.person_id): one for one in assignments.assignments_of(*of)
        }
        self.slots: dict[int, set[int]] = defaultdict(set)
        for one in self.assignments.values():
            self.slots[one.claim_key].add(one.slot)
        # As written, also what was taken back since.
        self.written = {
            (table, *row)
            for table in self.rows
            for some in in_pieces(keys)
            for row in self.connection.execute(
                select(col(table.claim_key), col(table.person_id), col(table.at)).where(
                    col(table.project_id) == PROJECT, col(table.claim_key).in_(some)
                )
            )
        }

    def _add(self, key: int, said: Annotation | Adjudication, person: Person) -> str | None:
        """Add what is said unless it, or a newer word, is here, or it was taken back: why it is left."""
        here: Sequence[Annotation | Adjudication]
        if isinstance(said, Annotation):
            table: type[AnnotationRow] | type[AdjudicationRow] = AnnotationRow
            here = [one for one in self.annotations[key] if one.reviewer == person.name]
            newer = f"{person.name} has judged it anew here since"
        else:
            table, here = AdjudicationRow, self.adjudications[key][-1:]
            newer = "somebody has decided it anew here since"
        if any((one.at, one.judgement) == (said.at, said.judgement) for one in here):
            self.result.votes_known += table is AnnotationRow
            self.result.adjudications_known += table is AdjudicationRow
            return None
        if any(one.at >= said.at for one in here):
            return newer
        if (table, key, person.person_id, said.at) in self.written:
            return f"what {person.name} said was taken back here"
        if isinstance(said, Annotation):
            slot = self._slot(key, person, said)
            if slot is None:
                return f"both annotations are somebody else's here; {person.name}'s is left out"
            if slot == ADJUDICATION_SLOT:
                return f"{person.name} breaks the tie here, and cannot read it as well"
            values = {
                "slot": slot,
                **annotation_columns(said),
                "guideline_version": self.guideline_version or said.guideline_version,
                "reason": None,
                "queue_reason": said.queue_reason.value,
                "inclusion_probability": said.inclusion_probability,
            }
            self.annotations[key].append(replace(said, reviewer=person.name))
        else:
            if any(one.reviewer == person.name for one in self.annotations[key]):
                return f"{person.name} has read it, and cannot break the tie"
            self._hold(key, person, ADJUDICATION_SLOT, QueueReason.DISAGREEMENT, None)
            values = {
                **judgement_columns(said.judgement),
                "cause": said.cause.value,
                "guideline_needs_fix": said.guideline_needs_fix,
                "rule": said.rule,
                "rationale": plain_text(said.rationale),
                "shown_order": "[]",
                "guideline_version": said.guideline_version,
            }
            self.adjudications[key].append(said)
        self.result.votes += table is AnnotationRow
        self.result.adjudications += table is AdjudicationRow
        of = f"{self.project.project_id} {key} {person.person_id}"
        name = f"{table.__tablename__} {of} {said.at}"
        self.rows[table].append(
            {
                "claim_key": key,
                "person_id": person.person_id,
                **values,
                # Of what it is, so that the database itself refuses the same one twice.
                "nonce": hashlib.sha256(name.encode()).hexdigest(),
                "at": said.at,
            }
        )
        return None

    def _slot(self, key: int, person: Person, annotation: Annotation) -> int | None:
        """The place that the person has or may have now; None: both are somebody else's."""
        if (held := self.held.get((key, person.person_id))) is not None:
            return int(str(held["slot"]))
        assignment = self.assignments.get((key, person.person_id))
        if assignment is not None:
            if assignment.slot != ADJUDICATION_SLOT:
                assignments.close(self.connection, assignment)
            return assignment.slot
        taken = self.slots[key]
        wanted = annotation.slot in (1, 2) and annotation.slot not in taken
        slot = annotation.slot if wanted else free_slot(taken, BOTH_ANNOTATIONS)
        if slot is not None:
            self._hold(key, person, slot, annotation.queue_reason, annotation.inclusion_probability)
        return slot

    def _hold(
        self, key: int, person: Person, slot: int, reason: QueueReason, probability: float | None
    ) -> None:
        """Take the place of the annotation or adjudication, so that nobody is asked for it again."""
        mine = (key, person.person_id)
        if slot in self.slots[key] or mine in self.assignments or mine in self.held:
            return
        self.slots[key].add(slot)
        self.held[mine] = {
            "claim_key": key,
            "slot": slot,
            "person_id": person.person_id,
            "state": "done",
            "reason": reason.value,
            "inclusion_probability": probability,
            "created_at": self.at,
            "lease_until": self.at,
        }


def _plain_name(name: str) -> str:
    return " ".join(plain_text(name).split())
