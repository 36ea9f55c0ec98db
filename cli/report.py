"""report: the provenance of verified answers, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import DatabaseUrl, JsonPath
from cli.output import counted, print_lines, require, tell_skipped, write_json
from core.errors import ConfigError, InputError

if TYPE_CHECKING:
    from core.provenance.omissions import OmissionWeights
    from core.provenance.records import ProvenanceReport
    from core.provenance.report import TrailLink
    from core.records import Verification

Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day, in UTC.")]


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Verdicts that verify wrote; without any, those of the database."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the report as Markdown to this file.")
    ] = None,
    trace: Annotated[
        list[str] | None, typer.Option("--trace", help="Only the answer of this trace id.")
    ] = None,
    since: Day = None,
    until: Day = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="What weighs how much when left out, as TOML."),
    ] = None,
    pdf: Annotated[
        Path | None,
        typer.Option("--pdf", help="Write it as PDF too, printed by this machine's browser."),
    ] = None,
    envelopes: Annotated[
        Path | None,
        typer.Option(
            "--envelopes", help="Write each answer's claims with sources and excerpts here."
        ),
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Trace every claim of verified answers to its sources, with distortions, omissions and risk.

    For one answer, a file of verdicts, or a period of the database (by day of the verdict). The same
    verdicts give the same bytes; from a database the report names where its audit trail stood.
    """
    from core.provenance.markdown import report_markdown
    from core.provenance.omissions import read_weights
    from core.provenance.page import report_page
    from core.provenance.report import Period, report_document
    from core.workflows.printing import printed
    from core.workflows.provenance_report import trail_link, verified_in

    if files and (since or until):
        raise ConfigError("--since, --until: verdicts in files carry no day; leave out the files")
    chosen = None
    if weights is not None:
        require(weights)
        chosen = read_weights(weights)
    trail: TrailLink | None = None
    emitted: list[str] | None = None if envelopes is None else []
    if files:
        require(*files)
        reports = list(_analysed(_of_files(files), trace, chosen, emitted))
        if db is not None:
            trail = _with_store(db, trail_link)
    else:
        found = _with_store(
            db, lambda store: (list(verified_in(store, trace, since, until)), trail_link(store))
        )
        reports, trail = list(_analysed(iter(found[0]), trace, chosen, emitted)), found[1]
    if not reports:
        raise InputError("no verdict was found")
    period = None
    if since or until:
        period = Period(
            since=since.date() if since else None, until=until.date() if until else None
        )
    document = report_document(reports, trail, period)
    write_json(json_path, document)
    if out is not None:
        out.write_text(report_markdown(document), encoding="utf-8")
    if envelopes is not None and emitted is not None:
        envelopes.write_text("".join(emitted), encoding="utf-8")
    if pdf is not None:
        pdf.write_bytes(printed(report_page(document)))
    print_lines(_lines(reports, out), json_path)


def _analysed(
    verified: Iterator[Verification],
    wanted: list[str] | None,
    weights: OmissionWeights | None,
    emitted: list[str] | None,
) -> Iterator[ProvenanceReport]:
    """The reports; to ``emitted``, where given, a line with each answer's envelope is added."""
    from core.citations.envelope import envelope_of
    from core.codec import canonical_json, plain
    from core.workflows.provenance_report import analysed

    for each in verified:
        if not wanted or each.trace.trace_id in wanted:
            if emitted is not None:
                told = {"trace_id": each.trace.trace_id, **asdict(envelope_of(each))}
                emitted.append(f"{canonical_json(plain(told))}\n")
            yield analysed(each, weights)


def _of_files(files: list[Path]) -> Iterator[Verification]:
    from core.workflows.verdict_file import read_verdicts

    skipped: list[InputError] = []
    for item in read_verdicts(files):
        if isinstance(item, InputError):
            skipped.append(item)
        else:
            yield item
    tell_skipped(skipped[:20], len(skipped))


def _with_store(db: str | None, use: Any) -> Any:
    from storage.people import local_name
    from storage.store import open_store

    store = open_store(db, actor=local_name())
    try:
        return use(store)
    finally:
        store.close()


def _lines(reports: list[ProvenanceReport], out: Path | None) -> list[str]:
    claims = [claim for each in reports for claim in each.claims]
    shown = [claim.level.value for claim in claims if claim.level is not None]
    levels = {level: shown.count(level) for level in ("LOW", "MEDIUM", "HIGH", "CRITICAL")}
    return [
        f"{counted(len(reports), 'answer')}, {counted(len(claims), 'factual claim')}",
        f"  blocked        {len(claims) - len(shown):>6}",
        *(f"  risk {level:<9} {count:>6}" for level, count in levels.items()),
        f"  distortions    {sum(len(c.distortions) for c in claims):>6}",
        f"  contradictions {sum(len(each.contradictions) for each in reports):>6}"
        "  (of two claims; a claim that a source contradicts is counted as blocked)",
        f"  omissions      {sum(len(each.omissions) for each in reports):>6}",
        *([f"written to {out}"] if out is not None else []),
    ]
