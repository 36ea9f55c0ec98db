"""Which keys somebody chose for their own keyboard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table; nothing that was there changes."""
    op.create_table(
        "key_binding",
        sa.Column("binding_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("keys", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_key_binding_person_id_person"
        ),
        sa.PrimaryKeyConstraint("binding_id", name="pk_key_binding"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_key_binding_person_id", "key_binding", ["person_id"])
    refuse("UPDATE", "key_binding")
    refuse("DELETE", "key_binding")
