"""Alembic's entry: runs inside the transaction that storage.migrate opened."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from storage import calibrator_tables, packet_tables, review_tables, tables

assert (
    tables and review_tables and calibrator_tables and packet_tables
)  # importing them fills the metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    compare_type=True,
    render_as_batch=True,
)
context.run_migrations()
