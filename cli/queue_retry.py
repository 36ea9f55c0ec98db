"""queue retry: what was given up is tried again."""

from __future__ import annotations

from cli.judging import writing_database
from cli.options import DatabaseUrl
from cli.output import counted, print_lines

EXAMPLE = "Example: provenanceguard queue retry"


def queue_retry(db: DatabaseUrl = None) -> None:
    """Queue again what was given up, as if it had never failed."""
    workspace = writing_database(db)
    count = workspace.jobs.try_again()
    workspace.close()
    print_lines([f"{counted(count, 'trace')} queued again"], None)
