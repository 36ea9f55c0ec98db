"""The words that a person or a project wants lit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table; nothing that was there changes."""
    op.create_table(
        "word_list",
        sa.Column("list_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_word_list_project_id_project"
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_word_list_person_id_person"
        ),
        sa.PrimaryKeyConstraint("list_id", name="pk_word_list"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_word_list_person_id", "word_list", ["person_id"])
    op.create_index("ix_word_list_project_id", "word_list", ["project_id"])
    refuse("UPDATE", "word_list")
    refuse("DELETE", "word_list")
