"""What a claim is about in the chart's own words: a finding that no vocabulary and no list has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from core.evidence.chart.covering import STANDING_WORDS
from core.evidence.chart.entries import Chart
from core.evidence.chart.labels import words_of
from core.evidence.chart.names import core_words, places_of, words_in
from core.evidence.chart.phrases import lead_of, subject_span
from core.evidence.chart.quantities import find_dates, find_doses
from core.evidence.names import MONTHS
from core.evidence.words import STOP

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9]{2,}\b")
_MOST_TEXT = 1_000_000  # characters
_MOST_WORDS = 6
# Behind a first word that is somebody's name, and no finding's.
_SPEAKS = re.compile(
    r"\s+(?:said|says|den(?:ies|ied)|report(?:s|ed)|answer(?:s|ed)|complain(?:s|ed)|t(?:akes|ook)|told|"
    r"drinks|smokes|gets|got|had|gave|confirm(?:s|ed))\b"
)
# Words that say how something is told, planned or asked, and never what: no name begins or ends with one.
_NEVER_A_NAME = (
    STANDING_WORDS
    | STOP
    | frozenset(
        "none nothing yes asked answered said says told advised given added planned considered discussed "
        "if would "
        "could should may might will must needed awaiting pending booked today time year years month "
        "months week weeks day days since until when because note entry row line text question form "
        "result results test tests shows showed suffers drinks drinking smokes smoking affects carries "
        "gets got having become becomes history record counselled referred reviewed seen score positive "
        "negative likely possible possibility suspected query queried established new".split()
    )
)


def own_name(text: str, charts: Sequence[Chart], people: frozenset[str]) -> tuple[str, ...] | None:
    """The longest run of the claim's words that some row of the charts has side by side."""
    if next(find_doses(text), None) is not None or _is_measured(text):
        return None
    held = frozenset[str]().union(*(_words_of(chart.source.text) for chart in charts))
    lead = lead_of(text)
    words = list(_WORD.finditer(text, lead.end if lead is not None else 0))
    plain = [re.sub(r"['’]s\Z", "", w.group().casefold()) for w in words]
    who = subject_span(text)
    says = [
        not (word in _NEVER_A_NAME or word in people or word in MONTHS or word[0].isdigit())
        and (who is None or at.start() >= who.end)
        for at, word in zip(words, plain, strict=True)
    ]
    for size in range(min(_MOST_WORDS, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            inside = plain[at : at + size]
            if not (says[at] and says[at + size - 1]) or any(word.isdigit() for word in inside):
                continue
            if (
                at == 0
                and words[0].group().istitle()
                and _SPEAKS.match(text, words[size - 1].end())
            ):
                continue
            written = text[words[at].start() : words[at + size - 1].end()]
            name = core_words(written)
            if (
                name
                and held.issuperset(name)
                and (_is_name(name) or _ABBREVIATION.search(written))
                and _stands(name, charts)
            ):
                return name
    return None


def _is_measured(text: str) -> bool:
    """Whether the claim gives a value, and not only a date or the limit of a condition."""
    if re.search(r"\b(?:if|should|unless)\b", text, re.IGNORECASE):
        return False
    days = [day.span for day in find_dates(text)]
    return any(
        not any(day.start <= number.start() < day.end for day in days)
        for number in re.finditer(r"(?<![\w-])\d+(?:\.\d+)?(?![\w-])", text)
    )


@lru_cache(maxsize=4)
def _words_of(text: str) -> frozenset[str]:
    """The comparable words of a whole source; none of one that is too long to look through."""
    if len(text) > _MOST_TEXT:
        return frozenset()
    return frozenset(word.text for line in text.split("\n") for word in words_in(_apart(line)))


def _apart(line: str) -> str:
    """A line with the parts of its label written apart ("kidneyStones" is two words)."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", line) + " " + line


def _stands(name: tuple[str, ...], charts: Sequence[Chart]) -> bool:
    return any(
        places_of(name, row.text) or any(places_of(name, _label(f.label)) for f in row.fields)
        for chart in charts
        for row in chart.rows
    )


@lru_cache(maxsize=8192)
def _label(label: str) -> str:
    return " ".join(words_of(label.rpartition(".")[2]))


def own_drug(text: str, charts: Sequence[Chart]) -> tuple[str, ...] | None:
    """What the claim gives a dose of, where the charts give one of it too: "sodium bicarbonate 500 mg"."""
    for dose in find_doses(text):
        before = re.search(r"(?:[^\W\d_][\w-]+ ){1,3}\Z", text[: dose.span.start])
        words = before.group().split() if before is not None else []
        for at in range(len(words)):
            name = core_words(" ".join(words[at:]))
            said = all(word.casefold() not in _NEVER_A_NAME for word in words[at:])
            if said and name and _is_name(name) and _is_dosed(words[at:], charts):
                return name
    return None


def _is_dosed(words: Sequence[str], charts: Sequence[Chart]) -> bool:
    written = r"\s+".join(map(re.escape, words))
    pattern = re.compile(rf"\b{written}(?:\s*\[\w+\])?\W{{0,12}}\d", re.IGNORECASE)
    return any(pattern.search(row.text) for chart in charts for row in chart.rows)


def _is_name(name: tuple[str, ...]) -> bool:
    return any(len(word) > 3 and word.isalpha() for word in name) or len(name) > 1
