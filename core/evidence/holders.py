"""Which record holds a fact, and whether a claim names a sibling of that record instead.

"Ines Park's potassium is 5.6" is not so where 5.6 stands in Ole Berg's record of the same list. The
holder of a fact is what encloses it: its record, the objects and sections on its path, its list item.
Siblings are the holders of facts of the same name at the same depth. What names a holder are the
short texts and identifiers of its fields, the keys on its path, and whom it is of; a word that names a
sibling, and not the holder, says that the claim is about the sibling.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity
from core.evidence.words import PLAIN, stems
from core.records import Span
from core.text.fields import ITEM, SUBJECT_KEY, Enclosed
from core.text.han import RUN
from core.text.tokens import WORD

Group = tuple[str, int, str]  # the source, the depth and the name of a field

PERSON = "patient"  # the field that says whose records these are
MOST_SIBLINGS = 2_000
_MOST_NAMING = 60  # fields of a record that are read for what names it
_MOST_NAME_WORDS = 8  # a longer value is a text, and names nothing
_STEP = re.compile(r"\.(?=\S)")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_IDENTIFIER = re.compile(r"(?=\S*[^\W\d_])(?=\S*\d)[^\s.,]+\Z")
_WHOLE_NUMBER = re.compile(r"\d{1,12}\Z")
_IN_ORDER = re.compile(r"\brespectively\b", re.IGNORECASE)
_CLAUSE = re.compile(r";|,(?!\d)|\b(?:and|but|while|whereas)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Holder:
    """The record and the steps of the path that enclose a fact."""

    source_id: str
    record: int
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of a holder: for each of its words how it may be said; a person's is said by half."""

    words: tuple[frozenset[str], ...]
    of_person: bool = False

    def said_in(self, said: frozenset[str]) -> bool:
        """Whether a claim's words say it."""
        found = sum(not each.isdisjoint(said) for each in self.words)
        return found == len(self.words) or (self.of_person and 2 * found >= len(self.words))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Siblings:
    """What names each holder of the facts of one name, and which holders each word is a name's of."""

    names: dict[Holder, tuple[_Name, ...]]
    words: dict[Holder, frozenset[str]]
    named: dict[str, tuple[Holder, ...]]


_NO_SIBLINGS = _Siblings(names={}, words={}, named={})


@dataclass(slots=True, kw_only=True)
class Holders:
    """The holders of a trace's facts; what names them is read when it is first asked for."""

    over: dict[str, Enclosed]
    beside: dict[tuple[str, int], tuple[Fact, ...]]
    groups: dict[Group, list[Fact]] = field(default_factory=dict)
    _persons: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _alike: dict[tuple[str, int], dict[tuple[str, ...], int]] = field(default_factory=dict)
    _held: dict[Holder, tuple[Fact, ...]] = field(default_factory=dict)
    _homes: dict[tuple[str, int, int | None, str], Holder] = field(default_factory=dict)
    _stepped: dict[tuple[str, int], dict[tuple[str, ...], list[Fact]]] = field(default_factory=dict)
    _groups: dict[Group, _Siblings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for facts in self.beside.values():
            for fact in facts:
                if fact.structured:
                    self.groups.setdefault(self._group(fact), []).append(fact)
                if fact.path.lower() == PERSON and fact.span is not None:
                    persons = self._persons.setdefault(fact.source_id, [])
                    persons.append((fact.span.start, fact.value))

    def holder(self, fact: Fact) -> Holder:
        """What encloses a fact."""
        start = fact.span.start if fact.span is not None else None
        key = (fact.source_id, fact.record.index, start, fact.path)
        if key not in self._homes:
            over = self.over.get(fact.source_id)
            above = over.at(start) if over is not None and start is not None else ()
            steps = (*above, *_STEP.split(fact.path)[:-1])
            self._homes[key] = Holder(fact.source_id, fact.record.index, steps)
        return self._homes[key]

    def held_with(self, fact: Fact) -> tuple[Fact, ...]:
        """The facts of a fact's record that are not of a sibling of its holder."""
        holder = self.holder(fact)
        if holder not in self._held:
            key = (holder.source_id, holder.record)
            if key not in self._stepped:
                stepped: dict[tuple[str, ...], list[Fact]] = {}
                for each in self.beside.get(key, ()):
                    stepped.setdefault(self.holder(each).steps, []).append(each)
                self._stepped[key] = stepped
            alike = self._branches(key)
            self._held[holder] = tuple(
                each
                for steps, facts in self._stepped[key].items()
                if not _apart(holder.steps, steps, alike)
                for each in facts
            )
        return self._held[holder]

    def people(self, fact: Fact) -> frozenset[str]:
        """The words of those whom a fact is of: of all its source is of, where that is one person."""
        persons = self._persons.get(fact.source_id, [])
        if len({value for _, value in persons}) > 1:
            return frozenset[str]().union(*(stems(value) for value in self._whose(fact)))
        return frozenset[str]().union(*(stems(value) for _, value in persons))

    def foreign(self, fact: Fact, said: frozenset[str]) -> frozenset[str]:
        """The words of a claim that name a sibling of the fact's holder, and not that holder."""
        return frozenset[str]().union(*(words for words, _ in self._named(fact, said)))

    def is_of_another(self, fact: Fact, said: frozenset[str]) -> bool:
        """Whether a claim's words name a sibling of the fact's holder, and nothing tells that from it."""
        return any(not own for _, own in self._named(fact, said))

    def nearest(self, fact: Fact, stretches: Sequence[frozenset[str]]) -> frozenset[str]:
        """The words of the first stretch that names the fact's holder or a sibling; none names none."""
        named = self._siblings(fact).named
        return next((said for said in stretches if not named.keys().isdisjoint(said)), frozenset())

    def _named(
        self, fact: Fact, said: frozenset[str]
    ) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """For each sibling that the words name: those that name it alone, and the fact's holder alone."""
        siblings = self._siblings(fact)
        own = siblings.words.get(self.holder(fact), frozenset())
        foreign = (said & siblings.named.keys()) - own - stems(fact.path)
        for holder in {each for word in foreign for each in siblings.named[word]}:
            theirs = [name for name in siblings.names[holder] if name.said_in(said)]
            words = frozenset[str]().union(*(each for name in theirs for each in name.words))
            if words & foreign:
                yield words & foreign, (own & said) - siblings.words[holder]

    def _siblings(self, fact: Fact) -> _Siblings:
        """The holders of the facts of the same name at the same depth, its own among them; bounded."""
        group = self._group(fact)
        facts = self.groups.get(group, []) if fact.structured else []
        if not 1 < len(facts) <= MOST_SIBLINGS:
            return _NO_SIBLINGS
        if group not in self._groups:
            names: dict[Holder, tuple[_Name, ...]] = {}
            for each in facts:
                if self.holder(each) not in names:
                    names[self.holder(each)] = self._names_of(each)
            words = {
                holder: frozenset[str]().union(*(each for name in its for each in name.words))
                for holder, its in names.items()
            }
            named: dict[str, list[Holder]] = {}
            for holder, said in words.items():
                for word in said:
                    named.setdefault(word, []).append(holder)
            of_word = {word: tuple(found) for word, found in named.items()}
            self._groups[group] = _Siblings(names=names, words=words, named=of_word)
        return self._groups[group]

    def _group(self, fact: Fact) -> Group:
        depth = len(self.holder(fact).steps)
        return fact.source_id, depth, _STEP.split(fact.path)[-1].casefold()

    def _names_of(self, fact: Fact) -> tuple[_Name, ...]:
        """What names the holder of a fact."""
        held = self.held_with(fact)
        whose = any(SUBJECT_KEY.search(each.path) for each in held)
        found = [
            *(_Name(_words(step)) for step in self.steps(fact)),
            *(_Name(_words(value), of_person=True) for value in self._whose(fact)),
            *([] if whose else [_Name(_words(fact.subject))]),
            *(_name(each) for each in [each for each in held if _names(each)][:_MOST_NAMING]),
        ]
        return tuple(dict.fromkeys(name for name in found if name.words))

    def steps(self, fact: Fact) -> tuple[str, ...]:
        """The headings and keys that enclose a fact, outermost first."""
        return tuple(step for step in self.holder(fact).steps if not step.startswith(ITEM))

    def _whose(self, fact: Fact) -> list[str]:
        """The person whom a fact's record names, else of the last one named before it."""
        own = [each.value for each in self.held_with(fact) if each.path.lower() == PERSON]
        if not own and fact.span is not None:
            persons = self._persons.get(fact.source_id, [])
            at = bisect.bisect_right(persons, fact.span.start, key=lambda person: person[0])
            own = [value for _, value in persons[at - 1 : at]]
        return own

    def _branches(self, key: tuple[str, int]) -> dict[tuple[str, ...], int]:
        """The branches of a record's paths, those numbered alike that lead to fields of one name."""
        if key not in self._alike:
            alike: dict[tuple[str, ...], int] = {}
            first: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
            merged: dict[int, int] = {}
            for fact in self.beside.get(key, ()):
                steps = self.holder(fact).steps
                full = (*steps, _STEP.split(fact.path)[-1])
                for depth in range(len(steps)):
                    branch = full[: depth + 1]
                    number = alike.setdefault(branch, len(alike))
                    leads = first.setdefault((full[:depth], full[depth + 1 :]), branch)
                    one, two = _root(merged, number), _root(merged, alike[leads])
                    if one != two:
                        merged[max(one, two)] = min(one, two)
            self._alike[key] = {branch: _root(merged, number) for branch, number in alike.items()}
        return self._alike[key]


def _root(merged: dict[int, int], number: int) -> int:
    while number in merged:
        number = merged[number]
    return number


def _apart(own: tuple[str, ...], other: tuple[str, ...], alike: dict[tuple[str, ...], int]) -> bool:
    """Whether two facts of a record lie on sibling branches of it."""
    for depth, (one, two) in enumerate(zip(own, other, strict=False), start=1):
        if one != two:
            return alike.get(own[:depth], -1) == alike.get(other[:depth], -2)
    return False


def _names(fact: Fact) -> bool:
    """Whether a field's value may name its record: a short text, an identifier, a whole number."""
    if not fact.structured or len(fact.value.split()) > _MOST_NAME_WORDS:
        return False
    value = fact.value.strip()
    return (
        fact.quantity is None
        or _IDENTIFIER.match(value) is not None
        or _WHOLE_NUMBER.match(value) is not None
    )


def _name(fact: Fact) -> _Name:
    """The name that a field gives its record; a bare number does so only behind the field's name."""
    value = fact.value.strip()
    if _WHOLE_NUMBER.match(value):
        last = stems(_STEP.split(fact.path)[-1])
        return _Name((frozenset(f"{each} {value}" for each in last),) if last else ())
    return _Name(_words(value), of_person=SUBJECT_KEY.search(fact.path) is not None)


@lru_cache(maxsize=4_096)
def naming_words(text: str, without: tuple[Span, ...] = ()) -> frozenset[str]:
    """The words of a text as names are compared: stems, identifiers whole, numbers with their noun."""
    return frozenset[str]().union(*_words(text, without))


def _words(text: str, without: Sequence[Span] = ()) -> tuple[frozenset[str], ...]:
    """The words of a text one by one, each with how else it may be said; without plain words."""
    found: list[frozenset[str]] = []
    before = frozenset[str]()
    for match in WORD.finditer(text):
        word = _POSSESSIVE.sub("", match.group().casefold())
        if any(span.start < match.end() and match.start() < span.end for span in without):
            before = frozenset()
        elif word.isdigit():
            found.append(frozenset(f"{each} {word}" for each in before))
        elif any(letter.isdigit() for letter in word):
            found.append(frozenset({word}))
            before = frozenset()
        elif RUN.search(
            word
        ):  # a Chinese word is a name as it is written: its English ones are many
            found.append(frozenset({word}))
        else:
            before = stems(_POSSESSIVE.sub("", match.group()))
            found.append(before if word not in PLAIN else frozenset())
    return tuple(each for each in found if each)


def stretches_of(text: str, at: Span, quantities: Iterable[Quantity]) -> tuple[frozenset[str], ...]:
    """The words, without a value's own, of each stretch that may say whose it is, nearest first.

    A claim of several values falls into as many stretches, each with the clauses that lead to it.
    """
    places = sorted(item.span.start for item in quantities)
    cuts = [0]
    for match in _CLAUSE.finditer(text) if _IN_ORDER.search(text) is None else ():
        leads = any(cuts[-1] <= place < match.start() for place in places)
        if leads and any(place >= match.end() for place in places):
            cuts.append(match.end())
    ends = [*cuts[1:], len(text)]
    here = max(number for number, start in enumerate(cuts) if start <= at.start)
    order = [*range(here, -1, -1), *range(here + 1, len(cuts))]

    def words(n: int) -> frozenset[str]:
        # A value lies in one stretch: the others are read once for all values of the claim.
        own = (at,) if at.start < ends[n] and at.end > cuts[n] else ()
        before = (Span(start=0, end=cuts[n]),) if cuts[n] else ()
        return naming_words(text[: ends[n]], (*own, *before))

    return tuple(map(words, order))
