"""Where the middle begins, beside each claim's threshold: what needs a person is read first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; it stays empty for what was verified before."""
    op.add_column("claim_signal", sa.Column("review_from", sa.Float(), nullable=True))
