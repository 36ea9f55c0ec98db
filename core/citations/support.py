"""Whether the cited record says what it is cited for, or another record of the run does.

A citation is compared, not measured: the words of what is cited are weighed by how few records of
the run have them, and the cited record is held against the best other one. A paraphrase shares few
words with its source, and still far fewer with any other.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.citations.records_of import RunRecord, run_terms
from core.evidence.values import protected_values, value_present
from core.records import ProtectedValue

SENTENCE_WEIGHT, AROUND_WEIGHT = 1.0, 0.5
# Chosen by hand on clinical_native and livemcpbench_chat (0.19.0, bench/citations.py).
RIVAL_LEAD = 0.12
RIVAL_RATIO = 0.75
RIVAL_SHARE = 0.40  # less is no other place that says it
SAYS_SHARE = 0.30
MOST_SHARE = 0.50
NOTATIONS_IN = 60_000  # characters
PASSAGES_READ = 100  # of one record, for values
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBERS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,18}(?:\.\d{1,18})?")
TELLING_DIGITS = 3  # a number of so many digits tells as much as three words
_NOTED = frozenset(("number", "percent", "dose", "date", "time", "currency"))
CATALOGUE_WEIGHT = 0.5  # schemas name everything a tool could do; they say that of tools alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How much of what is cited the cited records and the best other record have, from 0 to 1."""

    cited: float
    rival: float
    best_cited: RunRecord | None
    best_rival: RunRecord | None
    informative: int

    @property
    def said_elsewhere(self) -> bool:
        """Whether another record says it clearly better than the cited one."""
        lead = self.rival - self.cited
        # Two words are enough where the cited record has nothing of them and another most.
        nothing = self.cited == 0 and self.rival >= MOST_SHARE
        return (
            lead >= RIVAL_LEAD
            and self.rival >= RIVAL_SHARE
            and self.cited <= RIVAL_RATIO * self.rival
            and self.informative >= (2 if nothing else 3)
        )

    @property
    def says_it(self) -> bool:
        """Whether the cited record has enough of it."""
        return self.cited >= SAYS_SHARE and not self.said_elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedValue:
    """A value of what is cited with its weight; ``digits`` say how much it tells."""

    value: ProtectedValue
    weight: float
    digits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a citation is cited for: words with their weights, and values that have any notation."""

    words: Mapping[str, float]
    values: tuple[CitedValue, ...]

    @property
    def whole(self) -> float:
        """The weight of everything."""
        return sum(self.words.values()) + sum(one.weight for one in self.values)

    @property
    def informative(self) -> int:
        """How much there is to tell records apart by: a word is one, a value its digits up to three."""
        return len(self.words) + sum(min(one.digits, TELLING_DIGITS) for one in self.values)


class Weights:
    """How much each term tells the records of one run apart."""

    def __init__(self, records: Sequence[RunRecord]) -> None:
        self.records = tuple(records)
        self._counts = Counter(term for record in records for term in record.terms)
        self._present: dict[tuple[str, str, str], bool] = {}
        self._numbers: dict[str, list[float]] = {}

    def weigh(self, sentence: str, around: str) -> Terms:
        """The terms of a citation's scope that some record has, each with its weight."""
        near_values, near = _values_and_rest(sentence)
        far_values, far = _values_and_rest(around)
        near_terms, far_terms = run_terms(near), run_terms(far)
        words: dict[str, float] = {}
        for term in sorted(near_terms | far_terms):
            weight = self._rarity(self._counts[term])
            if weight > 0:
                words[term] = weight * (SENTENCE_WEIGHT if term in near_terms else AROUND_WEIGHT)
        values: dict[tuple[str, str], CitedValue] = {}
        for value, share in (
            *((one, SENTENCE_WEIGHT) for one in near_values),
            *((one, AROUND_WEIGHT) for one in far_values),
        ):
            weight = self._rarity(sum(self._holds(value, one.searched) for one in self.records))
            key = (value.kind, value.normalised)
            if weight > 0 and key not in values:
                digits = _digits_of(value)
                values[key] = CitedValue(value=value, weight=weight * share, digits=digits)
        return Terms(words=words, values=tuple(values.values()))

    def days_missing(self, sentence: str, cited: Sequence[RunRecord]) -> list[str]:
        """The days of a sentence that no cited record has; one that was cut may have any."""
        if any(record.cut for record in cited):
            return []
        days = [one for one in protected_values(sentence) if _DAY.fullmatch(one.normalised)]
        return [
            one.text
            for one in days
            if not any(self._holds(one, f"{r.searched}\n{r.arguments}") for r in cited)
        ]

    def _rarity(self, count: int) -> float:
        total = len(self.records)
        return math.log(1 + (total - count + 0.5) / (count + 0.5)) if count else 0.0

    def _holds(self, value: ProtectedValue, text: str) -> bool:
        """Whether a text has a value in any notation: rounded, scaled, in another unit."""
        key = (value.kind, value.normalised, text)
        if key not in self._present:
            # In a long text every notation takes too long to be looked for.
            written = value.text in text if len(text) > NOTATIONS_IN else value_present(value, text)
            self._present[key] = written or self._rounds_to(value, text)
        return self._present[key]

    def _rounds_to(self, value: ProtectedValue, text: str) -> bool:
        """Whether a number of the text is the value at the precision in which it was written.

        Records write a share as 0.243 and a price without its currency. Few digits prove nothing.
        """
        amount = _AMOUNT.match(value.normalised)
        digits = _digits_of(value)
        dated = value.kind in ("date", "time")  # 2026 is no day of it
        if dated or amount is None or digits < TELLING_DIGITS or not float(amount.group()):
            return False
        if text not in self._numbers:
            found = (abs(float(one.replace(",", ""))) for one in _NUMBERS.findall(text))
            self._numbers[text] = sorted(found)
        numbers = self._numbers[text]
        said = abs(float(amount.group()))
        step = 10.0 ** (math.floor(math.log10(said)) - digits + 1)
        scales = (1.0, 0.01) if value.kind == "percent" else (1.0,)
        for scale in scales:
            low, high = (said - 0.5001 * step) * scale, (said + 0.5001 * step) * scale
            at = bisect_left(numbers, low)
            if at < len(numbers) and numbers[at] <= high:
                return True
        return False

    def _held(self, terms: Terms, record: RunRecord, own: bool) -> float:
        """The weight of ``terms`` in the best passage of a record.

        A long output has any word somewhere; what it says stands together. What was asked counts
        for the cited record alone: an agent asks for, and writes, whatever it goes on to say.
        """
        asked = record.asked if own else frozenset()
        shared = {term for term in terms.words if term in record.terms or term in asked}
        called = record.arguments if own else ""
        asked_for = sum(
            one.weight for one in terms.values if called and self._holds(one.value, called)
        )
        values = [
            one
            for one in terms.values
            if not (called and self._holds(one.value, called))
            and self._holds(one.value, record.searched)
        ]
        if not shared and not values:
            return asked_for
        said = [
            (sum(terms.words[term] for term in shared if term in passage or term in asked), text)
            for passage, text in zip(record.passages, record.passage_texts, strict=True)
        ]
        # Values are looked for where the words are: an output may be millions of characters long.
        nearest = sorted(said, key=lambda one: -one[0])[:PASSAGES_READ]
        return asked_for + max(
            words + sum(one.weight for one in values if self._holds(one.value, text))
            for words, text in nearest
        )

    def support(
        self,
        terms: Terms,
        cited: Sequence[RunRecord],
        rivals: Sequence[RunRecord],
    ) -> Support:
        """The cited records against their rivals; parts of one publication count as one."""
        whole = terms.whole
        named = {id(record) for record in cited}
        ids = frozenset(one for record in cited for one in record.ids)
        best: dict[bool, tuple[float, RunRecord | None]] = {True: (0.0, None), False: (0.0, None)}
        for record in (*cited, *rivals):
            own = id(record) in named or bool(ids & record.ids)
            share = self._held(terms, record, own) / whole if whole else 0.0
            if record.lists_tools:
                share *= CATALOGUE_WEIGHT
            if share > best[own][0] or best[own][1] is None:
                best[own] = (share, record)
        return Support(
            cited=round(best[True][0], 4),
            rival=round(best[False][0], 4),
            best_cited=best[True][1],
            best_rival=best[False][1],
            informative=terms.informative,
        )


def _digits_of(value: ProtectedValue) -> int:
    """How many digits of a value tell something: without those zeros that only place the point."""
    return len(re.sub(r"\D", "", value.text).lstrip("0"))


def _values_and_rest(text: str) -> tuple[list[ProtectedValue], str]:
    """The values of a text that have a notation, and the text without them."""
    values = [one for one in protected_values(text) if one.kind in _NOTED]
    rest, at = [], 0
    for value in sorted(values, key=lambda one: one.span.start):
        rest.append(text[at : value.span.start])
        at = max(at, value.span.end)
    return values, " ".join([*rest, text[at:]])
