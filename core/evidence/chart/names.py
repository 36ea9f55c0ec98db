"""Names as comparable words: trade names, short forms and plurals folded, places kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.evidence.chart.vocabulary import disorder_words, drug_names, is_drug, synonyms
from core.records import Span


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word and its place in the text it was cut from."""

    text: str
    start: int
    end: int


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
# Form, strength and salt words and connectors: they tell no two names apart.
_SKIPPED = frozenset(
    "tablet tablets tab tabs capsule capsules cap caps oral solution suspension injection inhaler "
    "spray cream ointment patch pill pills extended release er xr sr xl ec dr mg mcg g gm ml unit "
    "units iu meq hr actuat sodium hydrochloride hcl succinate tartrate besylate maleate mesylate "
    "fumarate potassium calcium disorder finding situation procedure substance the a an of and his "
    "her their per po known drug medication medicine dose therapy disease entry order "
    "diagnosis daily".split()
)
_OPTIONAL = frozenset(
    "mild severe moderate known longstanding new recent current active old documented recurrent "
    "ongoing further past previous possible suspected confirmed resolved single seasonal "
    "significant persistent existing well controlled stable isolated any regular low early prior such "
    "own own first treated untreated prescribed stopped diagnosed only".split()
)


def fold(word: str) -> str:
    """A word in lower case, without possessive and plural endings, trade names as ingredients."""
    word = re.sub(r"['’]s?\Z", "", word).casefold()
    drug = drug_names().get(word)
    if drug is not None:
        return drug
    if len(word) > 5:  # British spellings
        word = re.sub(r"our\Z", "or", re.sub(r"our(?=s\Z)", "or", word))
        word = word.replace("ae", "e").replace("oe", "e")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "sis")):
        return word[:-1]
    return word


@lru_cache(maxsize=1)
def _forms() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...], bool]]]:
    """Synonym forms by their first folded word: form, meaning, whether read only as written."""
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], bool]]] = {}
    for form, (meant, exact) in synonyms().items():
        raw = tuple(_WORD.findall(form))
        words = raw if exact else tuple(fold(word) for word in raw)
        meaning = tuple(fold(word) for word in _WORD.findall(meant))
        table.setdefault(words[0], []).append((words, meaning, exact))
    for listed in table.values():
        listed.sort(key=lambda item: -len(item[0]))
    return table


@lru_cache(maxsize=8192)
def words_in(text: str) -> tuple[Word, ...]:
    """The comparable words of a text in order; a short form becomes the words it stands for."""
    raw = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    folded = [fold(word) for word, _, _ in raw]
    table, at = _forms(), 0
    made: list[Word] = []
    while at < len(raw):
        size = 0
        for key in (raw[at][0], folded[at]):
            for form, meaning, exact in table.get(key, ()):
                held = (
                    [word for word, _, _ in raw[at : at + len(form)]]
                    if exact
                    else folded[at : at + len(form)]
                )
                if tuple(held) == form:
                    size = len(form)
                    made.extend(Word(word, raw[at][1], raw[at + size - 1][2]) for word in meaning)
                    break
            if size:
                break
        if not size:
            if not _skipped(raw[at][0], folded[at]):
                made.append(Word(folded[at], raw[at][1], raw[at][2]))
            size = 1
        at += size
    return tuple(made)


def _skipped(word: str, folded: str) -> bool:
    return (
        folded in _SKIPPED or word.casefold() in _SKIPPED or (word[0].isdigit() and len(word) > 1)
    )


def core_words(text: str) -> tuple[str, ...]:
    """The words of a name that tell it from others."""
    words = [word.text for word in words_in(text)]
    kept = [word for word in words if word not in _OPTIONAL]
    return tuple(kept or words)


@lru_cache(maxsize=65_536)
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(word.text for word in words_in(text))


def places_of(name: Sequence[str], text: str) -> list[Span]:
    """Where a text names it: its words side by side, in their order or turned round."""
    if not _vocabulary(text).issuperset(name):
        return []
    words = [word for word in words_in(text) if word.text not in _OPTIONAL or word.text in name]
    size, found = len(name), []
    wanted = sorted(name)
    for at in range(len(words) - size + 1):
        window = words[at : at + size]
        if sorted(word.text for word in window) == wanted:
            found.append(Span(start=window[0].start, end=max(word.end for word in window)))
    return found


def drug_spans(text: str) -> list[Span]:
    """Where the text names drugs; parts of a combination that stand side by side are one."""
    found: list[Span] = []
    for word in words_in(text):
        if not is_drug(word.text):
            continue
        if found and word.start < found[-1].end:
            continue
        if found and re.fullmatch(r"[-/ ]{0,3}", text[found[-1].end : word.start]):
            found[-1] = Span(start=found[-1].start, end=word.end)
        else:
            found.append(Span(start=word.start, end=word.end))
    return found


def is_disorder_name(words: Iterable[str]) -> bool:
    """Whether every word is one that ICD-10-CM's titles use, beside words of degree."""
    kept = [
        word for word in words if word not in _OPTIONAL and not word.isdigit() and len(word) > 1
    ]
    known = disorder_words()
    return bool(kept) and all(
        word in known or f"{word}s" in known or (word.endswith("y") and f"{word[:-1]}ies" in known)
        or word in ("type", "disease", "chronic", "acute", "pain", "multiple", "of")
        for word in kept
    ) and any(word in known or f"{word}s" in known for word in kept)  # fmt: skip
