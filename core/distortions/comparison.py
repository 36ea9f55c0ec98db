"""What is compared with what, and the parts that all comparisons of features share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.distortions.alignment import Alignment
from core.distortions.reading import Cue, Reading, Word
from core.distortions.records import Quote
from core.records import Span

_AROUND = 5  # words beside what both texts hold in which a cue still speaks of it
_BESIDE = 4  # words behind a cue of which one of the first two contents must be in both texts
_COMPARES = re.compile(
    r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|relative to|against|"
    r"(?:twice|half|double|three times) (?:the rate in|that (?:in|of)|as \w+ as)|outperformed by|"
    r"exceed(?:s|ed)|outperform(?:s|ed)|scored higher than|below those of|above those of|"
    r"comparison was between|no worse than|as good as)\b",
    re.IGNORECASE,
)
_NO_COMPARISON = re.compile(
    r"\b(?:protect\w*|vaccin\w*|immun\w*|effective|fight|defen\w+|resist\w*|case|lean\w*) against\b",
    re.I,
)
_END = re.compile(
    r"[,;.:()]|\b(?:after|during|when|while|but|which|at|without|that did|in the (?:winter|summer))\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a sentence compares with; spans are in the sentence."""

    other: Quote
    words: tuple[Word, ...]


def comparison_of(reading: Reading) -> Comparison | None:
    """The first comparison of a sentence; None where nothing is compared."""
    for match in _COMPARES.finditer(reading.text):
        if match.group().lower() == "against" and _NO_COMPARISON.search(
            reading.text, max(0, match.start() - 14), match.end()
        ):
            continue
        rest = reading.text[match.end() :]
        stop = _END.search(rest)
        end = match.end() + (stop.start() if stop is not None and stop.start() > 1 else len(rest))
        words = tuple(
            w
            for w in reading.words
            if w.span.start >= match.end() and w.span.end <= end and w.content
        )
        if words:
            other = Span(start=words[0].span.start, end=words[-1].span.end)
            return Comparison(other=Quote(other.cut(reading.text), other), words=words)
    return None


def turned_round(at: Alignment) -> bool:
    """Whether what one text compares with is what the other text speaks of first: A > B as B < A."""
    said, stated = comparison_of(at.claim), comparison_of(at.premise)
    if said is None or stated is None:
        return False
    twice = [word.stem for word in at.claim.words]
    theirs = {word.place for word in stated.words}
    telling = [word for word in said.words if twice.count(word.stem) == 1]
    kept = sum(at.pairs.get(word.place) in theirs for word in telling)
    elsewhere = sum(
        word.place in at.pairs and at.pairs[word.place] not in theirs for word in telling
    )
    return elsewhere > kept


def near_cues(at: Alignment, feature: str, *, claim: bool) -> tuple[Cue, ...]:
    """The cues of one feature that speak of what both texts hold, in the same clauses of the premise."""
    if claim:
        return at.claim.of(feature)
    held = sorted(at.pairs.values())
    clauses = at.clauses()
    return tuple(
        cue
        for cue in at.premise.of(feature)
        if not cue.entry.claim_only
        and cue.clause in clauses
        and any(cue.first - _AROUND <= place <= cue.last + _AROUND for place in held)
    )


def limits(cue: Cue, reading: Reading, held: set[int]) -> bool:
    """Whether the words that a cue stands before, or else those before it, are in both texts."""
    behind = _content(reading, range(cue.last + 1, cue.last + 1 + _BESIDE), cue.clause)
    if behind:
        return behind[0] in held or (len(behind) > 1 and behind[1] in held)
    before = _content(reading, range(max(0, cue.first - _BESIDE), cue.first), cue.clause)
    return bool(before) and before[-1] in held


def _content(reading: Reading, places: Sequence[int], clause: int) -> list[int]:
    return [
        p
        for p in places
        if p < len(reading.words) and reading.words[p].content and reading.clauses[p] == clause
    ]
