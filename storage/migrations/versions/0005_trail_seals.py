"""Seals of the trail; nothing that was there changes, and the first seal covers all of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of seals, whose rows neither change nor go."""
    op.create_table(
        "trail_seal",
        sa.Column("seal_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=71), nullable=False),
        sa.Column("covered", sa.Text(), nullable=False),
        sa.Column("previous", sa.String(length=71), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("mac", sa.String(length=71), nullable=False),
        sa.PrimaryKeyConstraint("seal_id", name="pk_trail_seal"),
    )
    refuse("UPDATE", "trail_seal")
    refuse("DELETE", "trail_seal")
