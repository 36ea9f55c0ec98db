"""The tables of packets: who signed which one, with what signature."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index, Text
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime
from storage.tables import HASH_CHARACTERS


class PacketLock(SQLModel, table=True):
    """An exported packet that somebody signed, or whose signature somebody took back."""

    __tablename__: ClassVar[str] = "packet_lock"
    __table_args__ = (
        CheckConstraint("action IN ('lock', 'unlock')", name="action"),
        Index(None, "manifest_sha256"),
        {"sqlite_autoincrement": True},
    )

    lock_id: int | None = Field(default=None, primary_key=True)
    manifest_sha256: str = Field(max_length=HASH_CHARACTERS)
    manifest: str = Field(sa_type=Text)  # JSON, as exported
    action: str = Field(max_length=8)
    meaning: str = Field(
        sa_type=PlainText
    )  # review, approval, responsibility, authorship; or why unlocked
    signer: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class PacketSignatureRow(SQLModel, table=True):
    """The Ed25519 signature that belongs to a lock, with its public key; both in base64."""

    __tablename__: ClassVar[str] = "packet_signature"

    lock_id: int = Field(
        primary_key=True,
        foreign_key="packet_lock.lock_id",
        sa_column_kwargs={"autoincrement": False},
    )
    public_key: str = Field(sa_type=Text)
    signature: str = Field(sa_type=Text)
