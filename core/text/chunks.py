"""A source's text cut into units (sentences, record lines) and into chunks that an embedder can read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from core.records import Span
from core.text.sentences import sentence_spans

_LINE = re.compile(r"[^\n]+")
# A key is a path or a few words, never a sentence.
_KEY = r"[A-Za-z_][\w()\[\]/-]*(?:[ .][\w()\[\]/-]+){0,5}"
_PAIR = re.compile(rf"^\s*[-*]?\s*{_KEY}\s*:\s*\S")
_FIELD = re.compile(rf"(?:^|[;|,\n])\s*[-*]?\s*{_KEY}\s*:\s*\S")
SHORT_RECORD = 500  # characters; longer records are taken line by line
LONGEST_UNIT = 600  # characters; a longer line or sentence is cut at a space


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The smallest stretch of a source that is taken into a premise.

    ``block`` numbers the paragraph or record that it stands in; ``heading`` says that it names what
    the block is about (its first line), so that a premise may carry it along.
    """

    span: Span
    block: int
    heading: bool


def is_record_text(text: str) -> bool:
    """Whether a text is made of ``key: value`` fields rather than sentences (exact evidence, III.4)."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return False
    pairs = sum(1 for line in lines if _PAIR.match(line))
    fields = len(_FIELD.findall(text))
    return pairs >= 0.6 * len(lines) and fields >= max(1, 0.6 * len(lines))


@lru_cache(maxsize=64)  # a source is cut for its premises, and for what of it is the agent's own
def units(text: str) -> tuple[Unit, ...]:
    """Sentences and lines of a text in order; blank lines separate blocks."""
    found: list[Unit] = []
    block, last_end, fresh = 0, 0, True
    for line in _LINE.finditer(text):
        if not line.group().strip():
            continue
        if last_end and "\n" in text[last_end : line.start()].replace("\n", "", 1):
            block, fresh = block + 1, True
        last_end = line.end()
        for span in _sentences_of(text, line.start(), line.end()):
            found.append(Unit(span=span, block=block, heading=fresh))
            fresh = False
    return tuple(found)


def groups(text: str, parts: tuple[Unit, ...]) -> tuple[tuple[int, ...], ...]:
    """Units (by index) that are taken together: a record over short lines whole, else one by one."""
    blocks: dict[int, list[int]] = {}
    for index, unit in enumerate(parts):
        blocks.setdefault(unit.block, []).append(index)
    found: list[tuple[int, ...]] = []
    for indices in blocks.values():
        whole = text[parts[indices[0]].span.start : parts[indices[-1]].span.end]
        if len(whole) <= SHORT_RECORD and all(
            _is_field_line(parts[index].span.cut(text)) for index in indices
        ):
            found.append(tuple(indices))
        else:
            found.extend((index,) for index in indices)
    return tuple(found)


def _is_field_line(line: str) -> bool:
    """Whether a line is one field of a record: a line of several fields is a record by itself."""
    return bool(_PAIR.match(line)) and ";" not in line and " | " not in line


def chunks(text: str, parts: tuple[Unit, ...], longest: int) -> tuple[Span, ...]:
    """Runs of neighbouring units of at most ``longest`` characters, broken at blocks first."""
    found: list[Span] = []
    start, end, block = -1, -1, -1
    for unit in parts:
        full = start >= 0 and unit.span.end - start > longest
        # A new record starts a new chunk once the current one has some substance.
        turned = start >= 0 and unit.block != block and end - start > longest // 3
        if full or turned:
            found.append(Span(start=start, end=end))
            start = -1
        if start < 0:
            start = unit.span.start
        end, block = unit.span.end, unit.block
    if start >= 0:
        found.append(Span(start=start, end=end))
    return tuple(found)


def joined(text: str, spans: Iterable[Span], as_one: Callable[[str], bool]) -> list[Span]:
    """Spans in order, neighbours made one where ``as_one`` says so of what stands between them."""
    found: list[Span] = []
    for span in spans:
        if found and as_one(text[found[-1].end : span.start]):
            found[-1] = Span(start=found[-1].start, end=span.end)
        else:
            found.append(span)
    return found


def _sentences_of(text: str, start: int, end: int) -> list[Span]:
    line = text[start:end]
    if len(line) <= 120 or _PAIR.match(line) and len(line) <= LONGEST_UNIT:
        spans = [Span(start=0, end=len(line))]
    else:
        spans = list(sentence_spans(line))
    whole: list[Span] = []
    for span in spans:
        whole.extend(_cut(line, span))
    return [Span(start=start + s.start, end=start + s.end) for s in whole if s.cut(line).strip()]


def _cut(line: str, span: Span) -> list[Span]:
    pieces = []
    start = span.start
    while span.end - start > LONGEST_UNIT:
        space = line.rfind(" ", start + LONGEST_UNIT // 2, start + LONGEST_UNIT)
        stop = space + 1 if space > 0 else start + LONGEST_UNIT
        pieces.append(Span(start=start, end=stop))
        start = stop
    pieces.append(Span(start=start, end=span.end))
    return [_stripped(line, piece) for piece in pieces]


def _stripped(line: str, span: Span) -> Span:
    part = span.cut(line)
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return Span(start=span.start + left, end=span.start + max(left, right))
