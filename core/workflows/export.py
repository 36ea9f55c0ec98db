"""export_packet: what reviewers decided, as a folder that explains and proves itself."""

from __future__ import annotations

import shutil
import tempfile
import time
from datetime import datetime
from pathlib import Path

from core.errors import InputError
from core.ports import Progress
from core.review.records import Person
from core.workflows.packet_files import ExportReport, filters_json, write_files
from core.workflows.packet_readme import EVERY_FORMAT, PacketFormat
from core.workflows.packet_selection import (
    EVERY_DECISION,
    ExportFilters,
    PacketStore,
    select_claims,
)

_LEFT_SECONDS = 3_600  # a part that is older is nobody's any more


def export_packet(
    store: PacketStore,
    user: Person,
    out: Path,
    *,
    at: datetime,
    filters: ExportFilters = EVERY_DECISION,
    reports: bool = True,
    pdf: bool = False,
    progress: Progress | None = None,
    signed_as: str | None = None,
    formats: frozenset[PacketFormat] = EVERY_FORMAT,
) -> ExportReport:
    """Write a packet to ``out``, which must not hold anything yet; all of it, or nothing.

    ``formats`` are what it holds besides what another workbench reads back. ``signed_as`` says in
    the manifest that a signature of that meaning follows: without it the packet will not check.
    Packets are their owner's alone.

    Raises NotAllowed, InputError when nothing passes the filters or ``out`` is taken, and
    ComponentUnavailable when a PDF is asked for and no browser can print one.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("there is something already; give a folder that is new", file=str(out))
    chosen = select_claims(store, user, filters)
    if not chosen.claims:
        found = ", ".join(f"{reason}: {count}" for reason, count in chosen.left_out.items())
        raise InputError(f"no reviewed claim to export ({found or 'nobody has judged one yet'})")
    out.parent.mkdir(parents=True, exist_ok=True)
    _clean_up(out)
    part = Path(tempfile.mkdtemp(prefix=f".{out.name}.part-", dir=out.parent))
    try:
        report = write_files(
            store, user, part, chosen, at=at, filters=filters, reports=reports, pdf=pdf,
            progress=progress or _silent, signed_as=signed_as, formats=formats,
        )  # fmt: skip
        _owners_alone(part)
        if out.exists():
            out.rmdir()
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)  # after the rename there is nothing left of it
    store.told(
        user,
        report.manifest_sha256,
        {
            "claims": report.claims,
            "statuses": {status.value: n for status, n in report.by_status.items()},
            "left_out": dict(report.left_out),
            "filters": filters_json(filters),
        },
    )
    return ExportReport(
        folder=out,
        manifest_sha256=report.manifest_sha256,
        claims=report.claims,
        traces=report.traces,
        votes=report.votes,
        by_status=report.by_status,
        left_out=report.left_out,
        preference_pairs=report.preference_pairs,
        files=report.files,
    )


def _clean_up(out: Path) -> None:
    """Remove what an export that was killed left behind: parts that nobody has written to for long."""
    for left in out.parent.glob(f".{out.name}.part-*"):
        if left.is_dir() and time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _owners_alone(folder: Path) -> None:
    """A packet holds patients' records and reviewers' words: nobody else may read it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


# ---------------------------------------------------------------- the files


def _silent(done: int, total: int | None, what: str) -> None:
    """Nobody watches."""
