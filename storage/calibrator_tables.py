"""The tables of calibrators: what was fitted, and what rules from when on."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, LargeBinary, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime
from storage.tables import HASH_CHARACTERS


class CalibratorRow(SQLModel, table=True):
    """A fitted calibrator: its artifact folder as one zip archive, its card and its lineage."""

    __tablename__: ClassVar[str] = "calibrator"
    __table_args__ = (UniqueConstraint("name"), {"sqlite_autoincrement": True})

    calibrator_id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=PlainText)
    artifact: bytes = Field(sa_type=LargeBinary)
    artifact_sha256: str = Field(max_length=HASH_CHARACTERS)
    threshold: float
    comparison: str = Field(sa_type=Text)  # JSON: candidate and current on the same held-out claims
    lineage: str = Field(sa_type=Text)  # JSON: guideline, annotations, split, packet, code
    by: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class Promotion(SQLModel, table=True):
    """What rules from here on; the row with the highest id that is no rejection counts."""

    __tablename__: ClassVar[str] = "promotion"
    __table_args__ = (
        CheckConstraint("action IN ('promote', 'reject', 'roll_back', 'threshold')", name="action"),
        {"sqlite_autoincrement": True},
    )

    promotion_id: int | None = Field(default=None, primary_key=True)
    calibrator: str = Field(sa_type=PlainText)
    threshold: float
    action: str = Field(max_length=16)
    reason: str = Field(sa_type=PlainText)
    by: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)
