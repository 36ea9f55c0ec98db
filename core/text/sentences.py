"""Sentence spans with exact offsets, on top of ``sentencex``, with clinical abbreviations guarded."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

from core.records import Span

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
    if re.fullmatch(
        r"[\s*_]*\(?\d{1,3}[.)]\s*", before
    ):  # "1. " alone is a list mark, not a sentence
        return True
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    name, follows = word.group(1).lower(), after.lstrip()[:1]
    if name in _WEAK or len(name) == 1 and word.group(1).isupper():  # "E. coli"
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


_MARKS = r"[\"'”’)\]*_`]{0,4}"
_LETTER_STOP = re.compile(
    rf"(?<![^\W\d_])(?P<letter>[A-Za-z])\.{_MARKS}[ \t]+"
    r"(?=[\"'“‘(\[*_`]{0,4}(?P<next>[A-Z][\w-]*)(?P<behind>.{0,2}))"
)
# Words that open a sentence, or name a person by title, and are nobody's family name.
_OPENERS = frozenset(
    "the she he it they this these those in no a an her his we you our your its there both all also "
    "at on if as when while after before since for from to by with and but or not however then thus "
    "dr mr mrs ms prof".split()
)
# What letters are given to, to tell one from another: "Unit B", "Hepatitis C".
_LETTERED = frozenset(
    "annex appendix arm batch bed block building category cell class cohort column company drive "
    "exhibit exit factor fig figure floor gate grade group hepatitis influenza item level line lot model "
    "option panel part patient phase plan platform point product question room row sample schedule "
    "section series server site stage step study subject table team terminal tier type unit version "
    "vitamin ward wing zone".split()
)
# A name may stand behind these small words; behind "is", "type" or "of" a letter stands alone as well.
_BEFORE_NAMES = frozenset("by with that when while".split())
_WORD_BEFORE = re.compile(r"(\S+)[ \t]*\Z")
_NAME = re.compile(r"[^\W\d_a-z](?:['’-]?[^\W\d_])*[^\W\d_A-Z]\Z")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d\Z")
# "J. Le Graet, " and "Pavel Kos, ": a list of people goes on.
_PEOPLE = re.compile(
    r"(?:[A-Z]\.|[A-Z][\w'’-]+) (?:[^\W\d_]\w{0,2} ){0,2}[A-Z][\w'’-]+[,;](?: and| &)?\s\Z"
)
_REACH = 48


def ends_at_letters(text: str, start: int, end: int) -> Iterator[int]:
    """Where sentences of ``text[start:end]`` begin behind a letter that is no person's initial.

    A letter is an initial where a name can stand: in front, behind a given name, a title or another
    initial, and before a family name. Behind a number, a slash or what letters are given to, it is not.
    """
    for found in _LETTER_STOP.finditer(text, start, end):
        before = text[max(start, found.start() - _REACH) : found.start()]
        again = len(found["next"]) == 1 and found["behind"][:1] == "."  # "C. A. Smith"
        opens = found["next"].lower() in _OPENERS and not again
        if _closes(before, found["letter"], opens, again, found["behind"]):
            yield found.end()


def _closes(before: str, letter: str, opens: bool, again: bool, behind: str) -> bool:
    """Whether a letter that stands behind ``before`` ends its sentence, a capitalised word behind it."""
    if re.search(r"[/\d]\S*\Z|[/°=\d]\s\Z|[^\s.]-\Z", before):  # "5.6 mmol/L.", "38 C.", "/tmp/a."
        return _YEAR.search(before.rstrip()) is None
    last = _WORD_BEFORE.search(before.rstrip("\"'“‘(["))
    word = last.group(1).strip("*_`\"'“‘([") if last is not None else ""
    lettered = word.rstrip(".").lower() in _LETTERED
    if not lettered and (not word or word.endswith((".", ".-"))):
        return False  # "A. The first", "J. R. Smith", "Dr. B. Miller", "U.S. Army"
    if opens or lettered:
        return True
    if letter.islower() or again:
        return False
    if _NAME.match(word) and word.lower() not in _OPENERS:
        return False
    if _PEOPLE.search(before):
        return False
    return not _may_name(word.lower(), before[: last.start()] if last else "", letter, behind)


def _may_name(word: str, before: str, letter: str, behind: str) -> bool:
    """Whether a name of one initial and one family name may stand behind a word that is no name."""
    if letter == "I" or re.match(r" [A-Z]", behind):  # "Anna and I. Ole Berg left"
        return False
    if word in ("and", "&"):
        named = _WORD_BEFORE.search(before)
        return named is not None and _NAME.match(named.group(1).rstrip(",")) is not None
    if word.endswith(":"):  # "Author: J. Smith, R. Brown" and "Type: O. Metformin was stopped"
        return behind[:1] in ("", ",", ";")
    return word in _BEFORE_NAMES or word.endswith((",", ";"))
