"""Seals of the trail and keyed signatures; the first seal covers all that was there before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add two tables whose rows neither change nor go."""
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
    op.create_table(
        "packet_signature",
        sa.Column("lock_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lock_id"], ["packet_lock.lock_id"], name="fk_packet_signature_lock_id_packet_lock"
        ),
        sa.PrimaryKeyConstraint("lock_id", name="pk_packet_signature"),
    )
    for table in ("trail_seal", "packet_signature"):
        refuse("UPDATE", table)
        refuse("DELETE", table)
