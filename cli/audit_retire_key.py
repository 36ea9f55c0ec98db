"""audit retire-key: answer for the seals of a key that was replaced."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.judging import writing_database
from cli.options import DatabaseUrl
from cli.output import say

EXAMPLE = (
    'Example: provenanceguard audit retire-key --reason "new server, compared with the backup"'
)


def audit_retire_key(
    reason: Annotated[str, typer.Option("--reason", help="Why the key is not here any more.")],
    db: DatabaseUrl = None,
) -> None:
    """Take the seals that were made with a key that is not here as they are, and say so in the trail.

    For leads. Nobody can check what such seals cover: compare the database with a copy or an anchor
    from before the key was replaced, and then say so. What is changed in them afterwards is noticed.
    """
    from storage.trail import retire_keys

    workspace = writing_database(db)
    last = retire_keys(workspace.store, reason, by=workspace.people.local())
    say(f"seals up to {last} of other keys are taken as they are; `audit verify` says how many")
    workspace.close()
