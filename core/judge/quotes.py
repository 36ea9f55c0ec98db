"""Where a quote stands in a source: as written, else with white space, escapes and signs made alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from core.records import Source, Span
from core.records.judge import CALLS, JudgeQuote, QuotedPart, QuotePlace

SHORTEST = 2  # characters of a quote, white space left out
LONGEST = 6_000
# What stands before a source's arguments and its output in a request is ours, and is quoted with them.
_LABEL = re.compile(r"\s*(?:arguments|output):\s*")
_IN_NUMBER = re.compile(r"(?<=\d)(?=\.?\d)|(?<=\d\.)(?=\d)")
_ESCAPE = re.compile(r'\\+(?:u([0-9a-fA-F]{4})|(["\'/\\])|([nrt]))')
_ALIKE = str.maketrans({
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'",
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plain:
    """A text made alike, and where each of its characters begins and ends in the text it was made of."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def find_quote(quote: JudgeQuote, source: Source | None, calls: str) -> QuotePlace | None:
    """The place of a quote in the source's output, its raw output, or its arguments; None for none.

    ``source`` is None where the quote names the list of calls, whose text is ``calls``. An output's
    place is in its readable text wherever that holds the quote; a quote that stands in the raw output
    alone is placed at the readable text that was made of those bytes.
    """
    stripped = "".join(quote.quote.split())
    if not len(stripped) >= SHORTEST or len(quote.quote) > LONGEST:
        return None
    if source is None:
        found = place_in(quote.quote, calls)
        return (
            None
            if found is None
            else QuotePlace(source_id=CALLS, part=QuotedPart.CALLS, span=found[0], exact=found[1])
        )
    found = place_in(quote.quote, source.text)
    if found is not None:
        return _place(source, QuotedPart.OUTPUT, *found, _raw_behind(source, found[0]))
    if label := _LABEL.match(quote.quote):
        rest = replace(quote, quote=quote.quote[label.end() :])
        return find_quote(rest, source, calls)
    if source.raw is not None and (found := place_in(quote.quote, source.raw)) is not None:
        first, last = (len(source.raw[:at].encode()) for at in (found[0].start, found[0].end))
        made = _text_of(source, first, last)
        return _place(source, QuotedPart.OUTPUT, made, False, (first, last))
    if source.arguments and (found := place_in(quote.quote, source.arguments)) is not None:
        return _place(source, QuotedPart.ARGUMENTS, *found, None)
    return None


def place_in(quote: str, text: str) -> tuple[Span, bool] | None:
    """The first place of a quote in a text, and whether it stands there letter by letter.

    A place that begins or ends inside a number is none: "50 mg" is not in "150 mg".
    """
    at = _find(quote, text) if quote.strip() else -1
    if at >= 0:
        return Span(start=at, end=at + len(quote)), True
    wanted, plain = _plain(quote).text.strip(), _plain(text)
    at = _find(wanted, plain.text) if wanted else -1
    if at < 0:
        return None
    return Span(start=plain.starts[at], end=plain.ends[at + len(wanted) - 1]), False


def _find(wanted: str, text: str) -> int:
    at = text.find(wanted)
    while at >= 0 and any(_IN_NUMBER.match(text, end) for end in (at, at + len(wanted))):
        at = text.find(wanted, at + 1)
    return at


def _place(
    source: Source, part: QuotedPart, span: Span, exact: bool, raw: tuple[int, int] | None
) -> QuotePlace:
    return QuotePlace(source_id=source.source_id, part=part, span=span, exact=exact, raw=raw)


@lru_cache(maxsize=256)
def _plain(text: str) -> _Plain:
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for written, start, end in _letters(text):
        letter = written.translate(_ALIKE)
        if letter.isspace():
            if letters and letters[-1] == " ":
                ends[-1] = end
                continue
            letter = " "
        letters.append(letter)
        starts.append(start)
        ends.append(end)
    return _Plain("".join(letters), tuple(starts), tuple(ends))


def _letters(text: str) -> Iterator[tuple[str, int, int]]:
    """Each letter that a text says, with its place; an escape is the letter that it stands for."""
    at = 0
    for match in _ESCAPE.finditer(text):
        for place in range(at, match.start()):
            yield text[place], place, place + 1
        code, sign, blank = match.groups()
        yield (chr(int(code, 16)) if code else sign or " "), match.start(), match.end()
        at = match.end()
    for place in range(at, len(text)):
        yield text[place], place, place + 1


def _raw_behind(source: Source, span: Span) -> tuple[int, int] | None:
    """The bytes of the raw output that a stretch of readable text was made of."""
    behind = [part for part in source.raw_map if part.text.overlaps(span)]
    if not behind:
        return None
    return min(part.raw_start for part in behind), max(part.raw_end for part in behind)


def _text_of(source: Source, first: int, last: int) -> Span:
    """The readable text that was made of these bytes; all of it where nothing was, or nobody knows."""
    made = [part.text for part in source.raw_map if part.raw_start < last and first < part.raw_end]
    if not made:
        return Span(start=0, end=len(source.text))
    return Span(start=min(part.start for part in made), end=max(part.end for part in made))
