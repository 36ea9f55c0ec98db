"""Tables of a chart's text: Markdown, comma, semicolon, tab and bar separated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.evidence.chart.labels import attribute_of, kind_of, section_of
from core.evidence.chart.rows import Field, Line, Row
from core.records import Span

_RULE = re.compile(r"\s*\|?[\s:|+-]*-[\s:|+-]*\|?\s*\Z")
_MOST_RAGGED = 2  # cells that a row may have more or fewer than its table's head


def table_at(
    text: str, lines: Sequence[Line], at: int, section: str
) -> tuple[list[Row], int] | None:
    """The rows of the table that begins here, and the line behind it."""
    for separator in ("|", "\t", ";", ","):
        header = _cells(text, lines[at], separator)
        rows, end = [], at + 1
        ruled = separator == "|" and end < len(lines) and _is_rule(lines[end].text)
        if len(header) < 2 or lines[at].blank:
            continue
        if not ruled and not all(_is_label(cell.text) for cell in header):
            continue
        named = sum(attribute_of(cell.text) != "other" for cell in header)
        end += ruled
        # A table whose columns go by known names may have rows that are a cell short or long.
        ragged = _MOST_RAGGED if (ruled or named > 2) and len(header) > _MOST_RAGGED else 0
        while end < len(lines) and not lines[end].blank:
            cells = _cells(text, lines[end], separator)
            if abs(len(cells) - len(header)) > ragged or len(cells) < 2:
                break
            rows.append(_table_row(text, header, cells, section))
            end += 1
        if rows:
            return rows, end
    return None


def _is_rule(text: str) -> bool:
    return bool(text) and _RULE.match(text) is not None


def _is_label(cell: str) -> bool:
    return (
        0 < len(cell) <= 40 and not re.search(r"\d{2}|[.!]\s*\Z", cell) and len(cell.split()) <= 5
    )


def _cells(text: str, line: Line, separator: str) -> list[Field]:
    """The cells of a line with their places; quoted cells may hold the separator."""
    start, end = line.start, line.start + len(line.text)
    if line.marked and separator != "|":
        return []
    if separator == "|":
        if "|" not in line.text:
            return []
        if line.text.startswith("|"):  # a bar at both ends is a frame, else cells may be empty
            start += 1
            end -= line.text.endswith("|")
    elif separator not in line.text:
        return []
    cells = []
    for match in re.finditer(
        rf'\s*(?:"((?:[^"]|"")*)"\s*|([^{re.escape(separator)}]*))(?:{re.escape(separator)}|\Z)',
        text[start:end],
    ):
        group = 1 if match.group(1) is not None else 2
        value = match.group(group)
        left = start + match.start(group)
        words = value.strip()
        cells.append(
            Field(label="", text=words, span=Span(start=left, end=left + len(value.rstrip())))
        )
        if (
            match.end() == end - start
            and text[start:end][match.end() - 1 : match.end()] != separator
        ):
            break
    return cells


def _table_row(text: str, header: Sequence[Field], cells: Sequence[Field], section: str) -> Row:
    fields = tuple(
        replace(cell, label=head.text)
        for head, cell in zip(header, cells, strict=False)
        if cell.text
    ) + tuple(replace(cell, label="remark") for cell in cells[len(header) :] if cell.text)
    start, end = cells[0].span.start, max(cells[-1].span.end, cells[0].span.start)
    if len(fields) == 2 and attribute_of(fields[0].label) == "kind" and kind_of(fields[0].text):
        # "| Section | Detail |": each row is a section of its own.
        section = section_of(fields[0].text)
        return Row(text=fields[1].text, span=fields[1].span, section=section)
    return Row(
        text=text[start:end], span=Span(start=start, end=end), section=section, fields=fields
    )
