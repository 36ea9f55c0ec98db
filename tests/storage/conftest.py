"""A real SQLite file for each test, and a real PostgreSQL where one can be started."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from databases import a_store

from storage.store import SqlStore, open_store

# What differs between the engines: waiting, locks, triggers, migrations, times. All else is asked of
# PostgreSQL too, by `make check-all`.
OF_THE_ENGINE = (
    "audit",
    "concurrent_reviews",
    "engine",
    "health",
    "jobs",
    "migrate",
    "seals",
    "traces",
)
# Of those, what starts processes and takes longest: once in ``make test``, twice in check-all.
ON_ONE_ENGINE = (
    "test_a_process_killed_while_it_votes_loses_nothing_that_was_acknowledged",
    "test_processes_that_start_together_migrate_once",
)
NO_POSTGRES = "no PostgreSQL server programs (initdb, pg_ctl) on this machine"


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The other engine's turn at what concerns no engine comes in ``make check-all``."""
    for item in items:
        asked = getattr(getattr(item, "callspec", None), "params", {}).get("database_address")
        of_it = item.path.stem.removeprefix("test_") in OF_THE_ENGINE
        once = not of_it or item.name.startswith(ON_ONE_ENGINE) or config.getoption("quick")
        if asked == "postgresql" and once:
            item.add_marker(pytest.mark.stress)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a private PostgreSQL on a free local port, without a database name."""
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip(NO_POSTGRES)
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_owner: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            shutil.chown(folder, "postgres", "postgres")
        except LookupError:
            pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres'")
        as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")
    # Nothing here outlives the tests, so nothing waits for the disk.
    spared = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off",
              "wal_level=minimal", "max_wal_senders=0", "max_wal_size=4GB")  # fmt: skip
    settings = " ".join(f"-c {each}" for each in ("listen_addresses=127.0.0.1", *spared))
    options = f"-p {port} -k {folder} {settings}"
    _run([*as_owner, initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C",
          "--no-sync"])  # fmt: skip
    log = str(folder / "log")
    _run([*as_owner, pg_ctl, "-D", data, "-o", options, "-l", log, "-w", "start"])
    yield f"postgresql+psycopg://tester@127.0.0.1:{port}"
    # Without waiting: where nobody reaps orphans, pg_ctl would wait a minute for a dead process.
    _run([*as_owner, pg_ctl, "-D", data, "-m", "immediate", "-W", "stop"])
    shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")
    if done.returncode:
        pytest.skip(f"PostgreSQL could not be started: {done.stderr.decode(errors='replace')!r}")


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: str) -> str:
    """The name of a database on that server that is migrated and empty, to be copied."""
    _on(postgres_server, 'CREATE DATABASE "migrated"')
    open_store(f"{postgres_server}/migrated").close()
    return "migrated"


def _on(server: str, statement: str) -> None:
    plain = server.replace("+psycopg", "")
    with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(params=["sqlite", "postgresql"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once on each engine; with ``store``, of a migrated one."""
    if request.param == "sqlite":
        yield str(tmp_path / "workbench.db")
        return
    server: str = request.getfixturevalue("postgres_server")
    migrated = "store" in request.fixturenames
    template = request.getfixturevalue("migrated_postgres") if migrated else "template1"
    name = f"test_{uuid4().hex}"
    _on(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    yield f"{server}/{name}"
    # Hundreds of them would be a gigabyte of small files to delete in the end.
    _on(server, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def store(database_address: str) -> Iterator[SqlStore]:
    """An empty store, once on each engine."""
    is_file = "://" not in database_address
    opened = (a_store if is_file else open_store)(database_address, actor="tester")
    yield opened
    opened.close()
