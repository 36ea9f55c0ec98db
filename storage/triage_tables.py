"""The tables of triage: what people say of traces, and which claims they ask for.

trace_mark              a flag, comment or tag on a trace; the latest word on a flag or tag counts
reading_request         claims that somebody is to read before the rest of the queue (changes)
adjudication_reopening  an adjudication that no longer stands, and why
verdict_tier, verdict_cause   what lists filter a verdict by, worked out from it
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime


class TraceMark(SQLModel, table=True):
    """Something that a person says of a trace, or of one of its claims; rows never change."""

    __tablename__: ClassVar[str] = "trace_mark"
    __table_args__ = (
        CheckConstraint("kind IN ('flag', 'unflag', 'comment', 'tag', 'untag')", name="kind"),
        Index(None, "position"),
        {"sqlite_autoincrement": True},
    )

    mark_id: int | None = Field(default=None, primary_key=True)
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    claim_id: str | None = Field(default=None, sa_type=PlainText)
    kind: str = Field(max_length=8)
    text: str = Field(sa_type=PlainText)
    person_id: int = Field(foreign_key="person.person_id")
    at: datetime = Field(sa_type=UtcDateTime)


class ReadingRequest(SQLModel, table=True):
    """A trace, or one claim of it, to be read first; ``person_id`` None: by whoever asks next.

    ``now``: the person opened it themselves, so it comes before what others gave them.
    """

    __tablename__: ClassVar[str] = "reading_request"
    __table_args__ = (
        Index(None, "project_id", "person_id"),
        Index(None, "position"),
        {"sqlite_autoincrement": True},
    )

    request_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    claim_key: int | None = Field(default=None, foreign_key="claim.claim_key", ondelete="CASCADE")
    person_id: int | None = Field(default=None, foreign_key="person.person_id")
    now: bool
    at: datetime = Field(sa_type=UtcDateTime)


class AdjudicationReopening(SQLModel, table=True):
    """An adjudication that was taken up again; it stays as written and no longer counts."""

    __tablename__: ClassVar[str] = "adjudication_reopening"
    __table_args__ = (UniqueConstraint("adjudication_id"), {"sqlite_autoincrement": True})

    reopening_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    adjudication_id: int = Field(foreign_key="adjudication.adjudication_id")
    person_id: int = Field(foreign_key="person.person_id")
    reason: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class VerdictTier(SQLModel, table=True):
    """The tier of a verdict: S, A, B, C or D, the worst claim's; "none" without a claim. And its state."""

    __tablename__: ClassVar[str] = "verdict_tier"

    verdict_id: int = Field(
        primary_key=True,
        foreign_key="verdict.verdict_id",
        ondelete="CASCADE",
        sa_column_kwargs={"autoincrement": False},
    )
    tier: str = Field(max_length=4)
    state: str | None = Field(default=None, max_length=12)  # None only while a migration runs


class VerdictCause(SQLModel, table=True):
    """One cause for which a verdict holds claims back, in the words of core/provenance/triage.py."""

    __tablename__: ClassVar[str] = "verdict_cause"

    verdict_id: int = Field(
        primary_key=True,
        foreign_key="verdict.verdict_id",
        ondelete="CASCADE",
        sa_column_kwargs={"autoincrement": False},
    )
    cause: str = Field(primary_key=True, max_length=60)
