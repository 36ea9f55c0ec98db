"""The tables. What was verified and said is only ever added; what is in hand may change.

Traces, runs, verdicts, repairs and the trail; then review, packets, calibrators, triage, jobs, what people
set up for themselves, agreement rounds. Triggers refuse UPDATE and DELETE where a person's word or the
trail is kept, and UPDATE on traces, runs, verdicts, claims, repairs and marks (storage/migrate.py). A
trace that nobody has judged can be deleted (a patient may ask for it); ``audit verify`` knows of it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    and_,
    func,
    select,
)
from sqlmodel import Field, SQLModel, col

from storage.columns import PlainText, UtcDateTime

# Named constraints, so that a later migration can find them again on either engine.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

HASH_CHARACTERS = len("sha256:") + 64
SLICE_CHARACTERS = 200


class ImportRecord(SQLModel, table=True):
    """One import: what was understood of its files, and what was not."""

    __tablename__: ClassVar[str] = "import_record"
    __table_args__ = ({"sqlite_autoincrement": True},)

    import_id: int | None = Field(default=None, primary_key=True)
    imported_at: datetime = Field(sa_type=UtcDateTime)
    actor: str = Field(sa_type=PlainText)
    files: str = Field(sa_type=Text)  # JSON: name, format, version and traces of each file
    new: int
    changed: int
    unchanged: int
    tools: str = Field(sa_type=Text)  # JSON: server, tool, calls and outputs that are no evidence
    skipped: str = Field(sa_type=Text)  # JSON: the first reasons, each naming file, line and path
    skipped_count: int
    without_answer: int
    without_evidence: int


class TraceVersion(SQLModel, table=True):
    """One version of one trace; the row with the highest version of a trace_key is the newest."""

    __tablename__: ClassVar[str] = "trace_version"
    __table_args__ = (
        UniqueConstraint("trace_key", "version"),
        UniqueConstraint("content_hash"),
        {"sqlite_autoincrement": True},
    )

    position: int | None = Field(default=None, primary_key=True)
    content_hash: str = Field(max_length=HASH_CHARACTERS)
    trace_key: str = Field(max_length=HASH_CHARACTERS)  # an index holds no id of any length
    trace_id: str = Field(sa_type=PlainText)
    version: int
    category: str | None = Field(default=None, sa_type=PlainText)
    format: str | None = Field(default=None, sa_type=PlainText)
    file: str | None = Field(default=None, sa_type=PlainText)
    sources: int
    imported_at: datetime = Field(sa_type=UtcDateTime)
    question: str = Field(sa_type=PlainText)
    answer: str | None = Field(default=None, sa_type=PlainText)
    document_sha256: str = Field(max_length=HASH_CHARACTERS)
    document: str = Field(sa_type=Text)  # last, so that listing never reads it


class TraceSlice(SQLModel, table=True):
    """A named subset that a trace belongs to, as its record says."""

    __tablename__: ClassVar[str] = "trace_slice"
    __table_args__ = (Index(None, "slice"),)

    position: int = Field(
        primary_key=True, foreign_key="trace_version.position", ondelete="CASCADE"
    )
    slice: str = Field(primary_key=True, sa_type=PlainText)  # at most SLICE_CHARACTERS


class Run(SQLModel, table=True):
    """What produced verdicts; ``run_key`` is a hash of the six versions."""

    __tablename__: ClassVar[str] = "run"
    __table_args__ = (UniqueConstraint("run_key"), {"sqlite_autoincrement": True})

    run_id: int | None = Field(default=None, primary_key=True)
    run_key: str = Field(max_length=HASH_CHARACTERS)
    pipeline: str = Field(sa_type=Text)
    config_sha256: str = Field(sa_type=Text)
    embedder: str = Field(sa_type=Text)
    pair_reader: str = Field(sa_type=Text)
    precision: str = Field(sa_type=Text)
    calibrator: str = Field(sa_type=Text)
    started_at: datetime = Field(sa_type=UtcDateTime)


class Verdict(SQLModel, table=True):
    """What one run said about one trace version, with what lists and filters need of it."""

    __tablename__: ClassVar[str] = "verdict"
    __table_args__ = (
        UniqueConstraint("position", "run_id"),
        CheckConstraint("decision IN ('allow', 'block', 'unavailable')", name="decision"),
        Index(None, "run_id", "decision"),
        {"sqlite_autoincrement": True},
    )

    verdict_id: int | None = Field(default=None, primary_key=True)
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    run_id: int = Field(foreign_key="run.run_id")
    decision: str = Field(max_length=16)
    supported: int
    unsupported: int
    contradicted: int
    not_enough_evidence: int
    unjudged: int
    set_aside: int
    blocked: int
    conflations: int
    verified_at: datetime = Field(sa_type=UtcDateTime)
    document_sha256: str = Field(max_length=HASH_CHARACTERS)
    document: str = Field(sa_type=Text)  # last, so that listing never reads it


class AuditEvent(SQLModel, table=True):
    """One link of the trail; ``hash`` covers the row and the hash before it."""

    __tablename__: ClassVar[str] = "audit_event"
    __table_args__ = (
        UniqueConstraint("hash"),
        # What people filter the trail by. Both are short: a name, and a word of this program's.
        Index(None, "actor", "sequence"),
        Index(None, "action", "sequence"),
    )

    sequence: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = Field(sa_type=UtcDateTime)
    actor: str = Field(sa_type=PlainText)
    action: str = Field(sa_type=Text)
    entity: str = Field(sa_type=PlainText)
    detail: str = Field(sa_type=Text)  # JSON object
    previous_hash: str = Field(max_length=HASH_CHARACTERS)
    hash: str = Field(max_length=HASH_CHARACTERS)


class TrailSeal(SQLModel, table=True):
    """A keyed hash over the trail's head and the rows so far; ``previous`` is the seal before it."""

    __tablename__: ClassVar[str] = "trail_seal"

    seal_id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = Field(sa_type=UtcDateTime)
    sequence: int
    head: str = Field(max_length=HASH_CHARACTERS)
    covered: str = Field(sa_type=Text)  # JSON: ranges of rows, and the state of small tables
    previous: str = Field(max_length=HASH_CHARACTERS)
    key_id: str = Field(max_length=16)
    mac: str = Field(max_length=HASH_CHARACTERS)


class RepairRow(SQLModel, table=True):
    """What one repair made of an answer; the row with the highest id of a trace version is shown."""

    __tablename__: ClassVar[str] = "repair"
    __table_args__ = (Index(None, "position"), {"sqlite_autoincrement": True})

    repair_id: int | None = Field(default=None, primary_key=True)
    position: int = Field(foreign_key="trace_version.position", ondelete="CASCADE")
    actor: str = Field(sa_type=PlainText)
    repaired_at: datetime = Field(sa_type=UtcDateTime)
    status: str = Field(max_length=16)
    document_sha256: str = Field(max_length=HASH_CHARACTERS)
    document: str = Field(sa_type=Text)


class RepairChoice(SQLModel, table=True):
    """What a reviewer said about one edit; ``text`` is the reviewer's own wording of an edited one."""

    __tablename__: ClassVar[str] = "repair_choice"
    __table_args__ = (
        CheckConstraint("choice IN ('accept', 'edit', 'reject')", name="choice"),
        Index(None, "repair_id"),
        {"sqlite_autoincrement": True},
    )

    choice_id: int | None = Field(default=None, primary_key=True)
    repair_id: int = Field(foreign_key="repair.repair_id", ondelete="CASCADE")
    action_id: str = Field(sa_type=PlainText)
    choice: str = Field(max_length=8)
    text: str | None = Field(default=None, sa_type=Text)
    reviewer: str = Field(sa_type=PlainText)
    chosen_at: datetime = Field(sa_type=UtcDateTime)


SUPPORT = "('supported', 'unsupported', 'contradicted', 'not_enough_evidence', 'not_a_claim')"


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
    supported_prior: float | None = None


# There is one project: statements name it by this, and new rows come with it by themselves.
PROJECT = select(func.min(col(ProjectRow.project_id))).correlate(None).scalar_subquery()
FILLED_IN = {"default": PROJECT}


class PersonRow(SQLModel, table=True):
    """Somebody who works here; ``email`` is what a login says, ``shown_as`` what pages call them."""

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
    shown_as: str | None = Field(default=None, sa_type=PlainText)


SHOWN_NAME = func.coalesce(col(PersonRow.shown_as), col(PersonRow.name))


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


class PreLabelRow(SQLModel, table=True):
    """What two judges said of one claim; the row with the highest id is the latest."""

    __tablename__: ClassVar[str] = "pre_label"
    __table_args__ = (Index(None, "claim_key"), {"sqlite_autoincrement": True})

    pre_label_id: int | None = Field(default=None, primary_key=True)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    document: str = Field(sa_type=Text)  # JSON: what ``label`` wrote


class QueueRow(SQLModel, table=True):
    """Where a claim stands in a project's queue; ``missing`` counts annotations that nobody has taken."""

    __tablename__: ClassVar[str] = "queue"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'reading', 'tied', 'settled')", name="state"),
        CheckConstraint("missing BETWEEN 0 AND 2", name="missing"),
        Index(None, "project_id", "missing", "audit", "rank", "claim_key"),
        Index(None, "project_id", "state", "claim_key"),
        Index(None, "claim_key"),
    )

    project_id: int = Field(
        primary_key=True, foreign_key="project.project_id", sa_column_kwargs=FILLED_IN
    )
    claim_key: int = Field(primary_key=True, foreign_key="claim.claim_key", ondelete="CASCADE")
    audit: bool  # drawn at random, with inclusion_probability
    rank: float  # the smallest first
    reason: str = Field(max_length=16)
    inclusion_probability: float | None = None
    missing: int
    state: str = Field(max_length=8)
    passes: bool | None = None  # by its final label; what no person has settled has none


class AssignmentRow(SQLModel, table=True):
    """Who holds which reading of a claim: slots 1 and 2 are annotations, slot 3 is the adjudication."""

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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
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


class AnnotationRow(SQLModel, table=True):
    """An annotation as written; the row with the highest id of a person and claim counts."""

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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    person_id: int = Field(foreign_key="person.person_id")
    slot: int
    support: str = Field(max_length=24)
    source_id: str | None = Field(default=None, sa_type=PlainText)
    conflation: bool | None = None
    more: str | None = Field(default=None, sa_type=Text)  # JSON: storage/annotations.py
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


class AnnotationWithdrawal(SQLModel, table=True):
    """An annotation that was taken back with its import; it stays as written and no longer counts."""

    __tablename__: ClassVar[str] = "vote_withdrawal"
    __table_args__ = (UniqueConstraint("vote_id"), {"sqlite_autoincrement": True})

    withdrawal_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    vote_id: int = Field(foreign_key="vote.vote_id")
    person_id: int = Field(foreign_key="person.person_id")
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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    person_id: int = Field(foreign_key="person.person_id")
    support: str = Field(max_length=24)
    source_id: str | None = Field(default=None, sa_type=PlainText)
    conflation: bool | None = None
    more: str | None = Field(default=None, sa_type=Text)  # JSON: storage/annotations.py
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


class AnnotationRequest(SQLModel, table=True):
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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
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
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
    claim_key: int = Field(foreign_key="claim.claim_key", ondelete="CASCADE")
    adjudication_id: int = Field(foreign_key="adjudication.adjudication_id")
    person_id: int = Field(foreign_key="person.person_id")
    reason: str = Field(sa_type=PlainText)
    at: datetime = Field(sa_type=UtcDateTime)


class VerdictState(SQLModel, table=True):
    """The state of a verdict, worked out from it for lists to filter by."""

    __tablename__: ClassVar[str] = "verdict_state"

    verdict_id: int = Field(
        primary_key=True,
        foreign_key="verdict.verdict_id",
        ondelete="CASCADE",
        sa_column_kwargs={"autoincrement": False},
    )
    state: str = Field(max_length=12)


class ClaimBlock(SQLModel, table=True):
    """A claim that its run showed to be wrong: its state is block, worked out from the verdict."""

    __tablename__: ClassVar[str] = "claim_block"

    signal_id: int = Field(
        primary_key=True,
        foreign_key="claim_signal.signal_id",
        ondelete="CASCADE",
        sa_column_kwargs={"autoincrement": False},
    )


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


class KeyBinding(SQLModel, table=True):
    """All keys that a person chose, as they were from then on; rows never change."""

    __tablename__: ClassVar[str] = "key_binding"
    __table_args__ = (Index(None, "person_id"), {"sqlite_autoincrement": True})

    binding_id: int | None = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="person.person_id")
    keys: str = Field(sa_type=Text)  # JSON: what a key does → the key
    at: datetime = Field(sa_type=UtcDateTime)


class WordList(SQLModel, table=True):
    """Words to be lit: a person's own, or with ``project_id`` the project's; rows never change."""

    __tablename__: ClassVar[str] = "word_list"
    __table_args__ = (
        Index(None, "person_id"),
        Index(None, "project_id"),
        {"sqlite_autoincrement": True},
    )

    list_id: int | None = Field(default=None, primary_key=True)
    project_id: int | None = Field(default=None, foreign_key="project.project_id")
    person_id: int = Field(foreign_key="person.person_id")  # who wrote it
    words: str = Field(sa_type=Text)  # JSON: a list
    at: datetime = Field(sa_type=UtcDateTime)


class AgreementRoundRow(SQLModel, table=True):
    """A round; numbers count up within a project."""

    __tablename__: ClassVar[str] = "calibration_round"
    __table_args__ = (UniqueConstraint("project_id", "number"), {"sqlite_autoincrement": True})

    round_id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="project.project_id", sa_column_kwargs=FILLED_IN)
    number: int
    guideline_version: int
    person_id: int = Field(foreign_key="person.person_id")
    at: datetime = Field(sa_type=UtcDateTime)


class RoundClaimRow(SQLModel, table=True):
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


class RoundAnnotator(SQLModel, table=True):
    """Somebody who reads a round."""

    __tablename__: ClassVar[str] = "calibration_reader"
    __table_args__ = (UniqueConstraint("round_id", "person_id"), {"sqlite_autoincrement": True})

    round_reader_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    person_id: int = Field(foreign_key="person.person_id")


class RoundLabelRow(SQLModel, table=True):
    """What an annotator said of a claim of a round."""

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
    more: str | None = Field(default=None, sa_type=Text)  # JSON: storage/annotations.py
    rationale: str = Field(sa_type=PlainText)
    seconds: float
    guideline_version: int
    at: datetime = Field(sa_type=UtcDateTime)


class RoundClosingRow(SQLModel, table=True):
    """A round that somebody closed before all had read all, or after."""

    __tablename__: ClassVar[str] = "calibration_closing"
    __table_args__ = (UniqueConstraint("round_id"), {"sqlite_autoincrement": True})

    closing_id: int | None = Field(default=None, primary_key=True)
    round_id: int = Field(foreign_key="calibration_round.round_id")
    person_id: int = Field(foreign_key="person.person_id")
    at: datetime = Field(sa_type=UtcDateTime)


def about(table: Any, claim: Any, person: Any) -> ColumnElement[bool]:
    """Whether the table's row is of that claim and person, each a value or a column."""
    return and_(table.project_id == PROJECT, table.claim_key == claim, table.person_id == person)
