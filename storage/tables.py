"""The tables. What was verified and what was said about it is only ever added, never changed.

    import_record   one import of one or more files
    trace_version   one version of one trace, identified by its content hash; position = import order
    trace_slice     the named subsets that a trace says it belongs to
    run             what produced verdicts: pipeline, config, models, calibrator
    verdict         what one run said about one trace version
    repair          what one repair made of one trace version's answer
    repair_choice   what a reviewer said about one edit of a repair; the latest word counts
    audit_event     the hash-chained trail of imports and verifications
    trail_seal      after every write: the trail's head and the rows so far, under a key

Triggers refuse UPDATE and DELETE on audit_event and trail_seal, and UPDATE on trace_version, run,
verdict, repair and repair_choice. A stored trace can be deleted (a patient may ask for it); ``audit
verify`` then says that it is gone.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import CheckConstraint, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

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
