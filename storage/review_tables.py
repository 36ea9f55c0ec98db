"""The tables of human review. A person's word is only ever added; what is in hand may change.

    project         how claims are reviewed: readings a claim, decide first, leases
    person          who works here
    role_grant      who may do what, since when and by whom; the latest row of a person and role counts
    guideline       the guideline's versions
    claim           one claim of one trace version, as the verifier first read it
    claim_signal    what one run said about a claim, with the features that rescore it
    queue           where each claim of a project stands, and how far it is (changes)
    assignment      who holds which reading of a claim, and until when (changes)
    decline         who gave a claim back, and why
    draft           what a reviewer has typed so far (changes)
    annotation            a reading, as written; a later row of the same reviewer supersedes it
    adjudication    what a third person decided
    trace_split     train, validation or held out: said once for a trace
    calibrator      every forest that was fitted here, with its artifact
    promotion       which calibrator and threshold rule since when, by whom and why
    packet_lock     exported packets that somebody signed
    verdict_opening who has seen which verdict of the machine, since when

Triggers refuse UPDATE and DELETE on every append-only table: a trace that people have judged cannot
be erased; one that nobody has judged can, and who looked at its verdict goes with it.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from storage.columns import PlainText, UtcDateTime
from storage.tables import HASH_CHARACTERS

SUPPORT = "('supported', 'unsupported', 'contradicted', 'not_enough_evidence')"


class ProjectRow(SQLModel, table=True):
    """A project; ``version`` rises with every change of its settings."""

    __tablename__: ClassVar[str] = "project"
    __table_args__ = (
        UniqueConstraint("name"),
        CheckConstraint("reads_per_claim IN (1, 2)", name="reads"),
        {"sqlite_autoincrement": True},
    )

    project_id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=PlainText)
    reads_per_claim: int
    decide_first: bool
    dwell_milliseconds: int
    lease_minutes: int
    audit_share: float
    slice: str | None = Field(default=None, sa_type=PlainText)
    version: int
    created_at: datetime = Field(sa_type=UtcDateTime)


class PersonRow(SQLModel, table=True):
    """Somebody who works here; ``email`` is what a login says."""

    __tablename__: ClassVar[str] = "person"
    __table_args__ = (
        UniqueConstraint("name"),
        UniqueConstraint("email"),
        {"sqlite_autoincrement": True},
    )

    person_id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=PlainText)
    email: str | None = Field(default=None, sa_type=PlainText)
    created_at: datetime = Field(sa_type=UtcDateTime)


class RoleGrant(SQLModel, table=True):
    """A role given or taken away; the latest row of a person and role counts."""

    __tablename__: ClassVar[str] = "role_grant"
    __table_args__ = (
        CheckConstraint("role IN ('reviewer', 'adjudicator', 'lead', 'auditor')", name="role"),
        Index(None, "person_id"),
        {"sqlite_autoincrement": True},
    )

    grant_id: int | None = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="person.person_id")
    role: str = Field(max_length=16)
    granted: bool
    by: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class GuidelineRow(SQLModel, table=True):
    """One version of the guideline; the highest is in force."""

    __tablename__: ClassVar[str] = "guideline"

    version: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    text: str = Field(sa_type=Text)
    change: str = Field(sa_type=PlainText)  # what changed, and why
    author: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class ClaimRow(SQLModel, table=True):
    """One factual claim of one trace version."""

    __tablename__: ClassVar[str] = "claim"
    __table_args__ = (
        UniqueConstraint("position", "claim_id", "text_sha256"),
        {"sqlite_autoincrement": True},
    )

    claim_key: int | None = Field(default=None, primary_key=True)
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    claim_id: str = Field(sa_type=PlainText)
    number: int  # 1 for the answer's first claim
    text: str = Field(sa_type=PlainText)
    text_sha256: str = Field(max_length=HASH_CHARACTERS)
    span_start: int
    span_end: int
    claim_type: str = Field(max_length=16)


class ClaimSignal(SQLModel, table=True):
    """What one run said about one claim; the row with the highest id is the latest."""

    __tablename__: ClassVar[str] = "claim_signal"
    __table_args__ = (
        UniqueConstraint("claim_key", "run_id"),
        CheckConstraint("decision IN ('allow', 'block')", name="decision"),
        Index(None, "run_id", "probability"),
        {"sqlite_autoincrement": True},
    )

    signal_id: int | None = Field(default=None, primary_key=True)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    run_id: int = Field(foreign_key="run.run_id")
    decision: str = Field(max_length=8)
    verdict: str | None = Field(default=None, max_length=24)
    probability: float | None = None
    threshold: float | None = None
    review_from: float | None = None  # from here up to the threshold it needs a person
    margin: float | None = None
    routed_source_id: str | None = Field(default=None, sa_type=PlainText)
    routed_family: str | None = Field(default=None, max_length=32)
    attribution: str = Field(max_length=16)
    gated: bool
    features: str | None = Field(default=None, sa_type=Text)  # JSON: the calibrator's input


class QueueRow(SQLModel, table=True):
    """Where a claim stands in a project's queue; ``missing`` counts readings that nobody has taken."""

    __tablename__: ClassVar[str] = "queue"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'reading', 'tied', 'settled')", name="state"),
        CheckConstraint("missing BETWEEN 0 AND 2", name="missing"),
        Index(None, "project_id", "missing", "audit", "rank", "claim_key"),
        Index(None, "project_id", "state", "claim_key"),
        Index(None, "claim_key"),
    )

    project_id: int = Field(primary_key=True, foreign_key="project.project_id")
    claim_key: int = Field(primary_key=True, foreign_key="claim.claim_key", ondelete="CASCADE")
    audit: bool  # drawn at random, with inclusion_probability
    rank: float  # the smallest first
    reason: str = Field(max_length=16)
    inclusion_probability: float | None = None
    missing: int
    state: str = Field(max_length=8)


class AssignmentRow(SQLModel, table=True):
    """Who holds which reading of a claim: slots 1 and 2 are readings, slot 3 is the adjudication."""

    __tablename__: ClassVar[str] = "assignment"
    __table_args__ = (
        UniqueConstraint("project_id", "claim_key", "slot"),
        UniqueConstraint("project_id", "claim_key", "person_id"),
        CheckConstraint("slot IN (1, 2, 3)", name="slot"),
        CheckConstraint("state IN ('open', 'done')", name="state"),
        Index(None, "person_id", "state"),
        Index(None, "state", "lease_until"),
        {"sqlite_autoincrement": True},
    )

    assignment_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    slot: int
    person_id: int = Field(foreign_key="person.person_id")
    state: str = Field(max_length=8)
    reason: str = Field(max_length=16)
    inclusion_probability: float | None = None
    created_at: datetime = Field(sa_type=UtcDateTime)
    lease_until: datetime = Field(sa_type=UtcDateTime)
    shown_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    nonce: str | None = Field(default=None, max_length=64)  # of the latest rendering; used once
    revealed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Decline(SQLModel, table=True):
    """A claim that somebody gave back, with the reason."""

    __tablename__: ClassVar[str] = "decline"
    __table_args__ = (Index(None, "claim_key"), {"sqlite_autoincrement": True})

    decline_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    slot: int
    person_id: int = Field(foreign_key="person.person_id")
    reason: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class Draft(SQLModel, table=True):
    """What a reviewer has typed so far on an assignment: lost with it."""

    __tablename__: ClassVar[str] = "draft"

    assignment_id: int = Field(
        primary_key=True, foreign_key="assignment.assignment_id", ondelete="CASCADE"
    )
    document: str = Field(sa_type=Text)  # JSON: support, source, conflation, confidence, rationale
    updated_at: datetime = Field(sa_type=UtcDateTime)


class VoteRow(SQLModel, table=True):
    """A reading as written; the row with the highest id of a person and claim counts."""

    __tablename__: ClassVar[str] = "vote"
    __table_args__ = (
        CheckConstraint(f"support IN {SUPPORT}", name="support"),
        CheckConstraint(f"first_support IN {SUPPORT}", name="first_support"),
        CheckConstraint("confidence BETWEEN 1 AND 5", name="confidence"),
        UniqueConstraint("nonce"),
        Index(None, "project_id", "claim_key"),
        Index(None, "person_id"),
        {"sqlite_autoincrement": True},
    )

    vote_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    person_id: int = Field(foreign_key="person.person_id")
    slot: int
    support: str = Field(max_length=24)
    source_id: str | None = Field(default=None, sa_type=PlainText)
    conflation: bool | None = None
    first_support: str | None = Field(default=None, max_length=24)
    first_source_id: str | None = Field(default=None, sa_type=PlainText)
    first_conflation: bool | None = None
    confidence: int | None = None
    rationale: str = Field(sa_type=PlainText)
    saw_model_output: bool
    changed_after_reveal: bool
    exposures: str = Field(sa_type=Text)  # JSON list: what was visible, since when
    seconds: float
    reason: str | None = Field(
        default=None, sa_type=PlainText
    )  # for a change after the first annotation
    queue_reason: str = Field(max_length=16)
    inclusion_probability: float | None = None
    guideline_version: int
    run_key: str = Field(max_length=HASH_CHARACTERS)
    threshold: float | None = None
    nonce: str = Field(max_length=64)
    at: datetime = Field(sa_type=UtcDateTime)


class AdjudicationRow(SQLModel, table=True):
    """An adjudication; the row with the highest id of a claim counts."""

    __tablename__: ClassVar[str] = "adjudication"
    __table_args__ = (
        CheckConstraint(f"support IN {SUPPORT}", name="support"),
        UniqueConstraint("nonce"),
        Index(None, "project_id", "claim_key"),
        {"sqlite_autoincrement": True},
    )

    adjudication_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id")
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    person_id: int = Field(foreign_key="person.person_id")
    support: str = Field(max_length=24)
    source_id: str | None = Field(default=None, sa_type=PlainText)
    conflation: bool | None = None
    cause: str = Field(max_length=24)
    guideline_needs_fix: bool
    rule: str | None = Field(default=None, sa_type=PlainText)
    rationale: str = Field(sa_type=PlainText)
    shown_order: str = Field(sa_type=Text)  # JSON: the annotation ids in the order they were shown
    guideline_version: int
    nonce: str = Field(max_length=64)
    at: datetime = Field(sa_type=UtcDateTime)


class TraceSplit(SQLModel, table=True):
    """Which side of the split a trace is on: said once, for all its versions."""

    __tablename__: ClassVar[str] = "trace_split"
    __table_args__ = (
        CheckConstraint("split IN ('train', 'validation', 'held_out')", name="split"),
    )

    trace_key: str = Field(primary_key=True, max_length=HASH_CHARACTERS)
    split: str = Field(max_length=16)
    by: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class VerdictOpening(SQLModel, table=True):
    """Who has seen the machine's verdict on a trace version, and when first; rows never change."""

    __tablename__: ClassVar[str] = "verdict_opening"
    __table_args__ = (
        UniqueConstraint("position", "person_id", "run_id"),
        Index(None, "person_id"),
        {"sqlite_autoincrement": True},
    )

    opening_id: int | None = Field(default=None, primary_key=True)
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    person_id: int = Field(foreign_key="person.person_id")
    run_id: int = Field(foreign_key="run.run_id")
    at: datetime = Field(sa_type=UtcDateTime)
