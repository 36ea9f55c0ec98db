"""fit in a process of its own, telling a status file how far it is: growing 400 trees takes a while.

The process is ``cli.fitting``, which opens the database. The candidate is kept in one transaction
at the very end: a process that is killed leaves nothing.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from core.errors import ProvenanceGuardError, fault_words
from core.ports import Progress
from core.review.records import Person
from core.workflows.background import is_at_work, lock_for_work, start_work

ENTRY = "cli.fitting"  # by name, as a process of its own: what opens databases stands above core
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


def fitting_folder(data: Path) -> Path:
    """Where the fits of a database tell how far they are, in its data folder."""
    folder = data / "fitting"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def start_fitting(
    folder: Path, user: Person, environment: Mapping[str, str], *, with_shipped: bool
) -> bool:
    """Begin a fit in a process of its own; False when one is under way already.

    ``environment`` names the database to it.
    """
    with lock_for_work(folder / LOCK_FILE) as lock:
        if lock is None:
            return False
        started = FitStatus(
            state=FitState.RUNNING, what="starting", done=0, total=0, started=time.time()
        )
        _write(folder, started)
        shipped = ["--shipped"] if with_shipped else []
        process = start_work(
            ENTRY,
            [str(folder), "--user", str(user.person_id), *shipped],
            lock,
            what="fit",
            environment=environment,
        )
        (folder / PROCESS_FILE).write_text(str(process), encoding="utf-8")
    return True


def is_fitting(folder: Path) -> bool:
    """Whether a process is fitting now, whoever started it."""
    return is_at_work(folder / LOCK_FILE)


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
        document = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))
        return FitStatus(**{**document, "state": FitState(document["state"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def fit(folder: Path, make: Callable[[Progress], str]) -> FitState:
    """Make a candidate and tell how far it is; errors of ours end in the status.

    ``make`` reports its progress to what it is given, and returns the candidate's name.
    """
    status = FitStatus(
        state=FitState.RUNNING,
        what="starting",
        done=0,
        total=0,
        started=time.time(),
    )
    _write(folder, status)

    def report(done: int, total: int | None, what: str) -> None:
        nonlocal status
        status = replace(status, what=what, done=done, total=total or 0)
        _write(folder, status)

    try:
        name = make(report)
    except ProvenanceGuardError as error:
        status = replace(status, state=FitState.FAILED, message=str(error))
    except Exception as error:
        _write(folder, replace(status, state=FitState.FAILED, message=fault_words(error)))
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
