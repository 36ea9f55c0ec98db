"""A sentence as the facts that it coordinates, by its grammar (III.2).

Coordinated clauses, predicates, objects and relative clauses behind a comma become facts of their
own, each with the subject (and the verb, and what scopes over it) carried over. A sentence is split
only where each part follows from the whole: not under a condition, not at an "or" that no negation
governs, not where things are said of several together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.decomposition.clauses import (
    LONGEST_SPLIT,
    Part,
    hide_nested,
    split_facts,
)
from core.decomposition.grammar import OBJECTS, SUBJECTS, Grammar
from core.decomposition.parsing import Word, parsed
from core.records import Span

_JOINING = frozenset(("and", "but", "while", "whereas", "yet", "so", "plus", "&", "+", "then"))
_DOUBTING = frozenset(("whether", "if", "unless", "either", "neither"))
_CONTRASTING = frozenset(("while", "whereas", "although", "though"))
# What is said of several things together is not said of each.
_TOGETHER = re.compile(
    r"\b(?:between|combination|combined|together|respectively|ratio|versus|vs|either|plus|sum|total|"
    r"difference|among|compared|comparing|interaction|each other|same|similar|differ\w*|apart)\b",
    re.IGNORECASE,
)
_SEMICOLON = re.compile(r"\s*;\s+(?:and\s+|but\s+|however,?\s+)?")
_OF_ALL = re.compile(
    r"(?:suggest|mean|indicat|impl|mak|show|highlight|reflect|allow|lead|result|caus)", re.I
)
_MOST_FACTS = 24


@dataclass(frozen=True, slots=True)
class _Fact:
    """The words of one fact (indices) and where it is said."""

    words: tuple[int, ...]
    first: int
    last: int

    def holds(self) -> frozenset[int]:
        return frozenset(self.words)


def coordinated(sentence: str, hidden: str) -> tuple[Part, ...]:
    """The facts of a sentence; one part, the whole, where splitting could change what is said.

    ``hidden`` is the sentence with brackets and quotations blanked: nothing is cut inside them.
    """
    whole = Part(span=Span(start=0, end=len(sentence)), pieces=(Span(start=0, end=len(sentence)),))
    if len(sentence) > LONGEST_SPLIT:
        return (whole,)
    semicolon = _SEMICOLON.search(hidden)
    if semicolon is not None and _stands_between(hidden, semicolon):
        before = Span(start=0, end=semicolon.start())
        behind = Span(start=semicolon.end(), end=len(sentence))
        return tuple(
            part
            for place in (before, behind)
            for part in finer(sentence, Part(span=place, pieces=(place,)))
        )
    words = parsed(re.sub(r"[_*`#|]", " ", hidden))
    if not words:
        return (whole,)
    tree = _Splits(words, hidden)
    facts = [_Fact(tuple(range(len(words))), 0, len(words) - 1)]
    at = 0
    while at < len(facts) and len(facts) < _MOST_FACTS:
        split = tree.split(facts[at])
        if split:
            facts[at : at + 1] = split
        else:
            at += 1
    if len(facts) == 1:
        return (whole,)
    return tuple(tree.part(fact) for fact in facts)


def finer(sentence: str, part: Part) -> list[Part]:
    """The facts of a part, its carried words read with it."""
    text, places = "", []  # where each piece stands in the joined text
    for piece in part.pieces:
        said = piece.cut(sentence)
        text += " " if text else ""
        places.append((len(text), len(text) + len(said), piece))
        text += said
    told = coordinated(text, hide_nested(text))
    if len(told) == 1:
        return [part]
    facts = []
    for one in told:
        pieces = tuple(back for piece in one.pieces for back in _placed(piece, places))
        own = list(_placed(one.span, places))
        inside = [at for at in own if part.span.start <= at.start and at.end <= part.span.end]
        if not inside:
            return [part]
        span = Span(start=inside[0].start, end=inside[-1].end)
        facts.append(Part(span=span, pieces=pieces))
    return facts


def _placed(piece: Span, places: Sequence[tuple[int, int, Span]]) -> Iterator[Span]:
    """A stretch of the joined text as stretches of the sentence."""
    for start, end, held in places:
        first, last = max(start, piece.start), min(end, piece.end)
        if first >= last:
            continue
        at = held.start - start
        yield Span(start=first + at, end=last + at)


def _stands_between(text: str, semicolon: re.Match[str]) -> bool:
    """Whether a semicolon cuts a sentence in two, and no list of it."""
    before, behind = text[: semicolon.start()], text[semicolon.end() :]
    together = re.search(r"\brespectively\b|:\s", text)
    return together is None and all(
        len(side.split()) > 1 and re.search(r"[^\W\d_]{3}", side) for side in (before, behind)
    )


class _Splits(Grammar):
    """The ways to split a fact of a parsed sentence."""

    def split(self, fact: _Fact) -> list[_Fact]:
        """The first way that a fact can be split; nothing where it says one thing."""
        held = fact.holds()
        if any(self.words[i].text.lower() in _DOUBTING for i in held):
            return []
        for word in self.words:
            if word.index not in held:
                continue
            for way in (
                self._predicates,
                self._contrast,
                self._objects,
                self._relative,
            ):
                found = way(fact, held, word)
                if found:
                    return found
        return []

    def _predicates(self, fact: _Fact, held: frozenset[int], verb: Word) -> list[_Fact]:
        """ "A has x and takes y", "A is x, and B is y": two clauses."""
        # "The hotel, opened in 1931, has 12 rooms": no predicate of the sentence.
        aside = self.comma_before(verb.index) and verb.index - 1 in held
        if aside or not self.asserts(verb, held):
            return []
        for index in self.children[verb.index]:
            other = self.words[index]
            if index not in held or other.start < verb.start or not self.goes_on(other, held):
                continue
            if any(
                self.words[i].text.lower() == "not" and verb.index < i < index
                for i in self.children[verb.index]
            ):
                continue  # "was considered but not started": it denies what is behind it
            joined = self.joints(verb, other, held)
            negated = self.negated(verb, held)
            said = {self.words[i].text.lower() for i in joined}
            own = self.has_subject(other, held)
            free = bool(said & _JOINING) or not said & {"or", "nor"}
            if not own and negated and self.takes_auxiliary(verb, other, held):
                free = bool(said & {"or", "nor"})
            lacking = not self.finite(other, held) and not self.takes_auxiliary(verb, other, held)
            lacking = lacking or not joined and not self.marked_off(index, held)
            if lacking or not free or not (own or self.fits(self.subject(verb, held), other)):
                continue
            clause = self.below(index, held)
            carried = self.carried(verb, other, held, own=own)
            outside = held - self.below(self.clause_of(verb, held).index, held)
            first = held - clause - joined
            second = outside | carried | (clause - joined)
            return self._two(fact, first, second, clause)
        return []

    def _contrast(self, fact: _Fact, held: frozenset[int], verb: Word) -> list[_Fact]:
        """ "A is x, while B is y"."""
        if not self.asserts(verb, held):
            return []
        for index in self.children[verb.index]:
            other = self.words[index]
            if other.role not in ("advcl", "ccomp") or index not in held:
                continue
            marked = any(self.words[i].role in ("mark", "advmod") and self.words[i].tag in ("IN", "WRB")
                         for i in self.children[index])  # fmt: skip
            spliced = other.start < verb.start and not marked and other.tag in ("VBZ", "VBP", "VBD")
            if spliced and self.text_between(other, verb, held).startswith(","):
                own = self.has_subject(other, held)
                ours = any(self.words[i].role == "nsubj" for i in self.children[verb.index])
                if own and ours:
                    clause = self.below(index, held)
                    return self._two(fact, clause, held - clause, held - clause)
            if other.role != "advcl" or other.start < verb.start:
                continue
            marks = {
                i
                for i in self.children[index]
                if i in held and self.words[i].role in ("mark", "advmod")
                and self.words[i].text.lower() in _CONTRASTING
            }  # fmt: skip
            own = self.has_subject(other, held)
            if not marks or not own or not self.finite(other, held):
                continue
            clause = self.below(index, held)
            return self._two(fact, held - clause, clause - marks, clause)
        return []

    def _objects(self, fact: _Fact, held: frozenset[int], noun: Word) -> list[_Fact]:
        """ "A has x, y and z": one fact for each."""
        if noun.role not in OBJECTS or noun.is_verb:
            return []
        members, joints = self.members(noun, held)
        if len(members) < 2 or not self.governed(noun, held):
            return []
        if _TOGETHER.search(self.said(held)):
            return []
        said = {self.words[i].text.lower() for i in joints}
        governor = self.verb_above(noun)
        negated = governor is not None and self.negated(governor, held)
        none = any(
            self.words[i].text.lower() in ("no", "neither", "without")
            for i in (*self.children[noun.index], noun.head)
            if i in held
        )
        above = self.none_above(noun, held)
        if negated or none or above:
            if not said & {"or", "nor"}:
                return []
        elif not said & {"and", "&", "plus", "+"} or said & {"or", "nor"}:
            return []
        kinds = {(self.is_date(at), self.words[at].tag.startswith("J")) for at in members}
        if len(kinds) > 1:
            return []
        sets = [self.below(member, held) for member in members]
        if self.words[members[-1]].tag.startswith("J") and max(sets[-1]) > members[-1]:
            return []  # "rare and mild with treatment": what stands behind may be of both
        valued = any(self.words[i].tag == "CD" for one in sets for i in one)
        if noun.role == "pobj" and valued and not self.alike(members, held, sets[-1]):
            return []  # "81.7 kg in 2015 and 86.8 kg in 2018, a gain of 5 kg": said of both
        own = [found - frozenset().union(*sets[at + 1 :]) - joints for at, found in enumerate(sets)]
        rest = held - frozenset().union(*sets) - joints
        # "no gout or asthma": what denies the first denies each.
        denying = {
            i for i in own[0] if self.words[i].head == noun.index
            and self.words[i].text.lower() in ("no", "neither", "any")
        }  # fmt: skip
        facts = []
        for at, member in enumerate(own):
            if not member:
                return []
            chosen = rest | member | (denying if at else frozenset())
            first = fact.first if not at else min(member)
            last = fact.last if at == len(own) - 1 else max(member)
            facts.append(_Fact(self._ordered(chosen), first, last))
        return facts

    def _relative(self, fact: _Fact, held: frozenset[int], noun: Word) -> list[_Fact]:
        """ "A, which is x, is y": of A alone, where a comma says that it only adds."""
        for index in self.children[noun.index]:
            verb = self.words[index]
            if verb.role != "relcl" or index not in held or not self.finite(verb, held):
                continue
            clause = self.below(index, held)
            first = self.words[min(clause)]
            subject = [i for i in self.children[index] if self.words[i].role in SUBJECTS]
            if first.text.lower() not in ("which", "who") or subject != [first.index]:
                continue
            if not self.comma_before(first.index) or _OF_ALL.match(verb.text):
                continue
            antecedent = self.below(noun.index, held) - clause
            antecedent = frozenset(i for i in antecedent if i < first.index)
            name = self.trimmed(antecedent)
            if not name:
                continue
            rest = self.trimmed(held - clause)
            added = clause - {first.index}
            return [
                _Fact(self._ordered(rest), fact.first, fact.last),
                _Fact((*sorted(name), *sorted(self.trimmed(added))), min(added), max(added)),
            ]
        return []

    def _two(
        self, fact: _Fact, first: frozenset[int], second: frozenset[int], clause: frozenset[int]
    ) -> list[_Fact]:
        one, other = self.trimmed(first), self.trimmed(second)
        if not one or not other:
            return []
        begins = min(clause)
        last = fact.last if max(clause) >= max(first) or fact.last in clause else max(clause)
        return [
            _Fact(
                self._ordered(one),
                fact.first,
                max((i for i in one if i < begins), default=fact.first),
            ),
            _Fact(self._ordered(other), begins, last),
        ]

    def _ordered(self, chosen: frozenset[int] | set[int]) -> tuple[int, ...]:
        return tuple(sorted(self.trimmed(frozenset(chosen))))

    def part(self, fact: _Fact) -> Part:
        """A fact as stretches of the sentence."""
        pieces: list[Span] = []
        run: list[int] = []
        for word in fact.words:
            if run and word == run[-1] + 1:
                run.append(word)
                continue
            if run:
                pieces.append(self._stretch(run))
            run = [word]
        if run:
            pieces.append(self._stretch(run))
        end = self._end(fact.last)
        start = 0 if fact.first == 0 else self.words[fact.first].start
        return Part(span=Span(start=start, end=end), pieces=tuple(pieces))

    def _stretch(self, run: Sequence[int]) -> Span:
        start = 0 if run[0] == 0 else self.words[run[0]].start
        return Span(start=start, end=self._end(run[-1]))

    def _end(self, index: int) -> int:
        """Where a word ends, with the bracket or the marks behind it that the parser did not see."""
        if index == len(self.words) - 1:
            return len(self.text)
        word, follows = self.words[index], self.words[index + 1]
        return word.end + len(self.text[word.end : follows.start].rstrip())


_SCOPE = re.compile(
    r"\s*(?:in|on|at|by|during|since|as of|over|between|from)\s(?=[^,;:]*\d)[^,;:]{2,60},\s",
    re.IGNORECASE,
)


def split_statement(sentence: str) -> tuple[Part, ...]:
    """The facts that a sentence coordinates."""
    parts = [fact for part in split_facts(sentence) for fact in finer(sentence, part)]
    return tuple(_scoped(sentence, parts))


def _scoped(sentence: str, parts: Sequence[Part]) -> list[Part]:
    """The parts, each with the date that opens the sentence: "In 2017, A was 3 and B was 4"."""
    opening = _SCOPE.match(sentence)
    if opening is None or len(parts) < 2:
        return list(parts)
    scope = Span(start=0, end=opening.end())
    return [
        part if _within(scope, part) or re.search(r"\b(?:19|20)\d\d\b", part.span.cut(sentence))
        else replace(part, pieces=(scope, *part.pieces))
        for part in parts
    ]  # fmt: skip


def _within(scope: Span, part: Part) -> bool:
    return any(piece.start < scope.end for piece in part.pieces)
