"""The stretch of a chart's text that tells of one entry, and the words that stand in it."""

from __future__ import annotations

import re

from core.evidence.chart.names import drug_spans, words_in
from core.evidence.chart.records import ChartEntry
from core.evidence.chart.status import clause_of
from core.evidence.names import MONTHS
from core.evidence.words import stem
from core.records import Span

# Where what is said of something else begins: a part, another field's line, a sentence, a mark-up tag.
_APART = re.compile(
    r";|\b(?:but|however|although|though|whereas|while)\b|\n(?=[\w.\[\] -]{1,80}:\s)|"
    r"[.!?],?\s+(?=[A-Z(])|</?\w+>"
)
_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s\Z")
# The month, which is no "may be".
_MAY = re.compile(
    r"(?<=\d)[ -]?May\b|\bMay(?=[ ,-]*\d)|\b(?:in|since|by|until|of|from|last|early|late|mid)[ -]May\b"
)
_JOINS = frozenset("is was of at a an the to be it by with came stood stands".split())
_LOWER, _UPPER = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[<≤]|\b(?:below|under|less|lower|falls?|drops?|dropp\w+|fell)\b",
        r"[>≥]|\b(?:above|over|more|higher|exceeds?|exceeded|rises?|longer)\b",
    )
)


def told_words(text: str) -> set[str]:
    """The words of a text in lower case, without possessive endings and without the month of May."""
    plain = _MAY.sub(" ", text)
    return {_POSSESSIVE.sub("", word.casefold()) for word in _WORD.findall(plain)}


def stretch_of(text: str, entry: ChartEntry) -> str:
    """The entry's row; of a row that only mentions it the part that does, and of several drugs its own.

    ``text`` is the source's.
    """
    row = text[entry.span.start : entry.span.end]
    at = Span(
        start=entry.name_span.start - entry.span.start, end=entry.name_span.end - entry.span.start
    )
    if entry.named:
        return row
    start, end = _part(row, at)
    names = [name for name in drug_spans(row) if start <= name.start < end]
    if not any(name.start <= at.start < name.end for name in names):
        return row[start:end]
    first = names[0].start
    nexts = [name.start for name in names if name.start > at.start]
    return f"{row[start:first]} {row[at.start : min(nexts, default=end)]}"


def _part(row: str, at: Span) -> tuple[int, int]:
    """From where the name's sentence, field or part begins to where its clause's ends."""
    left, right = 0, len(row)
    _, end = clause_of(row, at)
    for match in _APART.finditer(row):
        if match.end() <= at.start:
            left = match.end()
        elif match.start() >= end or (match.start() >= at.end and match.group()[0] in "\n<"):
            right = match.start()
            break
    return left, right


def stands_in(word: str, stretch: str) -> bool:
    """Whether a word stands in a stretch: in another inflection, spelling or short form, or as a sign."""
    if _LOWER.fullmatch(word):
        return _LOWER.search(stretch) is not None
    if _UPPER.fullmatch(word):
        return _UPPER.search(stretch) is not None
    if word.casefold() in MONTHS:
        return MONTHS[word.casefold()] in {MONTHS.get(each) for each in told_words(stretch)}
    meant = {stem(each.text) for each in words_in(word)}
    held = {stem(each.text) for each in words_in(stretch)}
    if not meant:  # a word that tells no two names apart ("disease") is compared as written
        return word.casefold() in told_words(stretch)
    return meant <= held


def number_stands(text: str, start: int, end: int, stretch: str) -> bool:
    """Whether a number of a text stands in a stretch behind the same word or sign: "ABPI of 1.1"."""
    number = re.escape(text[start:end])
    before = _measure_of(text[:start])
    return any(
        _same_measure(before, _measure_of(stretch[: match.start()]))
        for match in re.finditer(rf"(?<![\w.,/]){number}(?!\w|[.,/]\d)", stretch)
    )


def _measure_of(before: str) -> str:
    """The last word or sign that says what a number is of, without the words that only join."""
    found = re.findall(r"[<>≤≥]|[^\W\d_]{2,}|(?<=\s)[A-Z](?=[\s=:])", before[-60:])
    said = [word for word in found if word.casefold() not in _JOINS]
    return said[-1] if said else ""


def _same_measure(one: str, other: str) -> bool:
    if not one or not other:
        return False
    signs = (_LOWER, _UPPER)
    if any(sign.fullmatch(one) and sign.fullmatch(other) for sign in signs):
        return True
    return stem(one) == stem(other)
