"""audit verify: whether anything was changed or removed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.judging import open_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import BAD_INPUT, GATE_BLOCKED, counted, in_red, print_lines, require, write_json

EXAMPLE = "Example: provenanceguard audit verify --db data/workbench.db"


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


def _verify_packet(folder: Path, db: str | None, json_path: Path | None) -> None:
    from core.review.signing import fingerprint
    from core.workflows.packet_folder import check_packet
    from storage.keys import foreign, trusted_keys

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
        from storage.engine import open_to_check

        open_to_check(db).close()  # one that is not there is not made
        workspace = open_database(db)
        here = workspace.packet_signatures.signatures(check.manifest_sha256)
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
            "signed": any(not one.taken_back for one in signatures),
            "problems": problems,
            "manifest_sha256": check.manifest_sha256,
            "signatures": [asdict(one) for one in signatures],
        },
    )
    signed = any(not one.taken_back for one in signatures)
    found = f"NOT INTACT, {counted(len(problems), 'problem')}"
    if intact:
        found = (
            "intact, and signed by somebody trusted here"
            if signed
            else "UNSIGNED: every file fits the manifest, which anybody could have written anew"
        )
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
