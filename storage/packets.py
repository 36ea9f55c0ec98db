"""Packets: what an export reads, what an import adds, and who has signed which packet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.codec import actions_of, verdict_document
from core.errors import Conflict, InputError, NotFound
from core.records import JsonObject, Trace, Verification
from core.review.assignment import ADJUDICATION_SLOT, check_reason, free_slot
from core.review.exchange import MEANINGS, Evidence, PacketSignature, ReviewsPut
from core.review.items import Guideline
from core.review.packet import PacketReview
from core.review.preferences import ChosenEdit
from core.review.records import (
    Adjudication,
    Annotation,
    Person,
    Project,
    QueueReason,
    ReviewedClaim,
    Role,
    Split,
)
from core.review.signing import sign
from storage import assignments
from storage.adjudications import adjudication_of
from storage.anchors import anchor_of, write_anchor
from storage.annotations import annotations_of
from storage.audit import add_row, append_event, sha256_of
from storage.columns import plain_text
from storage.guidelines import Guidelines
from storage.labels import Labels
from storage.people import People, allow
from storage.records import TracesPut
from storage.repairs import Repairs
from storage.review_tables import (
    AdjudicationRow,
    AssignmentRow,
    ClaimRow,
    PacketLock,
    PacketSignatureRow,
    PersonRow,
    VoteRow,
)
from storage.signers import seed_of
from storage.splits import Splits
from storage.standing import settle
from storage.store import SqlStore
from storage.tables import TraceVersion
from storage.traces import is_newest, trace_key
from storage.trail import Trail

BOTH_READINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPacket:
    """A packet that somebody signed once, with its manifest and all its signatures, the first first."""

    manifest_sha256: str
    manifest: str
    signatures: tuple[PacketSignature, ...]

    @property
    def locked(self) -> bool:
        """Whether a signature stands."""
        return any(not one.taken_back for one in self.signatures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """A project's packets; implements PacketStore and PacketSink of core's workflows."""

    store: SqlStore
    project: Project

    # ------------------------------------------------------------ read by an export

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        return Labels(store=self.store).reviewed(self.project.project_id)

    def unfinished(self) -> int:
        """How many claims have an annotation, and readings still to come."""
        return Labels(store=self.store).unfinished(self.project.project_id)

    def events(self) -> int:
        """How many events the trail of the database has: nothing changed while it stays."""
        return Trail(store=self.store).length()

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds a reading or an adjudication of."""
        with self.store.database.reading() as connection:
            return frozenset(
                connection.execute(
                    select(col(AssignmentRow.claim_key)).where(
                        col(AssignmentRow.person_id) == person.person_id,
                        col(AssignmentRow.state) == "open",
                    )
                ).scalars()
            )

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run; raises NotFound without the trace.

        A run that only rescored stored features wrote no documents: then it is the latest one.
        """
        trace = self.store.get_trace(trace_id, content_hash).trace
        for wanted in dict.fromkeys([run_key, None]):
            try:
                found = self.store.get_verdict(trace_id, content_hash=content_hash, run_key=wanted)
            except NotFound:
                continue
            return Evidence(trace=trace, verdict=found.verification)
        return Evidence(trace=trace, verdict=None)

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the latest repair of these traces."""
        wanted, found = set(content_hashes), dict[str, list[ChosenEdit]]()
        for row in Repairs(store=self.store).export():
            content, document, choices = row["content_hash"], row["repair"], row["choices"]
            assert isinstance(content, str)
            assert isinstance(document, Mapping)
            assert isinstance(choices, list)
            if content not in wanted:
                continue
            last = {one["action_id"]: one for one in choices}
            found[content] = [
                ChosenEdit(
                    action=action,
                    choice=last[action.action_id]["choice"],
                    text=last[action.action_id]["text"],
                    reviewer=last[action.action_id]["reviewer"],
                    at=last[action.action_id]["at"],
                )
                for action in actions_of(document)
                if action.action_id in last
            ]
        return found

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements on these claims that no longer stand, as they were written, the oldest first."""
        ids = {claim.claim_key: claim.claim_id for claim in claims}
        standing = {annotation.vote_id for claim in claims for annotation in claim.annotations}
        decided = {
            claim.adjudication.adjudication_id for claim in claims if claim.adjudication is not None
        }
        for kind, table, key, counts in (
            ("reading", VoteRow, "vote_id", standing),
            ("decision", AdjudicationRow, "adjudication_id", decided),
        ):
            target = table.__table__  # type: ignore[union-attr]
            statement = (
                select(target, col(PersonRow.name).label("reviewer"))
                .join(PersonRow, col(PersonRow.person_id) == target.c.person_id)
                .where(target.c.project_id == self.project.project_id)
                .order_by(target.c[key])
            )
            with self.store.database.reading() as connection:
                for row in connection.execute(statement).yield_per(1000):
                    if row.claim_key in ids and row._mapping[key] not in counts:
                        yield _as_written(kind, ids[row.claim_key], row._mapping)

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of the audit trail that tell of these claims, the oldest first."""
        return Trail(store=self.store).about(
            claim_keys={claim.claim_key for claim in claims},
            content_hashes={claim.content_hash for claim in claims},
        )

    def machine_profiles(self) -> Mapping[str, str]:
        """Name → identity of the people whom a machine without login made for itself."""
        return People(store=self.store).machine_profiles()

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, the oldest first."""
        return Guidelines(store=self.store).versions()

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of an export, and anchor the trail outside the database."""
        with self.store.database.writing() as connection:
            append_event(
                connection,
                at=self.store.now(),
                actor=user.name,
                action="packet.exported",
                entity=manifest_sha256,
                detail={"project": self.project.project_id, **detail},
            )
        with self.store.database.reading() as connection:
            anchor = anchor_of(connection, self.store.name)
        write_anchor(anchor)

    # ------------------------------------------------------------ signed

    def lock(self, manifest: str, meaning: str, *, by: Person) -> PacketSignature:
        """Sign a packet: name, time, meaning and the hash of its manifest.

        Raises NotAllowed, InputError for a meaning that is none, Conflict when the person's same
        signature stands already.
        """
        if meaning not in MEANINGS:
            raise InputError(f"expected one of {', '.join(MEANINGS)}, found {meaning!r:.60}")
        digest = sha256_of(manifest)
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "sign a packet")
            for one in _signatures(connection, digest):
                if (one.signer, one.meaning, one.taken_back) == (by.name, meaning, False):
                    raise Conflict(f"{by.name} has signed this packet already ({meaning})")
            at = self.store.now()
            signed = sign(
                PacketSignature(manifest_sha256=digest, signer=by.name, at=at, meaning=meaning),
                seed_of(by.name),
            )
            lock_id = self._write(
                connection, digest, manifest, "lock", meaning, by, at=at,
                detail={"meaning": meaning, "public_key": signed.public_key,
                        "signature": signed.signature},
            )  # fmt: skip
            connection.execute(
                insert(PacketSignatureRow).values(
                    lock_id=lock_id, public_key=signed.public_key, signature=signed.signature
                )
            )
        return signed

    def unlock(self, manifest_sha256: str, reason: str, *, by: Person) -> None:
        """Take all signatures of a packet back; raises NotAllowed, NotFound, InputError."""
        stated = check_reason(reason, "taking signatures back")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "take signatures back")
            standing = [
                one for one in _signatures(connection, manifest_sha256) if not one.taken_back
            ]
            if not standing:
                raise NotFound("nobody's signature stands under this packet")
            manifest = connection.execute(
                select(col(PacketLock.manifest))
                .where(col(PacketLock.manifest_sha256) == manifest_sha256)
                .limit(1)
            ).scalar_one()
            self._write(
                connection, manifest_sha256, manifest, "unlock", stated, by, at=self.store.now(),
                detail={"from": [f"{one.signer}: {one.meaning}" for one in standing],
                        "to": None, "reason": stated},
            )  # fmt: skip

    def signatures(self, manifest_sha256: str) -> tuple[PacketSignature, ...]:
        """Who signed that packet, the first first, also what was taken back since."""
        with self.store.database.reading() as connection:
            return _signatures(connection, manifest_sha256)

    def signed(self) -> tuple[SignedPacket, ...]:
        """Every packet that was ever signed, the latest first."""
        with self.store.database.reading() as connection:
            rows = connection.execute(
                select(col(PacketLock.manifest_sha256), col(PacketLock.manifest)).order_by(
                    col(PacketLock.lock_id).desc()
                )
            ).all()
            manifests = {row.manifest_sha256: row.manifest for row in rows}
            return tuple(
                SignedPacket(
                    manifest_sha256=digest,
                    manifest=manifest,
                    signatures=_signatures(connection, digest),
                )
                for digest, manifest in manifests.items()
            )

    def _write(
        self,
        connection: Connection,
        digest: str,
        manifest: str,
        action: str,
        meaning: str,
        by: Person,
        *,
        at: datetime,
        detail: JsonObject,
    ) -> Any:
        return add_row(
            connection,
            PacketLock,
            {
                "manifest_sha256": digest,
                "manifest": manifest,
                "action": action,
                "meaning": plain_text(meaning),
                "signer": plain_text(by.name),
                "at": at,
            },
            at=at,
            actor=by.name,
            action="packet.signed" if action == "lock" else "packet.unlocked",
            entity=digest,
            detail=detail,
        )

    # ------------------------------------------------------------ written by an import

    def allow_import(self, user: Person) -> None:
        """Raise NotAllowed unless the person is a lead."""
        with self.store.database.reading() as connection:
            allow(connection, user, Role.LEAD, "import reviews")

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
        return {one.version: one.text for one in self.guidelines()}

    def put_splits(self, splits: Mapping[str, Split], *, by: Person) -> ReviewsPut:
        """Keep the side of the split that traces stand on, where nobody has said another."""
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
    ) -> ReviewsPut:
        """Keep the annotations and adjudications that are not here yet, each with its event.

        People who are not here come without a role. An annotation that would stand behind a newer
        one of the same person, or for which no reading is left, is skipped with its reason.
        Raises NotAllowed.
        """
        put = ReviewsPut()
        people = self._people(reviews, by, put, machine_profiles)
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import reviews")
            for review in reviews:
                claim_key = _claim_key(connection, review)
                if claim_key is None:
                    put.skipped.append(
                        f"{review.claim_id}: no such claim here; import and verify its trace first"
                    )
                    continue
                before = put.votes + put.adjudications
                entry = _Entry(
                    connection=connection,
                    packets=self,
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
    packets: Packets
    claim_key: int
    claim_id: str
    by: Person
    manifest_sha256: str
    put: ReviewsPut

    def annotation(self, annotation: Annotation, person: Person) -> None:
        """Keep an annotation unless it, or a newer one of the person, is here."""
        project_id = self.packets.project.project_id
        own = annotations_of(
            self.connection, project_id, self.claim_key, person_id=person.person_id
        )
        if any((one.at, one.judgement) == (annotation.at, annotation.judgement) for one in own):
            self.put.votes_known += 1
            return
        if any(one.at >= annotation.at for one in own):
            self._skip(f"{person.name} has judged it anew here since")
            return
        slot = self._slot(person, annotation)
        if slot is None:
            return
        first = annotation.first
        self._add(
            VoteRow,
            {
                "slot": slot,
                "support": annotation.judgement.support.value,
                "source_id": annotation.judgement.source_id,
                "conflation": annotation.judgement.conflation,
                "first_support": None if first is None else first.support.value,
                "first_source_id": None if first is None else first.source_id,
                "first_conflation": None if first is None else first.conflation,
                "confidence": annotation.confidence,
                "rationale": plain_text(annotation.rationale),
                "saw_model_output": annotation.saw_model_output,
                "changed_after_reveal": annotation.changed_after_reveal,
                "exposures": json.dumps(
                    [{"what": one.what, "at": one.at.isoformat()} for one in annotation.exposures]
                ),
                "seconds": annotation.seconds,
                "reason": None,
                "queue_reason": annotation.queue_reason.value,
                "inclusion_probability": annotation.inclusion_probability,
                "guideline_version": annotation.guideline_version,
                "run_key": annotation.run_key,
                "threshold": annotation.threshold,
            },
            annotation,
            person,
            action="vote.imported",
        )
        self.put.votes += 1

    def adjudication(self, decided: Adjudication, person: Person) -> None:
        """Keep an adjudication unless it, or a newer one, is here."""
        project_id = self.packets.project.project_id
        here = adjudication_of(self.connection, project_id, self.claim_key)
        if here is not None and (here.at, here.judgement) == (decided.at, decided.judgement):
            self.put.adjudications_known += 1
            return
        if here is not None and here.at >= decided.at:
            self._skip("somebody has decided it anew here since")
            return
        if annotations_of(self.connection, project_id, self.claim_key, person_id=person.person_id):
            self._skip(f"{person.name} has read it, and cannot break the tie")
            return
        self._hold(person, ADJUDICATION_SLOT, QueueReason.DISAGREEMENT, None)
        self._add(
            AdjudicationRow,
            {
                "support": decided.judgement.support.value,
                "source_id": decided.judgement.source_id,
                "conflation": decided.judgement.conflation,
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

    def _add(
        self,
        table: type[VoteRow] | type[AdjudicationRow],
        values: Mapping[str, object],
        said: Annotation | Adjudication,
        person: Person,
        *,
        action: str,
    ) -> None:
        project_id = self.packets.project.project_id
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
            at=self.packets.store.now(),
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
        project_id = self.packets.project.project_id
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
        slot = wanted or free_slot(taken, BOTH_READINGS)
        if slot is None:
            self._skip(f"both readings are somebody else's here; {person.name}'s is left out")
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
        """Take the place of the reading or adjudication, so that nobody is asked for it again."""
        project_id = self.packets.project.project_id
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
        now = self.packets.store.now()
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


def _as_written(kind: str, claim_id: str, row: Mapping[Any, Any]) -> JsonObject:
    names = ("support", "source_id", "conflation", "confidence", "cause", "rule", "rationale",
             "saw_model_output", "changed_after_reveal", "seconds", "guideline_version")  # fmt: skip
    return {
        "claim_id": claim_id,
        "kind": kind,
        "reviewer": row["reviewer"],
        "at": row["at"].isoformat(),
        **{name: row[name] for name in names if name in row},
    }


def _claim_key(connection: Connection, review: PacketReview) -> int | None:
    """The claim with that id and text, of that trace version; else of the trace's newest one."""
    version = (
        (col(TraceVersion.trace_key) == trace_key(review.trace_id)) & is_newest()
        if review.content_hash is None
        else col(TraceVersion.content_hash) == review.content_hash
    )
    key: int | None = connection.execute(
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(
            version,
            col(ClaimRow.claim_id) == plain_text(review.claim_id),
            col(ClaimRow.text_sha256) == sha256_of(plain_text(review.text)),
        )
    ).scalar()
    return key


def _signatures(connection: Connection, manifest_sha256: str) -> tuple[PacketSignature, ...]:
    rows = connection.execute(
        select(
            col(PacketLock.action), col(PacketLock.signer), col(PacketLock.at),
            col(PacketLock.meaning), col(PacketLock.lock_id),
            col(PacketSignatureRow.public_key), col(PacketSignatureRow.signature),
        )
        .join(
            PacketSignatureRow,
            col(PacketSignatureRow.lock_id) == col(PacketLock.lock_id),
            isouter=True,
        )
        .where(col(PacketLock.manifest_sha256) == manifest_sha256)
        .order_by(col(PacketLock.lock_id))
    ).all()  # fmt: skip
    unlocked = max((row.lock_id for row in rows if row.action == "unlock"), default=0)
    return tuple(
        PacketSignature(
            manifest_sha256=manifest_sha256,
            signer=row.signer,
            at=row.at,
            meaning=row.meaning,
            taken_back=row.lock_id < unlocked,
            public_key=row.public_key,
            signature=row.signature,
        )
        for row in rows
        if row.action == "lock"
    )


def _plain_name(name: str) -> str:
    return " ".join(plain_text(name).split())
