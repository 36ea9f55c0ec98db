"""How an answer is laid out: lines and their kinds, and the units that can be taken out whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.records import Span
from core.text.sentences import sentence_spans

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")
_BOLD_HEADING = re.compile(r"[ \t]*(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?[ \t]*$")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+•‣◦–—]|\(?(?P<number>\d{1,3})[.)]|[a-z][.)])(?:[ \t]+|$)"
    r"(?:\[[ xX]\][ \t]+)?"
)
_RULE = re.compile(
    r"[ \t]*(?:[-*_=][ \t]*){3,}$"
    r"|[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$"
)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_CLOSING = re.compile(r"(\*\*|__|\*|_)(?:\s+|$)")
_SENTENCE_ENDS = re.compile(r"[.!?:;…][\s\"'”’)\]*_]*$")


class LineKind(StrEnum):
    """What a line of an answer is."""

    BLANK = "blank"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    RULE = "rule"
    FENCE = "fence"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line; ``span`` leaves out its line break, ``content`` its marker and outer white space."""

    span: Span
    end: int  # behind the line break
    kind: LineKind
    indent: int
    content: Span
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence, a heading or a table row: the smallest piece that is taken out whole."""

    span: Span
    kind: LineKind
    line: int  # index of the line it begins on
    first: bool  # nothing but a marker stands before it in its block


def heading_level(text: str, line: Line) -> int:
    """How many marks a heading has; one without marks is of the lowest level, 7."""
    marks = re.match(r"\s*(#+)", line.span.cut(text))
    return len(marks.group(1)) if marks else 7


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines of a text, in order; together they cover it."""
    lines, at, fenced = [], 0, False
    for raw in text.splitlines(keepends=True):
        bare = raw.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        kind, marker, number = _kind(bare, fenced)
        if kind is LineKind.FENCE:
            fenced = not fenced
        start = at + marker
        stop = at + len(bare.rstrip())
        while start < stop and text[start].isspace():
            start += 1
        lines.append(
            Line(
                span=Span(start=at, end=at + len(bare)),
                end=at + len(raw),
                kind=kind,
                indent=len(bare) - len(bare.lstrip()),
                content=Span(start=min(start, max(stop, at)), end=max(stop, at)),
                number=number,
            )
        )
        at += len(raw)
    return tuple(lines)


def units_of(text: str, lines: Sequence[Line] | None = None) -> tuple[Unit, ...]:
    """The units of a text, in order, without overlap."""
    lines = lines_of(text) if lines is None else lines
    units: list[Unit] = []
    for first, last in _blocks(text, lines):
        line = lines[first]
        span = Span(start=line.content.start, end=lines[last].content.end)
        if span.start >= span.end:
            continue
        if line.kind in (LineKind.ROW, LineKind.HEADING):
            units.append(Unit(span=span, kind=line.kind, line=first, first=True))
            continue
        for at in _sentences(text, span):
            units.append(
                Unit(
                    span=at,
                    kind=line.kind,
                    line=_line_at(lines, at.start, first),
                    first=at.start == span.start,
                )
            )
    return tuple(units)


def _sentences(text: str, span: Span) -> list[Span]:
    """The sentences of a block; a mark that closes behind a stop stays with its sentence."""
    found: list[Span] = []
    for sentence in sentence_spans(span.cut(text)):
        start, end = span.start + sentence.start, span.start + sentence.end
        closes = _CLOSING.match(text, start, end)
        if found and closes and found[-1].cut(text).count(closes.group(1)) % 2:
            found[-1] = Span(start=found[-1].start, end=start + len(closes.group(1)))
            start = closes.end()
        if start < end:
            found.append(Span(start=start, end=end))
    return found


def cells_of(text: str, row: Span) -> tuple[Span, ...]:
    """The cells of a table row, without outer white space."""
    cells, at = [], row.start
    edges = [row.start + m.start() for m in re.finditer(r"(?<!\\)\|", row.cut(text))] + [row.end]
    for edge in edges:
        start, end = at, edge
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if edge > row.start and not (edge == row.end and start == end):
            cells.append(Span(start=start, end=end))
        at = edge + 1
    return tuple(cells)


def _kind(bare: str, fenced: bool) -> tuple[LineKind, int, int | None]:
    """The kind of a line, the length of its marker, and its number in an ordered list."""
    if not bare.strip():
        return LineKind.BLANK, 0, None
    if _FENCE.match(bare):
        return LineKind.FENCE, 0, None
    if fenced:
        return LineKind.TEXT, 0, None
    if _RULE.match(bare):
        return LineKind.RULE, 0, None
    heading = _HEADING.match(bare)
    if heading:
        return LineKind.HEADING, heading.end(), None
    if _BOLD_HEADING.match(bare):
        return LineKind.HEADING, 0, None
    if bare.lstrip().startswith("|") and bare.count("|") >= 2:
        return LineKind.ROW, 0, None
    item = _ITEM.match(bare)
    if item:
        number = item.group("number")
        return LineKind.ITEM, item.end(), int(number) if number else None
    return LineKind.TEXT, 0, None


def _blocks(text: str, lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Runs of lines that belong together: a wrapped paragraph, an item with its continuation."""
    blocks: list[tuple[int, int]] = []
    for index, line in enumerate(lines):
        if line.kind in (LineKind.BLANK, LineKind.RULE, LineKind.FENCE):
            continue
        before = lines[index - 1] if index else None
        joins = (
            line.kind is LineKind.TEXT
            and before is not None
            and before.kind in (LineKind.TEXT, LineKind.ITEM)
            and bool(blocks)
            and blocks[-1][1] == index - 1
            and not _SENTENCE_ENDS.search(before.span.cut(text))
            # Lines that begin anew ("Title: …", "Published: …") are no wrapped paragraph; where a
            # claim spans two lines all the same, its units are edited together.
            and text[line.content.start : line.content.start + 1].islower()
            and (before.kind is LineKind.TEXT or line.indent > before.indent)
        )
        if joins:
            blocks[-1] = (blocks[-1][0], index)
        else:
            blocks.append((index, index))
    return blocks


def _line_at(lines: Sequence[Line], at: int, start: int) -> int:
    for index in range(start, len(lines)):
        if lines[index].span.start <= at < max(lines[index].end, lines[index].span.start + 1):
            return index
    return start
