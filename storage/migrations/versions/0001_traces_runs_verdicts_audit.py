"""Traces, runs, verdicts, imports and the audit trail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

HASH = sa.String(71)
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables, then the triggers that keep them append-only."""
    op.create_table(
        "import_record",
        sa.Column("import_id", sa.Integer, primary_key=True),
        sa.Column("imported_at", INSTANT, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("new", sa.Integer, nullable=False),
        sa.Column("changed", sa.Integer, nullable=False),
        sa.Column("unchanged", sa.Integer, nullable=False),
        sa.Column("tools", sa.Text, nullable=False),
        sa.Column("skipped", sa.Text, nullable=False),
        sa.Column("skipped_count", sa.Integer, nullable=False),
        sa.Column("without_answer", sa.Integer, nullable=False),
        sa.Column("without_evidence", sa.Integer, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trace_version",
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("content_hash", HASH, nullable=False),
        sa.Column("trace_key", HASH, nullable=False),
        sa.Column("trace_id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("category", sa.Text),
        sa.Column("format", sa.Text),
        sa.Column("file", sa.Text),
        sa.Column("sources", sa.Integer, nullable=False),
        sa.Column("imported_at", INSTANT, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("document_sha256", HASH, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("trace_key", "version", name="uq_trace_version_trace_key_version"),
        sa.UniqueConstraint("content_hash", name="uq_trace_version_content_hash"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trace_slice",
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("slice", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("position", "slice", name="pk_trace_slice"),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_trace_slice_position_trace_version",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_trace_slice_slice", "trace_slice", ["slice"])
    op.create_table(
        "run",
        sa.Column("run_id", sa.Integer, primary_key=True),
        sa.Column("run_key", HASH, nullable=False),
        sa.Column("pipeline", sa.Text, nullable=False),
        sa.Column("config_sha256", sa.Text, nullable=False),
        sa.Column("embedder", sa.Text, nullable=False),
        sa.Column("pair_reader", sa.Text, nullable=False),
        sa.Column("precision", sa.Text, nullable=False),
        sa.Column("calibrator", sa.Text, nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.UniqueConstraint("run_key", name="uq_run_run_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "verdict",
        sa.Column("verdict_id", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("supported", sa.Integer, nullable=False),
        sa.Column("unsupported", sa.Integer, nullable=False),
        sa.Column("contradicted", sa.Integer, nullable=False),
        sa.Column("not_enough_evidence", sa.Integer, nullable=False),
        sa.Column("unjudged", sa.Integer, nullable=False),
        sa.Column("set_aside", sa.Integer, nullable=False),
        sa.Column("blocked", sa.Integer, nullable=False),
        sa.Column("conflations", sa.Integer, nullable=False),
        sa.Column("verified_at", INSTANT, nullable=False),
        sa.Column("document_sha256", HASH, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("position", "run_id", name="uq_verdict_position_run_id"),
        sa.CheckConstraint("decision IN ('allow', 'block', 'unavailable')", name="decision"),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_verdict_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_verdict_run_id_run"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_verdict_run_id_decision", "verdict", ["run_id", "decision"])
    op.create_table(
        "audit_event",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("entity", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("previous_hash", HASH, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.UniqueConstraint("hash", name="uq_audit_event_hash"),
    )
    for table in ("trace_version", "run", "verdict", "audit_event"):
        refuse("UPDATE", table)
    refuse("DELETE", "audit_event")
