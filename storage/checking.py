"""check_database: the trail's links, the rows it tells of, its seals, and what was anchored elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import inspect, select
from sqlmodel import col

from core.errors import InputError
from storage import audit, records
from storage.anchors import anchor_of, check_anchors, read_anchors
from storage.engine import Database
from storage.seals import check_seals
from storage.tables import AuditEvent, TrailSeal


def check_database(database: Database, anchor_files: Sequence[Path] = ()) -> records.AuditReport:
    """Check everything that can be checked of a database, writing nothing.

    Raises InputError when it holds no trail.
    """
    anchors = read_anchors(database.name, *anchor_files)
    with database.reading() as connection:
        there = set(inspect(connection).get_table_names())
        if AuditEvent.__tablename__ not in there:
            raise InputError("holds no trail: no database of this program", file=database.name)
        report = audit.check_trail(connection)
        heads = {
            row.sequence: row.hash
            for row in connection.execute(select(col(AuditEvent.sequence), col(AuditEvent.hash)))
        }
        if TrailSeal.__tablename__ not in there:
            return replace(report, notes=("no seals: an earlier program wrote this database",))
        seals = check_seals(connection, heads)
        macs = {
            row.seal_id: row.mac
            for row in connection.execute(select(col(TrailSeal.seal_id), col(TrailSeal.mac)))
        }
        now = anchor_of(connection, database.name)
    count, contradicted = check_anchors(anchors, now, heads, macs)
    notes = []
    if seals.other_keys:
        notes.append(f"{seals.other_keys} seals are of a key that is not here: not checked")
    if not count:
        notes.append("no anchor tells of this trail: `audit anchor` writes one")
    return replace(
        report,
        seals=seals.seals,
        anchors=count,
        notes=tuple(notes),
        problems=(*report.problems, *seals.problems, *contradicted),
    )
