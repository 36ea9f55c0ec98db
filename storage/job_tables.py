"""The table of work that waits for workers.

job   a trace version that somebody wants verified, and what became of that (changes)
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime


class JobRow(SQLModel, table=True):
    """One trace version to be verified; asked for again it is the same job, begun anew."""

    __tablename__: ClassVar[str] = "job"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'taken', 'done', 'given_up')", name="state"),
        Index(None, "state", "due"),
    )

    position: int = Field(
        primary_key=True,
        foreign_key="trace_version.position",
        ondelete="CASCADE",
        sa_column_kwargs={"autoincrement": False},
    )
    state: str = Field(max_length=8)
    due: datetime = Field(sa_type=UtcDateTime)  # waiting: not before; taken: the lease's end
    attempts: int
    worker: str | None = Field(default=None, sa_type=PlainText)
    reason: str | None = Field(default=None, sa_type=PlainText)
    asked_by: str = Field(sa_type=PlainText)
    changed_at: datetime = Field(sa_type=UtcDateTime)
