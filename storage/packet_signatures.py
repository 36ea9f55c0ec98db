"""Who has signed which packet, and who took signatures back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.errors import Conflict, InputError, NotFound
from core.records import JsonObject
from core.review.assignment import check_reason
from core.review.exchange import MEANINGS, PacketSignature
from core.review.records import (
    Person,
    Role,
)
from core.review.signing import sign
from storage.audit import add_row, sha256_of
from storage.columns import plain_text
from storage.packet_tables import PacketLock, PacketSignatureRow
from storage.people import allow
from storage.signers import seed_of
from storage.store import SqlStore


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
