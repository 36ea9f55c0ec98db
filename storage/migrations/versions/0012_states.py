"""The state of each verdict beside its tier: lists speak of three states."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; what was verified before is filled in by the caller."""
    op.add_column("verdict_tier", sa.Column("state", sa.String(length=12), nullable=True))
