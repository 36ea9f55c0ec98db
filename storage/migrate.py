"""Bring a database to the newest schema, under a lock, in one transaction."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from core.errors import StoreError
from storage.claims import fill_claims
from storage.engine import Database
from storage.graded import fill_grades, fill_states
from storage.seals import add_seal

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
NEWEST = "0012"  # a test compares it with the files
GRADES = "0006"  # the first that keeps their tiers
STATES = "0012"  # the first that keeps their states
CLAIMS = "0003"  # the first schema that keeps the claims of verdicts beside them


def migrate(database: Database) -> None:
    """Upgrade to the newest schema; raises StoreError when the database is newer than this program.

    Several processes may start at once: the first holds the write lock, the others find the work
    done. A migration that fails leaves the database as it was.
    """
    with database.reading() as connection:
        if revision(connection) == NEWEST:
            return
    with database.writing() as connection:
        found = revision(connection)
        if found == NEWEST:
            return
        _refuse_a_newer_one(found, database.name)
        _upgrade(connection)
        if found is not None and found < CLAIMS:
            # Not in the migration itself: an old migration must not call code that changes.
            fill_claims(connection)
        if found is not None and found < GRADES:
            fill_grades(connection)
        if found is not None and found < STATES:
            fill_states(connection)
        if found is not None:
            add_seal(connection)  # of everything that is there


def revision(connection: Connection) -> str | None:
    """The schema revision that the database says it has; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _refuse_a_newer_one(found: str | None, name: str) -> None:
    known = {file.name.partition("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    if found is not None and found not in known:
        raise StoreError(
            f"database {name}: its schema {found} is newer than this program knows ({NEWEST}); "
            "use the newer program, or another database"
        )


def _upgrade(connection: Connection) -> None:
    # Imported here: a start that has nothing to migrate does not pay for it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
