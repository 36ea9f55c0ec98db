"""reader: which pair reader a database verifies with."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.judging import open_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import print_lines, write_json
from core.errors import ConfigError

EXAMPLE = (
    "Example: provenanceguard reader models/nli/ --calibrator calibrator/ --reason 'reads better'"
)


def reader(
    choice: Annotated[
        str | None,
        typer.Argument(
            metavar="[READER]",
            help="bundled, accurate, paper, a folder, or a model of the hub (owner/name); without "
            "it, what the database reads with now.",
        ),
    ] = None,
    calibrator: Annotated[
        str | None,
        typer.Option(
            "--calibrator",
            help="A calibrator's folder, or 'shipped': it decides from then on. Else the active "
            "one, or where that was fitted on another reader the one that ships with this.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stands in the trail.")] = "",
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Show or choose the pair reader of a database; what waits is verified with it from then on.

    The reader is loaded first, and refused with the command that refits the calibrator where the
    two do not belong together.
    """
    workspace = open_database(db)
    if choice is not None:
        from core.workflows.models import choose_reader

        local = workspace.people.local()
        choose_reader(workspace, choice, reason, local, calibrator=calibrator)
    elif calibrator is not None or reason:
        raise ConfigError("name the reader too")
    now = workspace.readers.current()
    write_json(
        json_path,
        {
            "reader": now.reader,
            "since": now.since.isoformat() if now.since else None,
            "by": now.by,
            "reason": now.reason,
            "database": workspace.name,
        },
    )
    said = f", chosen by {now.by} on {now.since:%d %b %Y}: {now.reason}" if now.since else ""
    print_lines([f"{workspace.name} is read by {now.reader}{said}"], json_path)
    workspace.close()
