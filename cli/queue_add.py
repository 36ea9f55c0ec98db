"""queue add: leave stored traces to the workers."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.judging import writing_database
from cli.options import DatabaseUrl
from cli.output import counted, print_lines

EXAMPLE = "Example: provenanceguard queue add --db postgresql://me@host/traces"


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
