"""Marks, requests to read, reopened adjudications, and the tiers and causes of verdicts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add five tables; nothing that was there changes."""
    _marks()
    _requests()
    _reopenings()
    op.create_table(
        "verdict_tier",
        sa.Column("verdict_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tier", sa.String(length=4), nullable=False),
        sa.ForeignKeyConstraint(
            ["verdict_id"],
            ["verdict.verdict_id"],
            name="fk_verdict_tier_verdict_id_verdict",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("verdict_id", name="pk_verdict_tier"),
    )
    op.create_table(
        "verdict_cause",
        sa.Column("verdict_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("cause", sa.String(length=60), nullable=False),
        sa.ForeignKeyConstraint(
            ["verdict_id"],
            ["verdict.verdict_id"],
            name="fk_verdict_cause_verdict_id_verdict",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("verdict_id", "cause", name="pk_verdict_cause"),
    )


def _marks() -> None:
    op.create_table(
        "trace_mark",
        sa.Column("mark_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind IN ('flag', 'unflag', 'comment', 'tag', 'untag')", name="ck_trace_mark_kind"
        ),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_trace_mark_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_trace_mark_person_id_person"
        ),
        sa.PrimaryKeyConstraint("mark_id", name="pk_trace_mark"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_trace_mark_position", "trace_mark", ["position"])
    refuse("UPDATE", "trace_mark")


def _requests() -> None:
    op.create_table(
        "reading_request",
        sa.Column("request_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("now", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["project.project_id"],
            name="fk_reading_request_project_id_project",
        ),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_reading_request_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_reading_request_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_reading_request_person_id_person"
        ),
        sa.PrimaryKeyConstraint("request_id", name="pk_reading_request"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_reading_request_project_id_person_id", "reading_request", ["project_id", "person_id"]
    )
    op.create_index("ix_reading_request_position", "reading_request", ["position"])


def _reopenings() -> None:
    op.create_table(
        "adjudication_reopening",
        sa.Column("reopening_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("adjudication_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["project.project_id"],
            name="fk_adjudication_reopening_project_id_project",
        ),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_adjudication_reopening_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["adjudication_id"],
            ["adjudication.adjudication_id"],
            name="fk_adjudication_reopening_adjudication_id_adjudication",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_adjudication_reopening_person_id_person"
        ),
        sa.UniqueConstraint("adjudication_id", name="uq_adjudication_reopening_adjudication_id"),
        sa.PrimaryKeyConstraint("reopening_id", name="pk_adjudication_reopening"),
        sqlite_autoincrement=True,
    )
    refuse("UPDATE", "adjudication_reopening")
    refuse("DELETE", "adjudication_reopening")
