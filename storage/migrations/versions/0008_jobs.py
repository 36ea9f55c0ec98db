"""Traces that wait for workers, who has them in hand, and why one was given up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table; nothing that was there changes."""
    op.create_table(
        "job",
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'taken', 'done', 'given_up')", name="ck_job_state"
        ),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_job_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("position", name="pk_job"),
    )
    op.create_index("ix_job_state_due", "job", ["state", "due"])
