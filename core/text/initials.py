"""Whether a stop behind a single letter ends a sentence, or belongs to a person's initial."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_LAST_WORD = re.compile(r"(\S+)[ \t]*\Z")
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
    last = _LAST_WORD.search(before.rstrip("\"'“‘(["))
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
        named = _LAST_WORD.search(before)
        return named is not None and _NAME.match(named.group(1).rstrip(",")) is not None
    if word.endswith(":"):  # "Author: J. Smith, R. Brown" and "Type: O. Metformin was stopped"
        return behind[:1] in ("", ",", ";")
    return word in _BEFORE_NAMES or word.endswith((",", ";"))
