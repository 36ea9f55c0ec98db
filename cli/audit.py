"""audit: whether anything was changed or removed, anchors, and the keys that answer for it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.judging import open_database, writing_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import BAD_INPUT, GATE_BLOCKED, counted, in_red, require, say, tell


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
    found = "intact" if report.intact else f"NOT INTACT, {counted(len(report.problems), 'problem')}"
    tell(
        asdict(report) | {"intact": report.intact, "database": database.name},
        [
            *report.problems,
            *report.notes,
            f"{counted(report.events, 'event')}, {counted(report.traces, 'trace')}, "
            f"{counted(report.verdicts, 'verdict')}, {counted(report.seals, 'seal')}, "
            f"{counted(report.erased, 'trace')} erased with a reason, "
            f"{counted(report.rewritten, 'row')} without the name of a person who was erased, "
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

    require(folder)
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
    signed = any(one.stands for one in signatures)
    found = f"NOT INTACT, {counted(len(problems), 'problem')}"
    if intact:
        found = (
            "intact, and signed by somebody trusted here"
            if signed
            else "UNSIGNED: every file fits the manifest, which anybody could have written anew"
        )
    tell(
        {
            "packet": str(folder),
            "found": ("trusted" if signed else "unsigned") if intact else "not intact",
            "intact": intact,
            "signed": signed,
            "problems": problems,
            "manifest_sha256": check.manifest_sha256,
            "signatures": [asdict(one) for one in signatures],
        },
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

    A trail that is cut or made anew contradicts its anchors, wherever its database is put. Every export
    writes one as well. Where the database may be written, the trail says that it was anchored: from then
    on `audit verify` asks for an anchor.
    """
    from storage.trail import make_anchor

    anchor = make_anchor(db, *(to or ()))
    line = f"trail {anchor.trail}: {counted(anchor.events, 'event')}, head {anchor.head}"
    tell(asdict(anchor), [line], json_path)


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


def audit_acknowledge(
    reason: Annotated[str, typer.Option("--reason", help="What was found out about them.")],
    anchor: Annotated[
        list[Path] | None,
        typer.Option("--anchor", help="Anchors kept elsewhere, compared too."),
    ] = None,
    db: DatabaseUrl = None,
) -> None:
    """Answer for a clock that was set back, or for a database that goes on from a copy.

    For leads. What `audit verify` says of them stays, with your reason in the trail, as a note and no
    longer as a problem. Nothing else can be acknowledged: what was changed stays changed.
    """
    from storage.checking import check_database
    from storage.trail import acknowledge

    workspace = writing_database(db)
    found = check_database(workspace.store.database, anchor or ()).doubtful
    acknowledge(workspace.store, found, reason, by=workspace.people.local())
    for one in found:
        say(f"acknowledged: {one}")
    workspace.close()


def audit_erase_person(
    name: Annotated[
        str, typer.Argument(help="Whose names and address go: the name in the audit trail.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why: who asked for it, and when.")],
    db: DatabaseUrl = None,
) -> None:
    """Put a number in the place of a person's name and address, in rows and in the trail.

    For leads; of somebody without a role who has signed no packet. What they did stays, under the number,
    with the hashes from before, so that `audit verify` still finds every other change. Whoever guesses the
    name can confirm it by these. Not reached: what somebody wrote in a text (counted), the key folder,
    packets, copies and anchors that went out, the traces themselves.
    """
    workspace = writing_database(db)
    people = workspace.people
    rewritten, texts = people.erase(people.by_name(name), reason, by=people.local())
    say(f"erased: {counted(rewritten, 'row')} and events say a number in its place")
    if texts:
        say(f"{counted(texts, 'row')} hold these letters still: written by people, or in traces")
    workspace.close()


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
    tell(
        {"keys": [asdict(one) for one in keys]},
        [f"{one.name}: {fingerprint(one.public_key)}  {one.public_key}" for one in keys],
        json_path,
    )
