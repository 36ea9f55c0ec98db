"""People and projects, readings of claims, adjudications, calibrators that rule, and signed packets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import refuse

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

HASH = sa.String(71)
INSTANT = sa.DateTime(timezone=True)
APPEND_ONLY = (
    "role_grant",
    "guideline",
    "decline",
    "vote",
    "adjudication",
    "trace_split",
    "calibrator",
    "promotion",
    "packet_lock",
)


def upgrade() -> None:
    """Create the tables, then the triggers that keep a person's word as it was written."""
    op.create_table(
        "calibrator",
        sa.Column("calibrator_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("artifact", sa.LargeBinary(), nullable=False),
        sa.Column("artifact_sha256", HASH, nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("comparison", sa.Text(), nullable=False),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("calibrator_id", name="pk_calibrator"),
        sa.UniqueConstraint("name", name="uq_calibrator_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "guideline",
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_guideline"),
    )
    op.create_table(
        "packet_lock",
        sa.Column("lock_id", sa.Integer(), nullable=False),
        sa.Column("manifest_sha256", HASH, nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=8), nullable=False),
        sa.Column("meaning", sa.Text(), nullable=False),
        sa.Column("signer", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint("action IN ('lock', 'unlock')", name="ck_packet_lock_action"),
        sa.PrimaryKeyConstraint("lock_id", name="pk_packet_lock"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_packet_lock_manifest_sha256", "packet_lock", ["manifest_sha256"])
    op.create_table(
        "person",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("person_id", name="pk_person"),
        sa.UniqueConstraint("email", name="uq_person_email"),
        sa.UniqueConstraint("name", name="uq_person_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "project",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reads_per_claim", sa.Integer(), nullable=False),
        sa.Column("decide_first", sa.Boolean(), nullable=False),
        sa.Column("dwell_milliseconds", sa.Integer(), nullable=False),
        sa.Column("lease_minutes", sa.Integer(), nullable=False),
        sa.Column("audit_share", sa.Float(), nullable=False),
        sa.Column("slice", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.CheckConstraint("reads_per_claim IN (1, 2)", name="ck_project_reads"),
        sa.PrimaryKeyConstraint("project_id", name="pk_project"),
        sa.UniqueConstraint("name", name="uq_project_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "promotion",
        sa.Column("promotion_id", sa.Integer(), nullable=False),
        sa.Column("calibrator", sa.Text(), nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "action IN ('promote', 'reject', 'roll_back', 'threshold')", name="ck_promotion_action"
        ),
        sa.PrimaryKeyConstraint("promotion_id", name="pk_promotion"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trace_split",
        sa.Column("trace_key", HASH, nullable=False),
        sa.Column("split", sa.String(length=16), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "split IN ('train', 'validation', 'held_out')", name="ck_trace_split_split"
        ),
        sa.PrimaryKeyConstraint("trace_key", name="pk_trace_split"),
    )
    op.create_table(
        "claim",
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_sha256", HASH, nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("claim_type", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["position"],
            ["trace_version.position"],
            name="fk_claim_position_trace_version",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("claim_key", name="pk_claim"),
        sa.UniqueConstraint(
            "position", "claim_id", "text_sha256", name="uq_claim_position_claim_id_text_sha256"
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "role_grant",
        sa.Column("grant_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "role IN ('reviewer', 'adjudicator', 'lead', 'auditor')", name="ck_role_grant_role"
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_role_grant_person_id_person"
        ),
        sa.PrimaryKeyConstraint("grant_id", name="pk_role_grant"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_role_grant_person_id", "role_grant", ["person_id"])
    op.create_table(
        "adjudication",
        sa.Column("adjudication_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("support", sa.String(length=24), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("conflation", sa.Boolean(), nullable=True),
        sa.Column("cause", sa.String(length=24), nullable=False),
        sa.Column("guideline_needs_fix", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("shown_order", sa.Text(), nullable=False),
        sa.Column("guideline_version", sa.Integer(), nullable=False),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "support IN ('supported', 'unsupported', 'contradicted', 'not_enough_evidence')",
            name="ck_adjudication_support",
        ),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_adjudication_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_adjudication_person_id_person"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_adjudication_project_id_project"
        ),
        sa.PrimaryKeyConstraint("adjudication_id", name="pk_adjudication"),
        sa.UniqueConstraint("nonce", name="uq_adjudication_nonce"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_adjudication_project_id_claim_key", "adjudication", ["project_id", "claim_key"]
    )
    op.create_table(
        "assignment",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.String(length=16), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("lease_until", INSTANT, nullable=False),
        sa.Column("shown_at", INSTANT, nullable=True),
        sa.Column("nonce", sa.String(length=64), nullable=True),
        sa.Column("revealed_at", INSTANT, nullable=True),
        sa.CheckConstraint("state IN ('open', 'done')", name="ck_assignment_state"),
        sa.CheckConstraint("slot IN (1, 2, 3)", name="ck_assignment_slot"),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_assignment_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_assignment_person_id_person"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_assignment_project_id_project"
        ),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_assignment"),
        sa.UniqueConstraint(
            "project_id",
            "claim_key",
            "person_id",
            name="uq_assignment_project_id_claim_key_person_id",
        ),
        sa.UniqueConstraint(
            "project_id", "claim_key", "slot", name="uq_assignment_project_id_claim_key_slot"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_assignment_person_id_state", "assignment", ["person_id", "state"])
    op.create_index("ix_assignment_state_lease_until", "assignment", ["state", "lease_until"])
    op.create_table(
        "queue",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("audit", sa.Boolean(), nullable=False),
        sa.Column("rank", sa.Float(), nullable=False),
        sa.Column("reason", sa.String(length=16), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=True),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'reading', 'tied', 'settled')", name="ck_queue_state"
        ),
        sa.CheckConstraint("missing BETWEEN 0 AND 2", name="ck_queue_missing"),
        sa.ForeignKeyConstraint(
            ["claim_key"], ["claim.claim_key"], name="fk_queue_claim_key_claim", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_queue_project_id_project"
        ),
        sa.PrimaryKeyConstraint("project_id", "claim_key", name="pk_queue"),
    )
    op.create_index(
        "ix_queue_project_id_missing_audit_rank_claim_key",
        "queue",
        ["project_id", "missing", "audit", "rank", "claim_key"],
    )
    op.create_index(
        "ix_queue_project_id_state_claim_key", "queue", ["project_id", "state", "claim_key"]
    )
    op.create_index("ix_queue_claim_key", "queue", ["claim_key"])
    op.create_table(
        "claim_signal",
        sa.Column("signal_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(length=8), nullable=False),
        sa.Column("verdict", sa.String(length=24), nullable=True),
        sa.Column("probability", sa.Float(), nullable=True),
        sa.Column("threshold", sa.Float(), nullable=True),
        sa.Column("margin", sa.Float(), nullable=True),
        sa.Column("routed_source_id", sa.Text(), nullable=True),
        sa.Column("routed_family", sa.String(length=32), nullable=True),
        sa.Column("attribution", sa.String(length=16), nullable=False),
        sa.Column("gated", sa.Boolean(), nullable=False),
        sa.Column("features", sa.Text(), nullable=True),
        sa.CheckConstraint("decision IN ('allow', 'block')", name="ck_claim_signal_decision"),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_claim_signal_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_claim_signal_run_id_run"),
        sa.PrimaryKeyConstraint("signal_id", name="pk_claim_signal"),
        sa.UniqueConstraint("claim_key", "run_id", name="uq_claim_signal_claim_key_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_claim_signal_run_id_probability", "claim_signal", ["run_id", "probability"])
    op.create_table(
        "decline",
        sa.Column("decline_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["claim_key"],
            ["claim.claim_key"],
            name="fk_decline_claim_key_claim",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_decline_person_id_person"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_decline_project_id_project"
        ),
        sa.PrimaryKeyConstraint("decline_id", name="pk_decline"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_decline_claim_key", "decline", ["claim_key"])
    op.create_table(
        "vote",
        sa.Column("vote_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("claim_key", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("support", sa.String(length=24), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("conflation", sa.Boolean(), nullable=True),
        sa.Column("first_support", sa.String(length=24), nullable=True),
        sa.Column("first_source_id", sa.Text(), nullable=True),
        sa.Column("first_conflation", sa.Boolean(), nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("saw_model_output", sa.Boolean(), nullable=False),
        sa.Column("changed_after_reveal", sa.Boolean(), nullable=False),
        sa.Column("exposures", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("queue_reason", sa.String(length=16), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=True),
        sa.Column("guideline_version", sa.Integer(), nullable=False),
        sa.Column("run_key", HASH, nullable=False),
        sa.Column("threshold", sa.Float(), nullable=True),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "first_support IN ('supported', 'unsupported', 'contradicted', 'not_enough_evidence')",
            name="ck_vote_first_support",
        ),
        sa.CheckConstraint(
            "support IN ('supported', 'unsupported', 'contradicted', 'not_enough_evidence')",
            name="ck_vote_support",
        ),
        sa.CheckConstraint("confidence BETWEEN 1 AND 5", name="ck_vote_confidence"),
        sa.ForeignKeyConstraint(
            ["claim_key"], ["claim.claim_key"], name="fk_vote_claim_key_claim", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.person_id"], name="fk_vote_person_id_person"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.project_id"], name="fk_vote_project_id_project"
        ),
        sa.PrimaryKeyConstraint("vote_id", name="pk_vote"),
        sa.UniqueConstraint("nonce", name="uq_vote_nonce"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_vote_person_id", "vote", ["person_id"])
    op.create_index("ix_vote_project_id_claim_key", "vote", ["project_id", "claim_key"])
    op.create_table(
        "draft",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignment.assignment_id"],
            name="fk_draft_assignment_id_assignment",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_draft"),
    )
    for table in APPEND_ONLY:
        refuse("UPDATE", table)
        refuse("DELETE", table)
    refuse("UPDATE", "claim")
    refuse("UPDATE", "claim_signal")
