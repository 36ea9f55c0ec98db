"""Sentence spans with exact offsets, on top of ``sentencex``, with clinical abbreviations guarded."""

from __future__ import annotations

import re

import sentencex

from core.records import Span
from core.text.initials import ends_at_letters

# A stop behind one of these does not end a sentence (sentencex knows Dr., Fig., e.g., et al.).
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs approx ca cf eq esp est etc fig figs incl max min no nos nr ref refs "
    "resp tab tabs vol pp ed eds e.g i.e al dept pt pts hx dx rx tx sx fx yr yrs mo mos wk wks hr "
    "hrs b.i.d t.i.d q.i.d q.d p.o p.r.n i.v i.m s.c a.m p.m jan feb mar apr jun jul aug sep sept "
    "oct nov dec sr jr inc ltd dist temp".split()
)
# These also end sentences; they are guarded only before a digit or a lower-case letter.
_WEAK = frozenset(
    "no nos est etc al pt pts hx dx rx tx sx fx yr yrs mo mos wk wks hr hrs b.i.d t.i.d q.i.d q.d "
    "p.o p.r.n i.v i.m s.c a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec max min inc "
    "ltd temp sr jr ed".split()
)
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LAST_WORD = re.compile(r"([A-Za-z][A-Za-z.]{0,9})\.[\s\"')\]*_]{0,8}\Z")
# sentencex reads "by mouth b.i.d. The" as initials and goes on.
_DOTTED = re.compile(r"(?<![\w.])((?:[a-z]\.){1,3}[a-z])\. +(?=[\"'(\[*_]{0,3}[A-Z])")
_STOPPED = re.compile(
    r"(?<=[a-z]\.[a-z]\.) +(?=(?:The|She|He|It|They|This|These|In|No|A|An|Her|His)\b)"
)

_DENIAL = re.compile(r"\s*No\. +(?=[A-Z][a-z])")  # an answer, where it opens a sentence: no number


def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences of ``text`` in order, without surrounding white space; nothing else is lost."""
    # sentencex is written in Rust and refuses lone surrogates; a stand-in keeps every offset.
    # It also counts a wide space as one byte and panics inside it: a plain one keeps every offset.
    readable = _WIDE_SPACE.sub(" ", _SURROGATE.sub("\ufffd", text))
    pieces: list[tuple[int, int]] = []
    for boundary in sentencex.get_sentence_boundaries("en", readable):
        start, end = int(boundary["start_index"]), int(boundary["end_index"])
        if pieces and _goes_on(_tail(readable, *pieces[-1]), readable[start : start + 8]):
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    trimmed = (_trimmed(text, *piece) for whole in pieces for piece in _split_missed(text, *whole))
    return tuple(span for span in trimmed if span.start < span.end)


def _tail(text: str, start: int, end: int) -> str:
    """The last few characters of a sentence; more would make a page of "approx. " quadratic."""
    return text[max(start, end - 24) : end]


def _goes_on(before: str, after: str) -> bool:
    """Whether the stop at the end of ``before`` belongs to an abbreviation, an initial or a list mark."""
    if before.endswith("\n"):
        return False
    if re.fullmatch(r"\s*\(?\d{1,3}[.)]\s*", before):  # "1. " alone is a list mark, not a sentence
        return True
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    name, follows = word.group(1).lower(), after.lstrip()[:1]
    if name in _WEAK:
        return follows.isdigit() or follows.islower()
    return name in _ABBREVIATIONS


def _split_missed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    # sentencex takes every letter before a stop for an initial: "5.6 mmol/L. Ole Berg has ...".
    cuts = {
        *ends_at_letters(text, start, end),
        *(m.end() for m in _STOPPED.finditer(text, start, end)),
    }
    if denial := _DENIAL.match(text, start, end):
        cuts.add(denial.end())
    dotted = _DOTTED.finditer(text, start, end)
    cuts.update(found.end() for found in dotted if found.group(1) in _WEAK)
    edges = [start, *sorted(cuts), end]
    return list(zip(edges, edges[1:], strict=False))


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start=start, end=end)
