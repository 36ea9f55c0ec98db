"""Calibration rounds: the same claims for everyone, and what each reader said of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

from storage.migrations.refusals import refuse

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

SUPPORT = "support IN ('supported', 'unsupported', 'contradicted', 'not_enough_evidence')"


def upgrade() -> None:
    """Add five tables; nothing that was there changes."""
    _table(
        "calibration_round",
        "round_id",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("guideline_version", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        _key("calibration_round", "project_id", "project"),
        _key("calibration_round", "person_id", "person"),
        sa.UniqueConstraint("project_id", "number", name="uq_calibration_round_project_id_number"),
    )
    _table(
        "calibration_claim",
        "round_claim_id",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        _key("calibration_claim", "round_id", "calibration_round"),
        _key("calibration_claim", "claim_key", "claim"),
        sa.UniqueConstraint(
            "round_id", "claim_key", name="uq_calibration_claim_round_id_claim_key"
        ),
    )
    op.create_index("ix_calibration_claim_claim_key", "calibration_claim", ["claim_key"])
    _table(
        "calibration_reader",
        "round_reader_id",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        _key("calibration_reader", "round_id", "calibration_round"),
        _key("calibration_reader", "person_id", "person"),
        sa.UniqueConstraint(
            "round_id", "person_id", name="uq_calibration_reader_round_id_person_id"
        ),
    )
    _labels()
    _table(
        "calibration_closing",
        "closing_id",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        _key("calibration_closing", "round_id", "calibration_round"),
        _key("calibration_closing", "person_id", "person"),
        sa.UniqueConstraint("round_id", name="uq_calibration_closing_round_id"),
    )


def _labels() -> None:
    _table(
        "calibration_label",
        "label_id",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("support", sa.String(length=24), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("conflation", sa.Boolean(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("guideline_version", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(SUPPORT, name="ck_calibration_label_support"),
        _key("calibration_label", "round_id", "calibration_round"),
        _key("calibration_label", "claim_key", "claim"),
        _key("calibration_label", "person_id", "person"),
        sa.UniqueConstraint(
            "round_id",
            "claim_key",
            "person_id",
            name="uq_calibration_label_round_id_claim_key_person_id",
        ),
    )


def _table(name: str, key: str, *columns: SchemaItem) -> None:
    op.create_table(
        name,
        sa.Column(key, sa.Integer(), nullable=False),
        *columns,
        sa.PrimaryKeyConstraint(key, name=f"pk_{name}"),
        sqlite_autoincrement=True,
    )
    refuse("UPDATE", name)
    refuse("DELETE", name)


def _key(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    wanted = "round_id" if other == "calibration_round" else column
    return sa.ForeignKeyConstraint(
        [column], [f"{other}.{wanted}"], name=f"fk_{table}_{column}_{other}"
    )
