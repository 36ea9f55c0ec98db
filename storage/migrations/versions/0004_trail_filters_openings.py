"""The trail by who and what, and who has seen which verdict; nothing that was there changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add two indexes to the trail, and a table whose rows go with their trace but never change."""
    op.create_index("ix_audit_event_actor_sequence", "audit_event", ["actor", "sequence"])
    op.create_index("ix_audit_event_action_sequence", "audit_event", ["action", "sequence"])
    op.create_table(
        "verdict_opening",
        sa.Column("opening_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_verdict_opening_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_verdict_opening_person_id_person"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_verdict_opening_run_id_run"),
        sa.PrimaryKeyConstraint("opening_id", name="pk_verdict_opening"),
        sa.UniqueConstraint(
            "position", "person_id", "run_id", name="uq_verdict_opening_position_person_id_run_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_verdict_opening_person_id", "verdict_opening", ["person_id"])
    refuse("UPDATE", "verdict_opening")
