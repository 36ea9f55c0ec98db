"""fit in a process of its own, telling a status file how far it is: growing 400 trees takes a while.

Run as ``python -m storage.fitting FOLDER --person ID``, with the database in PROVENANCEGUARD_DB.
The candidate is kept in one transaction at the very end: a process that is killed leaves nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from core.errors import ComponentUnavailable, ProvenanceGuardError
from core.review.records import Person
from storage.calibrators import Calibrators
from storage.engine import DEFAULT_DATABASE, ENVIRONMENT_VARIABLE, PROJECT
from storage.people import person_at
from storage.retraining import Retraining
from storage.store import SqlStore, open_store

STATUS_FILE, LOCK_FILE, PROCESS_FILE = "status.json", "lock", "process"


class FitState(StrEnum):
    """How a fit stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitStatus:
    """How far a fit is; ``started`` in seconds since the epoch."""

    state: FitState
    what: str
    done: int
    total: int
    started: float
    message: str = ""
    candidate: str = ""


def fitting_folder(store: SqlStore) -> Path:
    """Where a store's fits tell how far they are: beside its file, or in the project's data folder."""
    url = store.database.engine.url
    beside = url.get_backend_name() == "sqlite" and url.database
    folder = (Path(str(url.database)).parent if beside else DEFAULT_DATABASE.parent) / "fitting"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def start_fitting(store: SqlStore, who: Person, *, with_shipped: bool) -> bool:
    """Begin a fit in a process of its own; False when one is under way already."""
    folder = fitting_folder(store)
    with _lock(folder, fcntl.LOCK_EX) as lock:
        if lock is None:
            return False
        started = FitStatus(
            state=FitState.RUNNING, what="starting", done=0, total=0, started=time.time()
        )
        _write(folder, started)
        command = [sys.executable, "-m", "storage.fitting", str(folder)]
        command += ["--person", str(who.person_id)]
        command += ["--shipped"] if with_shipped else []
        address = store.database.engine.url.render_as_string(hide_password=False)
        try:
            # The process inherits the lock and holds it for its life, however that ends.
            process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env={**os.environ, ENVIRONMENT_VARIABLE: address},
                pass_fds=(lock,),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ComponentUnavailable(f"the fit could not be started: {error}") from error
        (folder / PROCESS_FILE).write_text(str(process.pid), encoding="utf-8")
    return True


def is_fitting(folder: Path) -> bool:
    """Whether a process is fitting now, whoever started it."""
    with _lock(folder, fcntl.LOCK_SH) as lock:
        return lock is None


def stop_fitting(folder: Path) -> None:
    """End the fit that is under way; nothing of it is kept."""
    if not is_fitting(folder):
        return
    # While the lock is held, the number is that of the process that holds it.
    with suppress(OSError, ValueError):
        os.kill(int((folder / PROCESS_FILE).read_text(encoding="utf-8")), signal.SIGTERM)


def read_status(folder: Path) -> FitStatus | None:
    """What the last fit said of itself; None when there was none."""
    try:
        found = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))
        return FitStatus(**{**found, "state": FitState(found["state"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def fit(folder: Path, store: SqlStore, person_id: int, *, with_shipped: bool) -> FitState:
    """Fit for that person and tell how far it is; errors of ours end in the status."""
    status = FitStatus(
        state=FitState.RUNNING,
        what="starting",
        done=0,
        total=0,
        started=time.time(),
    )
    _write(folder, status)

    def tell(done: int, total: int | None, what: str) -> None:
        nonlocal status
        status = replace(status, what=what, done=done, total=total or 0)
        _write(folder, status)

    try:
        with store.database.reading() as connection:
            who = person_at(connection, person_id)
        retraining = Retraining(store=store, calibrators=Calibrators(store=store))
        name = retraining.fit(who, with_shipped=with_shipped, progress=tell)
    except ProvenanceGuardError as error:
        status = replace(status, state=FitState.FAILED, message=str(error))
    except Exception as error:
        # The kind and place of a bug, without its message: that may quote a trace.
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        words = f"a fault in this program: {type(error).__name__} in {place}"
        _write(folder, replace(status, state=FitState.FAILED, message=words))
        raise
    else:
        status = replace(status, state=FitState.DONE, candidate=name)
    _write(folder, status)
    return status.state


def _write(folder: Path, status: FitStatus) -> None:
    """In one step, so that no reader sees half a status."""
    draft = folder / f"{STATUS_FILE}.{os.getpid()}"
    draft.write_text(json.dumps(asdict(status)), encoding="utf-8")
    draft.replace(folder / STATUS_FILE)


@contextmanager
def _lock(folder: Path, kind: int) -> Iterator[int | None]:
    """The folder's lock as an open file, None when a fit holds it."""
    file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file
    finally:
        # Closing, not unlocking: a process that inherited the lock goes on holding it.
        os.close(file)


def main() -> int:
    """Fit for the person that the command line names; the exit code."""
    parser = argparse.ArgumentParser(description="Fit a candidate calibrator on reviewers' labels.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--person", type=int, required=True)
    parser.add_argument("--shipped", action="store_true")
    given = parser.parse_args()
    store = open_store(actor="fitting")
    state = fit(given.folder, store, given.person, with_shipped=given.shipped)
    store.close()
    return 0 if state is FitState.DONE else 3


if __name__ == "__main__":
    sys.exit(main())
