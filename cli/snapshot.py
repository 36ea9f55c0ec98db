"""snapshot: a threshold snapshot of the workbench, checked and told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.output import print_lines, require
from core.errors import UnreadableFile

EXAMPLE = "Example: provenanceguard snapshot thresholds-3f2a91c0.json"


def snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot that the page Thresholds saved.")],
) -> None:
    """Open a threshold snapshot: its settings and figures, once its digest is found to hold."""
    from core.evaluation.snapshot import MAX_BYTES, read_snapshot, snapshot_lines

    require([file])
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(str(error.strerror), file=str(file)) from None
    lines = snapshot_lines(read_snapshot(content, file=str(file)))
    width = max(len(name) for name, _ in lines)
    print_lines([f"{name:<{width}}  {value}" for name, value in lines], None)
