"""An answer's Markdown as layout: headings, lists, tables and bold, with no markup made of it.

The browser gets the answer's own characters in pieces, each with the block that it stands in and a
look. What is only syntax ("**", "|", "#") is a piece as well, hidden while the layout is shown: the
pieces join to the answer to the letter, no link is made and nothing is fetched.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.decomposition.markdown import Block, BlockKind, blocks
from core.records import Span

Json = Mapping[str, object]

HIDDEN, STRONG, CODE, MARKER = "hidden", "strong", "code", "marker"
_STRONG = re.compile(
    r"\*\*(?=[^\s*])[^\n]*?(?<=[^\s*])\*\*(?!\*)|(?<!\w)__(?=\S)[^\n]*?(?<=\S)__(?!\w)"
)
_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
_MARKER = re.compile(r"(?:[^\S\n]*)(\S{1,6})[^\S\n]*\Z")
_TABLE = {BlockKind.ROW, BlockKind.TABLE_HEAD}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """A stretch of the answer that no edge cuts; ``block`` is None between blocks."""

    span: Span
    block: int | None
    cell: int | None
    look: str


def lay_out_blocks(answer: str) -> list[Json]:
    """The blocks of an answer, as the browser draws them."""
    return [
        {
            "kind": block.kind.value.replace(" ", "-"),
            "depth": block.depth,
            "group": block.group,
            "ordered": block.ordered,
        }
        for block in blocks(answer)
    ]


def answer_parts(answer: str, edges: Iterable[int]) -> Iterator[AnswerPart]:
    """The answer in order, cut at ``edges`` and wherever block, cell or look changes."""
    found = blocks(answer)
    looks = sorted(_looks(answer, found), key=lambda each: (each[0].start, each[0].end))
    cuts = {0, len(answer), *edges}
    for span, _ in looks:
        cuts |= {span.start, span.end}
    for block in found:
        for span in (block.span, *block.cells):
            cuts |= {span.start, span.end}
    ordered = sorted(cut for cut in cuts if 0 <= cut <= len(answer))
    starts = [block.span.start for block in found]
    look_starts = [span.start for span, _ in looks]
    for start, end in zip(ordered, ordered[1:], strict=False):
        at = bisect_right(starts, start) - 1
        here = found[at] if at >= 0 and start < found[at].span.end else None
        yield AnswerPart(
            span=Span(start=start, end=end),
            block=None if here is None else at,
            cell=None if here is None else _cell_of(here, start),
            look=_look_at(looks, look_starts, start) or ("" if _shown(here, start) else HIDDEN),
        )


def _cell_of(block: Block, at: int) -> int | None:
    return next((n for n, cell in enumerate(block.cells) if cell.start <= at < cell.end), None)


def _shown(block: Block | None, at: int) -> bool:
    """Between blocks and between the cells of a row stands syntax and white space."""
    if block is None:
        return False
    return block.kind not in _TABLE or _cell_of(block, at) is not None


def _look_at(looks: list[tuple[Span, str]], starts: list[int], at: int) -> str:
    here = bisect_right(starts, at) - 1
    # Looks nest two deep at most: the marks of bold inside bold, of code inside bold.
    for span, look in reversed(looks[max(0, here - 6) : here + 1]):
        if span.start <= at < span.end:
            return look
    return ""


def _looks(answer: str, found: tuple[Block, ...]) -> Iterator[tuple[Span, str]]:
    for block in found:
        if block.kind is BlockKind.CODE:
            yield block.span, CODE
            continue
        if block.kind is BlockKind.ITEM:
            yield from _marker(answer, block)
        inside = block.span.cut(answer)
        for pattern, look, width in ((_STRONG, STRONG, 2), (_CODE, CODE, 1)):
            for match in pattern.finditer(inside):
                start, end = block.span.start + match.start(), block.span.start + match.end()
                yield Span(start=start, end=start + width), HIDDEN
                yield Span(start=start + width, end=end - width), look
                yield Span(start=end - width, end=end), HIDDEN


def _marker(answer: str, block: Block) -> Iterator[tuple[Span, str]]:
    """The number of an ordered item; a bullet is drawn by the style sheet."""
    line = answer.rfind("\n", 0, block.span.start) + 1
    mark = _MARKER.match(answer, line, block.span.start)
    if block.ordered and mark is not None:
        yield Span(start=mark.start(1), end=mark.end(1)), MARKER
