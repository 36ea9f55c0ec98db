"""What each line of a text stands under: headings, less indented keys, and the list item it is in.

``production:`` over ``  replicas: 5`` and ``## Production`` over ``replicas: 5`` say whose replicas
they are, and the line alone does not.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from core.evidence.fact_lines import HEADING

ITEM = "#"  # what the place of a list item in its text begins with
_BULLET = re.compile(r"([ \t]*)[-*•][ \t]+(?=\S)")
_KEY = re.compile(r"[ \t]*(?:[-•][ \t]+)?[\"'*]*([^\s:#|<>{}\"'*][^:|<>{}\"'*]{0,60})[\"'*]*:\**\Z")


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
        if (heading := HEADING.match(bare)) is not None:
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
