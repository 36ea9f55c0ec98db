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

from storage.store import SqlStore, open_store

NO_POSTGRES = "no PostgreSQL server programs (initdb, pg_ctl) on this machine"


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
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    _run([*as_owner, initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C"])
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


@pytest.fixture(params=["sqlite", "postgresql"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, once on each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "workbench.db")
    server = request.getfixturevalue("postgres_server")
    name = f"test_{uuid4().hex}"
    plain = server.replace("+psycopg", "")
    with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{server}/{name}"


@pytest.fixture
def store(database_address: str) -> Iterator[SqlStore]:
    """An empty store, once on each engine."""
    opened = open_store(database_address, actor="tester")
    yield opened
    opened.close()
