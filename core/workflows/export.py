"""export_packet: what reviewers decided, as a folder that explains and proves itself."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Protocol

from core.codec import trace_document, verdict_document, versions_document
from core.errors import InputError
from core.ports import Progress
from core.records import JsonObject, VerdictLabel
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.openinference import annotations_of
from core.review.packet import packet_row
from core.review.preferences import ChosenEdit, edit_pairs, verdict_pairs
from core.review.readable import look_of, page, trace_page
from core.review.readers import readable_by, require_reader
from core.review.records import Person, ReviewedClaim, ReviewStatus, Split
from core.workflows.manifest import TO_BE_SIGNED, write_manifest
from core.workflows.packet_readme import (
    ANNOTATIONS,
    GUIDELINE,
    PACKET,
    PREFERENCES,
    REPORTS,
    SUPERSEDED,
    TRACES,
    TRAIL,
    VERDICTS,
    packet_readme,
)
from core.workflows.packet_tables import (
    CLAIM_COLUMNS,
    VOTE_COLUMNS,
    claim_cells,
    decided_at,
    vote_cells,
    write_csv,
    write_parquet,
)
from core.workflows.printing import print_page

_LEFT_SECONDS = 3_600  # a part that is older is nobody's any more
DECIDED = frozenset({ReviewStatus.SINGLE, ReviewStatus.UNANIMOUS, ReviewStatus.ADJUDICATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFilters:
    """Which claims to export; an empty field asks for nothing.

    ``since`` is the first instant of the decision that counts, ``until`` the first that does not.
    """

    statuses: frozenset[ReviewStatus] = DECIDED
    labels: frozenset[VerdictLabel] = frozenset()
    slice: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The claims to export, and how many are left out, by reason."""

    claims: tuple[ReviewedClaim, ...]
    left_out: Mapping[str, int]


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


class PacketStore(Protocol):
    """What an export asks of a database."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        ...

    def unfinished(self) -> int:
        """How many claims have a vote, and readings still to come."""
        ...

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds a reading or a tie-break of."""
        ...

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run; raises NotFound without the trace."""
        ...

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the repairs of these traces."""
        ...

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements on these claims that no longer stand, as they were written, the oldest first."""
        ...

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of the audit trail that tell of these claims, the oldest first."""
        ...

    def machine_profiles(self) -> Mapping[str, str]:
        """Name → identity of the people whom a machine without login made for itself."""
        ...

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, the oldest first."""
        ...

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of an export."""
        ...


def select_claims(
    store: PacketStore, user: Person, filters: ExportFilters = ExportFilters()
) -> Selection:
    """The reviewed claims that pass, in the order of trace and number; nobody loses their blindness.

    Raises NotAllowed for somebody who is neither lead nor auditor.
    """
    require_reader(user, "export what everybody said")
    readable = readable_by(user, store.reviewed(), store.open_claims(user))
    left_out: Counter[str] = Counter()
    if waiting := store.unfinished():
        left_out["readings are still to come"] = waiting
    if readable.kept_back:
        left_out["you still have to judge it yourself"] = readable.kept_back
    kept = []
    for claim in readable.claims:
        reason = _not_wanted(claim, filters)
        if reason is None:
            kept.append(claim)
        else:
            left_out[reason] += 1
    kept.sort(key=lambda claim: (claim.trace_id, claim.content_hash, claim.claim_id))
    return Selection(claims=tuple(kept), left_out=dict(left_out))


def export_packet(
    store: PacketStore,
    user: Person,
    out: Path,
    *,
    at: datetime,
    filters: ExportFilters = ExportFilters(),
    reports: bool = True,
    pdf: bool = False,
    progress: Progress | None = None,
    signed_as: str | None = None,
) -> ExportReport:
    """Write a packet to ``out``, which must not hold anything yet; all of it, or nothing.

    ``signed_as`` says in the manifest that a signature of that meaning follows: without it the
    packet will not check. Packets are their owner's alone.

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
        report = _write(
            store, user, part, chosen, at=at, filters=filters, reports=reports, pdf=pdf,
            progress=progress or _silent, signed_as=signed_as,
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
            "filters": _filters_json(filters),
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


def _not_wanted(claim: ReviewedClaim, filters: ExportFilters) -> str | None:
    status, final, when = claim.resolution.status, claim.resolution.final, decided_at(claim)
    if status not in filters.statuses:
        return f"status {status.value} was not asked for"
    if filters.labels and (final is None or final.support not in filters.labels):
        return "another label was asked for"
    if filters.slice is not None and filters.slice not in claim.slices:
        return "not of the slice"
    if (filters.since or filters.until) and when is None:
        return "without a date"
    if when is not None and filters.since is not None and when < filters.since:
        return "decided before the dates"
    if when is not None and filters.until is not None and when >= filters.until:
        return "decided after the dates"
    return None


# ---------------------------------------------------------------- the files


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


def _write(
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
) -> ExportReport:
    claims, done = chosen.claims, _Written()
    by_status = Counter(claim.resolution.status for claim in claims)
    edits = store.edits(list(dict.fromkeys(claim.content_hash for claim in claims)))
    total = len({claim.content_hash for claim in claims})
    if reports:
        (folder / REPORTS).mkdir()
    with (
        (folder / PACKET).open("w", encoding="utf-8") as packet,
        (folder / TRACES).open("w", encoding="utf-8") as traces,
        (folder / VERDICTS).open("w", encoding="utf-8") as verdicts,
        (folder / ANNOTATIONS).open("w", encoding="utf-8") as annotations,
        (folder / PREFERENCES).open("w", encoding="utf-8") as preferences,
    ):
        # By the trace's content: two versions of one trace are two traces here.
        for content_hash, grouped in groupby(claims, key=lambda claim: claim.content_hash):
            of_trace = list(grouped)
            first = of_trace[0]
            found = store.evidence(
                first.trace_id, content_hash, first.signal.run_key if first.signal else None
            )
            _lines(traces, [trace_document(found.trace)])
            if found.verdict is not None:
                named = replace(found.verdict, content_hash=content_hash)
                _lines(verdicts, [verdict_document(named)])
                versions = versions_document(found.verdict.versions)
                done.verifiers[json.dumps(versions, sort_keys=True)] = versions
            _lines(packet, (_row(claim, found, done) for claim in of_trace))
            _lines(annotations, [annotations_of(first.trace_id, of_trace)])
            pairs = [
                *verdict_pairs(of_trace, found.trace, found.verdict),
                *edit_pairs(found.trace, edits.get(content_hash, ())),
            ]
            if first.split is Split.HELD_OUT:
                done.held_out_pairs += len(pairs)  # nothing is ever tuned on a held-out trace
            else:
                _lines(preferences, pairs)
                done.pairs += len(pairs)
            done.traces += 1
            done.votes += sum(len(claim.annotations) for claim in of_trace)
            if reports:
                # Numbered: a trace's id is somebody else's text, and no path.
                name = f"trace-{done.traces:06d}.html"
                html = trace_page(of_trace, found.trace, found.verdict)
                (folder / REPORTS / name).write_text(html, encoding="utf-8")
                if pdf:
                    print_page(
                        folder / REPORTS / name, (folder / REPORTS / name).with_suffix(".pdf")
                    )
                done.listed.append((name, first.trace_id, of_trace))
            progress(done.traces, total, "traces")
    _write_tables(folder, claims)
    with (folder / SUPERSEDED).open("w", encoding="utf-8") as superseded:
        _lines(superseded, store.superseded(claims))
    with (folder / TRAIL).open("w", encoding="utf-8") as trail:
        _lines(trail, store.trail(claims))
    with (folder / GUIDELINE).open("w", encoding="utf-8") as guideline:
        _lines(guideline, map(_guideline_json, store.guidelines()))
    if reports:
        (folder / REPORTS / "index.html").write_text(_index(done), encoding="utf-8")
    about: dict[str, object] = {
        "exported_at": at.astimezone(UTC).isoformat(),
        "exported_by": user.name,
        "claims": len(claims),
        "traces": done.traces,
        "votes": done.votes,
        "by_status": {status.value: by_status[status] for status in ReviewStatus},
        "left_out": dict(chosen.left_out),
        "filters": _filters_json(filters),
        "preference_pairs": {"written": done.pairs, "left_out_as_held_out": done.held_out_pairs},
        "machine_profiles": _profiles_among(claims, store.machine_profiles()),
        "verifier_versions": list(done.verifiers.values()),
        **({TO_BE_SIGNED: signed_as} if signed_as else {}),
    }
    (folder / "README.md").write_text(
        packet_readme(about, reports=reports, pdf=pdf), encoding="utf-8"
    )
    manifest_sha256 = write_manifest(folder, about)
    return ExportReport(
        folder=folder,
        manifest_sha256=manifest_sha256,
        claims=len(claims),
        traces=done.traces,
        votes=done.votes,
        by_status={status: by_status[status] for status in ReviewStatus},
        left_out=chosen.left_out,
        preference_pairs=done.pairs,
        files=sum(1 for each in folder.rglob("*") if each.is_file()) - 1,
    )


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


def _write_tables(folder: Path, claims: Sequence[ReviewedClaim]) -> None:
    claim_rows = [claim_cells(claim) for claim in claims]
    vote_rows = [row for claim in claims for row in vote_cells(claim)]
    write_csv(folder / "claims.csv", CLAIM_COLUMNS, claim_rows)
    write_csv(folder / "votes.csv", VOTE_COLUMNS, vote_rows)
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


def _filters_json(filters: ExportFilters) -> JsonObject:
    return {
        "statuses": sorted(filters.statuses),
        "labels": sorted(filters.labels),
        "slice": filters.slice,
        "since": filters.since.isoformat() if filters.since else None,
        "until": filters.until.isoformat() if filters.until else None,
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


def _silent(done: int, total: int | None, what: str) -> None:
    """Nobody watches."""
