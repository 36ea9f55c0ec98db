"""A sentence as the distortion checks read it: its words as stems, and the cues that it carries."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from core.evidence.words import STOP, stem
from core.records import Span
from core.text.tokens import words_joined_by

LEXICONS = ("meaning.toml", "certainty.toml", "circumstance.toml")
_WORD = words_joined_by("-'’.")
# What somebody else is quoted as saying qualifies nothing of the sentence around it.
_QUOTED = re.compile(r"“[^”]{1,400}”|\"[^\"]{1,400}\"|«[^»]{1,400}»")
# The month, not the modal.
_MONTH_MAY = re.compile(
    r"(?:\d{1,2}(?:st|nd|rd|th)?|in|of|since|until|by|last|early|late)\s+May\b|\bMay\s+\d"
)
_CLAUSE = re.compile(
    r"[;:—–]|,?\s+(?:but|whereas|although|though|however)\b|,\s+(?:and|while|which|so|with)\b|[()]"
)
# Common verbs and nouns that say that something was found, not what: they align with anything.
_SAYING = frozenset(
    stem(word)
    for word in "found find seen show shown showed report reported observe observed study studies trial "
    "result results finding author authors paper abstract data evidence record chart according cohort "
    "group participant was had been come came go going went take taken took make made get got give given "
    "number rate time thing way".split()
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CueEntry:
    """One entry of a lexicon with the example and the counter-example that its tests are made of."""

    feature: str
    value: str
    pattern: re.Pattern[str]
    form: str = ""
    group: str = ""
    claim_only: bool = False
    example: tuple[str, str] | None = None
    counter: tuple[str, str] | None = None


@lru_cache(maxsize=1)
def cue_entries() -> tuple[CueEntry, ...]:
    """Every entry of the packaged lexicons, in file order."""
    folder = resources.files("core.distortions").joinpath("lexicons")
    return tuple(
        _entry(row)
        for name in LEXICONS
        for row in tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8"))["cue"]
    )


def _entry(row: dict[str, object]) -> CueEntry:
    words = str(row["words"]).replace(" ", r"\s")
    return CueEntry(
        feature=str(row["feature"]),
        value=str(row["value"]),
        pattern=re.compile(rf"(?<![\w-])(?:{words})(?![\w-])|(?<=\w)n['’]t\b" if "n['’]t" in words
                           else rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE),
        form=str(row.get("form", "")),
        group=str(row.get("group", "")),
        claim_only=bool(row.get("claim_only", False)),
        example=_pair(row.get("example")),
        counter=_pair(row.get("counter")),
    )  # fmt: skip


def _pair(value: object) -> tuple[str, str] | None:
    if not isinstance(value, list):
        return None
    source, claim = value
    return str(source), str(claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word: ``content`` words say what a sentence is about."""

    text: str
    stem: str
    span: Span
    content: bool
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Words that carry a feature: ``first`` and ``last`` are the places of their words, inclusive."""

    entry: CueEntry
    text: str
    span: Span
    first: int
    last: int
    clause: int

    @property
    def feature(self) -> str:
        """What the words speak of: negation, direction, certainty …"""
        return self.entry.feature

    @property
    def value(self) -> str:
        """What they say of it."""
        return self.entry.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text with its words, its cues in order, and the clause that each word stands in."""

    text: str
    words: tuple[Word, ...]
    cues: tuple[Cue, ...]
    clauses: tuple[int, ...]

    def of(self, feature: str) -> tuple[Cue, ...]:
        """The cues of one feature."""
        return tuple(cue for cue in self.cues if cue.feature == feature)

    @property
    def topic(self) -> tuple[Word, ...]:
        """The content words that are no cue's: what is spoken of, whatever is said of it."""
        taken = {p for cue in self.cues for p in range(cue.first, cue.last + 1)}
        return tuple(w for w in self.words if w.content and w.place not in taken)


@lru_cache(maxsize=8_192)
def read_sentence(text: str) -> Reading:
    """The words and cues of one sentence; a longer cue hides what it holds of the same feature."""
    words = tuple(
        Word(
            text=match.group(),
            stem=stem(re.sub(r"['’]s\Z", "", match.group())),
            span=Span(start=match.start(), end=match.end()),
            content=match.group().lower() not in STOP and stem(match.group()) not in _SAYING,
            place=place,
        )
        for place, match in enumerate(_WORD.finditer(text))
    )
    cuts = [match.start() for match in _CLAUSE.finditer(text)]
    clauses = tuple(sum(cut <= word.span.start for cut in cuts) for word in words)
    return Reading(text=text, words=words, cues=_cues(text, words, clauses), clauses=clauses)


def _cues(text: str, words: tuple[Word, ...], clauses: tuple[int, ...]) -> tuple[Cue, ...]:
    hidden = [match.span() for match in _QUOTED.finditer(text)]
    hidden += [match.span() for match in _MONTH_MAY.finditer(text)]
    found: list[tuple[int, int, CueEntry]] = []
    for entry in cue_entries():
        for match in entry.pattern.finditer(text):
            start, end = match.span()
            if start < end and not any(a <= start and end <= b for a, b in hidden):
                found.append((start, end, entry))
    kept = []
    for start, end, entry in found:
        inside = any(
            (a <= start and end <= b and (a, b) != (start, end) and (other.feature == entry.feature)
             or a < end and start < b and other.feature == "ignore" and entry.feature != "ignore")
            for a, b, other in found
        )  # fmt: skip
        if not inside and entry.feature != "ignore":
            kept.append((start, end, entry))
    cues = []
    for start, end, entry in sorted(kept, key=lambda each: each[:2]):
        places = [w.place for w in words if w.span.start < end and start < w.span.end]
        if places:
            cues.append(Cue(entry=entry, text=text[start:end], span=Span(start=start, end=end),
                            first=places[0], last=places[-1], clause=clauses[places[0]]))  # fmt: skip
    return tuple(cues)
