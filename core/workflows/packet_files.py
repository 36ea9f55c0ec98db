"""The files of a packet: one pass over the traces, then the tables, the trail and the manifest."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol, TextIO

from core.codec import trace_document, verdict_document, versions_document
from core.ports import Progress
from core.records import JsonObject
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.openinference import annotations_of
from core.review.packet import packet_row
from core.review.preferences import ChosenEdit, edit_pairs, verdict_pairs
from core.review.readable import look_of, page, trace_page
from core.review.records import Person, ReviewedClaim, ReviewStatus, Split
from core.workflows.manifest import TO_BE_SIGNED, write_manifest
from core.workflows.packet_readme import (
    ANNOTATIONS,
    EVERY_FORMAT,
    FILES_OF,
    GUIDELINE,
    PACKET,
    PREFERENCES,
    REPORTS,
    SUPERSEDED,
    TRACES,
    TRAIL,
    VERDICTS,
    PacketFormat,
    packet_readme,
)
from core.workflows.packet_selection import ExportFilters, PacketStore, Selection
from core.workflows.packet_tables import (
    CLAIM_COLUMNS,
    VOTE_COLUMNS,
    claim_cells,
    vote_cells,
    write_csv,
    write_parquet,
)
from core.workflows.printing import print_page


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written; ``left_out`` counts claims by the reason that they are not in the packet."""

    folder: Path
    manifest_sha256: str
    claims: int
    traces: int
    votes: int
    by_status: Mapping[ReviewStatus, int]
    left_out: Mapping[str, int]
    preference_pairs: int
    files: int


@dataclass(slots=True)
class _Written:
    """What the pass over the traces counts, and what is kept for the tables and the list of reports."""

    traces: int = 0
    votes: int = 0
    pairs: int = 0
    held_out_pairs: int = 0
    verifiers: dict[str, object] = field(default_factory=dict)
    listed: list[tuple[str, str, Sequence[ReviewedClaim]]] = field(default_factory=list)
    claim_ids: Counter[str] = field(default_factory=Counter)


def write_files(
    store: PacketStore,
    user: Person,
    folder: Path,
    chosen: Selection,
    *,
    at: datetime,
    filters: ExportFilters,
    reports: bool,
    pdf: bool,
    progress: Progress,
    signed_as: str | None = None,
    formats: frozenset[PacketFormat] = EVERY_FORMAT,
) -> ExportReport:
    """Every file of the packet, into a folder of its own; the manifest comes last."""
    claims, done = chosen.claims, _Written()
    counted = Counter(claim.resolution.status for claim in claims)
    by_status = {status: counted[status] for status in ReviewStatus}
    edits = store.edits(list(dict.fromkeys(claim.content_hash for claim in claims)))
    total = len({claim.content_hash for claim in claims})
    if reports:
        (folder / REPORTS).mkdir()
    with ExitStack() as stack:
        streams = _Streams.open(folder, stack, formats)
        # By the trace's content: two versions of one trace are two traces here.
        for content_hash, grouped in groupby(claims, key=lambda claim: claim.content_hash):
            of_trace = list(grouped)
            found = _write_trace(store, streams, of_trace, edits.get(content_hash, ()), done)
            if reports:
                _write_report(folder / REPORTS, of_trace, found, done, pdf=pdf)
            progress(done.traces, total, "traces")
    _write_whole(store, folder, claims, formats)
    if reports:
        (folder / REPORTS / "index.html").write_text(_index(done), encoding="utf-8")
    about = _about(
        store, user, chosen, done, by_status, at=at, filters=filters, signed_as=signed_as
    )
    about["formats"] = sorted(formats)
    (folder / "README.md").write_text(
        packet_readme(about, reports=reports, pdf=pdf, formats=formats), encoding="utf-8"
    )
    manifest_sha256 = write_manifest(folder, about)
    return ExportReport(
        folder=folder,
        manifest_sha256=manifest_sha256,
        claims=len(claims),
        traces=done.traces,
        votes=done.votes,
        by_status=by_status,
        left_out=chosen.left_out,
        preference_pairs=done.pairs,
        files=sum(1 for each in folder.rglob("*") if each.is_file()) - 1,
    )


def _write_whole(
    store: PacketStore,
    folder: Path,
    claims: Sequence[ReviewedClaim],
    formats: frozenset[PacketFormat],
) -> None:
    """The files that are written of all claims at once."""
    _write_tables(folder, claims, formats)
    with (folder / SUPERSEDED).open("w", encoding="utf-8") as superseded:
        _lines(superseded, store.superseded(claims))
    with (folder / TRAIL).open("w", encoding="utf-8") as trail:
        _lines(trail, store.trail(claims))
    with (folder / GUIDELINE).open("w", encoding="utf-8") as guideline:
        _lines(guideline, map(_guideline_json, store.guidelines()))


class _Streams(NamedTuple):
    """The files that grow with each trace."""

    packet: TextIO
    traces: TextIO
    verdicts: TextIO
    annotations: TextIO
    preferences: TextIO

    @classmethod
    def open(cls, folder: Path, stack: ExitStack, formats: frozenset[PacketFormat]) -> _Streams:
        """All of them, until the stack is left; what nobody asked for goes nowhere."""
        names = (PACKET, TRACES, VERDICTS, ANNOTATIONS, PREFERENCES)
        absent = {name for each in EVERY_FORMAT - formats for name in FILES_OF[each]}
        files = (Path(os.devnull) if name in absent else folder / name for name in names)
        return cls(*(stack.enter_context(file.open("w", encoding="utf-8")) for file in files))


def _write_trace(
    store: PacketStore,
    streams: _Streams,
    of_trace: Sequence[ReviewedClaim],
    edits: Sequence[ChosenEdit],
    done: _Written,
) -> Evidence:
    """The lines of one trace version, whose claims these are, in every file."""
    first = of_trace[0]
    found = store.evidence(
        first.trace_id, first.content_hash, first.signal.run_key if first.signal else None
    )
    _lines(streams.traces, [trace_document(found.trace)])
    if found.verdict is not None:
        named = replace(found.verdict, content_hash=first.content_hash)
        _lines(streams.verdicts, [verdict_document(named)])
        versions = versions_document(found.verdict.versions)
        done.verifiers[json.dumps(versions, sort_keys=True)] = versions
    _lines(streams.packet, (_row(claim, found, done) for claim in of_trace))
    _lines(streams.annotations, [annotations_of(first.trace_id, of_trace)])
    pairs = [
        *verdict_pairs(of_trace, found.trace, found.verdict),
        *edit_pairs(found.trace, edits),
    ]
    if first.split is Split.HELD_OUT:
        done.held_out_pairs += len(pairs)  # nothing is ever tuned on a held-out trace
    else:
        _lines(streams.preferences, pairs)
        done.pairs += len(pairs)
    done.traces += 1
    done.votes += sum(len(claim.annotations) for claim in of_trace)
    return found


def _write_report(
    reports: Path, of_trace: Sequence[ReviewedClaim], found: Evidence, done: _Written, *, pdf: bool
) -> None:
    """The page that people read of a trace."""
    # Numbered: a trace's id is somebody else's text, and no path.
    page_file = reports / f"trace-{done.traces:06d}.html"
    page_file.write_text(trace_page(of_trace, found.trace, found.verdict), encoding="utf-8")
    if pdf:
        print_page(page_file, page_file.with_suffix(".pdf"))
    done.listed.append((page_file.name, of_trace[0].trace_id, of_trace))


def _about(
    store: PacketStore,
    user: Person,
    chosen: Selection,
    done: _Written,
    by_status: Mapping[ReviewStatus, int],
    *,
    at: datetime,
    filters: ExportFilters,
    signed_as: str | None,
) -> dict[str, object]:
    """What the manifest tells of the packet as a whole."""
    return {
        "exported_at": at.astimezone(UTC).isoformat(),
        "exported_by": user.name,
        "claims": len(chosen.claims),
        "traces": done.traces,
        "votes": done.votes,
        "by_status": {status.value: count for status, count in by_status.items()},
        "left_out": dict(chosen.left_out),
        "filters": filters_json(filters),
        "preference_pairs": {"written": done.pairs, "left_out_as_held_out": done.held_out_pairs},
        "machine_profiles": _profiles_among(chosen.claims, store.machine_profiles()),
        "verifier_versions": list(done.verifiers.values()),
        **({TO_BE_SIGNED: signed_as} if signed_as else {}),
    }


def _profiles_among(
    claims: Sequence[ReviewedClaim], profiles: Mapping[str, str]
) -> Mapping[str, str]:
    """The machine profiles that have judged one of the claims: by name they could be anybody's."""
    names = {vote.reviewer for claim in claims for vote in claim.annotations}
    names |= {claim.adjudication.reviewer for claim in claims if claim.adjudication is not None}
    return {name: profiles[name] for name in sorted(names & profiles.keys())}


def _row(claim: ReviewedClaim, found: Evidence, done: _Written) -> JsonObject:
    """The claim's line; a claim id that another version of the trace has used gets a number."""
    row = packet_row(claim, found.trace, found.verdict)
    done.claim_ids[claim.claim_id] += 1
    number = done.claim_ids[claim.claim_id]
    return row if number == 1 else {**row, "claim_id": f"{claim.claim_id}~{number}"}


def _write_tables(
    folder: Path, claims: Sequence[ReviewedClaim], formats: frozenset[PacketFormat]
) -> None:
    claim_rows = [claim_cells(claim) for claim in claims]
    vote_rows = [row for claim in claims for row in vote_cells(claim)]
    if PacketFormat.CSV in formats:
        write_csv(folder / "claims.csv", CLAIM_COLUMNS, claim_rows)
        write_csv(folder / "votes.csv", VOTE_COLUMNS, vote_rows)
    if PacketFormat.PARQUET in formats:
        write_parquet(folder / "claims.parquet", CLAIM_COLUMNS, claim_rows)
        write_parquet(folder / "votes.parquet", VOTE_COLUMNS, vote_rows)


class _Stream(Protocol):
    def write(self, text: str, /) -> int: ...


def _lines(stream: _Stream, rows: Iterable[JsonObject]) -> None:
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # a lone surrogate of a trace: only its escape is UTF-8
            text = json.dumps(row, ensure_ascii=True, allow_nan=False)
        stream.write(text + "\n")


def _guideline_json(guideline: Guideline) -> JsonObject:
    return {
        "version": guideline.version,
        "at": guideline.at.isoformat(),
        "author": guideline.author,
        "change": guideline.change,
        "text": guideline.text,
    }


def filters_json(filters: ExportFilters) -> JsonObject:
    """The filters as manifest and trail tell them."""
    return {
        "statuses": sorted(filters.statuses),
        "labels": sorted(filters.labels),
        "slice": filters.slice,
        "since": filters.since.isoformat() if filters.since else None,
        "until": filters.until.isoformat() if filters.until else None,
        **({"traces": sorted(filters.traces)} if filters.traces else {}),
        **({"tag": filters.tag} if filters.tag is not None else {}),
    }


def _index(done: _Written) -> str:
    rows = "".join(
        f'<tr><td><a href="{name}">{escape(trace_id)}</a></td><td>'
        + "<br>".join(
            f'<span class="{look[2]}"><span class="label">{look[0]} {escape(look[1])}</span></span>'
            f" {escape(claim.text)}"
            for claim in claims
            for look in [look_of(claim)]
        )
        + "</td></tr>"
        for name, trace_id, claims in done.listed
    )
    return (
        page(
            "Reviewed traces",
            [
                "<h1>Reviewed traces</h1>",
                f"<table><tr><th>Trace</th><th>Claims</th></tr>{rows}</table>",
            ],
        )
        .encode("utf-8", "replace")
        .decode("utf-8")
    )
