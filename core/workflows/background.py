"""Work in a process of its own that holds a lock for its life: whoever asks sees whether it goes on."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from core.errors import ComponentUnavailable
from core.places import PROJECT


@contextmanager
def lock_for_work(file: Path) -> Iterator[int | None]:
    """The lock as an open file, to be given to a process; None while a process holds it."""
    with _lock(file, fcntl.LOCK_EX) as lock:
        yield lock


def is_at_work(file: Path) -> bool:
    """Whether a process holds the lock now, whoever started it."""
    with _lock(file, fcntl.LOCK_SH) as lock:
        return lock is None


def start_work(
    module: str,
    arguments: Sequence[str],
    lock: int,
    *,
    what: str,
    niceness: int = 0,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Run a module of ours as a process that inherits the lock; its number.

    ``environment`` is added to this process's own. Raises ComponentUnavailable, naming
    ``what``, when it cannot be started.
    """
    try:
        # It holds the lock for its life, however that ends.
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=PROJECT,
            env={**os.environ, **environment},
            pass_fds=(lock,),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if niceness:  # before it has threads: those that it begins have its niceness
            os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    except OSError as error:
        raise ComponentUnavailable(f"the {what} could not be started: {error}") from error
    return process.pid


@contextmanager
def _lock(path: Path, kind: int) -> Iterator[int | None]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
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
