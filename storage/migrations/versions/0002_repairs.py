"""Repairs, and what reviewers said about their edits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

HASH = sa.String(71)
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create both tables, then the triggers that keep them append-only."""
    op.create_table(
        "repair",
        sa.Column("repair_id", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("repaired_at", INSTANT, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("document_sha256", HASH, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_repair_position_trace_version",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_repair_position", "repair", ["position"])
    op.create_table(
        "repair_choice",
        sa.Column("choice_id", sa.Integer, primary_key=True),
        sa.Column("repair_id", sa.Integer, nullable=False),
        sa.Column("action_id", sa.Text, nullable=False),
        sa.Column("choice", sa.String(8), nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("chosen_at", INSTANT, nullable=False),
        sa.CheckConstraint("choice IN ('accept', 'edit', 'reject')", name="choice"),
        sa.ForeignKeyConstraint(
            ["repair_id"],
            ["repair.repair_id"],
            name="fk_repair_choice_repair_id_repair",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_repair_choice_repair_id", "repair_choice", ["repair_id"])
    for table in ("repair", "repair_choice"):
        refuse("UPDATE", table)
