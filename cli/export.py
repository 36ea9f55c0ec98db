"""export: what reviewers decided, as a packet."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.judging import open_database
from cli.options import DatabaseUrl, JsonPath
from cli.output import Progress, counted, tell

Meaning = Literal["review", "approval", "responsibility", "authorship"]  # of a signature


class PacketStatus(StrEnum):
    """How a label came about."""

    SINGLE = "single"
    UNANIMOUS = "unanimous"
    ADJUDICATED = "adjudicated"
    UNRESOLVED = "unresolved"


class PacketLabel(StrEnum):
    """What reviewers say about a claim."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day, in UTC.")]


def export(
    out: Annotated[Path, typer.Option("--out", help="A new folder for the packet.")],
    status: Annotated[
        list[PacketStatus] | None,
        typer.Option("--status", help="How the label came about; all but unresolved unless named."),
    ] = None,
    label: Annotated[
        list[PacketLabel] | None, typer.Option("--label", help="Only claims with this label.")
    ] = None,
    slice: Annotated[str | None, typer.Option("--slice", help="Only this slice.")] = None,
    since: Day = None,
    until: Day = None,
    reports: Annotated[bool, typer.Option(help="A page to read for each trace.")] = True,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="The pages as PDF too, printed by this machine's browser.")
    ] = False,
    sign: Annotated[
        Meaning | None, typer.Option("--sign", help="Lock the packet and sign it in your name.")
    ] = None,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms",
            help="Name no reviewer in the packet; who is who stays in the key folder.",
        ),
    ] = False,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Write what reviewers decided as a packet: labels, annotations, sources, trail, manifest.

    --since and --until are the first and the last day of the decision. What is left out is counted.
    """
    from core.records import VerdictLabel
    from core.review.records import STATUS_WORDS, ReviewStatus
    from core.workflows.packet_export import DECIDED, ExportFilters, export_packet, pseudonymous
    from core.workflows.packet_folder import MANIFEST, write_signatures
    from storage.keys import keep_pseudonyms

    workspace = open_database(db)
    packets, user = workspace.packets(), workspace.people.local()
    filters = ExportFilters(
        statuses=frozenset(ReviewStatus(each) for each in status) if status else DECIDED,
        labels=frozenset(VerdictLabel(each) for each in label or ()),
        slice=slice,
        since=since.replace(tzinfo=UTC) if since else None,
        until=until.replace(tzinfo=UTC) + timedelta(days=1) if until else None,
    )
    hidden = pseudonymous(packets, user, workspace.people.everybody()) if pseudonyms else None
    with Progress() as progress:
        report = export_packet(
            hidden or packets, hidden.exporter if hidden else user, out,
            at=workspace.store.now(), filters=filters, reports=reports, pdf=pdf,
            progress=progress, signed_as=sign,
        )  # fmt: skip
    if hidden is not None:
        keep_pseudonyms(report.manifest_sha256, hidden.names.drawn)
    if sign is not None:
        signatures = workspace.packet_signatures
        signatures.lock((out / MANIFEST).read_text(encoding="utf-8"), sign, by=user)
        write_signatures(out, signatures.signatures(report.manifest_sha256))
    tell(
        asdict(report) | {"signed": sign},
        [
            f"{counted(report.claims, 'claim')} of {counted(report.traces, 'trace')} with "
            f"{counted(report.votes, 'annotation')} in {out}",
            *(
                f"  {STATUS_WORDS[status]:<26} {count:>7}"
                for status, count in report.by_status.items()
                if count
            ),
            *(f"left out: {count}, {reason}" for reason, count in report.left_out.items()),
            f"manifest {report.manifest_sha256}"
            + (f", signed by {user.name} ({sign})" if sign else ""),
        ],
        json_path,
    )
    workspace.close()
