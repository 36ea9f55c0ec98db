"""The tables of calibration rounds; rows are only ever added.

calibration_round    a round: when, by whom, under which guideline
calibration_claim    the claims that all its readers read, in their order
calibration_reader   who reads them
calibration_label    what a reader said of one of them; once
calibration_closing  that nobody reads on
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime
from storage.review_tables import SUPPORT


class CalibrationRoundRow(SQLModel, table=True):
    """A round; numbers count up within a project."""

    __tablename__: ClassVar[str] = "calibration_round"
    __table_args__ = (UniqueConstraint("project_id", "number"), {"sqlite_autoincrement": True})

    round_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    number: int
    guideline_version: int
    person_id: int = Field(foreign_key="person.person_id")
    at: datetime = Field(sa_type=UtcDateTime)


class CalibrationClaim(SQLModel, table=True):
    """A claim of a round; ``place`` 1 is read first."""

    __tablename__: ClassVar[str] = "calibration_claim"
    __table_args__ = (
        UniqueConstraint("round_id", "claim_key"),
        Index(None, "claim_key"),
        {"sqlite_autoincrement": True},
    )

    round_claim_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    claim_key: int = Field(foreign_key="claim.claim_key")
    place: int


class CalibrationReader(SQLModel, table=True):
    """Somebody who reads a round."""

    __tablename__: ClassVar[str] = "calibration_reader"
    __table_args__ = (UniqueConstraint("round_id", "person_id"), {"sqlite_autoincrement": True})

    round_reader_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    person_id: int = Field(foreign_key="person.person_id")


class CalibrationLabel(SQLModel, table=True):
    """What a reader said of a claim of a round."""

    __tablename__: ClassVar[str] = "calibration_label"
    __table_args__ = (
        CheckConstraint(f"support IN {SUPPORT}", name="support"),
        UniqueConstraint("round_id", "claim_key", "person_id"),
        {"sqlite_autoincrement": True},
    )

    label_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    claim_key: int = Field(foreign_key="claim.claim_key")
    person_id: int = Field(foreign_key="person.person_id")
    support: str = Field(max_length=24)
    source_id: str | None = Field(default=None, sa_type=PlainText)
    conflation: bool | None = None
    rationale: str = Field(sa_type=PlainText)
    seconds: float
    guideline_version: int
    at: datetime = Field(sa_type=UtcDateTime)


class CalibrationClosing(SQLModel, table=True):
    """A round that somebody closed before all had read all, or after."""

    __tablename__: ClassVar[str] = "calibration_closing"
    __table_args__ = (UniqueConstraint("round_id"), {"sqlite_autoincrement": True})

    closing_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    person_id: int = Field(foreign_key="person.person_id")
    at: datetime = Field(sa_type=UtcDateTime)
