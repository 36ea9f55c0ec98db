"""Packets: what an export reads, and who has signed which packet or took signatures back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.codec import actions_of
from core.errors import Conflict, InputError, NotFound
from core.records import JsonObject
from core.review.assignment import check_reason
from core.review.exchange import MEANINGS, TAKEN_BACK, Evidence, PacketSignature
from core.review.items import Guideline
from core.review.pre_labels import PreLabel
from core.review.preferences import ChosenEdit
from core.review.records import Person, Project, ReviewedClaim, Role
from core.review.signing import sign
from storage.audit import add_row, append_event, sha256_of
from storage.checking import anchor_of, write_anchor
from storage.columns import plain_text
from storage.guidelines import Guidelines
from storage.keys import seed_of
from storage.labels import Labels
from storage.listing import with_tag
from storage.people import People, allow
from storage.pre_labels import PreLabels
from storage.repairs import Repairs
from storage.signatures import signatures_of
from storage.store import SqlStore
from storage.tables import (
    AdjudicationRow,
    AnnotationRow,
    AssignmentRow,
    PacketLock,
    PacketSignatureRow,
    PersonRow,
    TraceVersion,
)
from storage.trail import Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPacket:
    """A packet that somebody signed once, with its manifest and all its signatures, the first first."""

    manifest_sha256: str
    manifest: str
    signatures: tuple[PacketSignature, ...]

    @property
    def locked(self) -> bool:
        """Whether a signature stands."""
        return any(one.stands for one in self.signatures)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSignatures:
    """The signatures under the packets of a database."""

    store: SqlStore

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
            for one in signatures_of(connection, digest):
                if one.stands and (one.signer, one.meaning) == (by.name, meaning):
                    raise Conflict(f"{by.name} has signed this packet already ({meaning})")
            return self._sign(connection, manifest, "lock", meaning, by, {"meaning": meaning})

    def unlock(self, manifest_sha256: str, reason: str, *, by: Person) -> None:
        """Take all signatures of a packet back, which is signed too.

        Raises NotAllowed, NotFound, InputError.
        """
        stated = check_reason(reason, "taking signatures back")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "take signatures back")
            standing = [one for one in signatures_of(connection, manifest_sha256) if one.stands]
            if not standing:
                raise NotFound("nobody's signature stands under this packet")
            manifest = connection.execute(
                select(col(PacketLock.manifest))
                .where(col(PacketLock.manifest_sha256) == manifest_sha256)
                .limit(1)
            ).scalar_one()
            before = [f"{one.signer}: {one.meaning}" for one in standing]
            said = {"from": before, "to": None, "reason": stated}
            self._sign(connection, manifest, "unlock", stated, by, said)

    def signatures(self, manifest_sha256: str) -> tuple[PacketSignature, ...]:
        """Who signed that packet, the first first, also what was taken back since."""
        with self.store.database.reading() as connection:
            return signatures_of(connection, manifest_sha256)

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
                    signatures=signatures_of(connection, digest),
                )
                for digest, manifest in manifests.items()
            )

    def _sign(
        self,
        connection: Connection,
        manifest: str,
        action: str,
        meaning: str,
        by: Person,
        detail: Mapping[str, object],
    ) -> PacketSignature:
        """Keep a signature, or that all were taken back (``meaning``: why), with the person's key."""
        digest, at = sha256_of(manifest), self.store.now()
        signed = sign(
            PacketSignature(
                manifest_sha256=digest,
                signer=by.name,
                at=at,
                meaning=meaning if action == "lock" else TAKEN_BACK,
            ),
            seed_of(by.name),
        )
        proof = {"public_key": signed.public_key, "signature": signed.signature}
        lock_id = add_row(
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
            detail={**detail, **proof},
        )
        connection.execute(insert(PacketSignatureRow).values(lock_id=lock_id, **proof))
        return signed


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """A project's packets; implements PacketStore of core's workflows."""

    store: SqlStore
    project: Project

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in."""
        return Labels(store=self.store).reviewed()

    def pre_labels(self) -> Mapping[int, PreLabel]:
        """What two judges said, by the key of the claim."""
        return PreLabels(store=self.store).all()

    def unfinished(self) -> int:
        """How many claims have an annotation, and annotations still to come."""
        return Labels(store=self.store).unfinished()

    def events(self) -> int:
        """How many events the trail of the database has: nothing changed while it stays."""
        return Trail(store=self.store).length()

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds an annotation or an adjudication of."""
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

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""
        with self.store.database.reading() as connection:
            return frozenset(
                connection.execute(
                    select(col(TraceVersion.trace_id)).where(with_tag(tag))
                ).scalars()
            )

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
            ("reading", AnnotationRow, "vote_id", standing),
            ("decision", AdjudicationRow, "adjudication_id", decided),
        ):
            target = table.__table__  # type: ignore[union-attr]
            statement = (
                select(target, col(PersonRow.name).label("reviewer"))
                .join(PersonRow, col(PersonRow.person_id) == target.c.person_id)
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
                self.store.now(),
                user.name,
                "packet.exported",
                manifest_sha256,
                {"project": self.project.project_id, **detail},
            )
        with self.store.database.reading() as connection:
            anchor = anchor_of(connection, self.store.name)
        write_anchor(anchor)


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
