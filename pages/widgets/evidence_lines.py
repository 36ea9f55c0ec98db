"""Which lines of a source speak of a claim: what is lit, what is furniture, where a pane opens."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from core.records import Span
from core.text.tokens import content_terms

# A capture's own heading ("Complete tool output for search_pubmed."): it says nothing of the case.
_FURNITURE = re.compile(
    r"\s*(?:(?:complete|full|raw|captured)\s+)?(?:tool|function|api)\s+"
    r"(?:output|result|response|call)s?(?:\s+(?:for|of|from|by))?\s*[\w.:/-]*\s*(?:\([^)]*\))?[.:]?\s*",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s\W_]*(?:\d{1,3}[\s\W_]*)?")  # rules, and list numbers that stand alone
SHORTEST_TERM = 3  # characters; "g" and "mg" stand beside any number
_LONG_LINE = 400
_AROUND = 160  # characters of a long line that count as beside a value
_LEAST_SHARED = 2  # of the claim's words, from which a line of another source is near the claim


def claim_terms(text: str) -> frozenset[str]:
    """The words of a claim by which a line is known to speak of it: digits and units tell nothing."""
    return frozenset(
        term
        for term in content_terms(text)
        if len(term) >= SHORTEST_TERM and not any(c.isdigit() for c in term)
    )


def lit_lines(
    premise: Sequence[Span], text: str, terms: frozenset[str], values: Sequence[Span]
) -> Iterator[Span]:
    """The parts of a premise that speak of the claim, line by line: those that hold one of ``values``,
    and of the others those that add words of the claim, so that none only repeats its subject.

    Furniture is never among them. Where no line shares a word or a checked value with the claim
    (it may say it in other words), every line but the furniture is.
    """
    lines = [
        line
        for span in premise
        for line in lines_of(text, span)
        if not is_furniture(line.cut(text))
    ]
    shared = [terms & content_terms(line.cut(text)) for line in lines]
    spread = Counter(term for found in shared for term in found)
    lit = {at for at, line in enumerate(lines) if any(line.overlaps(each) for each in values)}
    left = terms.difference(*(shared[at] for at in lit))
    while left & spread.keys():
        # A word that stands in few lines tells more; lines that add alike are lit together.
        worth = [math.fsum(1 / spread[term] for term in sorted(left & found)) for found in shared]
        lit |= {at for at, each in enumerate(worth) if each == max(worth)}
        left = left.difference(*(shared[at] for at in lit))
    yield from [line for at, line in enumerate(lines) if at in lit] or lines


def quoted_lines(place: Span, text: str, words: str) -> list[Span]:
    """A place within one line; of a whole record, the lines that ``words`` quote."""
    if "\n" not in place.cut(text):
        return [place]
    return [line for line in lines_of(text, place) if line.cut(text) in words]


def whole_line(place: Span, text: str) -> Span:
    """The line around a place; the place itself in one that is too long to light."""
    start = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.end)
    line = Span(start=start, end=len(text) if end < 0 else end)
    return line if line.end - line.start <= _LONG_LINE else place


def is_furniture(line: str) -> bool:
    """Whether a line is a capture's heading, a rule or a bare number."""
    return bool(_FURNITURE.fullmatch(line) or _RULE.fullmatch(line))


def stands_beside(place: Span, text: str, terms: frozenset[str]) -> bool:
    """Whether a value's line holds words of the claim too: equal digits elsewhere are chance."""
    start = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.end)
    end = len(text) if end < 0 else end
    if end - start > _LONG_LINE:
        start, end = max(start, place.start - _AROUND), min(end, place.end + _AROUND)
    line = text[start:end]
    if is_furniture(line):
        return False
    around = text[start : place.start] + " " + text[place.end : end]
    return not terms or bool(terms & content_terms(around))


def nearest_line(text: str, terms: frozenset[str]) -> Span | None:
    """The line that shares most words with a claim, rare ones weighing more; None when none is near."""
    lines = list(lines_of(text, Span(start=0, end=len(text))))
    shared = [(line, terms & content_terms(line.cut(text))) for line in lines]
    spread = Counter(term for _, found in shared for term in found)
    best = max(
        shared,
        key=lambda each: sum(1 / spread[term] for term in each[1]) + len(each[1]),
        default=None,
    )
    if best is None or len(best[1]) < min(_LEAST_SHARED, len(terms)) or not best[1]:
        return None
    return best[0]


def lines_of(text: str, span: Span) -> Iterator[Span]:
    """The lines of a stretch without their ends and outer blanks; blank ones are left out."""
    at = span.start
    for line in text[span.start : span.end].splitlines(keepends=True):
        bare = line.strip()
        start = at + len(line) - len(line.lstrip())
        if bare:
            yield Span(start=start, end=start + len(bare))
        at += len(line)
