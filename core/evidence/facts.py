"""What a source states, as typed facts: attribute path, value, quantity, date and record.

A fact is one line ``path: value``, one cell of a table, one field of a list line, or one quantity of
a sentence. Its record is what stands together (a block, a row, a list line, a paragraph): the words
there say what the fact is about, and its dates say when.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.evidence.fact_lines import (
    ASSIGNED,
    FIELD,
    JSON_FIELD,
    KEY_VALUE,
    NAMES_IT,
    SENTENCE,
    SUBJECT_KEY,
    TAG,
    argument_lines,
    bar_cells,
    comma_cells,
    dates_of,
    html_cells,
    key_unit,
    path_of,
    split_fields,
    unit_after,
)
from core.evidence.quantities import read_quantities
from core.evidence.quantity_patterns import CURRENCY, MONTH
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.evidence.units import unit_name
from core.evidence.words import stems
from core.records import Source, SourceStatus, Span

MOST_CHARACTERS = (
    400_000  # of one text; what lies behind is not read, and nothing is absent from it
)
_MOST_FACTS = 20_000
_VALUE_CHARACTERS = 240
RECORD_CHARACTERS = 1_200  # of one record; nothing is absent from one that is longer
_DAY_CHARACTERS = 24
_NUMBERED = re.compile(rf"\d|{MONTH}", re.IGNORECASE)  # of a label that states something itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What stands together in a source; ``label`` is its first line, ``span`` in the source's text.

    ``kind`` is what records of its sort are called here: their heading, or the key of the first line;
    ``name`` says what this one is of ("Viral sinusitis"), empty where nothing names it.
    """

    index: int
    label: str
    text: str
    span: Span
    dates: tuple[tuple[str, Day], ...] = ()
    kind: str = ""
    name: str = ""
    cells: tuple[tuple[str, Day], ...] = ()  # the days that fill a cell of a row, by their columns

    @property
    def days(self) -> tuple[Day, ...]:
        """The days of the record: those of its fields, else those that fill a cell of it."""
        return tuple(day for _, day in self.dates or self.cells)

    @property
    def stems(self) -> frozenset[str]:
        """The content words of the record's beginning."""
        return stems(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One stated value; ``span`` is in the source's text, None in a call's arguments."""

    source_id: str
    subject: str
    path: str
    value: str
    quantity: Quantity | None
    record: Record
    span: Span | None
    structured: bool

    @property
    def date(self) -> Day | None:
        """When the fact holds: the first date of its record."""
        return next((day for _, day in self.record.dates), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """The facts of one text; ``whole`` is False when some of it was not captured or not read."""

    source_id: str
    facts: tuple[Fact, ...]
    records: tuple[Record, ...]
    whole: bool


def source_facts(source: Source) -> SourceFacts:
    """The facts that a source's readable text states; none where it cannot be evidence."""
    if not source.is_evidence:
        return SourceFacts(source_id=source.source_id, facts=(), records=(), whole=False)
    read = _read(source.text)
    return SourceFacts(
        source_id=source.source_id,
        facts=tuple(_of(fact, source.source_id) for fact in read.facts),
        records=read.records,
        whole=read.whole and source.status is SourceStatus.OK,
    )


def argument_facts(source: Source) -> SourceFacts:
    """The facts of what a call was asked: its arguments' fields, and the texts written in them."""
    stated = source.arguments or source.extra.get("arguments")
    written = stated if isinstance(stated, str) else json.dumps(stated) if stated else ""
    read = _read(argument_lines(written))
    return SourceFacts(
        source_id=source.source_id,
        facts=tuple(_of(fact, source.source_id, spanless=True) for fact in read.facts),
        records=read.records,
        whole=False,
    )


def _of(fact: Fact, source_id: str, spanless: bool = False) -> Fact:
    return replace(fact, source_id=source_id, span=None if spanless else fact.span)


def _in_unit(item: Quantity, unit: str) -> Quantity:
    """A bare number of a field whose name gives its unit or currency."""
    if item.unit is not None or item.kind is not QuantityKind.NUMBER:
        return item
    money = CURRENCY.get(unit.casefold())
    if money is not None:
        return replace(item, unit=money, kind=QuantityKind.MONEY)
    return replace(item, unit=unit_name(unit))


def dates_of_cells(header: Sequence[str], cells: Sequence[str]) -> tuple[tuple[str, Day], ...]:
    """The days that fill a cell of a row, however they are written, by their columns."""
    found = []
    for column, cell in zip(header, cells, strict=False):
        if len(cell) > _DAY_CHARACTERS or not any(letter.isdigit() for letter in cell):
            continue
        (first, *more) = read_quantities(cell) or (None,)
        whole = first is not None and first.text.strip() == cell.strip() and not more
        if whole and first is not None and first.date is not None and first.date.year:
            found.append((column, first.date))
    return tuple(found)


# ---------------------------------------------------------------- reading a text


@lru_cache(maxsize=64)
def _read(text: str) -> SourceFacts:
    reader = _Reader(text[:MOST_CHARACTERS])
    reader.read()
    return SourceFacts(
        source_id="",
        facts=tuple(reader.facts),
        records=tuple(reader.records),
        whole=len(text) <= MOST_CHARACTERS and len(reader.facts) < _MOST_FACTS,
    )


class _Reader:
    """Walks the lines of one text and collects its records and facts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.facts: list[Fact] = []
        self.records: list[Record] = []
        self.subject = ""
        self.heading = ""

    def read(self) -> None:
        block: list[tuple[int, str]] = []
        at = 0
        for line in self.text.splitlines(keepends=True):
            if line.strip():
                block.append((at, line.rstrip("\r\n")))
            else:
                self.block(block)
                block = []
            at += len(line)
            if len(self.facts) >= _MOST_FACTS:
                return
        self.block(block)

    def block(self, lines: list[tuple[int, str]]) -> None:
        """One stretch without a blank line: tables and list lines are their own records."""
        rest: list[tuple[int, str]] = []
        at = 0
        while at < len(lines):
            end = self.table(lines, at)
            if end > at:
                self.fields(rest)
                rest, at = [], end
                continue
            start, line = lines[at]
            if (
                line.lstrip().startswith(("- ", "* ", "• "))
                and len(FIELD.findall(line.lstrip()[2:])) > 1
            ):
                self.list_line(start, line)
            else:
                rest.append(lines[at])
            at += 1
        self.fields(rest)

    # ------------------------------------------------------------ tables

    def table(self, lines: list[tuple[int, str]], at: int) -> int:
        """Read the table that begins at a line; the index behind it, or ``at`` where none begins."""
        for split in (bar_cells, html_cells, comma_cells):
            rows: list[list[tuple[int, str]]] = []
            end = at
            while end < len(lines) and (cells := split(*lines[end])) is not None:
                if split is comma_cells and rows and len(cells) != len(rows[0]):
                    break
                rows.append(cells)
                end += 1
            if len(rows) >= (3 if split is comma_cells else 2):
                self.rows(rows, lines[at:end])
                return end
        return at

    def rows(self, rows: list[list[tuple[int, str]]], lines: list[tuple[int, str]]) -> None:
        header: list[str] | None = None
        for cells, (start, line) in zip(rows, lines, strict=True):
            texts = [cell for _, cell in cells]
            if not any(texts) or all(re.fullmatch(r":?-{2,}:?|[A-Z]?", cell) for cell in texts):
                continue
            if header is None:
                header = texts
                continue
            words = [f"{h}: {c}" for h, c in zip(header, texts, strict=False) if c]
            label = next((c for c in texts if re.search(r"[^\W\d_]{2}", c)), texts[0])
            record = self.record(
                label, "; ".join(words), start, start + len(line), name=label,
                cells=dates_of_cells(header, texts),
            )  # fmt: skip
            for position, (place, cell) in enumerate(cells):
                if cell:
                    path = header[position] if position < len(header) else ""
                    self.value(path, cell, place, record, structured=True)

    # ------------------------------------------------------------ lines of fields

    def list_line(self, start: int, line: str) -> None:
        body = start + len(line) - len(line.lstrip()) + 2
        text = self.text[body : start + len(line)]
        pieces = list(split_fields(text))
        label = next((said for key, _, said in pieces if NAMES_IT.search(key)), "")
        record = self.record(line.strip()[2:80], line, start, start + len(line), name=label)
        for key, value_start, value in pieces:
            self.field(key, value, body + value_start, record, label)

    def fields(self, lines: list[tuple[int, str]]) -> None:
        if not lines:
            return
        start, end = lines[0][0], lines[-1][0] + len(lines[-1][1])
        text = self.text[start:end]
        first = KEY_VALUE.match(lines[0][1])
        kind = first.group(1).strip() if first is not None else ""
        said = (first.group(2) or "").strip() if first is not None else ""
        name = said if said and not read_quantities(said[:80]) else kind
        label = lines[0][1].strip()[:120]
        record = self.record(label, text[:RECORD_CHARACTERS], start, end, kind, name)
        for at, line in lines:
            match = KEY_VALUE.match(line) or ASSIGNED.match(line)
            if match is None or len(match.group(1).split()) > 14:
                self.prose(at, line, record)
                continue
            key, value = match.group(1).strip(), (match.group(2) or "").strip()
            if _NUMBERED.search(key):  # "Order 7781. Status", "Results 2026-10-21"
                self.prose(at, line[: match.end(1)], record)
            if SUBJECT_KEY.search(key) and value:
                self.subject = value[:120]
            if value:
                self.field(key, value, at + match.start(2), record)

    def field(self, key: str, value: str, start: int, record: Record, label: str = "") -> None:
        """One field; JSON in it is read as the fields that it holds."""
        if value[:1] in "{[" and '"' in value[:40]:
            label, unit = path_of(key, label), ""
            pieces = list(JSON_FIELD.finditer(value))
            for index, match in enumerate(pieces):
                name, said = match.group(1), match.group(2)
                if name in ("code", "display", "text", "name", "type") and said:
                    label = said
                    continue
                number = match.group(3)
                unit = unit_after(pieces, index)
                shown = f"{number} {unit}".strip() if number else said or ""
                place = start + match.start(3 if number else 2)
                path = label if name == "value" else f"{label}.{name}"
                if name != "unit":
                    self.value(path, shown, place, record, structured=True, written=number)
            return
        if len(value) > _VALUE_CHARACTERS:
            self.prose(start, value, record, key)
            return
        self.value(path_of(key, label), value, start, record, structured=True)

    def prose(self, start: int, line: str, record: Record, key: str = "") -> None:
        """The quantities of a text, each with its sentence."""
        for match in SENTENCE.finditer(line):
            sentence = match.group().strip()
            if not sentence or len(self.facts) >= _MOST_FACTS:
                continue
            at = start + match.start() + len(match.group()) - len(match.group().lstrip())
            clean = TAG.sub(lambda tag: " " * len(tag.group()), sentence)
            found = read_quantities(clean[:4_000])
            if not found:
                continue
            own = replace(record, text=f"{key} {sentence[:600]}", label=sentence[:120])
            for item in found:
                self.add(key, sentence[:_VALUE_CHARACTERS], item, at, own, structured=False)

    def value(
        self,
        path: str,
        value: str,
        start: int,
        record: Record,
        structured: bool,
        written: str | None = None,
    ) -> None:
        """One value of a field: a fact for each of its quantities, or one for its words."""
        unit = key_unit(path)
        found = read_quantities(value[:_VALUE_CHARACTERS])
        for item in found:
            kept = _in_unit(item, unit) if unit else item
            if written is not None:
                kept = replace(kept, span=Span(start=0, end=len(written)))
            self.add(path, value, kept, start, record, structured)
        if not found:
            self.add(path, value, None, start, record, structured)

    def add(
        self,
        path: str,
        value: str,
        item: Quantity | None,
        start: int,
        record: Record,
        structured: bool,
    ) -> None:
        if len(self.facts) >= _MOST_FACTS:
            return
        begin, end = (item.span.start, item.span.end) if item else (0, len(value))
        self.facts.append(
            Fact(
                source_id="",
                subject=self.subject,
                path=path,
                value=value,
                quantity=item,
                record=record,
                span=Span(start=start + begin, end=start + end),
                structured=structured,
            )
        )

    def record(
        self,
        label: str,
        text: str,
        start: int,
        end: int,
        kind: str | None = None,
        name: str = "",
        cells: tuple[tuple[str, Day], ...] = (),
    ) -> Record:
        dates = tuple(dates_of(text[:RECORD_CHARACTERS]))
        record = Record(
            index=len(self.records),
            label=label,
            text=text[:RECORD_CHARACTERS],
            span=Span(start=start, end=end),
            dates=dates,
            kind=self.heading or "row" if kind is None else kind,
            name=name[:120],
            cells=cells,
        )
        self.records.append(record)
        return record
