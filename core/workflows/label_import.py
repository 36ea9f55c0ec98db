"""Labels that exist already: a table of claim, label and source, matched to the claims that are here.

``read_labels`` reads the table, ``plan_labels`` says of each row what would become of it, and
``import_labels`` keeps what matches; ``left_csv`` is the rest, with its reasons.
"""

from __future__ import annotations

import csv
import hashlib
import io
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.citations.normal import norm_v1
from core.errors import BadRecord, InputError
from core.ports import Progress
from core.records import VerdictLabel, call_names
from core.review.assignment import ADJUDICATION_SLOT
from core.review.exchange import ClaimContext, KnownClaim, LabelImport, ReviewsPut
from core.review.items import QueueState
from core.review.packet_reader import PacketReview
from core.review.pre_labels import LabelledClaim, pre_label_of
from core.review.records import (
    SUPPORT_LABELS,
    Annotation,
    Judgement,
    Person,
    QueueReason,
    ReviewStatus,
    Support,
    Unfit,
)
from core.workflows.packet_export import FORMULA_STARTS, csv_cell

# What a column holds → the names that it may have; the first name that is there counts.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim", "claim text", "text"),
    "label": ("label", "support", "verdict"),
    "source": ("source", "source id"),
    "trace_id": ("trace id", "trace"),
    "claim_id": ("claim id",),
    "annotator": ("annotator", "reviewer"),
    "note": ("note", "rationale", "comment"),
}
LABELS: Mapping[str, Support] = {
    **{each.value.replace("_", " "): each for each in (*SUPPORT_LABELS, *Unfit)},
    "yes": VerdictLabel.SUPPORTED,
    "no": VerdictLabel.UNSUPPORTED,
    "not supported": VerdictLabel.UNSUPPORTED,
    "not enough": VerdictLabel.NOT_ENOUGH_EVIDENCE,
}
_BOTH_ANNOTATIONS = 2
AT_ONCE = 200
# Between two batches: whoever waits for SQLite's only write lock asks for it every 0.1 s at most.
PAUSE_SECONDS = 0.12


class LabelSink(Protocol):
    """What an import of labels asks of a database."""

    def claims(self) -> Sequence[KnownClaim]:
        """The claims that labels may be about."""

    def people(self) -> Mapping[str, str]:
        """Every name by which somebody who is here is known → the one that is recorded."""

    def contexts(self, claim_keys: Collection[int]) -> Mapping[int, ClaimContext]:
        """What each of these claims was read with, and what its annotators say."""

    def begun(
        self, file: str, sha256: str, *, by: Person, pre_labels: bool, new: int, known: int
    ) -> LabelImport:
        """An import of that file: a new one, or the one that was stopped, of which all is ``known``."""

    def put_annotations(
        self, reviews: Sequence[PacketReview], of: LabelImport, *, by: Person, last: bool
    ) -> ReviewsPut:
        """Keep some annotations of an import."""

    def put_pre_labels(
        self, rows: Sequence[LabelledClaim], of: LabelImport, *, by: Person, last: bool
    ) -> ReviewsPut:
        """Keep some pre-labels of an import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """A row of the table: ``cells`` under the names of COLUMNS, ``written`` as the file has them."""

    line: int
    cells: Mapping[str, str]
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """A file of labels as it was read; ``notes`` say how, where that was not plain."""

    file: str
    sha256: str
    header: tuple[str, ...]
    columns: frozenset[str]
    rows: tuple[LabelRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLabel:
    """A row that will be kept: on which claim, as whose word."""

    row: LabelRow
    claim: KnownClaim
    annotator: str
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """What would become of each row: kept, there already, or ``left`` with the reason.

    Of those left, ``taken`` are about a claim with both places taken, ``on_hold`` by work that is open.
    """

    table: LabelTable
    labels: tuple[PlannedLabel, ...]
    known: int
    left: tuple[tuple[LabelRow, str], ...]
    taken: int = 0
    on_hold: int = 0

    @property
    def matched(self) -> int:
        """The rows that are about a claim here and say something that can be kept."""
        return len(self.labels) + self.known

    def reasons(self) -> list[str]:
        """Each row that is left, with its place and why."""
        return [
            InputError(why, file=self.table.file, line=row.line).located() for row, why in self.left
        ]


# ---------------------------------------------------------------- the table


def read_labels(file: str, data: bytes) -> LabelTable:
    """The table in a file: UTF-8, UTF-16 or Windows-1252, parted by commas, semicolons, tabs or bars.

    Raises InputError with the line for what is no such table, or lacks a column for claim or label.
    """
    text, how = _decoded(file, data)
    parted, known = ",", dict[str, int]()
    for mark in ",;\t|":  # the header tells: a claim's own commas would mislead a guess
        header = next(_records(file, text, mark, heading=True), (1, ()))[1]
        if len(found := _columns(header)) > len(known):
            parted, known = mark, found
    header = next(_records(file, text, parted, heading=True), (1, ()))[1]
    lacking = [name for name in ("claim", "label") if name not in known]
    if "claim_id" in known and "trace_id" in known:
        lacking = [name for name in lacking if name != "claim"]
    if lacking:
        raise InputError(
            f"expected a column {' and a column '.join(lacking)} in the first line, found "
            f"{', '.join(header)[:200] or 'nothing'}",
            file=file,
            line=1,
        )
    rows = [
        LabelRow(
            line=line,
            cells={name: _text(cells[at]) if at < len(cells) else "" for name, at in known.items()},
            written=cells,
        )
        for line, cells in _records(file, text, parted)
        if any(cell.strip() for cell in cells)
    ][1:]
    notes = [how] if how else []
    if parted != ",":
        named = {";": "semicolons", "|": "bars", "\t": "tabs"}[parted]
        notes.append(f"read with {named} between the cells")
    return LabelTable(
        file=file,
        sha256="sha256:" + hashlib.sha256(data).hexdigest(),
        header=header,
        columns=frozenset(known),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _decoded(file: str, data: bytes) -> tuple[str, str]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16"), "read as UTF-16"
        except UnicodeDecodeError:
            raise InputError("is not the UTF-16 that it begins as", file=file) from None
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), "read as Windows-1252: it is not UTF-8"
    except UnicodeDecodeError:
        raise InputError("is text in neither UTF-8 nor Windows-1252", file=file) from None


def _records(
    file: str, text: str, parted: str, heading: bool = False
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line on which it begins, cells) of each record; of the ``heading`` alone nothing is refused."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=parted, strict=not heading)
    line = 1
    try:
        for cells in reader:
            yield line, tuple(cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {error}", file=file, line=line) from None


def _columns(header: Sequence[str]) -> dict[str, int]:
    named = [" ".join(norm_v1(name).replace("_", " ").split()) for name in header]
    found = {
        name: next((named.index(each) for each in names if each in named), None)
        for name, names in COLUMNS.items()
    }
    return {name: at for name, at in found.items() if at is not None}


def _text(cell: str) -> str:
    """The cell without the apostrophe by which an export keeps spreadsheets from running it."""
    quoted = cell.startswith("'") and cell[1:].lstrip(" ").startswith(FORMULA_STARTS)
    return (cell[1:] if quoted else cell).strip()


# ---------------------------------------------------------------- what would become of it


def plan_labels(
    sink: LabelSink, table: LabelTable, annotator: str = "", *, pre_labels: bool = False
) -> LabelPlan:
    """Match each row to a claim by trace id and text or claim id, else by text; nothing is written.

    ``annotator`` is whose labels they are where the table does not say it. A name is that of a person
    who is here in whatever case it is written.
    """
    index = _Index(sink.claims())
    found = [(row, index.claim(row.cells)) for row in table.rows]
    keys = {claim.claim_key for _, claim in found if isinstance(claim, KnownClaim)}
    contexts = sink.contexts(keys)
    plan = _Plan(contexts, sink.people(), annotator, pre_labels)
    for row, claim in found:
        plan.add(row, claim)
    return LabelPlan(
        table=table,
        labels=tuple(plan.labels.values()),
        known=plan.known,
        left=tuple(plan.left),
        taken=plan.taken,
        on_hold=plan.on_hold,
    )


class _Index:
    """The claims that are here, by text, and by trace with text or claim id."""

    def __init__(self, claims: Sequence[KnownClaim]) -> None:
        self.found: dict[tuple[str, ...], list[KnownClaim]] = defaultdict(list)
        for one in claims:
            text = norm_v1(one.text)
            for key in (("", text), (one.trace_id, text), (one.trace_id, "", one.claim_id)):
                self.found[key].append(one)

    def claim(self, cells: Mapping[str, str]) -> KnownClaim | str:
        """The one claim that the row is about, or why there is none."""
        trace, named, text = (cells.get(each, "") for each in ("trace_id", "claim_id", "claim"))
        if trace and named:
            found = self.found.get((trace, "", named), [])
            if text:
                found = [one for one in found if norm_v1(one.text) == norm_v1(text)]
        elif text:
            found = self.found.get((trace, norm_v1(text)), [])
        else:
            return "no claim: neither its text nor a trace id with a claim id"
        if len(found) == 1:
            return found[0]
        if not found:
            of = f" of trace {trace!r:.200}" if trace else " here"
            return f"no claim{of} has this text"
        traces = sorted({one.trace_id for one in found})
        which = f"of traces {', '.join(traces)}"[:200] if len(traces) > 1 else "of one trace"
        column = "trace_id" if len(traces) > 1 else "claim_id"
        return f"{len(found)} claims {which} have this text: a column {column} tells which"


class _Plan:
    """Rows one after the other, each against what was said before it, here and in the file."""

    def __init__(
        self,
        contexts: Mapping[int, ClaimContext],
        people: Mapping[str, str],
        annotator: str,
        pre_labels: bool,
    ) -> None:
        self.contexts, self.annotator, self.pre_labels = contexts, annotator, pre_labels
        # As written goes first: two who are here may differ by case alone.
        self.people = {**{called.casefold(): name for called, name in people.items()}, **people}
        self.labels: dict[tuple[int, str], PlannedLabel] = {}
        self.lines: dict[int, dict[str, int]] = defaultdict(dict)  # claim → annotator → line
        self.left: list[tuple[LabelRow, str]] = []
        self.known = self.taken = self.on_hold = 0

    def add(self, row: LabelRow, claim: KnownClaim | str) -> None:
        """Plan the row, count it as known, or leave it with a reason."""
        try:
            if isinstance(claim, str):
                raise BadRecord(claim)
            context = self.contexts[claim.claim_key]
            judgement = self._judgement(row.cells, context)
            name = self._annotator(row.cells)
            place = "" if self.pre_labels else name  # a claim has one pre-label, whoever made it
            before = self.labels.get((claim.claim_key, place))
            said = before.judgement if before else self._said(context, name, judgement)
            # Of a claim that waits for its adjudication nothing is compared: that would tell of votes.
            tied = context.state is QueueState.DISAGREEMENT and not (before or self.pre_labels)
            if said is not None and (tied or _same(said, judgement, row.cells)):
                self.known += 1
                return
            if said is not None:
                where = f"line {before.row.line}" if before else "here"
                words = f"{said.support.value.replace('_', ' ')}, {said.source_id or '–'}"
                told = before or context.state is QueueState.SETTLED
                who = place or "another row"
                raise BadRecord(f"{who} says otherwise {where}" + (f": {words}" if told else ""))
            if not self.pre_labels:
                self._take_place(claim.claim_key, context, name, row.line)
            self.labels[claim.claim_key, place] = PlannedLabel(
                row=row, claim=claim, annotator=name, judgement=judgement
            )
        except BadRecord as error:
            self.left.append((row, error.message))

    def _take_place(self, claim_key: int, context: ClaimContext, name: str, line: int) -> None:
        """Give the row one of the claim's two places; raises BadRecord with what has them."""
        mine, lines = context.places.get(name), self.lines[claim_key]
        if mine is not None and mine.slot == ADJUDICATION_SLOT:
            raise BadRecord(f"{name} breaks the tie here, and cannot annotate it as well")
        if mine is not None and mine.draft:
            self.on_hold += 1
            raise BadRecord(f"on hold: {name} has begun a draft of it here")
        others = {
            who: place
            for who, place in context.places.items()
            if place.slot < ADJUDICATION_SLOT and who not in lines
        }
        if mine is None and len(others) + len(lines) >= _BOTH_ANNOTATIONS:
            held = [place for place in others.values() if not place.decided]
            self.on_hold, self.taken = self.on_hold + bool(held), self.taken + (not held)
            done = sorted(who for who, place in others.items() if place.decided)
            # Who annotated is named only where nobody has to stay blind.
            named = " and ".join(done) if context.state is QueueState.SETTLED else ""
            by = (
                [f"answered by {named or ('one person', 'two people')[len(done) - 1]}"]
                if done
                else []
            )
            by += [
                "in somebody's draft" if place.draft else "assigned to somebody" for place in held
            ]
            by += [f"line {other}" for other in lines.values()]
            raise BadRecord(("on hold: " if held else "both places taken: ") + ", ".join(by))
        lines[name] = line

    def _said(self, context: ClaimContext, name: str, now: Judgement) -> Judgement | None:
        """What stands here in the place of the row; another pre-label makes way for it."""
        made = context.pre_label
        if not self.pre_labels:
            return context.said.get(name)
        known = made is not None and (made.label, made.source_id) == (now.support, now.source_id)
        return now if known else None

    def _annotator(self, cells: Mapping[str, str]) -> str:
        name = " ".join((cells.get("annotator") or self.annotator).split())
        if not name and not self.pre_labels:
            raise BadRecord("no annotator: whose label is it?")
        return self.people.get(name) or self.people.setdefault(name.casefold(), name)

    def _judgement(self, cells: Mapping[str, str], context: ClaimContext) -> Judgement:
        label = " ".join(norm_v1(cells["label"]).replace("_", " ").replace("-", " ").split())
        support = LABELS.get(label)
        if support is None or (self.pre_labels and isinstance(support, Unfit)):
            known = ", ".join(LABELS)
            raise BadRecord(f"{cells['label']!r:.60} is no label: expected one of {known}")
        return Judgement(support=support, source_id=self._source(support, cells, context))

    def _source(
        self, support: Support, cells: Mapping[str, str], context: ClaimContext
    ) -> str | None:
        """The source that the row names by id, tool or name; that of a trace with one source alone."""
        named = cells.get("source", "")
        if support is VerdictLabel.NOT_ENOUGH_EVIDENCE or isinstance(support, Unfit):
            return None  # no source says it, whichever was looked at
        names, ids = call_names(context.tools), [one for one in context.tools if one == named]
        for called in (context.tools, names):
            ids = ids or [one for one, name in called.items() if norm_v1(name) == norm_v1(named)]
        if named and len(ids) != 1:
            those = ", ".join(names.values())
            what = f"{len(ids)} sources are" if ids else "no source of the trace is"
            raise BadRecord(f"{what} called {named!r:.100}; there are {those:.300}")
        if not named and support is VerdictLabel.SUPPORTED:
            if len(context.tools) != 1:
                raise BadRecord(
                    f"supported, by which of {len(context.tools)} sources? A column source tells it"
                )
            return next(iter(context.tools))
        return ids[0] if named else None


def _same(said: Judgement, judgement: Judgement, cells: Mapping[str, str]) -> bool:
    """Whether a row says no more than what was said; one without a source says nothing of it."""
    alike = said.source_id == judgement.source_id or not cells.get("source")
    return said.support == judgement.support and alike


# ---------------------------------------------------------------- keeping it


def import_labels(
    sink: LabelSink,
    plan: LabelPlan,
    user: Person,
    *,
    pre_labels: bool = False,
    progress: Progress | None = None,
) -> ReviewsPut:
    """Keep the plan's labels as annotations or as pre-labels; the same file again changes nothing.

    They come in batch by batch, and others write in between: one that is stopped is completed by the
    same file. Raises NotAllowed, and Conflict once somebody takes it back. What changed here since the
    plan is told in ``skipped``.
    """
    put, total = ReviewsPut(), len(plan.labels)
    if not total:
        return put
    table = plan.table
    of = sink.begun(
        table.file, table.sha256, by=user, pre_labels=pre_labels, new=total, known=plan.known
    )
    whose = dict.fromkeys(one.annotator for one in plan.labels if one.annotator)
    of = replace(of, annotators=of.annotators or tuple(whose))
    for start in range(0, total, AT_ONCE):
        if start:
            time.sleep(PAUSE_SECONDS)
        some, done = plan.labels[start : start + AT_ONCE], min(start + AT_ONCE, total)
        last = done == total
        put.add(
            sink.put_pre_labels([_pre_label(one, of) for one in some], of, by=user, last=last)
            if pre_labels
            else sink.put_annotations([_review(one, of) for one in some], of, by=user, last=last)
        )
        if progress is not None:
            progress(done, total, "labels")
    return put


def _review(one: PlannedLabel, of: LabelImport) -> PacketReview:
    annotation = Annotation(
        vote_id=0,
        claim_key=0,
        reviewer=one.annotator,
        slot=0,
        judgement=one.judgement,
        first=None,
        confidence=None,
        rationale=one.row.cells.get("note", ""),
        saw_model_output=False,
        changed_after_reveal=False,
        exposures=(),
        seconds=0.0,
        at=of.at,
        queue_reason=QueueReason.SECOND_READ,
        inclusion_probability=None,
        guideline_version=1,
        run_key="",
        threshold=None,
    )
    claim = one.claim
    return PacketReview(
        claim_id=claim.claim_id,
        trace_id=claim.trace_id,
        text=claim.text,
        content_hash=claim.content_hash,
        status=ReviewStatus.SINGLE,
        final=None,
        annotations=(annotation,),
        adjudication=None,
    )


def _pre_label(one: PlannedLabel, of: LabelImport) -> LabelledClaim:
    label = one.judgement.support.value
    by = one.annotator or of.file
    made = pre_label_of(
        {
            "label": label,
            "source_id": one.judgement.source_id,
            "status": "imported",
            "readings": [{"by": by, "label": label, "why": one.row.cells.get("note", "")}],
            "import": of.key,
        }
    )
    assert made is not None  # it has a label
    claim = one.claim
    return LabelledClaim(
        claim_id=claim.claim_id,
        trace_id=claim.trace_id,
        text=claim.text,
        content_hash=claim.content_hash,
        made=made,
    )


def left_csv(plan: LabelPlan) -> str:
    """The rows that are left as they were written, with line and reason; UTF-8 for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*plan.table.header, "line", "why"])
    for row, why in plan.left:
        cells = [*row.written, *[""] * (len(plan.table.header) - len(row.written))]
        writer.writerow([*map(csv_cell, cells), row.line, csv_cell(why)])
    return "\ufeff" + out.getvalue()
