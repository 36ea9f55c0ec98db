"""Names in a text, and the patients that records and answers name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from core.records import ProtectedValue, Span
from core.text.tokens import PLAIN_WORD

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_CAPITAL_FILLERS = frozenset(
    "the a an in on at of for to from by with and or but if as is was are were this that these those "
    "it its his her their our your my he she they we you i no not all both each some most many based "
    "according per also however while when where after before during since because although here "
    "there yes please note".split()
)
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_CALENDAR = frozenset([*MONTHS, *WEEKDAYS])
# Written small the short form is another word: "sat", "sun", "wed".
_DAY_NAMED = re.compile(
    rf"\b(?:(?i:{'|'.join(WEEKDAYS)})s?|(?:{'|'.join(day[:3].title() for day in WEEKDAYS)})(?:rs?|s)?)\b"
)
_PERSON_CUES = frozenset("patient mr mrs ms miss dr prof professor doctor pt client named".split())

_ACRONYMS = frozenset(
    "fhir ehr emr mri ct pet ecg ekg eeg mrn dob icu ed er gp hiv copd ckd bp bmi nsaid nsaids ssri lab "
    "labs ldl hdl tsh alt ast egfr inr us uk eu pmid doi nct id".split()
)
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_CAPITAL = r"(?:[A-Z\u00c0-\u00de](?:\.|[^\W_]*(?:['\u2019-][^\W\d_]+){0,3})(?![\w]))"
_NAME_RUN = re.compile(
    r"(?<![\w'\u2019.-])" + _CAPITAL + r"(?:(?: (?:of|de|van|von|da|del|la|bin|al|der) | )"
    + _CAPITAL + r"){0,9}"
)  # fmt: skip
_SENTENCE_OPENING = re.compile(r"(?:\A|[.!?:;|•\n]|\s[-\u2013\u2014])[\s\"'“‘(*_#>-]{0,12}\Z")
_TITLE_BEHIND = re.compile(r"\b(?:Mr|Mrs|Ms|Miss)\.?\s\Z")


def weekdays_named(text: str) -> frozenset[int]:
    """The weekdays that a text names, whole or short ("Thu"), Monday 0."""
    short = [day[:3] for day in WEEKDAYS]
    return frozenset(short.index(day.group()[:3].casefold()) for day in _DAY_NAMED.finditer(text))


def name_runs(text: str, opening_too: bool = False) -> list[ProtectedValue]:
    """Runs of capitalised words that read as names, and cued single ones ("Ms. Lee").

    Runs that open a sentence only count with ``opening_too`` (Appendix B and C).
    """
    found = []
    for run in _NAME_RUN.finditer(text):
        name = _name(text, run, opening_too)
        if name is not None:
            found.append(name)
    return found


def _name(text: str, run: re.Match[str], opening_too: bool) -> ProtectedValue | None:
    if " " not in run.group() and not _TITLE_BEHIND.search(
        text, max(0, run.start() - 6), run.start()
    ):
        return None
    words = [(match.start(), match.group()) for match in re.finditer(r"\S+", run.group())]
    opens = bool(_SENTENCE_OPENING.search(text[max(0, run.start() - 16) : run.start()]))
    before = re.search(r"([A-Za-z]+)[.:]?\s\Z", text[max(0, run.start() - 20) : run.start()])
    cued = before is not None and before.group(1).casefold() in _PERSON_CUES
    while words and words[0][1].rstrip(".").casefold() in _PERSON_CUES | _CAPITAL_FILLERS:
        cued = cued or words[0][1].rstrip(".").casefold() in _PERSON_CUES
        words = words[1:]
    # A possessive ends a name: "Ms. Lind's FHIR record". Acronyms are no part of one.
    owner = next((at for at, (_, word) in enumerate(words) if _POSSESSIVE.search(word)), None)
    words = words if owner is None else words[: owner + 1]
    while words and words[-1][1].casefold() in _CAPITAL_FILLERS | _ACRONYMS:
        words = words[:-1]
    while words and words[0][1].casefold() in _ACRONYMS:
        words = words[1:]
    titled = _TITLE_BEHIND.search(text, max(0, run.start() - 6), run.start()) is not None
    if not words or len(words) < (1 if titled else 2):
        return None
    if (opens and not cued and not opening_too) or not _reads_as_name([w for _, w in words]):
        return None
    start = run.start() + words[0][0]
    end = run.start() + words[-1][0] + len(_POSSESSIVE.sub("", words[-1][1]))
    raw = text[start:end]
    return ProtectedValue(
        text=raw,
        span=Span(start=start, end=end),
        kind="name",
        normalised=" ".join(folded_words(raw)),
        identity=cued
        or bool(re.search(r"(?i)\bpatient (?:is|was) \Z", text[max(0, start - 16) : start])),
    )


def _reads_as_name(words: list[str]) -> bool:
    """A name has a lower-case letter somewhere and no part that is a month, or a lab's short form."""
    if any(word.casefold() in _CALENDAR for word in words):
        return False
    if any(
        re.search(r"\d", word) and not re.search(r"[a-z]\d{3}\Z|[a-z]\d{2}\Z", word)
        for word in words
    ):
        return False
    return any(character.islower() for word in words for character in word)


@lru_cache(maxsize=512)
def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text, case, width and accents folded: "Cañonero" is "canonero"."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        apart = unicodedata.normalize("NFKD", folded)
        folded = "".join(c for c in apart if not "\u0300" <= c <= "\u036f")
    return tuple(PLAIN_WORD.findall(folded))


def contains(held: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether ``words`` stand in ``held`` one after the other."""
    if not words:
        return True
    size, first = len(words), words[0]
    return any(held[at : at + size] == words for at, word in enumerate(held) if word == first)


def near_each_other(words: tuple[str, ...], held: tuple[str, ...], window: int = 12) -> bool:
    """Whether every word of a name stands close together: "Mendoza, Carla M." holds Carla Mendoza."""
    # Synthetic records number their people (Abe604 Frami345); an answer may drop the numbers.
    bare = [re.sub(r"(?<=[a-z])\d{1,4}\Z", "", word) for word in held]
    wanted = {re.sub(r"(?<=[a-z])\d{1,4}\Z", "", word) for word in words if len(word) > 1} or set(
        words
    )
    places = [at for at, word in enumerate(bare) if word in wanted]
    return any(
        wanted <= {bare[place] for place in places[index : index + window] if place < at + window}
        for index, at in enumerate(places)
    )


# ---------------------------------------------------------------- whom a record is about

_NAME_LINE = re.compile(
    r"(?<![\w.])(?:(?:patient|full|display)[\s_.]*)?(?:name(?:\.text|\[0\]\.text)?|patient)[\"']?\s*[:=]\s*[\"']?"
    r"([A-Z][^\n\"';,|<>{}\[\]()]{2,60})",
    re.IGNORECASE,
)
_HONORIFIC = re.compile(r"\A(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+")
# The name of a drug or a device also stands behind "name:".
_PRODUCT = re.compile(
    r"\b(?:dose|dosage|strength|route|frequency|ndc|rxcui|manufacturer|brand|product|tablet|capsule)\b",
    re.IGNORECASE,
)
_RECORD_HEAD = 20_000  # characters; a record names its patient near the top


def recorded_names(text: str) -> tuple[str, ...]:
    """The people that a record's own name lines give ("name: Ada Lind"), in order, each once."""
    text = text[:_RECORD_HEAD]
    found: dict[str, None] = {}
    for match in _NAME_LINE.finditer(text):
        words = _HONORIFIC.sub("", match.group(1)).split()
        around = text[max(0, match.start() - 60) : match.end() + 120]
        capitals = 2 <= len(words) <= 5 and all(word[0].isupper() for word in words)
        if capitals and _PRODUCT.search(around) is None:
            found.setdefault(" ".join(words))
    return tuple(found)


def other_person(subject: str, names: Sequence[str]) -> str | None:
    """The patient that a record names instead of ``subject``; None when it names none, or that one.

    ``names`` are the record's `recorded_names`.
    """
    wanted = folded_words(subject)
    if not names or not wanted or any(near_each_other(wanted, folded_words(n)) for n in names):
        return None
    # "The patient" and a lone family name that the record holds name nobody else.
    if wanted[-1] == "patient" or any(set(wanted) <= set(folded_words(name)) for name in names):
        return None
    return names[0]
