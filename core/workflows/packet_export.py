"""export_packet: what reviewers decided, as a folder that explains and proves itself; its preview."""

from __future__ import annotations

import csv
import json
import logging
import os
import re
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import Enum, StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from core.codec import trace_document, verdict_document, versions_document
from core.errors import InputError
from core.ports import Progress
from core.records import JsonObject, VerdictLabel
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.openinference import annotations_of
from core.review.packet import packet_row, relation_of
from core.review.preferences import ChosenEdit, edit_pairs, verdict_pairs
from core.review.readable import index_page, trace_page
from core.review.readers import readable_by, require_reader
from core.review.records import (
    STATUS_WORDS,
    Judgement,
    Person,
    ReviewedClaim,
    ReviewStatus,
    Split,
)
from core.workflows.packet_folder import (
    MANIFEST,
    SIGNATURES,
    TO_BE_SIGNED,
    hold,
    remove_abandoned,
    unfinished,
    write_manifest,
)
from core.workflows.printing import print_page
from core.workflows.verify import silent

Cell = str | int | float | bool | datetime | None
Row = Mapping[str, Cell]

TEXT, WHOLE, NUMBER, FLAG, TIME = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.timestamp("us", tz="UTC"),
)

# Name → type, where it stands in a claim or an annotation, and what it means: the README says the same.
Column = tuple[pa.DataType, str | Callable[[Any], Cell], str]
CLAIM_COLUMNS: Mapping[str, Column] = {
    "claim_id": (TEXT, "claim_id", "The claim: trace id, then its number in the answer."),
    "trace_id": (TEXT, "trace_id", "The captured answer that the claim is from."),
    "claim": (TEXT, "text", "The claim, completed where the answer alone would not be understood."),
    "category": (TEXT, "category", "The trace's category, as captured."),
    "slices": (
        TEXT,
        lambda claim: "; ".join(claim.slices) or None,
        "The named subsets that the trace belongs to, separated by semicolons.",
    ),
    "split": (TEXT, "split", "train, validation or held_out, where somebody has said so."),
    "status": (
        TEXT,
        "resolution.status",
        "single (one annotation), unanimous (the annotations agree), adjudicated (a third person "
        "decided), unresolved (the annotations differ: no label).",
    ),
    "label": (
        TEXT,
        "resolution.final.support",
        "What stands: supported, unsupported, contradicted, not_enough_evidence, or not_a_claim (it "
        "asserts nothing, or was cut out of the answer wrongly); empty while unresolved.",
    ),
    "correction": (
        TEXT,
        lambda claim: claim.resolution.final.correction or None if claim.resolution.final else None,
        "What a claim that was cut wrongly should say, where a reviewer wrote it.",
    ),
    "relation": (
        TEXT,
        lambda claim: relation_of(claim.resolution.final),
        "The label as a relation: entailment, neutral or contradiction.",
    ),
    "source_id": (
        TEXT,
        "resolution.final.source_id",
        "The source that says it; empty when no source does.",
    ),
    "more_source_ids": (
        TEXT,
        lambda claim: _more_sources(claim.resolution.final),
        "The sources that it rests on besides, separated by semicolons; an id that holds one is in "
        'double quotes, as are others that would be misread, with each of its own doubled ("a; b"; c).',
    ),
    "conflation": (
        FLAG,
        "resolution.final.conflation",
        "Whether the answer credits another source; empty when nobody said.",
    ),
    "readings": (
        WHOLE,
        lambda claim: len(claim.annotations),
        "How many people have read the claim.",
    ),
    "adjudicator": (TEXT, "adjudication.reviewer", "Who decided, where the annotations differed."),
    "cause": (
        TEXT,
        "adjudication.cause",
        "Why the annotations differed, as the adjudicator saw it.",
    ),
    "decided_at": (TIME, lambda claim: decided_at(claim), "When the label came about, in UTC."),
    "inclusion_probability": (
        NUMBER,
        "inclusion_probability",
        "The probability with which the claim was drawn for the random audit; empty when it was "
        "queued for another reason. Rates over all claims need these rows alone.",
    ),
    "guideline_version": (
        WHOLE,
        lambda claim: _newest_guideline(claim),
        "The newest version of the guideline that an annotator had.",
    ),
    "machine_verdict": (TEXT, "signal.verdict", "What the verifier said."),
    "machine_decision": (TEXT, "signal.decision", "Whether the verifier blocked the claim."),
    "machine_source_id": (
        TEXT,
        "signal.routed_source_id",
        "The source that the verifier checked the claim against.",
    ),
    "machine_probability": (
        NUMBER,
        "signal.probability",
        "The verifier's probability that this source supports it.",
    ),
    "machine_threshold": (
        NUMBER,
        "signal.threshold",
        "The threshold that the probability was held against.",
    ),
}
ANNOTATION_COLUMNS: Mapping[str, Column] = {
    "claim_id": (TEXT, "claim_id", "The claim that was read."),
    "trace_id": (TEXT, "trace_id", "The captured answer that it is from."),
    "slot": (WHOLE, "slot", "First or second annotation."),
    "reviewer": (TEXT, "reviewer", "Who read it."),
    "at": (TIME, "at", "When the judgement was given, in UTC."),
    "support": (TEXT, "judgement.support", "Is it supported: the reviewer's answer."),
    "correction": (
        TEXT,
        lambda annotation: annotation.judgement.correction or None,
        "What a claim that was cut wrongly should say, where the reviewer wrote it.",
    ),
    "source_id": (
        TEXT,
        "judgement.source_id",
        "Who owns it: the source that the reviewer chose; empty for none.",
    ),
    "more_source_ids": (
        TEXT,
        lambda annotation: _more_sources(annotation.judgement),
        "The sources that it rests on besides, separated by semicolons; an id that holds one is in "
        'double quotes, as are others that would be misread, with each of its own doubled ("a; b"; c).',
    ),
    "conflation": (
        FLAG,
        "judgement.conflation",
        "Whether the answer credits another source; empty when not said.",
    ),
    "confidence": (WHOLE, "confidence", "1 (a guess) to 5 (certain); empty when not said."),
    "rationale": (TEXT, "rationale", "The reviewer's reason, in their words."),
    "saw_model_output": (
        FLAG,
        "saw_model_output",
        "Whether the verifier's view was shown before this judgement.",
    ),
    "changed_after_reveal": (
        FLAG,
        "changed_after_reveal",
        "Whether the judgement was changed after the reveal.",
    ),
    "first_support": (
        TEXT,
        "first.support",
        "The judgement before the reveal, where one was made.",
    ),
    "first_source_id": (TEXT, "first.source_id", "The source chosen before the reveal."),
    "seconds": (NUMBER, "seconds", "Seconds from the claim's appearance to the first judgement."),
    "queue_reason": (TEXT, "queue_reason", "Why the claim was offered to this reviewer."),
    "inclusion_probability": (
        NUMBER,
        "inclusion_probability",
        "The probability of the random draw; empty when not drawn.",
    ),
    "guideline_version": (
        WHOLE,
        "guideline_version",
        "The version of the guideline that the reviewer had.",
    ),
}

# A spreadsheet takes a cell that begins like this for a formula, and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# What stands in a list of ids without quotes: no separator in it, no space around it, no formula.
_PLAIN_ID = re.compile(r"""[^\s;"'=+@-](?:[^;"\r\n]*[^\s;"])?""")


def claim_cells(claim: ReviewedClaim) -> Row:
    """One claim as a row of CLAIM_COLUMNS."""
    return {name: _cell(claim, where) for name, (_, where, _) in CLAIM_COLUMNS.items()}


def annotation_cells(claim: ReviewedClaim) -> list[Row]:
    """The annotations of one claim as rows of ANNOTATION_COLUMNS."""
    return [
        {
            name: _cell(claim if name in ("claim_id", "trace_id") else annotation, where)
            for name, (_, where, _) in ANNOTATION_COLUMNS.items()
        }
        for annotation in claim.annotations
    ]


def _cell(record: Any, where: str | Callable[[Any], Cell]) -> Cell:
    """What stands there; None as soon as a part of the way is not there."""
    if not isinstance(where, str):
        return where(record)
    for name in where.split("."):
        record = None if record is None else getattr(record, name)
    found: Cell = record.value if isinstance(record, Enum) else record
    return found


def _more_sources(judgement: Judgement | None) -> str | None:
    ids = judgement.more_source_ids if judgement else ()
    return "; ".join(map(_quoted, ids)) or None


def _quoted(source_id: str) -> str:
    if _PLAIN_ID.fullmatch(source_id):
        return source_id
    return '"' + source_id.replace('"', '""') + '"'


def _newest_guideline(claim: ReviewedClaim) -> int | None:
    versions = [annotation.guideline_version for annotation in claim.annotations]
    if claim.adjudication is not None:
        versions.append(claim.adjudication.guideline_version)
    return max(versions, default=None)


def decided_at(claim: ReviewedClaim) -> datetime | None:
    """When the tie-break was made, else when the last reading was."""
    if claim.adjudication is not None:
        return claim.adjudication.at
    return max((annotation.at for annotation in claim.annotations), default=None)


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[Row]) -> None:
    """Write rows as CSV that a spreadsheet opens as text, never as formulas."""
    names = list(columns)
    # The mark at the start is how Excel knows UTF-8.
    with path.open("w", newline="", encoding="utf-8-sig", errors="replace") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([csv_cell(row[name]) for name in names] for row in rows)


def csv_cell(value: Cell) -> str:
    """A cell's text; one that would be a formula gets an apostrophe in front, in CSV alone."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)  # a number of ours: a minus sign is none of a formula
    if isinstance(value, datetime):
        return value.isoformat()
    text = value.replace("\x00", "␀")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def write_parquet(path: Path, columns: Mapping[str, Column], rows: Sequence[Row]) -> None:
    """Write rows as Parquet: the same columns with their types, every text exactly as it is."""
    schema = pa.schema([pa.field(name, kind) for name, (kind, *_) in columns.items()])
    table = pa.Table.from_pylist([{n: _exact(row[n]) for n in columns} for row in rows], schema)
    pq.write_table(table, path, compression="zstd")


def _exact(value: Cell) -> Cell:
    # Parquet holds UTF-8, which has no lone surrogates; the JSON Lines have them escaped.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


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
    traces: frozenset[str] = frozenset()
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The claims to export, and how many are left out, by reason."""

    claims: tuple[ReviewedClaim, ...]
    left_out: Mapping[str, int]


class PacketStore(Protocol):
    """What an export asks of a database."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in."""

    def unfinished(self) -> int:
        """How many claims have an annotation, and annotations still to come."""

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds an annotation or a tie-break of."""

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run; raises NotFound without the trace."""

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the repairs of these traces."""

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements on these claims that no longer stand, as they were written, the oldest first."""

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of the audit trail that tell of these claims, the oldest first."""

    def machine_profiles(self) -> Mapping[str, str]:
        """Name → identity of the people whom a machine without login made for itself."""

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, the oldest first."""

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of an export."""


EVERY_DECISION = ExportFilters()


def select_claims(
    store: PacketStore, user: Person, filters: ExportFilters = EVERY_DECISION
) -> Selection:
    """The reviewed claims that pass, in the order of trace and number; nobody loses their blindness.

    Raises NotAllowed for somebody who is neither lead nor auditor.
    """
    require_reader(user, "export what everybody said")
    readable = readable_by(user, store.reviewed(), store.open_claims(user))
    left_out: Counter[str] = Counter()
    if waiting := store.unfinished():
        left_out["annotations are still to come"] = waiting
    if readable.kept_back:
        left_out["you still have to judge it yourself"] = readable.kept_back
    tagged = frozenset[str]() if filters.tag is None else store.tagged(filters.tag)
    kept = []
    for claim in readable.claims:
        reason = _not_wanted(claim, filters, tagged)
        if reason is None:
            kept.append(claim)
        else:
            left_out[reason] += 1
    kept.sort(key=lambda claim: (claim.trace_id, claim.content_hash, claim.claim_id))
    return Selection(claims=tuple(kept), left_out=dict(left_out))


def _not_wanted(claim: ReviewedClaim, filters: ExportFilters, tagged: frozenset[str]) -> str | None:
    status, final, when = claim.resolution.status, claim.resolution.final, decided_at(claim)
    if status not in filters.statuses:
        return f"status “{STATUS_WORDS[status]}” was not asked for"
    if filters.labels and (final is None or final.support not in filters.labels):
        return "another label was asked for"
    if filters.slice is not None and filters.slice not in claim.slices:
        return "not of the slice"
    if filters.traces and claim.trace_id not in filters.traces:
        return "another trace was asked for"
    if filters.tag is not None and claim.trace_id not in tagged:
        return "without the tag"
    if (filters.since or filters.until) and when is None:
        return "without a date"
    if when is not None and filters.since is not None and when < filters.since:
        return "decided before the dates"
    if when is not None and filters.until is not None and when >= filters.until:
        return "decided after the dates"
    return None


PACKET, TRACES, VERDICTS = "packet.jsonl", "traces.jsonl", "verdicts.jsonl"
ANNOTATIONS, PREFERENCES, SUPERSEDED = "annotations.jsonl", "preferences.jsonl", "superseded.jsonl"
TRAIL, GUIDELINE, REPORTS = "audit_trail.jsonl", "guideline.jsonl", "reports"


class PacketFormat(StrEnum):
    """What a packet may hold besides what reads it back."""

    CSV = "csv"
    PARQUET = "parquet"
    OPENINFERENCE = "openinference"
    PREFERENCES = "preferences"


EVERY_FORMAT = frozenset(PacketFormat)
FILES_OF: Mapping[PacketFormat, tuple[str, ...]] = {
    PacketFormat.CSV: ("claims.csv", "votes.csv"),
    PacketFormat.PARQUET: ("claims.parquet", "votes.parquet"),
    PacketFormat.OPENINFERENCE: (ANNOTATIONS,),
    PacketFormat.PREFERENCES: (PREFERENCES,),
}
FILES: Mapping[str, str] = {
    PACKET: "One reviewed claim a line: the claim, its sources, its label, every annotation and "
    "tie-break.",
    "claims.csv": "One row a claim. A text that a spreadsheet would take for a formula has an "
    "apostrophe in front.",
    "claims.parquet": "The same with types, every text exactly as it is.",
    "votes.csv": "One row an annotation.",
    "votes.parquet": "The same with types, every text exactly as it is.",
    TRACES: "The captured answers with every tool output, as they were stored.",
    VERDICTS: "What the verifier said about them, with all its measurements.",
    ANNOTATIONS: "The reviews as OpenInference annotations, one trace a line.",
    PREFERENCES: "Pairs of what people preferred to what the machine had said; held-out traces "
    "give none.",
    SUPERSEDED: "Judgements that their own reviewer, or another decision, replaced since, as they were "
    "written.",
    TRAIL: "The events of the audit trail that tell of these claims.",
    GUIDELINE: "The versions of the guideline.",
    MANIFEST: "The SHA-256 of every file, the filters, what was left out.",
    SIGNATURES: "Who signed the packet, when and with which meaning, once somebody has.",
}
REPORT_FILE = (
    f"{REPORTS}/index.html",
    "A page for people for each trace: the answer with its claims marked, every annotation with its "
    "reason, the sources in full.",
)


def files_of(formats: frozenset[PacketFormat]) -> dict[str, str]:
    """The files of a packet with these formats, each with what it holds."""
    absent = {name for each in EVERY_FORMAT - formats for name in FILES_OF[each]}
    return {name: words for name, words in FILES.items() if name not in absent}


def packet_readme(
    about: JsonObject,
    *,
    reports: bool,
    pdf: bool,
    formats: frozenset[PacketFormat] = EVERY_FORMAT,
) -> str:
    """The text of README.md for a packet with that manifest."""
    left_out = about["left_out"]
    assert isinstance(left_out, Mapping)
    missing = "".join(f"\n- {count}: {reason}" for reason, count in left_out.items()) or " none."
    files = files_of(formats)
    if reports:
        name, words = REPORT_FILE
        files[name] = words + (" Beside each page, the same as PDF." if pdf else "")
    columns = {
        part: "\n".join(f"| `{name}` | {words} |" for name, (*_, words) in columns.items())
        for part, columns in (("claims", CLAIM_COLUMNS), ("votes", ANNOTATION_COLUMNS))
    }
    return f"""# Adjudicated packet

{about["claims"]} claims of {about["traces"]} traces with {about["votes"]} annotations, exported
{about["exported_at"]}.

Claims left out, and why:{missing}

| file | what it holds |
|---|---|
{chr(10).join(f"| `{name}` | {words} |" for name, words in files.items())}

- Check that nothing was changed: `provenanceguard audit verify --packet FOLDER`
- Read it into another workbench: `provenanceguard import FOLDER`; reading it again changes nothing.
- Score a verifier against it: `provenanceguard evaluate FOLDER/{PACKET}`

## A line of `{PACKET}`

- `label`: what stands; null while the annotations differ, and for what is no claim. `relation` is the
  same as a relation.
- `not_a_claim`, in `adjudication.final` and in a vote: the text asserts nothing or was cut out of the
  answer wrongly; `support` is null then, and `correction` what it should say, or null.
- `gold_source_ids`: the sources that say it, the main one first; empty when no source does. Of
  annotations that agree: those that all name. `more_source_ids`, in `adjudication.final` and in a vote:
  the sources besides `source_id`.
- `passages`, in `adjudication.final` and in a vote: where a reviewer marked that a source says it; `start`
  and `end` count the characters of the source's `text`, `sha256` is of that stretch.
- `gold_attribution`: `conflation` when the answer credits another source.
- `adjudication.status`: how the label came about: a `single` reading, `unanimous` annotations,
  `adjudicated` by a third person, or `unresolved`.
- `adjudication.votes`: every annotation as it stands. `saw_model_output`: the verifier's view was shown
  before this judgement; `changed_after_reveal`: the reviewer changed it then.
- `adjudication.inclusion_probability`: the probability with which the claim was drawn for the random
  audit; null when it was queued for another reason.
- `citations`: what the answer cites for the claim, each with where it leads and whether that says it:
  `says_it`, `says_otherwise`, `silent`, `resolves_to_nothing` or `not_resolvable_here`.
- `review_record`: what another workbench needs to keep the very same annotations.

## Columns of `claims`

| column | meaning |
|---|---|
{columns["claims"]}

## Columns of `votes`

| column | meaning |
|---|---|
{columns["votes"]}
"""


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
        streams = _streams(folder, stack, formats)
        # By the trace's content: two versions of one trace are two traces here.
        for content_hash, grouped in groupby(claims, key=lambda claim: claim.content_hash):
            of_trace = list(grouped)
            found = _write_trace(store, streams, of_trace, edits.get(content_hash, ()), done)
            if reports:
                _write_report(folder / REPORTS, of_trace, found, done, pdf=pdf)
            progress(done.traces, total, "traces")
    _write_whole(store, folder, claims, formats)
    if reports:
        (folder / REPORTS / "index.html").write_text(index_page(done.listed), encoding="utf-8")
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
    for name, rows in (
        (SUPERSEDED, store.superseded(claims)),
        (TRAIL, store.trail(claims)),
        (GUIDELINE, map(_guideline_json, store.guidelines())),
    ):
        with (folder / name).open("w", encoding="utf-8") as file:
            _lines(file, rows)


def _streams(folder: Path, stack: ExitStack, formats: frozenset[PacketFormat]) -> dict[str, TextIO]:
    """The files that grow with each trace, until the stack is left; what nobody asked for goes nowhere."""
    asked = files_of(formats)
    return {
        name: stack.enter_context(
            (folder / name if name in asked else Path(os.devnull)).open("w", encoding="utf-8")
        )
        for name in (PACKET, TRACES, VERDICTS, ANNOTATIONS, PREFERENCES)
    }


def _write_trace(
    store: PacketStore,
    streams: Mapping[str, TextIO],
    of_trace: Sequence[ReviewedClaim],
    edits: Sequence[ChosenEdit],
    done: _Written,
) -> Evidence:
    """The lines of one trace version, whose claims these are, in every file."""
    first = of_trace[0]
    found = store.evidence(
        first.trace_id, first.content_hash, first.signal.run_key if first.signal else None
    )
    _lines(streams[TRACES], [trace_document(found.trace)])
    if found.verdict is not None:
        named = replace(found.verdict, content_hash=first.content_hash)
        _lines(streams[VERDICTS], [verdict_document(named)])
        versions = versions_document(found.verdict.versions)
        done.verifiers[json.dumps(versions, sort_keys=True)] = versions
    _lines(streams[PACKET], (_row(claim, found, done) for claim in of_trace))
    _lines(streams[ANNOTATIONS], [annotations_of(first.trace_id, of_trace)])
    pairs = [
        *verdict_pairs(of_trace, found.trace, found.verdict),
        *edit_pairs(found.trace, edits),
    ]
    if first.split is Split.HELD_OUT:
        done.held_out_pairs += len(pairs)  # nothing is ever tuned on a held-out trace
    else:
        _lines(streams[PREFERENCES], pairs)
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
    names = {annotation.reviewer for claim in claims for annotation in claim.annotations}
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
    annotation_rows = [row for claim in claims for row in annotation_cells(claim)]
    if PacketFormat.CSV in formats:
        write_csv(folder / "claims.csv", CLAIM_COLUMNS, claim_rows)
        write_csv(folder / "votes.csv", ANNOTATION_COLUMNS, annotation_rows)
    if PacketFormat.PARQUET in formats:
        write_parquet(folder / "claims.parquet", CLAIM_COLUMNS, claim_rows)
        write_parquet(folder / "votes.parquet", ANNOTATION_COLUMNS, annotation_rows)


def _lines(stream: TextIO, rows: Iterable[JsonObject]) -> None:
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


HEAD_CHARACTERS = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedFile:
    """A file of the packet: what it holds, its rows where they are known, and how it begins.

    ``head`` is of a packet of the first trace alone, cut; "" for what is no text, and for the
    manifest, which is another one for the whole packet.
    """

    name: str
    words: str
    rows: int | None
    head: str
    cut: bool


def preview_packet(
    store: PacketStore,
    user: Person,
    chosen: Selection,
    *,
    at: datetime,
    filters: ExportFilters,
    formats: frozenset[PacketFormat],
) -> tuple[PreviewedFile, ...]:
    """The files that these claims make: written for the first trace, read, and thrown away.

    Nothing is exported and no event is kept; raises NotFound, StoreError.
    """
    if not chosen.claims:
        return ()
    first = tuple(
        claim for claim in chosen.claims if claim.content_hash == chosen.claims[0].content_hash
    )
    with tempfile.TemporaryDirectory(prefix="provenanceguard-preview-") as place:
        folder = Path(place)
        write_files(
            store, user, folder, replace(chosen, claims=first), at=at, filters=filters,
            reports=False, pdf=False, progress=silent, formats=formats,
        )  # fmt: skip
        rows = _known_rows(chosen)
        return tuple(
            _previewed(folder / name, words, rows.get(name))
            for name, words in files_of(formats).items()
            if (folder / name).exists()
        )


def _previewed(file: Path, words: str, rows: int | None) -> PreviewedFile:
    head, cut = "", False
    if file.suffix != ".parquet" and file.name != MANIFEST:
        with file.open(encoding="utf-8", newline="") as lines:
            head = lines.read(HEAD_CHARACTERS + 1)
        cut = len(head) > HEAD_CHARACTERS
    return PreviewedFile(
        name=file.name, words=words, rows=rows, head=head[:HEAD_CHARACTERS], cut=cut
    )


def _known_rows(chosen: Selection) -> Mapping[str, int]:
    """The rows of the files whose number is known without writing them."""
    claims = len(chosen.claims)
    votes = sum(len(claim.annotations) for claim in chosen.claims)
    traces = len({claim.content_hash for claim in chosen.claims})
    return {
        PACKET: claims,
        "claims.csv": claims,
        "claims.parquet": claims,
        "votes.csv": votes,
        "votes.parquet": votes,
        TRACES: traces,
    }


LOG = logging.getLogger(__name__)


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
    for left in remove_abandoned(out.parent):
        LOG.warning("removed %s: an export that was killed left it behind", left)
    part = Path(tempfile.mkdtemp(prefix=unfinished(out.name), dir=out.parent))
    held = hold(part)
    try:
        report = write_files(
            store, user, part, chosen, at=at, filters=filters, reports=reports, pdf=pdf,
            progress=progress or silent, signed_as=signed_as, formats=formats,
        )  # fmt: skip
        _owners_alone(part)
        if out.exists():
            out.rmdir()
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)  # after the rename there is nothing left of it
        os.close(held)
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
    return replace(report, folder=out)


def _owners_alone(folder: Path) -> None:
    """A packet holds patients' records and reviewers' words: nobody else may read it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


PREFIX = "reviewer-"
_HEXADECIMAL_DIGITS = 8
_WHO, _WORDS = ("reviewer", "author"), ("rationale", "rule", "change", "text")


@dataclass(slots=True, kw_only=True)
class Names:
    """Name → pseudonym, drawn at random when a name is first met; none is ever drawn twice."""

    drawn: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The pseudonym of that name."""
        while name not in self.drawn:
            made = PREFIX + secrets.token_hex(_HEXADECIMAL_DIGITS // 2)
            if made not in self.drawn.values():
                self.drawn[name] = made
        return self.drawn[name]

    def out_of(self, words: str) -> str:
        """The words with every known name replaced, the longest first."""
        known = sorted(self.drawn, key=len, reverse=True)
        if not known:
            return words
        found = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in known))
        return found.sub(lambda match: self.drawn[match.group()], words)

    def out_of_words(self, said: Any) -> Any:
        """A record of what somebody said, without who said it and without names in their words."""
        who = {n.name: self.of(getattr(said, n.name)) for n in fields(said) if n.name in _WHO}
        words = {n.name: getattr(said, n.name) for n in fields(said) if n.name in _WORDS}
        told = {name: self.out_of(each) for name, each in words.items() if each is not None}
        return replace(said, **who, **told)

    def out_of_record(self, value: Any) -> Any:
        """A JSON value with every known name replaced in its texts; keys stay."""
        if isinstance(value, str):
            return self.out_of(value)
        if isinstance(value, Mapping):
            return {key: self.out_of_record(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.out_of_record(each) for each in value]
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonymous:
    """A PacketStore that names nobody; ``user`` is who really exports."""

    store: PacketStore
    user: Person
    names: Names

    @property
    def exporter(self) -> Person:
        """The exporting person under their pseudonym."""
        return replace(self.user, name=self.names.of(self.user.name), email=None)

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in."""
        return tuple(map(self._claim, self.store.reviewed()))

    def unfinished(self) -> int:
        """How many claims have an annotation, and annotations still to come."""
        return self.store.unfinished()

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds an annotation or a tie-break of."""
        return self.store.open_claims(person)

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run."""
        return self.store.evidence(trace_id, content_hash, run_key)

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""
        return self.store.tagged(tag)

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the repairs of these traces."""
        return {
            key: [replace(edit, reviewer=self.names.of(edit.reviewer)) for edit in edits]
            for key, edits in self.store.edits(content_hashes).items()
        }

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements that no longer stand, without the names of their annotators."""
        yield from map(self.names.out_of_record, self.store.superseded(claims))

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of these claims. Their hashes are those of the events at home, with names."""
        for event in self.store.trail(claims):
            # A text of JSON, in which a name may be escaped or stand behind an escape.
            detail = self.names.out_of_record(json.loads(str(event["detail"])))
            yield self.names.out_of_record(event) | {"detail": json.dumps(detail, sort_keys=True)}

    def machine_profiles(self) -> Mapping[str, str]:
        """Nothing: no pseudonym is anybody else's."""
        return {}

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, without their authors' names."""
        return list(map(self.names.out_of_words, self.store.guidelines()))

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of the export at home, under the real name."""
        self.store.told(self.user, manifest_sha256, {**detail, "pseudonyms": len(self.names.drawn)})

    def _claim(self, claim: ReviewedClaim) -> ReviewedClaim:
        decided = claim.adjudication
        return replace(
            claim,
            annotations=tuple(map(self.names.out_of_words, claim.annotations)),
            adjudication=None if decided is None else self.names.out_of_words(decided),
        )


def pseudonymous(store: PacketStore, user: Person, people: Collection[Person]) -> Pseudonymous:
    """That store without names; everybody whom it knows has a pseudonym from the start."""
    names = Names()
    for person in people:
        for called in filter(None, (person.name, person.shown_as, person.email)):
            names.drawn.setdefault(called, names.of(person.name))
    return Pseudonymous(store=store, user=user, names=names)
