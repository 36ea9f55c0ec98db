"""The rows of a chart's text: blocks of fields, list items, table lines and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.evidence.chart.labels import attribute_of, is_section, section_of
from core.records import Span
from core.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A labelled value of a row; ``label`` is its whole path, ``span`` the value's place."""

    label: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry, line or sentence; ``section`` is the heading or path that it stands under.

    ``paragraph`` numbers the stretch of running prose that a sentence belongs to; None elsewhere.
    """

    text: str
    span: Span
    section: str = ""
    fields: tuple[Field, ...] = ()
    paragraph: int | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str  # without its list mark
    indent: int
    marked: bool
    blank: bool


_MARK = re.compile(r"\s*(?:[-*•‣+]|\(?\d{1,3}[.)]|\[\d{1,3}\]|[a-z]\))\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s+(?P<hash>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*_]+?):?(?:\*\*|__):?)\s*\Z"
)
_LABEL = r"[A-Za-z][\w.\[\]()/' -]{0,60}?"
_PAIR = re.compile(rf"(?P<label>{_LABEL})\s?[:=](?=\s|\Z|\{{|\[)\s*(?P<value>.*)\Z", re.DOTALL)
_INLINE = re.compile(r"(?:\A|[,;|]\s+)(?P<label>[A-Za-z][\w. -]{0,40}?)\s?[:=]\s")
_RULE = re.compile(r"\s*\|?[\s:|+-]*-[\s:|+-]*\|?\s*\Z")


def read_rows(text: str) -> tuple[Row, ...]:
    """The rows of a source's text in order; headings become the section of what follows them."""
    lines = [_line(match) for match in re.finditer(r"[^\n]*(?:\n|\Z)", text) if match.group()]
    rows: list[Row] = []
    section, paragraph, at = "", 0, 0
    while at < len(lines):
        line = lines[at]
        heading = _heading(line, lines, at)
        table = _table(text, lines, at, section)
        if line.blank:
            at += 1
        elif heading is not None:
            section, at = heading, at + 1
        elif table is not None:
            rows.extend(table[0])
            at = table[1]
        elif line.marked:
            made, at = _item(lines, at, section)
            rows.extend(made)
        elif _PAIR.match(line.text):
            made, at, section = _block(lines, at, section)
            rows.extend(made)
        else:
            end = at
            while end < len(lines) and _is_prose(lines, end, at, text, section):
                end += 1
            end = max(end, at + 1)
            stop = lines[end - 1].start + len(lines[end - 1].text)
            rows.extend(_sentences(text, line.start, stop, section, paragraph))
            paragraph, at = paragraph + 1, end
    return tuple(rows)


def _line(match: re.Match[str]) -> _Line:
    raw = match.group().rstrip("\n")
    mark = _MARK.match(raw)
    kept = raw[mark.end() :] if mark else raw.lstrip()
    start = match.start() + len(raw) - len(kept)
    indent = len(raw) - len(raw.lstrip())
    return _Line(start, kept.rstrip(), indent, mark is not None, not raw.strip())


def _heading(line: _Line, lines: Sequence[_Line], at: int) -> str | None:
    match = _HEADING.match(line.text)
    if match and not line.marked:
        return (match["hash"] or match["bold"]).strip(" :*").casefold()
    bare = line.text.rstrip(":").strip("=- ")
    if line.blank or line.marked or len(bare) > 60 or not bare:
        return None
    if "," in bare or "|" in bare or "\t" in bare:
        return None
    ends = line.text.endswith(":")
    if (ends or bare.isupper() or line.text == bare) and is_section(bare):
        return bare.casefold()
    return bare.casefold() if ends and at + 1 < len(lines) and lines[at + 1].marked else None


# ---------------------------------------------------------------- tables


def _table(
    text: str, lines: Sequence[_Line], at: int, section: str
) -> tuple[list[Row], int] | None:
    """The rows of the table that begins here, and the line behind it."""
    for separator in ("|", "\t", ";", ","):
        header = _cells(text, lines[at], separator)
        if len(header) < 2 or lines[at].blank or not all(_is_label(cell.text) for cell in header):
            continue
        rows, end = [], at + 1
        if (
            end < len(lines)
            and separator == "|"
            and _RULE.match(lines[end].text)
            and lines[end].text
        ):
            end += 1
        while end < len(lines) and not lines[end].blank:
            cells = _cells(text, lines[end], separator)
            if len(cells) != len(header):
                break
            rows.append(_table_row(text, header, cells, section))
            end += 1
        if rows:
            return rows, end
    return None


def _is_label(cell: str) -> bool:
    return (
        0 < len(cell) <= 40 and not re.search(r"\d{2}|[.!?]\s*\Z", cell) and len(cell.split()) <= 5
    )


def _cells(text: str, line: _Line, separator: str) -> list[Field]:
    """The cells of a line with their places; quoted cells may hold the separator."""
    start, end = line.start, line.start + len(line.text)
    if line.marked and separator != "|":
        return []
    if separator == "|":
        if "|" not in line.text:
            return []
        raw = text[start:end]
        start += len(raw) - len(raw.lstrip("| "))
        end -= len(raw) - len(raw.rstrip("| ")) if raw.rstrip().endswith("|") else 0
        if start > line.start and line.text.startswith("|"):
            start = line.start + 1
        if line.text.rstrip().endswith("|"):
            end = line.start + len(line.text.rstrip()) - 1
    cells = []
    for match in re.finditer(
        rf'\s*(?:"((?:[^"]|"")*)"\s*|([^{re.escape(separator)}]*))(?:{re.escape(separator)}|\Z)',
        text[start:end],
    ):
        group = 1 if match.group(1) is not None else 2
        value = match.group(group)
        left = start + match.start(group)
        cells.append(
            Field(
                label="", text=value.strip(), span=Span(start=left, end=left + len(value.rstrip()))
            )
        )
        if (
            match.end() == end - start
            and text[start:end][match.end() - 1 : match.end()] != separator
        ):
            break
    return cells


def _table_row(text: str, header: Sequence[Field], cells: Sequence[Field], section: str) -> Row:
    fields = tuple(
        replace(cell, label=head.text) for head, cell in zip(header, cells, strict=True) if cell.text
    )  # fmt: skip
    start, end = cells[0].span.start, max(cells[-1].span.end, cells[0].span.start)
    return Row(
        text=text[start:end], span=Span(start=start, end=end), section=section, fields=fields
    )


# ---------------------------------------------------------------- lists and blocks


def _item(lines: Sequence[_Line], at: int, section: str) -> tuple[list[Row], int]:
    """The row of a list item with the deeper lines that belong to it, and the line behind."""
    first, end = lines[at], at + 1
    bare = first.text.rstrip(":").strip("*_ ")
    if is_section(bare) and first.text.rstrip("*_ ").endswith(":"):
        rows: list[Row] = []
        while end < len(lines) and not lines[end].blank and lines[end].indent > first.indent:
            made, end = _item(lines, end, bare.casefold())
            rows.extend(made)
        return rows, end
    while end < len(lines) and not lines[end].blank and lines[end].indent > first.indent:
        end += 1
    fields: list[Field] = []
    for line in lines[at:end]:
        fields.extend(_fields(line))
    pair = _PAIR.match(first.text)
    if end == at + 1 and pair and is_section(pair["label"]):
        return _section_line(first, pair), end
    if fields and not _fields(first):
        place = Span(start=first.start, end=first.start + len(first.text))
        fields.insert(0, Field(label="name", text=first.text, span=place))
    return [_row(lines[at:end], section, tuple(fields))], end


def _fields(line: _Line) -> list[Field]:
    """The labelled values of one line: ``code: X, status: Y`` or one ``label: value``."""
    starts = [match for match in _INLINE.finditer(line.text) if attribute_of(match["label"])]
    if not starts or (starts[0].start() and attribute_of(starts[0]["label"]) == "other"):
        pair = _PAIR.match(line.text)
        starts = []
        if pair is None:
            return []
        span = Span(start=line.start + pair.start("value"), end=line.start + len(line.text))
        return [Field(label=pair["label"], text=pair["value"], span=span)]
    found = []
    if starts[0].start():
        head = line.text[: starts[0].start()]
        place = Span(start=line.start, end=line.start + len(head))
        found.append(Field(label="name", text=head, span=place))
    for index, match in enumerate(starts):
        stop = starts[index + 1].start() if index + 1 < len(starts) else len(line.text)
        value = line.text[match.end() : stop]
        left = line.start + match.end()
        found.append(
            Field(label=match["label"], text=value, span=Span(start=left, end=left + len(value)))
        )  # fmt: skip
    return found


def _block(lines: Sequence[_Line], at: int, section: str) -> tuple[list[Row], int, str]:
    """Lines of ``label: value`` that stand together: one row, except for lines that are sections."""
    rows: list[Row] = []
    held: list[_Line] = []
    fields: list[Field] = []
    end = at
    while end < len(lines) and not lines[end].blank and not lines[end].marked:
        pair = _PAIR.match(lines[end].text)
        if pair is None:
            break
        label = pair["label"]
        if not pair["value"].strip() and is_section(label):
            break
        if is_section(label):
            rows.extend(_section_line(lines[end], pair))
        elif (
            len(pair["value"]) > 200
            or attribute_of(label) == "note"
            and len(pair["value"].split()) > 3
        ):
            rows.extend(_section_line(lines[end], pair))
            held.append(lines[end])
            fields.extend(_fields(lines[end]))
        else:
            held.append(lines[end])
            fields.extend(_fields(lines[end]))
        end += 1
    if fields:
        rows.insert(0, _row(held, section, tuple(fields)))
    if end == at:
        return [], at + 1, lines[at].text.rstrip(":").casefold()
    return rows, end, section


def _section_line(line: _Line, pair: re.Match[str]) -> list[Row]:
    """``Medications: a 5 mg; b 10 mg``: a row for each part, under that section."""
    section = section_of(pair["label"])
    base = line.start + pair.start("value")
    rows = []
    for part in re.finditer(r"(?:[^;\n]|;(?=\S))+", pair["value"]):
        for span in sentence_spans(part.group()):
            left, right = base + part.start() + span.start, base + part.start() + span.end
            words = part.group()[span.start : span.end]
            rows.append(Row(text=words, span=Span(start=left, end=right), section=section))
    return rows


def _row(lines: Sequence[_Line], section: str, fields: tuple[Field, ...]) -> Row:
    start, end = lines[0].start, lines[-1].start + len(lines[-1].text)
    words = "\n".join(line.text for line in lines)
    if len(lines) == 1 or not fields:
        words = lines[0].text if len(lines) == 1 else words
    return Row(text=words, span=Span(start=start, end=end), section=section, fields=fields)


# ---------------------------------------------------------------- prose


def _is_prose(lines: Sequence[_Line], at: int, first: int, text: str, section: str) -> bool:
    line = lines[at]
    if at == first:
        return True
    return not (
        line.blank or line.marked or _heading(line, lines, at) is not None
        or (_PAIR.match(line.text) and is_section(_PAIR.match(line.text)["label"]))  # type: ignore[index]
        or _table(text, lines, at, section) is not None
    )  # fmt: skip


def _sentences(text: str, start: int, end: int, section: str, paragraph: int) -> Iterator[Row]:
    stretch = text[start:end]
    left: int | None = None
    for span in sentence_spans(stretch.replace("\n", " ")):
        if not re.search(r"\w", stretch[span.start : span.end]):
            left = span.start  # "? gout" is a query, not a mark and a sentence
            continue
        if left is not None:
            span, left = Span(start=left, end=span.end), None
        yield Row(
            text=stretch[span.start : span.end],
            span=Span(start=start + span.start, end=start + span.end),
            section=section,
            paragraph=paragraph,
        )
