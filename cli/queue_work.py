"""queue work: a worker, or several, for the traces that wait in a database."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.judging import models_for, writing_database
from cli.options import DatabaseUrl, Decides, Reader
from cli.output import counted, print_lines, say
from core.errors import ComponentUnavailable

if TYPE_CHECKING:
    from core.workflows.verify import VerifyReport

EXAMPLE = "Example: provenanceguard queue work --workers 2 --db postgresql://me@host/traces"
LOOK_SECONDS = 0.5
ENDED_IN_A_ROW = 20  # worker processes that judge nothing and are killed: something is wrong here


def queue_work(
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes.")] = 1,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when there is nothing left to take.")
    ] = False,
    lease_seconds: Annotated[
        float,
        typer.Option("--lease", min=1.0, help="Seconds until a silent worker's traces are free."),
    ] = 60.0,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair blocked answers, and verify them again.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="A folder that keeps what was read; at most 1 GB."),
    ] = None,
    calibrator: Decides = None,
    reader: Reader = None,
    db: DatabaseUrl = None,
) -> None:
    """Verify what waits in the queue; run it on as many machines as reach the database.

    A worker that is killed loses nothing: what it had in hand is taken by the next when its lease
    ends. A trace that fails is tried three times, later each time, and then given up with its reason.
    """
    if workers > 1:
        flags = {"--until-empty": until_empty, "--repair": repair}
        values = {
            "--lease": lease_seconds, "--cache": cache, "--calibrator": calibrator,
            "--reader": reader,
        }  # fmt: skip
        options = [name for name, wanted in flags.items() if wanted]
        options += [f"{name}={value}" for name, value in values.items() if value is not None]
        _several(workers, db, options)
        return
    from core.config import Config
    from core.workflows.queue_worker import work_off
    from core.workflows.repair import repairing_judge
    from core.workflows.verify import pipeline_judge

    workspace = writing_database(db)
    config = Config()
    models = models_for(config, calibrator, workspace, reader, cache)
    judge = (repairing_judge() if repair else pipeline_judge)(models, config)
    name = f"{socket.gethostname()}:{os.getpid()}"
    say(f"{name} works on {workspace.name}")
    report = work_off(
        workspace.jobs, judge, name,
        lease_seconds=lease_seconds, until_empty=until_empty, progress=_tell,
    )  # fmt: skip
    workspace.close()
    print_lines([f"{counted(report.verified, 'answer')} judged"], None)


def _tell(report: VerifyReport) -> None:
    if sys.stderr.isatty():
        say(f"{counted(report.traces, 'answer')} so far")


def _several(count: int, db: str | None, options: Sequence[str]) -> None:
    """As many processes of this command; one that is killed is started again."""
    workspace = writing_database(db)
    # The database's address has a password: not where other users of the machine can read it.
    environment = os.environ | workspace.environment
    workspace.close()
    command = [sys.executable, "-m", "cli", "queue", "work", *options]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=environment)

    running = [start() for _ in range(count)]
    again = 0
    try:
        while running:
            time.sleep(LOOK_SECONDS)
            for one in [one for one in running if one.poll() is not None]:
                running.remove(one)
                if one.returncode < 0 and again < ENDED_IN_A_ROW * count:
                    again += 1
                    say(f"a worker was ended by signal {-one.returncode}; another takes its place")
                    running.append(start())
                elif one.returncode:
                    raise ComponentUnavailable(f"a worker ended with exit code {one.returncode}")
    finally:
        for one in running:
            one.terminate()
        for one in running:
            one.wait()
