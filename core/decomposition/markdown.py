"""An answer as blocks with exact offsets: paragraphs, list items, table rows, headings, code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.records import Span


class BlockKind(StrEnum):
    """What a stretch of an answer is by its layout."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    TABLE_HEAD = "table head"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block; ``span`` is its content in the answer, without list marks or table borders.

    ``depth`` is the indentation of an item in columns, or the level of a heading. ``group`` counts
    up at each blank line, heading or change of layout: blocks of one list share it. ``cells`` are
    the cells of a table row. ``language`` is what a code fence says it holds.
    """

    kind: BlockKind
    span: Span
    depth: int = 0
    group: int = 0
    cells: tuple[Span, ...] = ()
    language: str = ""
    ordered: bool = False


_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|[^\s#\d])[ \t]*")
_ITEM = re.compile(
    r"([ \t]*)(?:[-*+\u2022\u25aa\u25e6\u2023\u00b7\u25cf\u25cb\u2013\u2014](?=[ \t])"
    r"|(\(?(?:\d{1,3}|[a-zA-Z])[.)])(?=[ \t]|\*\*))[ \t]*"
)
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,40})")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})\s*\Z")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){0,60}\|?\s*\Z")
_QUOTE = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+")
_BOLD_LINE = re.compile(r"(?:\*\*|__)[^*_\n](?:[^*\n]*[^*\s])?(?:\*\*|__):?\Z")


def blocks(answer: str) -> tuple[Block, ...]:
    """The blocks of an answer in order; every character outside marks and white space is in one."""
    return tuple(_read(answer))


def _read(answer: str) -> Iterator[Block]:
    group, fence, code_start, language = 0, "", 0, ""
    open_block: Block | None = None
    in_table = False
    lines = list(_lines(answer))
    for number, (start, end) in enumerate(lines):
        line = answer[start:end]
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark.group(1).startswith(fence):
                yield from _code(answer, code_start, start, language, group)
                fence = ""
            continue
        if mark is not None:
            if open_block is not None:
                yield open_block
                open_block = None
            in_table = False
            fence, code_start, language = mark.group(1), end, mark.group(2).casefold()
            group += 1
            continue
        quote = _QUOTE.match(line)
        if quote is not None:
            start += quote.end()
            line = answer[start:end]
        kind = _kind_of(line, in_table)
        if open_block is not None and kind != "continued":
            yield open_block
            open_block = None
        if kind != "row":
            in_table = False
        if kind in ("blank", "rule"):
            group += 1
        elif kind == "row":
            if _TABLE_RULE.match(line):
                continue
            cells = _cells(answer, start, end)
            opens = not in_table
            # Only a rule under the first row makes it column names; without one it is data.
            below = lines[number + 1] if number + 1 < len(lines) else (end, end)
            head = opens and _TABLE_RULE.match(answer[below[0] : below[1]]) is not None
            group += opens
            in_table = True
            if cells:
                span = Span(start=cells[0].start, end=cells[-1].end)
                row = BlockKind.TABLE_HEAD if head else BlockKind.ROW
                yield Block(kind=row, span=span, cells=cells, group=group)
        elif kind == "heading":
            heading = _HEADING.match(line)
            group += 1
            level = len(heading.group(1)) if heading else 7
            offset = heading.end() if heading else 0
            span = _trim(answer, start + offset, end, "# \t")
            if span.start < span.end:
                yield Block(kind=BlockKind.HEADING, span=span, depth=level, group=group)
        elif kind == "item":
            item = _ITEM.match(line)
            assert item is not None
            depth = len(item.group(1).expandtabs(4))
            span = _trim(answer, start + item.end(), end)
            open_block = Block(
                kind=BlockKind.ITEM,
                span=span,
                depth=depth,
                group=group,
                ordered=item.group(2) is not None,
            )
        else:
            span = _trim(answer, start, end)
            if open_block is None:
                open_block = Block(kind=BlockKind.PARAGRAPH, span=span, group=group)
            else:
                open_block = Block(
                    kind=open_block.kind,
                    span=Span(start=open_block.span.start, end=span.end),
                    depth=open_block.depth,
                    group=open_block.group,
                    ordered=open_block.ordered,
                )
    if open_block is not None:
        yield open_block
    if fence:  # a fence that is never closed still holds its text
        yield from _code(answer, code_start, len(answer), language, group)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in re.finditer(r"\r\n|\n|\r|\u2028|\u2029", text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _kind_of(line: str, in_table: bool) -> str:
    if not line.strip():
        return "blank"
    if _RULE.match(line) and not in_table:
        return "rule"
    if _HEADING.match(line) or _BOLD_LINE.match(line.strip()):
        return "heading"
    if line.count("|") >= 2 and line.lstrip().startswith("|") or (in_table and "|" in line):
        return "row"
    if _ITEM.match(line):
        return "item"
    return "continued"


def _cells(answer: str, start: int, end: int) -> tuple[Span, ...]:
    cells, at = [], start
    for match in re.finditer(r"(?<!\\)\|", answer[start:end]):
        cells.append(_trim(answer, at, start + match.start()))
        at = start + match.end()
    cells.append(_trim(answer, at, end))
    if cells and cells[0].start >= cells[0].end:
        cells = cells[1:]
    if cells and cells[-1].start >= cells[-1].end:
        cells = cells[:-1]
    return tuple(cells)


def _code(answer: str, start: int, end: int, language: str, group: int) -> Iterator[Block]:
    span = _trim(answer, start, end)
    if span.start < span.end:
        yield Block(kind=BlockKind.CODE, span=span, language=language, group=group)


def _trim(answer: str, start: int, end: int, also: str = "") -> Span:
    while start < end and (answer[start].isspace() or answer[start] in also):
        start += 1
    while end > start and (answer[end - 1].isspace() or answer[end - 1] in also):
        end -= 1
    return Span(start=start, end=end)


# ---------------------------------------------------------------- inline marks

_IMAGE_OR_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?(?:\s\"[^\"\n]{0,200}\")?\)"
)  # noqa: E501
_FOOTNOTE = re.compile(
    r"[ \t]?(?:\[\^?\d{1,3}(?:\s?[,\u2013-]\s?\d{1,3}){0,8}\]"
    r"|\u3010(?:\d+[^\s\u3011\n]{0,40}|[^\s\u3011]{1,12}\d[^\s\u3011]{0,40})\u3011)"
)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~|`+")


def masked(text: str) -> str:
    """``text`` with its marks blanked out, character for character, so that offsets stay."""

    def blank(match: re.Match[str]) -> str:
        return " " * len(match.group())

    def blank_link(match: re.Match[str]) -> str:
        start = match.start(1) - match.start()
        title = match.group(1)
        return " " * start + title + " " * (len(match.group()) - start - len(title))

    return _EMPHASIS.sub(blank, _FOOTNOTE.sub(blank, _IMAGE_OR_LINK.sub(blank_link, text)))


def plain(text: str) -> str:
    """``text`` without markdown marks, citation marks and decoration, white space made single."""
    text = _FOOTNOTE.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    # A star between numbers multiplies; elsewhere it is emphasis.
    text = re.sub(r"(?<=\d) ?\* ?(?=\d)", " × ", text)
    text = _EMPHASIS.sub("", re.sub(r"[0-9#*]\ufe0f?\u20e3", "", text))  # a key numbers a line
    text = "".join(_readable(character) for character in text)
    return " ".join(text.split())


def _readable(character: str) -> str:
    """The character; letters and digits in circles or squares as themselves, pictographs as nothing."""
    if not _decoration(character):
        return character
    letters = unicodedata.normalize("NFKC", character)
    if any(each.isalnum() for each in letters):
        return letters
    named = re.search(r"LATIN CAPITAL LETTER ([A-Z])\Z", unicodedata.name(character, ""))
    return named.group(1) if named is not None else ""


def _decoration(character: str) -> bool:
    """Pictographs say nothing that could be checked; stars of a rating do."""
    # U+3200 to U+33FF hold square units such as ㎎.
    if character < "\u2190" or character in "★☆" or "\u3200" <= character <= "\u33ff":
        return False
    return character in "\ufe0f\u200d\u20e3" or unicodedata.category(character) == "So"


_LINK_TITLE = re.compile(r"\]\([^()\s]{0,2000}\s\"([^\"\n]{3,200})\"\)|\A[ \t]*\[[^\]\n]{1,80}\]:\s+\S+\s+"
                         r"[\"'(]([^\"'\n]{3,200})[\"')]")  # fmt: skip


def link_titles(text: str) -> tuple[Span, ...]:
    """Where the titles of links and images stand: text that a page shows only under the pointer."""
    found = []
    for match in _LINK_TITLE.finditer(text):
        group = 1 if match.group(1) is not None else 2
        found.append(Span(start=match.start(group), end=match.end(group)))
    return tuple(found)
