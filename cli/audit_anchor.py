"""audit anchor: how long the trail is, written outside the database."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.options import DatabaseUrl, JsonPath
from cli.output import counted, print_lines, write_json

EXAMPLE = "Example: provenanceguard audit anchor --to /mnt/other/anchors.jsonl"


def audit_anchor(
    to: Annotated[
        list[Path] | None,
        typer.Option(
            "--to", help="Write the anchor to this file too: another disk, another person."
        ),
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Write down how long the trail is and where it ends, outside the database.

    A trail that is cut or made anew contradicts its anchors. Every export writes one as well.
    """
    from storage.checking import anchor_of, write_anchor
    from storage.engine import open_to_check

    database = open_to_check(db)
    with database.reading() as connection:
        anchor = anchor_of(connection, database.name)
    database.close()
    write_anchor(anchor, *(to or ()))
    write_json(json_path, asdict(anchor))
    print_lines(
        [f"trail {anchor.trail}: {counted(anchor.events, 'event')}, head {anchor.head}"], json_path
    )
