"""audit trust: whose signatures are trusted on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cli.options import JsonPath
from cli.output import print_lines, write_json

EXAMPLE = "Example: provenanceguard audit trust Ines bWFkZSB1cCBmb3IgdGhpcyBleGFtcGxlIG9ubHkhISE="


def audit_trust(
    name: Annotated[
        str | None, typer.Argument(help="Whose key it is; without one the keys are listed.")
    ] = None,
    key: Annotated[
        str | None, typer.Argument(help="The public key, as the person read it out to you.")
    ] = None,
    json_path: JsonPath = None,
) -> None:
    """Accept a person's public key, or list whose signatures are trusted here.

    Compare the fingerprint with its owner before you accept a key from a packet.
    """
    from core.errors import InputError
    from core.review.signing import fingerprint
    from storage.keys import trust, trusted_keys

    if name is not None:
        if key is None:
            raise InputError("give the public key behind the name")
        trust(name, key)
    keys = trusted_keys()
    write_json(json_path, {"keys": [asdict(one) for one in keys]})
    print_lines(
        [f"{one.name}: {fingerprint(one.public_key)}  {one.public_key}" for one in keys], json_path
    )
