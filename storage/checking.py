"""check_database: the trail's links, the rows it tells of, its seals, and what was anchored elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, inspect, select, text
from sqlmodel import SQLModel, col

from core.errors import InputError
from storage import audit, records
from storage.anchors import anchor_of, check_anchors, read_anchors
from storage.engine import Database
from storage.migrate import NEWEST, revision
from storage.packet_tables import PacketSignatureRow
from storage.seals import APPENDED, check_seals, table_of
from storage.tables import AuditEvent, ImportRecord, TrailSeal

# Rows of these are only ever added, and the database itself refuses to change or to remove one.
_NEVER_REMOVED: tuple[type[SQLModel], ...] = (
    *audit.TOLD,
    AuditEvent,
    TrailSeal,
    PacketSignatureRow,
)
_KEPT = frozenset(table_of(each).name for each in _NEVER_REMOVED)
_UNCHANGED = _KEPT | {table_of(each).name for each in APPENDED if each is not ImportRecord}
_REFUSED = [("UPDATE", name) for name in _UNCHANGED] + [("DELETE", name) for name in _KEPT]


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
        dropped = _dropped(connection)
    count, contradicted = check_anchors(anchors, now, heads, macs)
    notes = []
    if seals.other_keys:
        notes.append(f"{seals.other_keys} seals are of a key that was retired here: not checked")
    if not count:
        notes.append("no anchor tells of this trail: `audit anchor` writes one")
    return replace(
        report,
        seals=seals.seals,
        anchors=count,
        notes=tuple(notes),
        problems=(*report.problems, *seals.problems, *contradicted, *dropped),
    )


def _dropped(connection: Connection) -> list[str]:
    """Whether triggers of the newest schema are not as it makes them; of an older one none is told."""
    if revision(connection) != NEWEST:
        return []
    from storage.migrations.refusals import refusal  # the opening of a database needs no alembic

    dialect = connection.dialect.name
    told = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        if dialect == "sqlite"
        else "SELECT tgname, trim(prosrc) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
        "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgqual IS NULL"
    )
    there = {(name, kept) for name, kept in connection.execute(text(told))}
    missing = sorted({refusal(*each, dialect) for each in _REFUSED} - there)
    if not missing:
        return []
    return [
        f"{len(missing)} triggers that refuse changes are gone or refuse less, {missing[0][0]} among "
        "them: somebody replaced them to change what is kept"
    ]
