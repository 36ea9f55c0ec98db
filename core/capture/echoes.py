"""What a tool gives back of the agent's own arguments: the agent said it, so it is no evidence.

A statement that was passed to ``submit``, ``final_answer``, a scratchpad, memory, ``print``, a formatter
or an issue tracker comes back from there word for word, in pieces, or as fields of a record. What an
earlier output held before the agent passed it on is not its own.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil

from core.records import RawRange, Source, SourceStatus, Span

NOTE = "what it repeats of the agent's own arguments was left out: no evidence"
ALL = "it only repeats the agent's own arguments"
# An address is one word: who opens a page or a file names it, and what comes back names it again.
_WORD = re.compile(
    r"[a-z][a-z0-9+.-]*://\S+|[\w.~-]*(?:/[\w.%~-]+){2,}|\d+(?:[.,:/-]\d+)*|[^\W\d_]+", re.I
)
_ESCAPED = re.compile(r"\\[nrt]")
_KEY = re.compile(r"[\w.\- ]{1,80}: ")
_GAP = "[…]"
_GRAM = 3  # words in a row by which a stretch is known
_STRETCH = 5  # words in a row that say something; the parts of an identifier are one
_FEW = 3  # words: less is left of no statement
_FIELDS = 4  # words of one call's arguments that make a record of them
_SHARE = 2 / 3  # of a record's words, from that many on it is the arguments again
_SMALL = frozenset(
    "a an the of in on at to for by is are was were be been and or it its this that with as from s".split()
)

Word = tuple[str, int, int]


def without_echoes(question: str, sources: Sequence[Source]) -> tuple[Source, ...]:
    """The sources, in the order of their calls, without what earlier arguments had already said."""
    own = _Own(question)
    return tuple(own.read(source) for source in sources)


class _Own:
    """The words that the agent passed to tools so far, and those that tools had given before."""

    def __init__(self, question: str) -> None:
        self.asked = {word for word, _, _ in _words(question)}
        self.passed: set[tuple[str, ...]] = set()
        self.records: list[set[str]] = []
        self.holding: dict[str, list[int]] = {}  # by word: the numbers of those records
        self.given: set[tuple[str, ...]] = set()
        self.known: set[str] = set()
        self.arguments: set[str] = set()  # those that were taken in

    def read(self, source: Source) -> Source:
        """The source as evidence; what it gives anew counts as given from here on."""
        if source.arguments and source.arguments not in self.arguments:
            self.arguments.add(source.arguments)
            record: set[str] = set()
            for text in _leaves(source.arguments):
                words = _words(_ESCAPED.sub(" ", text))
                self.passed |= {gram for gram, _ in _grams(words)} - self.given
                record |= {word for word, _, _ in words}
            record -= _SMALL
            for word in record:
                self.holding.setdefault(word, []).append(len(self.records))
            self.records.append(record)
        if not source.is_evidence:
            return source
        read = self._cut(source) if self.passed or self.records else source
        if read.is_evidence:
            words = _words(read.text)
            self.given |= {gram for gram, _ in _grams(words)}
            self.known |= {word for word, _, _ in words}
        return read

    def _cut(self, source: Source) -> Source:
        text = source.text
        words = _words(text)
        cuts = [*self._stretches(text, words), *self._records(text)]
        if not cuts:
            return source
        kept = _lines(text, _rest(cuts, len(text)))
        if len([w for span in kept for w in _told(text[slice(*span)])]) < _FEW:
            return dataclasses.replace(source, status=SourceStatus.ECHO, note=_note(source, ALL))
        return _shortened(source, kept)

    def _stretches(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Where words stand in a row that were passed in a row."""
        first = last = -1
        for gram, at in (*_grams(words), ((), len(words) + _GRAM)):
            if first >= 0 and at > last:
                gaps = (text[a[2] : b[1]] for a, b in pairwise(words[first : last + 1]))
                if 1 + sum(gap not in ("", "-") for gap in gaps) >= _STRETCH:
                    yield words[first][1], words[last][2]
                first = -1
            if gram in self.passed:
                first, last = (at if first < 0 else first), at + _GRAM - 1

    def _records(self, text: str) -> Iterator[tuple[int, int]]:
        """The lines of records that hold one call's arguments and hardly anything else."""
        for block in re.finditer(r"(?:[^\n]+\n?)+", text):
            lines = [(m.start(), m.end(), _told(m[0])) for m in re.finditer(r"[^\n]+", block[0])]
            words = {word for _, _, told in lines for word in told}
            if len(words) < _FIELDS or not words - self.known:
                continue
            if (record := self._like(words)) is None:
                continue
            for start, end, told in lines:
                plain = set(told) <= self.asked and not any(word[0].isdigit() for word in told)
                if told and set(told) <= record and not set(told) <= self.known and not plain:
                    yield block.start() + start, block.start() + end

    def _like(self, words: set[str]) -> set[str] | None:
        """The words of the first call whose arguments are most of these; None without one.

        Such a call holds one at least of any third and one of them, so the rarest of these name every
        one that may do.
        """
        rarest = sorted(words, key=lambda word: len(self.holding.get(word, ())))
        named = rarest[: len(words) - ceil(max(_FIELDS, _SHARE * len(words))) + 1]
        for number in sorted({each for word in named for each in self.holding.get(word, ())}):
            record = self.records[number]
            if len(words & record) >= max(_FIELDS, _SHARE * len(words)):
                return record
        return None


def _leaves(arguments: str) -> Iterator[str]:
    """Every value of a call's arguments as text."""
    try:
        value = json.loads(arguments, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        yield arguments
        return
    held = [value]
    while held:
        item = held.pop()
        if isinstance(item, dict):
            held.extend(reversed(item.values()))
        elif isinstance(item, list):
            held.extend(reversed(item))
        elif isinstance(item, str):
            yield item


def _words(text: str) -> list[Word]:
    return [(m[0].casefold(), m.start(), m.end()) for m in _WORD.finditer(text)]


def _told(line: str) -> list[str]:
    """The words of a line's value, small ones left out."""
    key = _KEY.match(line)
    return [w for w, _, _ in _words(line[key.end() if key else 0 :]) if w not in _SMALL]


def _grams(words: Sequence[Word]) -> Iterator[tuple[tuple[str, ...], int]]:
    for at in range(len(words) - _GRAM + 1):
        yield tuple(word for word, _, _ in words[at : at + _GRAM]), at


def _rest(cuts: Iterable[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """What is left between the cuts."""
    merged: list[list[int]] = []
    for start, stop in sorted(cuts):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(stop, merged[-1][1])
        else:
            merged.append([start, stop])
    marks = [0, *(place for cut in merged for place in cut), end]
    return [(a, b) for a, b in zip(marks[::2], marks[1::2], strict=True) if a < b]


def _lines(text: str, kept: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The kept stretches, without lines of which nothing is left but their key or a mark."""
    left: list[tuple[int, int]] = []
    whole = {0, len(text)}
    for start, end in kept:
        for line in re.finditer(r"[^\n]*\n?", text[start:end]):
            a, b = start + line.start(), start + line.end()
            cut = (a == start and a not in whole and text[a - 1] != "\n") or (
                b == end and b not in whole and text[b - 1] != "\n"
            )
            if a < b and not (cut and not _told(line[0])):
                left.append((a, b))
    return left


def _shortened(source: Source, kept: Sequence[tuple[int, int]]) -> Source:
    """The source with the kept stretches alone; the whole output stays as its raw text."""
    raw = source.raw if source.raw is not None else source.text
    ranges = source.raw_map
    if source.raw is None:  # the text is the output: every stretch has its bytes
        ends = [0]
        for start, end in pairwise([0, *(place for span in kept for place in span)]):
            ends.append(ends[-1] + len(raw[start:end].encode("utf-8", "replace")))
        ranges = tuple(
            RawRange(text=Span(start=a, end=b), raw_start=ends[2 * i + 1], raw_end=ends[2 * i + 2])
            for i, (a, b) in enumerate(kept)
        )
    text, raw_map, before = "", [], 0
    for start, end in kept:
        if start > before and text and not text.endswith("\n"):
            text += f" {_GAP} "
        for place in ranges:
            a, b = max(start, place.text.start), min(end, place.text.end)
            if a < b:
                at = len(text) - start
                span = Span(start=a + at, end=b + at)
                raw_map.append(
                    RawRange(text=span, raw_start=place.raw_start, raw_end=place.raw_end)
                )
        text += source.text[start:end]
        before = end
    note = _note(source, NOTE)
    return dataclasses.replace(source, text=text, raw=raw, raw_map=tuple(raw_map), note=note)


def _note(source: Source, told: str) -> str:
    return f"{source.note}; {told}" if source.note else told
