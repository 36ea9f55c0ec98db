"""The signatures under a packet, as the database keeps them."""

from __future__ import annotations

from sqlalchemy import Connection, select
from sqlmodel import col

from core.review.exchange import TAKEN_BACK, PacketSignature
from storage.tables import PacketLock, PacketSignatureRow


def signatures_of(connection: Connection, manifest_sha256: str) -> tuple[PacketSignature, ...]:
    """Who signed that packet or took signatures back, the first first."""
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
            meaning=row.meaning if row.action == "lock" else TAKEN_BACK,
            taken_back=row.lock_id < unlocked,
            public_key=row.public_key,
            signature=row.signature,
        )
        for row in rows
        if row.action == "lock" or row.signature is not None  # taken back in 0.19.0: unsigned
    )
