"""What a text is made of, read once: its records, their fields and sentences, what each line stands under.

A record is what stands together: a block without a blank line, a row of a table, a list line of several
fields. A field is one line ``path: value``, one cell, one member of a list line or of JSON inside a value.
``production:`` over ``  replicas: 5`` and ``## Production`` over ``replicas: 5`` say whose replicas they
are, and the line alone does not. Quantities, dates and what a label means are for who asks.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import zip_longest

from core.records import Span

ITEM = "#"  # what the place of a list item in its text begins with
MOST_FIELDS = 20_000  # of one text; what lies behind is not read
SUBJECT_KEY = re.compile(r"(?:patient|title|pmid|subject|file|name)\Z", re.I)
_VALUE_CHARACTERS = 240  # a longer value is a text
_LABEL_WORDS = 14  # a longer label is a sentence
_KEY_VALUE = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\*\*)?([^\s:|<>{}][^:|<>{}\n]{0,90}?)(?:\*\*)?\s?[:：](?:\*\*)?\s+(\S.*)?$"
)
# A setting: ``idle_timeout_s = 15``.
_ASSIGNED = re.compile(r"\s*([A-Za-z_][\w.-]{0,60})\s*=\s*([^=\s].*)$")
_FIELD = re.compile(r"(?:^|,\s+)([A-Za-z_][\w.\[\] -]{0,60}?):\s+")
_JSON_FIELD = re.compile(
    r'"([A-Za-z_][\w -]{0,60})":\s*(?:"((?:[^"\\]|\\.){0,400})"'
    r"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null))"
)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?\n]*")
TAG = re.compile(r"<[^>]{1,200}>")
_CELL = re.compile(r"<t[hd][^>]{0,200}>(.*?)</t[hd]>", re.IGNORECASE | re.DOTALL)
HEADING_LINE = re.compile(r"\s{0,3}#{1,6}\s+(\S.{0,80})\Z")
_NAMES_IT = re.compile(
    r"\A(?:code|display|name|test|analyte|title|label|item)\Z|CodeableConcept\Z", re.I
)
_MAY_COUNT = re.compile(r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.I)
_BULLET = re.compile(r"([ \t]*)[-*•][ \t]+(?=\S)")
_KEY = re.compile(r"[ \t]*(?:[-•][ \t]+)?[\"'*]*([^\s:#|<>{}\"'*][^:|<>{}\"'*]{0,60})[\"'*]*:\**\Z")

Cells = list[tuple[int, str]]  # of a row: where each begins, and what it says


class Said(Enum):
    """What a stretch of a text is: a field's value, a label that may say something itself, a sentence."""

    VALUE = auto()
    LABEL = auto()
    SENTENCE = auto()
    HEADING = auto()
    KEY = auto()  # a label that nothing stands behind, a list of JSON


@dataclass(frozen=True, slots=True)
class TextField:
    """One stretch: ``record`` numbers its record, ``path`` is its label, ``span`` where ``value`` stands.

    ``number`` says that it is a number of JSON, in ``value`` perhaps with the unit beside it, and in
    ``span`` without. ``subject`` is what the text was last said to be of.
    """

    said: Said
    record: int
    path: str
    value: str
    span: Span
    subject: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class TextRecord:
    """What stands together: its first line, place and name; ``header`` names the ``cells`` of a row.

    ``kind`` is the key of a block's first line, None of rows and list lines.
    """

    label: str
    text: str
    span: Span
    name: str
    kind: str | None = None
    header: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFields:
    """The records and fields of a text in order; ``whole`` is False where there are more."""

    records: tuple[TextRecord, ...]
    fields: tuple[TextField, ...]
    whole: bool


@lru_cache(maxsize=64)
def fields_of(text: str) -> TextFields:
    """The records and fields of a text."""
    reader = _Reader(text)
    reader.read()
    return TextFields(
        records=tuple(reader.records),
        fields=tuple(reader.fields),
        whole=len(reader.fields) < MOST_FIELDS,
    )


class _Reader:
    """Walks the lines of one text and collects its records and fields."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fields: list[TextField] = []
        self.records: list[TextRecord] = []
        self.subject = ""

    def read(self) -> None:
        block: Cells = []
        at = 0
        for line in self.text.splitlines(keepends=True):
            if line.strip():
                block.append((at, line.rstrip("\r\n")))
            else:
                self.block(block)
                block = []
            at += len(line)
            if len(self.fields) >= MOST_FIELDS:
                return
        self.block(block)

    def block(self, lines: Cells) -> None:
        """One stretch without a blank line: tables and list lines are their own records."""
        rest: Cells = []
        at = 0
        while at < len(lines):
            end = self.table(lines, at)
            if end > at:
                self.lines(rest)
                rest, at = [], end
                continue
            start, line = lines[at]
            bare = line.lstrip()
            if bare.startswith(("- ", "* ", "• ")) and len(_FIELD.findall(bare[2:])) > 1:
                self.list_line(start, line)
            else:
                rest.append(lines[at])
            at += 1
        self.lines(rest)

    # ------------------------------------------------------------ tables

    def table(self, lines: Cells, at: int) -> int:
        """Read the table that begins at a line; the index behind it, or ``at`` where none begins."""
        for split in (_bar_cells, _html_cells, _comma_cells):
            rows: list[Cells] = []
            end = at
            while end < len(lines) and (cells := split(*lines[end])) is not None:
                if split is _comma_cells and rows and len(cells) != len(rows[0]):
                    break
                rows.append(cells)
                end += 1
            if len(rows) >= (3 if split is _comma_cells else 2):
                self.rows(rows, lines[at:end])
                return end
        return at

    def rows(self, rows: list[Cells], lines: Cells) -> None:
        header: tuple[str, ...] | None = None
        for cells, (start, line) in zip(rows, lines, strict=True):
            texts = tuple(cell for _, cell in cells)
            if not any(texts) or all(re.fullmatch(r":?-{2,}:?|[A-Z]?", cell) for cell in texts):
                continue
            if header is None:
                header = texts
                continue
            words = [f"{h}: {c}" for h, c in zip(header, texts, strict=False) if c]
            label = next((c for c in texts if re.search(r"[^\W\d_]{2}", c)), texts[0])
            span = Span(start=start, end=start + len(line))
            self.records.append(
                TextRecord(label, "; ".join(words), span, label, header=header, cells=texts)
            )
            for position, (place, cell) in enumerate(cells):
                if cell:
                    path = header[position] if position < len(header) else ""
                    self.add(Said.VALUE, path, cell, place)

    # ------------------------------------------------------------ lines of fields

    def list_line(self, start: int, line: str) -> None:
        body = start + len(line) - len(line.lstrip()) + 2
        pieces = list(_split_fields(self.text[body : start + len(line)]))
        label = next((said for key, _, said in pieces if _NAMES_IT.search(key)), "")
        span = Span(start=start, end=start + len(line))
        self.records.append(TextRecord(line.strip()[2:80], line, span, label))
        for key, value_start, value in pieces:
            self.field(key, value, body + value_start, label)

    def lines(self, lines: Cells) -> None:
        if not lines:
            return
        span = Span(start=lines[0][0], end=lines[-1][0] + len(lines[-1][1]))
        first = _KEY_VALUE.match(lines[0][1])
        kind, said = (first.group(1), first.group(2) or "") if first is not None else ("", "")
        label = lines[0][1].strip()[:120]
        self.records.append(
            TextRecord(label, span.cut(self.text), span, said.strip(), kind=kind.strip())
        )
        for at, line in lines:
            match = _KEY_VALUE.match(line) or _ASSIGNED.match(line)
            if match is None or len(match.group(1).split()) > _LABEL_WORDS:
                heading = line.lstrip().startswith("|") or HEADING_LINE.match(line)
                self.sentences(Said.HEADING if heading else Said.SENTENCE, at, line)
                continue
            key, value = match.group(1).strip(), (match.group(2) or "").strip()
            counts = _MAY_COUNT.search(key) is not None  # "Results 2026-10-21"
            if counts:
                self.sentences(Said.LABEL, at, line[: match.end(1)])
            if SUBJECT_KEY.search(key) and value:
                self.subject = value[:120]
            if value:
                self.field(key, value, at + match.start(2))
            elif not counts:
                self.sentences(Said.KEY, at, line)

    def field(self, key: str, value: str, start: int, label: str = "") -> None:
        """One field; JSON in it is read as the fields that it holds."""
        if value[:1] in "{[" and '"' in value[:40]:
            label, unit = _path_of(key, label), ""
            pieces = list(_JSON_FIELD.finditer(value))
            for index, match in enumerate(pieces):
                name, said = match.group(1), match.group(2)
                if name in ("code", "display", "text", "name", "type") and said:
                    label = said
                    continue
                number = match.group(3)
                unit = _unit_after(pieces, index)
                shown = f"{number} {unit}".strip() if number else said or ""
                path = label if name == "value" else f"{label}.{name}"
                if name != "unit":
                    self.add(
                        Said.VALUE, path, shown, start + match.start(3 if number else 2), number
                    )
            if not pieces:
                self.add(Said.KEY, key, value, start)
        elif len(value) > _VALUE_CHARACTERS:
            self.sentences(Said.SENTENCE, start, value, key)
        else:
            self.add(Said.VALUE, _path_of(key, label), value, start)

    def sentences(self, said: Said, start: int, text: str, key: str = "") -> None:
        """The sentences of a text, each with its place."""
        for match in _SENTENCE.finditer(text):
            sentence = match.group().strip()
            if sentence:
                at = start + match.start() + len(match.group()) - len(match.group().lstrip())
                self.add(said, key, sentence, at)

    def add(self, said: Said, path: str, value: str, start: int, number: str | None = None) -> None:
        span = Span(start=start, end=start + len(number or value))
        record = len(self.records) - 1
        self.fields.append(
            TextField(said, record, path, value, span, self.subject, number is not None)
        )


def _path_of(key: str, label: str) -> str:
    """A field that only says "value" is named by what its record is of."""
    return label if label and re.match(r"value|result\Z|amount\Z|measurement\Z", key, re.I) else key


def _split_fields(text: str) -> Iterator[tuple[str, int, str]]:
    """The fields ``key: value, key: value`` of a list line; commas inside JSON split nothing."""
    depth, spans = 0, []
    levels = []
    for character in text:
        depth += character in "{["
        levels.append(depth)
        depth -= character in "}]"
    for match in _FIELD.finditer(text):
        if match.start() == 0 or levels[match.start()] == 0:
            spans.append(match)
    for index, match in enumerate(spans):
        end = spans[index + 1].start() if index + 1 < len(spans) else len(text)
        yield match.group(1), match.end(), text[match.end() : end].rstrip(", ")


def _unit_after(pieces: Sequence[re.Match[str]], index: int) -> str:
    if pieces[index].group(1) != "value":
        return ""
    for near in pieces[index + 1 : index + 3]:
        if near.group(1) == "unit" and near.group(2):
            return near.group(2)
        if near.group(1) == "value":
            break
    return ""


def cells_of(text: str, start: int, end: int, separator: str) -> Cells:
    """The cells of a row with their places; one in double quotes may hold the separator.

    Bars at both ends of a row are its frame.
    """
    if separator == "|" and text.startswith("|", start):
        start += 1
        end -= text.endswith("|", start, end)
    cells: Cells = []
    for match in _cell(separator).finditer(text, start, end):
        group = 2 if match.group(1) is None else 1
        cell = match.group(group)
        cells.append((match.start(group) + len(cell) - len(cell.lstrip()), cell.strip()))
        if match.end() == end and not match.group().endswith(separator):
            break
    return cells


@lru_cache
def _cell(separator: str) -> re.Pattern[str]:
    by = re.escape(separator)
    return re.compile(rf'[^\S{by}]*(?:"((?:[^"]|"")*)"[^\S{by}]*|([^{by}]*))(?:{by}|\Z)')


def _bar_cells(start: int, line: str) -> Cells | None:
    if line.count("|") < 2 or not line.lstrip().startswith("|"):
        return None
    found = cells_of(line, line.index("|"), len(line.rstrip()), "|")
    return [(start + at, cell.strip("*")) for at, cell in found]


def _html_cells(start: int, line: str) -> Cells | None:
    if "<tr" not in line[:40].lower():
        return None
    return [
        (start + cell.start(1), TAG.sub("", cell.group(1)).strip()) for cell in _CELL.finditer(line)
    ]


def _comma_cells(start: int, line: str) -> Cells | None:
    sentence = ": " in line or ". " in line or line.startswith("-")
    if line.count(",") < 2 or sentence or len(line) > 2_000:
        return None
    return [(start + at, cell) for at, cell in cells_of(line, 0, len(line), ",")]


# ---------------------------------------------------------------- what lines stand under


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosed:
    """The starts of a text's lines in order, and what stands over each of them, outermost first."""

    starts: tuple[int, ...]
    over: tuple[tuple[str, ...], ...]

    def at(self, place: int) -> tuple[str, ...]:
        """What stands over the line that holds a place of the text."""
        line = bisect.bisect_right(self.starts, place) - 1
        return self.over[line] if line >= 0 else ()


def enclosed(text: str) -> Enclosed:
    """What stands over every line of a text."""
    lines = list(_lines(text))
    return Enclosed(starts=tuple(at for at, _ in lines), over=tuple(over for _, over in lines))


@dataclass(frozen=True, slots=True)
class _Over:
    """A key or list item that lines behind it may stand under."""

    indent: int
    said: str
    of_block: bool = (
        False  # it holds the lines up to the next blank one, though they are not indented
    )

    def holds(self, indent: int, bullet: bool) -> bool:
        """Whether a line of an indentation stands under it; YAML need not indent a key's items."""
        unindented = self.of_block or (bullet and not self.said.startswith(ITEM))
        return self.indent < indent or (unindented and self.indent == indent)


def _lines(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    headings: list[_Over] = []
    keys: list[_Over] = []
    lines = text.splitlines(keepends=True)
    at, behind_blank = 0, True
    for line, follows in zip_longest(lines, lines[1:], fillvalue=""):
        start, bare = at, line.rstrip()
        at += len(line)
        if not bare:
            keys = [each for each in keys if not each.of_block]
            yield start, ()
            behind_blank = True
            continue
        if (heading := HEADING_LINE.match(bare)) is not None:
            level = bare.lstrip().index(" ")
            headings, keys = [each for each in headings if each.indent < level], []
            yield start, tuple(each.said for each in headings)
            headings.append(_Over(level, heading.group(1)))
            continue
        bullet = _BULLET.match(bare)
        indent = _indent(bare)
        keys = [each for each in keys if each.holds(indent, bullet is not None)]
        if bullet is not None:
            keys.append(_Over(indent, f"{ITEM}{start}"))
            indent = bullet.end()
        yield start, tuple(each.said for each in (*headings, *keys))
        if (key := _KEY.match(bare)) is not None:
            of_block = behind_blank and bool(follows.strip()) and _indent(follows) == indent
            keys.append(_Over(indent, key.group(1).strip(), of_block))
        behind_blank = False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
