"""What a source states, as typed facts: attribute path, value, quantity, date and record.

A fact is one line ``path: value``, one cell of a table, one field of a list line, or one quantity of
a sentence. Its record is what stands together (a block, a row, a list line, a paragraph): the words
there say what the fact is about, and its dates say when.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.evidence.quantities import read_quantities
from core.evidence.quantity_patterns import CURRENCY, MONTH
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.evidence.units import unit_name
from core.evidence.words import stems
from core.records import Source, SourceStatus, Span
from core.text.fields import TAG, Said, TextField, TextRecord, fields_of

MOST_CHARACTERS = (
    400_000  # of one text; what lies behind is not read, and nothing is absent from it
)
_VALUE_CHARACTERS = 240
RECORD_CHARACTERS = 1_200  # of one record; nothing is absent from one that is longer
_DAY_CHARACTERS = 24
_NUMBERED = re.compile(rf"\d|{MONTH}", re.IGNORECASE)  # of a label that states something itself
_DATE_KEY = re.compile(
    r"date|time|onset|abatement|authored|issued|recorded|effective|start|end|created|published|birth",
    re.I,
)
_DATED = re.compile(r"([\w.]{1,40})\"?:\s\"?((?:1[5-9]|2[01])\d\d-[01]\d(?:-[0-3]\d)?)")
_HEADER_UNIT = re.compile(r"[(\[]\s*([^)\]]{1,16})\s*[)\]]\s*\Z")
# The unit at the end of a field's name (``duration_min``, ``backoffMs``, ``temp_F``).
_KEY_UNIT = re.compile(
    r"(?:_|(?<=[a-z]))(?P<unit>(?i:ms|secs?|seconds|mins?|minutes|hrs?|hours|days|weeks|months|years|"
    r"mcg|mg|kg|lbs?|cm|mm|km|bytes|[kmg]i?b|pct|percent|usd|eur|gbp|chf|sek))\Z"
    r"|_(?P<short>s|h|d|g|F|C)\Z"
)
_SHORT_UNITS = {"s": "s", "h": "h", "d": "days", "g": "g", "F": "°F", "C": "°C"}


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
    """The facts of one text; ``whole`` is False when some of it was not captured or not read.

    ``fields`` are the text's fields and sentences in order, each with its facts.
    """

    source_id: str
    facts: tuple[Fact, ...]
    records: tuple[Record, ...]
    whole: bool
    fields: tuple[tuple[TextField, tuple[Fact, ...]], ...] = ()


def source_facts(source: Source) -> SourceFacts:
    """The facts that a source's readable text states; none where it cannot be evidence."""
    if not source.is_evidence:
        return SourceFacts(source_id=source.source_id, facts=(), records=(), whole=False)
    read = _of(_read(source.text), source.source_id)
    return replace(read, whole=read.whole and source.status is SourceStatus.OK)


def argument_facts(source: Source) -> SourceFacts:
    """The facts of what a call was asked: its arguments' fields, and the texts written in them."""
    stated = source.arguments or source.extra.get("arguments")
    written = stated if isinstance(stated, str) else json.dumps(stated) if stated else ""
    read = _of(_read(argument_lines(written)), source.source_id, spanless=True)
    return replace(read, whole=False)


def _of(read: SourceFacts, source_id: str, spanless: bool = False) -> SourceFacts:
    def own(fact: Fact) -> Fact:
        return replace(fact, source_id=source_id, span=None if spanless else fact.span)

    fields = tuple((field, tuple(map(own, facts))) for field, facts in read.fields)
    facts = tuple(fact for _, facts in fields for fact in facts)
    return replace(read, source_id=source_id, facts=facts, fields=fields)


@lru_cache(maxsize=256)
def argument_lines(arguments: str) -> str:
    """A call's arguments as lines, each leaf behind its path; what is no JSON as it is."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return "\n".join(_leaves(value, ""))


def _leaves(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        # Rows of a sheet.
        yield from ("", *("| " + " | ".join(map(str, row)) + " |" for row in value), "")
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    elif isinstance(value, str) and "\n" in value:
        yield from ("", value, "")
    else:
        yield f"{path}: {value}" if path else str(value)


@lru_cache(maxsize=4_096)
def key_unit(path: str) -> str | None:
    """The unit that a field's name ends in, as written; None where it names none."""
    header = _HEADER_UNIT.search(path)
    if header is not None:
        return header.group(1)
    found = _KEY_UNIT.search(path)
    if found is None or path.casefold() == (found["unit"] or "").casefold():
        return None
    unit = found["unit"] or _SHORT_UNITS[found["short"]]
    return "percent" if unit.casefold() == "pct" else unit


def _in_unit(item: Quantity, unit: str) -> Quantity:
    """A bare number of a field whose name gives its unit or currency."""
    if item.unit is not None or item.kind is not QuantityKind.NUMBER:
        return item
    money = CURRENCY.get(unit.casefold())
    if money is not None:
        return replace(item, unit=money, kind=QuantityKind.MONEY)
    return replace(item, unit=unit_name(unit))


def _dates_of_cells(header: Sequence[str], cells: Sequence[str]) -> tuple[tuple[str, Day], ...]:
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


def _dates_of(text: str) -> Iterator[tuple[str, Day]]:
    """The dates of a record by the field they stand in."""
    for match in _DATED.finditer(text):
        if _DATE_KEY.search(match.group(1)):
            year, month, *day = [int(part) for part in match.group(2).split("-")]
            yield match.group(1), Day(year=year, month=month, day=day[0] if day else None)


# ---------------------------------------------------------------- reading a text


@lru_cache(maxsize=64)
def _read(text: str) -> SourceFacts:
    """The facts of a text's fields and sentences: one for each quantity, or one for a field's words."""
    made = fields_of(text[:MOST_CHARACTERS])
    records = tuple(_record(index, record) for index, record in enumerate(made.records))
    fields = tuple((field, tuple(_facts_of(field, records[field.record]))) for field in made.fields)
    return SourceFacts(
        source_id="",
        facts=(),
        records=records,
        whole=made.whole and len(text) <= MOST_CHARACTERS,
        fields=fields,
    )


def _record(index: int, record: TextRecord) -> Record:
    name, text = record.name, record.text[:RECORD_CHARACTERS]
    if record.kind is not None and (not name or read_quantities(name[:80])):
        name = record.kind
    return Record(
        index=index,
        label=record.label,
        text=text,
        span=record.span,
        dates=tuple(_dates_of(text)),
        kind="row" if record.kind is None else record.kind,
        name=name[:120],
        cells=_dates_of_cells(record.header, record.cells),
    )


def _facts_of(field: TextField, record: Record) -> Iterator[Fact]:
    structured = field.said is Said.VALUE
    value, unit = field.value[:_VALUE_CHARACTERS], key_unit(field.path) if structured else None
    if structured:
        found = read_quantities(value)
    else:
        if field.said is Said.KEY or (
            field.said is Said.LABEL and _NUMBERED.search(field.value) is None
        ):
            return
        clean = TAG.sub(lambda tag: " " * len(tag.group()), field.value)
        found = read_quantities(clean[:4_000])
        text = f"{field.path} {field.value[:600]}"
        record = replace(record, text=text, label=field.value[:120]) if found else record
    items: Sequence[Quantity | None] = found or ([None] if structured else [])
    for item in items:
        if item is not None and unit:
            item = _in_unit(item, unit)
        if item is not None and field.number:
            width = field.span.end - field.span.start
            item = replace(item, span=Span(start=0, end=width))
        begin, end = (item.span.start, item.span.end) if item else (0, len(field.value))
        start = field.span.start
        yield Fact(
            source_id="",
            subject=field.subject,
            path=field.path,
            value=field.value if structured else value,
            quantity=item,
            record=record,
            span=Span(start=start + begin, end=start + end),
            structured=structured,
        )
