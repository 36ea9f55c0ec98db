"""audit: whether anything was changed or removed, and the anchors that it is compared with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.judging import open_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import BAD_INPUT, GATE_BLOCKED, counted, in_red, print_lines, require, write_json

EXAMPLE = "Example: provenanceguard audit verify --db data/workbench.db"
TRUST_EXAMPLE = (
    "Example: provenanceguard audit trust Ines bWFkZSB1cCBmb3IgdGhpcyBleGFtcGxlIG9ubHkhISE="
)
ANCHOR_EXAMPLE = "Example: provenanceguard audit anchor --to /mnt/other/anchors.jsonl"


def audit_verify(
    packet: Annotated[
        Path | None,
        typer.Option(
            "--packet", help="Check an exported packet instead: its files, its signatures."
        ),
    ] = None,
    anchor: Annotated[
        list[Path] | None,
        typer.Option("--anchor", help="Anchors kept elsewhere, compared too."),
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Check that nothing was changed or removed: the database's events and documents, or a packet.

    Nothing is written: a database may be write-protected, and one that is missing or empty is an
    error. A packet is checked on its own; with --db its signatures are also compared with that
    database.
    """
    if packet is not None:
        _verify_packet(packet, db, json_path)
        return
    from storage.checking import check_database
    from storage.engine import open_to_check

    database = open_to_check(db)
    report = check_database(database, anchor or ())
    write_json(json_path, asdict(report) | {"intact": report.intact, "database": database.name})
    found = "intact" if report.intact else f"NOT INTACT, {counted(len(report.problems), 'problem')}"
    print_lines(
        [
            *report.problems,
            *report.notes,
            f"{counted(report.events, 'event')}, {counted(report.traces, 'trace')}, "
            f"{counted(report.verdicts, 'verdict')}, {counted(report.seals, 'seal')}, "
            f"{counted(report.anchors, 'anchor')}: {found}",
        ],
        json_path,
    )
    database.close()
    if not report.intact:
        raise SystemExit(BAD_INPUT)


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
    from storage.anchors import anchor_of, write_anchor
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
    from storage.signers import trust, trusted_keys

    if name is not None:
        if key is None:
            raise InputError("give the public key behind the name")
        trust(name, key)
    keys = trusted_keys()
    write_json(json_path, {"keys": [asdict(one) for one in keys]})
    print_lines(
        [f"{one.name}: {fingerprint(one.public_key)}  {one.public_key}" for one in keys], json_path
    )


def _verify_packet(folder: Path, db: str | None, json_path: Path | None) -> None:
    from core.review.signing import fingerprint
    from core.workflows.manifest import check_packet
    from storage.signers import foreign, trusted_keys

    require([folder])
    check = check_packet(folder)
    problems, signatures = list(check.problems), check.signatures
    keys = trusted_keys()
    problems += [
        f"signatures.json: {one.signer} ({one.meaning}): {why}"
        for one in signatures
        if (why := foreign(one, keys)) is not None
    ]
    if db is not None:
        workspace = open_database(db)
        here = workspace.packets().signatures(check.manifest_sha256)
        problems += [
            f"signatures.json: {one.signer} ({one.meaning}) is not what the database says"
            for one in signatures
            if (one.signer, one.meaning, one.at) not in {(h.signer, h.meaning, h.at) for h in here}
        ]
        problems += [
            f"signatures.json: {h.signer} ({h.meaning}) signed this packet, and that is not there"
            for h in here
            if (h.signer, h.meaning, h.at)
            not in {(one.signer, one.meaning, one.at) for one in check.signatures}
        ]
        signatures = here or signatures
        workspace.close()
    intact = not problems
    write_json(
        json_path,
        {
            "packet": str(folder),
            "intact": intact,
            "problems": problems,
            "manifest_sha256": check.manifest_sha256,
            "signatures": [asdict(one) for one in signatures],
        },
    )
    found = "intact" if intact else f"NOT INTACT, {counted(len(problems), 'problem')}"
    print_lines(
        [
            *map(in_red, problems),
            *(
                f"signed by {one.signer} ({one.meaning}) at {one.at.isoformat()}"
                + (f", key {fingerprint(one.public_key)}" if one.public_key else ", without a key")
                + (", taken back since" if one.taken_back else "")
                for one in signatures
            ),
            f"{counted(check.files, 'file')}, manifest {check.manifest_sha256}: {found}",
        ],
        json_path,
    )
    if not intact:
        raise SystemExit(GATE_BLOCKED)
