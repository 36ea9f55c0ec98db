"""queue show: how many traces wait for workers, and which failed and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cli.judging import open_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import counted, print_lines, write_json

EXAMPLE = "Example: provenanceguard queue show"


def queue_show(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many that failed.")] = 50,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Say how the queue stands, and what failed with its reason."""
    workspace = open_database(db)
    counts, failing = workspace.jobs.counts(), workspace.jobs.failing(limit)
    workspace.close()
    write_json(json_path, asdict(counts) | {"failing": [asdict(one) for one in failing]})
    lines = [
        f"{'waiting':<12}{counts.waiting:>9}",
        f"{'in hand':<12}{counts.taken:>9}   of {counted(counts.workers, 'worker')}",
        f"{'done':<12}{counts.done:>9}",
        f"{'given up':<12}{counts.given_up:>9}",
    ]
    for one in failing:
        when = f"again at {one.next_at:%H:%M:%S} UTC" if one.next_at else "given up"
        lines.append(f"{one.trace_id}: {one.reason} (attempt {one.attempts}, {when})")
    print_lines(lines, json_path)
