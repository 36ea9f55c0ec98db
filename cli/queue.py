"""queue: the traces that wait in a database, for workers on as many machines as reach it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.judging import Deciding, open_database, writing_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import counted, print_lines, say, tell
from core.errors import ComponentUnavailable
from core.site_config import site_config

if TYPE_CHECKING:
    from core.workflows.verify import VerifyReport


def queue_add(
    all: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also what has a verdict: workers judge it unless it is from the same versions.",
        ),
    ] = False,
    db: DatabaseUrl = None,
) -> None:
    """Queue the database's traces that have no verdict, for `provenanceguard queue work`."""
    from storage.store import newest_of_file, unverified

    workspace = writing_database(db)
    found = newest_of_file(workspace.store, None) if all else unverified(workspace.store)
    added = workspace.jobs.put(found)
    workspace.close()
    there = f", {len(found) - added} were in the queue already" if added < len(found) else ""
    print_lines([f"{counted(added, 'trace')} queued{there}"], None)


LOOK_SECONDS = 0.5
ENDED_IN_A_ROW = 20  # worker processes that judge nothing and are killed: something is wrong here


def queue_work(
    *,
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
    deciding: Deciding,
    db: DatabaseUrl = None,
) -> None:
    """Verify what waits in the queue; run it on as many machines as reach the database.

    A worker that is killed loses nothing: what it had in hand is taken by the next when its lease
    ends. A trace that fails is tried three times, later each time, and then given up with its reason.
    """
    if workers > 1:
        flags = {"--until-empty": until_empty, "--repair": repair}
        values = {
            "--lease": lease_seconds, "--cache": cache, "--calibrator": deciding.calibrator,
            "--nli-model": deciding.nli,
        }  # fmt: skip
        options = [name for name, wanted in flags.items() if wanted]
        options += [f"{name}={value}" for name, value in values.items() if value is not None]
        _several(workers, db, options)
        return
    from core.workflows.models import with_chosen_judge
    from core.workflows.queue_worker import work_off
    from core.workflows.repair import repairing_judge
    from core.workflows.verify import pipeline_judge

    workspace = writing_database(db)
    config = site_config()
    models = with_chosen_judge(deciding.models(config, workspace, cache=cache), workspace.judges)
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


def queue_show(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many that failed.")] = 50,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Say how the queue stands, and what failed with its reason."""
    workspace = open_database(db)
    counts, failing = workspace.jobs.counts(), workspace.jobs.failing(limit)
    workspace.close()
    lines = [
        f"{'waiting':<12}{counts.waiting:>9}",
        f"{'in hand':<12}{counts.taken:>9}   of {counted(counts.workers, 'worker')}",
        f"{'done':<12}{counts.done:>9}",
        f"{'given up':<12}{counts.given_up:>9}",
    ]
    for one in failing:
        when = f"again at {one.next_at:%H:%M:%S} UTC" if one.next_at else "given up"
        lines.append(f"{one.trace_id}: {one.reason} (attempt {one.attempts}, {when})")
    tell(asdict(counts) | {"failing": [asdict(one) for one in failing]}, lines, json_path)


def queue_retry(db: DatabaseUrl = None) -> None:
    """Queue again what was given up, as if it had never failed."""
    workspace = writing_database(db)
    count = workspace.jobs.try_again()
    workspace.close()
    print_lines([f"{counted(count, 'trace')} queued again"], None)
