"""check_database: can the database be opened, and is there room for it?"""

from __future__ import annotations

import shutil
from pathlib import Path

from core.errors import ProvenanceGuardError
from core.workflows.doctor import Check
from storage.engine import database_url
from storage.store import open_store

ROOM_BYTES = 1_000_000_000


def check_database(given: str | None = None) -> list[Check]:
    """The database and the disk under it; a SQLite file that is not there yet is not made."""
    try:
        url = database_url(given)
        if url.get_backend_name() != "sqlite":
            return [_database(given)]
        file = Path(url.database or "")
        if not file.exists():
            waiting = Check(name="database", passed=True, found=f"{file}: made when first used")
            return [waiting, _disk(file)]
        return [_database(given), _disk(file)]
    except ProvenanceGuardError as error:
        remedy = "give another with --db or PROVENANCEGUARD_DB, or start its server"
        return [Check(name="database", passed=False, found=str(error), remedy=remedy)]


def _database(given: str | None) -> Check:
    store = open_store(given)
    overview = store.overview()
    store.close()
    found = f"{store.name}: {overview.traces} traces, {overview.waiting} waiting for a verdict"
    return Check(name="database", passed=True, found=found)


def _disk(file: Path) -> Check:
    folder = next(parent for parent in file.parents if parent.exists())
    free = shutil.disk_usage(folder).free
    return Check(
        name="disk",
        passed=free >= ROOM_BYTES,
        found=f"{free / 1e9:.1f} GB free under {folder}",
        remedy="make room: each stored trace takes about its own size twice",
    )
