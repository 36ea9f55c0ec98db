"""Which database, and how it is read and written; the same code for SQLite and PostgreSQL."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.dml import Insert, UpdateBase

from core.errors import ComponentUnavailable, ConfigError, InputError, StoreError
from core.places import PROJECT
from storage.seals import seal

DEFAULT_DATABASE = PROJECT / "data" / "workbench.db"
ENVIRONMENT_VARIABLE = "PROVENANCEGUARD_DB"

BUSY_TIMEOUT_MILLISECONDS = 30_000
_TOUCHED = "tables that this transaction wrote"
ADVISORY_LOCK = 7_406_180_037  # any fixed number that every process of ours agrees on


def database_url(given: str | None = None) -> URL:
    """The database's address: ``given``, else PROVENANCEGUARD_DB, else data/workbench.db.

    A plain path means a SQLite file. Raises ConfigError for an address that cannot be used.
    """
    text = given or os.environ.get(ENVIRONMENT_VARIABLE) or str(DEFAULT_DATABASE)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().resolve()))
    try:
        url = make_url(text)
    except ArgumentError:
        raise ConfigError(f"database: expected a file or a URL, found {text!r}") from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite")
    raise ConfigError(
        "database: expected a SQLite file or postgresql+psycopg://, "
        f"found {url.render_as_string(hide_password=True)}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One engine, with reading and writing told apart."""

    engine: Engine

    @property
    def folder(self) -> Path:
        """Where files about this database lie: beside its file, or in the project's data folder."""
        beside = self.engine.url.get_backend_name() == "sqlite" and self.engine.url.database
        return Path(beside).parent if beside else DEFAULT_DATABASE.parent

    @property
    def name(self) -> str:
        """The address without its password, for people."""
        url = self.engine.url
        if url.get_backend_name() == "sqlite":
            name = url.database or ""
            return unquote(name.removeprefix("file:").partition("?")[0])
        return url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that sees one state of the database."""
        with plain_errors(self.name), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that holds the only write lock from its start, and seals what it wrote."""
        # A deferred BEGIN that turns into a write fails at once when another writer committed in
        # between, whatever the timeout; an immediate one waits its turn.
        engine = self.engine.execution_options(begin_mode="IMMEDIATE")
        with plain_errors(self.name), engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")
            touched = Counter[str]()
            connection.info[_TOUCHED] = touched
            try:
                yield connection
                seal(connection, touched)
            finally:
                connection.info.pop(_TOUCHED, None)

    @contextmanager
    def queueing(self) -> Iterator[Connection]:
        """One transaction on the queue of jobs alone, beside others on PostgreSQL; it seals nothing.

        No table that the trail covers may be written in it.
        """
        engine = self.engine.execution_options(begin_mode="IMMEDIATE")
        with plain_errors(self.name), engine.begin() as connection:
            yield connection

    def empty_log(self) -> None:
        """Empty SQLite's write-ahead log, which holds what was erased for a while; readers delay that."""
        if self.engine.dialect.name != "sqlite":
            return
        raw = self.engine.raw_connection()  # outside any transaction, as SQLite wants it
        try:
            raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            raw.close()

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


@contextmanager
def plain_errors(name: str) -> Iterator[None]:
    """Turn the driver's errors into ours, without the statement's values: they may be patient data."""
    try:
        yield
    except OperationalError as error:
        raise ComponentUnavailable(f"database {name}: {_first_line(error)}") from None
    except DBAPIError as error:
        raise StoreError(f"database {name}: {_first_line(error)}") from None


def _first_line(error: DBAPIError) -> str:
    text = str(error.orig) if error.orig is not None else type(error).__name__
    return text.strip().splitlines()[0] if text.strip() else type(error.orig).__name__


def open_database(given: str | None = None) -> Database:
    """Connects to nothing yet; creates the folder of a SQLite file."""
    url = database_url(given)
    if url.get_backend_name() == "sqlite":
        return Database(engine=_sqlite_engine(url))
    try:
        engine = create_engine(url, pool_pre_ping=True, pool_size=10, hide_parameters=True)
    except ModuleNotFoundError:
        raise ComponentUnavailable(
            "PostgreSQL: the package psycopg is not installed "
            "(pip install 'provenanceguard-workbench[postgres]')"
        ) from None
    event.listen(engine, "before_execute", _note_what_is_written)
    return Database(engine=engine)


def open_to_check(given: str | None = None) -> Database:
    """A database that is only read: it must be there already, and may be write-protected.

    Raises InputError for a SQLite file that is missing or empty; nothing is made.
    """
    url = database_url(given)
    if url.get_backend_name() != "sqlite":
        return open_database(given)
    file = Path(url.database or "")
    if not file.is_file():
        raise InputError("no such database", file=str(file))
    if not file.stat().st_size:
        raise InputError("an empty file, and no database", file=str(file))
    # Without write access to its folder no shared memory can be made; then nobody else writes either.
    how = "mode=ro" if os.access(file.parent, os.W_OK) else "mode=ro&immutable=1"
    engine = create_engine(
        f"sqlite:///file:{quote(str(file))}?{how}&uri=true", hide_parameters=True
    )
    event.listen(engine, "begin", _on_begin)
    event.listen(engine, "connect", _on_connect_to_check)
    return Database(engine=engine)


def _on_connect_to_check(dbapi_connection: object, _entry: ConnectionPoolEntry) -> None:
    dbapi_connection.isolation_level = None  # type: ignore[attr-defined]
    dbapi_connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MILLISECONDS}")  # type: ignore[attr-defined]


def _note_what_is_written(
    connection: Connection, statement: object, many: Sequence[object], *_: object, **__: object
) -> None:
    touched = connection.info.get(_TOUCHED)
    if touched is not None and isinstance(statement, UpdateBase):
        touched[str(statement.table)] += isinstance(statement, Insert) * max(1, len(many))


def _sqlite_engine(url: URL) -> Engine:
    file = Path(url.database or "")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Traces may be patient data: a new file is its owner's alone.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise ComponentUnavailable(f"database {file}: {error.strerror}") from None
    engine = create_engine(url, pool_size=10, hide_parameters=True)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    event.listen(engine, "before_execute", _note_what_is_written)
    return engine


def _on_connect(dbapi_connection: object, _entry: ConnectionPoolEntry) -> None:
    # Python's sqlite3 starts no transaction before SELECT or DDL; _on_begin says BEGIN instead.
    dbapi_connection.isolation_level = None  # type: ignore[attr-defined]
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MILLISECONDS}",  # first: switching to WAL can itself be busy
        "journal_mode=WAL",
        "synchronous=FULL",  # a judgement that was acknowledged survives a power failure
        "foreign_keys=ON",
        "secure_delete=ON",  # what is erased is overwritten: the file keeps no word of it
    ):
        dbapi_connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]


def _on_begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get("begin_mode", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
