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
    NEGATIVE,
    SCOPED,
    TOGETHER,
    Part,
    Piece,
    has_finite_verb,
    hide_nested,
    main_verb,
    opens_clause,
    opens_with_verb,
    split_facts,
)
from core.decomposition.grammar import AUXILIARIES, OBJECTS, SUBJECTS, Grammar
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
    """The words of one fact (indices, or a word that the sentence leaves out) and where it is said."""

    words: tuple[int | str, ...]
    first: int
    last: int

    def holds(self) -> frozenset[int]:
        return frozenset(word for word in self.words if isinstance(word, int))


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
        said = piece if isinstance(piece, str) else piece.cut(sentence)
        text += " " if text else ""
        places.append((len(text), len(text) + len(said), piece))
        text += said
    told = coordinated(text, hide_nested(text))
    if len(told) == 1:
        return [part]
    facts = []
    for one in told:
        pieces = tuple(back for piece in one.pieces for back in _placed(piece, places))
        own = [at for at in _placed(one.span, places) if isinstance(at, Span)]
        inside = [at for at in own if part.span.start <= at.start and at.end <= part.span.end]
        if not inside:
            return [part]
        span = Span(start=inside[0].start, end=inside[-1].end)
        facts.append(Part(span=span, pieces=pieces))
    return facts


def _placed(piece: Piece, places: Sequence[tuple[int, int, Piece]]) -> Iterator[Piece]:
    """A stretch of the joined text as stretches of the sentence."""
    if isinstance(piece, str):
        yield piece
        return
    for start, end, held in places:
        first, last = max(start, piece.start), min(end, piece.end)
        if first >= last:
            continue
        if isinstance(held, str):
            yield held
        else:
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
        left_out = any(isinstance(word, str) for word in fact.words)
        if left_out or any(self.words[i].text.lower() in _DOUBTING for i in held):
            return []
        for word in self.words:
            if word.index not in held:
                continue
            for way in (
                self._predicates,
                self._contrast,
                self._objects,
                self._relative,
                self._measured,
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
        dated = [self.is_date(at) for at in members]
        if noun.role == "pobj" and dated[0] and not dated[1]:
            return self._behind_a_date(fact, held, noun, members[1], joints)
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

    def _behind_a_date(
        self, fact: _Fact, held: frozenset[int], date: Word, member: int, joints: frozenset[int]
    ) -> list[_Fact]:
        """ "has x since 2000 and y since 2008": what follows the date is another object."""
        verb = self.verb_above(date)
        if verb is None or not self.asserts(verb, held) or self.negated(verb, held):
            return []
        objects = [
            i for i in self.children[verb.index]
            if i in held and self.words[i].role in ("dobj", "attr") and i < date.index
        ]  # fmt: skip
        said = {self.words[i].text.lower() for i in joints}
        if not objects or "and" not in said or self.words[member].tag == "CD":
            return []
        added = self.below(member, held)
        if any(self.words[i].text == "," for i in held if i > max(added)):
            return []  # "81.7 kg in 2015 and 86.8 kg in 2018, a gain of 5 kg"
        own = {i for i in self.children[verb.index] if self.words[i].role in AUXILIARIES}
        carried = self.subject(verb, held) | own | {verb.index}
        tail = frozenset(i for i in held if i > max(added))
        rest = held - added - joints - tail
        return [
            _Fact(self._ordered(rest), fact.first, max(i for i in rest if i < min(added))),
            _Fact(self._ordered((carried & held) | added | tail), min(added), fact.last),
        ]

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

    def _measured(self, fact: _Fact, held: frozenset[int], joint: Word) -> list[_Fact]:
        """ "is a smoker with a BP of 109/73": the subject had it."""
        if joint.text.lower() != "with" or joint.role != "prep":
            return []
        verb = self.verb_above(joint)
        if verb is None or not self.asserts(verb, held) or self.negated(verb, held):
            return []
        added = self.below(joint.index, held) - {joint.index}
        things = [i for i in self.children[joint.index] if self.words[i].role == "pobj"]
        if len(things) != 1 or not any(self.words[i].tag == "CD" for i in added):
            return []
        an = any(
            self.words[i].role == "det" and self.words[i].text.lower() in ("a", "an")
            for i in self.children[things[0]]
        )
        subject = self.subject(verb, held)
        rest = held - added - {joint.index}
        # What stands behind goes on with the whole: "with a BMI of 19 in March".
        if not an or not subject or max(added) < max(i for i in held if self.words[i].tag != "."):
            return []
        before = max(i for i in rest if i < joint.index)
        found = [_Fact(self._ordered(rest), fact.first, before)]
        members, joints = self.members(self.words[things[0]], held)
        if {self.words[i].text.lower() for i in joints} & {"or", "nor"}:
            members = members[:1]
        sets = [self.below(member, held) for member in members]
        for at, one in enumerate(sets):
            own = one - frozenset().union(*sets[at + 1 :]) - joints
            last = max(added) if at == len(sets) - 1 else max(own)
            words: tuple[int | str, ...] = (*sorted(subject), "had", *sorted(self.trimmed(own)))
            found.append(_Fact(words, min(own), last))
        return found

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

    def _ordered(self, chosen: frozenset[int] | set[int]) -> tuple[int | str, ...]:
        return tuple(sorted(self.trimmed(frozenset(chosen))))

    def part(self, fact: _Fact) -> Part:
        """A fact as stretches of the sentence."""
        pieces: list[Piece] = []
        run: list[int] = []
        for word in fact.words:
            if isinstance(word, int) and run and word == run[-1] + 1:
                run.append(word)
                continue
            if run:
                pieces.append(self._stretch(run))
            run = [word] if isinstance(word, int) else []
            if isinstance(word, str):
                pieces.append(word)
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


# Where a sentence goes on to another value: a comma, a semicolon, "with a BMI of 19".
_ASIDE = re.compile(
    r"\s*;\s+|,\s+(?:and\s+|but\s+|then\s+|plus\s+|(?:even\s+)?though\s+|although\s+|while\s+|"
    r"whereas\s+)?(?:with\s+)?(?!\d{4}\b)"
    r"|\s+with\s+(?=(?:a|an)\s)|\s+and\s+(?=[~<>]?\d[\d.,]*\s?%?\s(?:on|with|in|for|among|at)\s)|\s+(?:and|but|plus)\s+(?=(?:a|an|his|her)\s)"
    r"|\s+and\s+(?=[a-z][\w-]*(?:\s[\w-]+){0,2}\s(?:at|of|to|from|by)\s[^\s]*\d)"
)
_VALUED = re.compile(r"\d")
_NOT_ASIDE = re.compile(
    r"(?:or|nor|per|of|in|at|by|respectively|each|both|all|when|where|which|who|whom|whose|"
    r"that|because|since|as|before|after|until|if|n\s*=|p\s*[<=]|"
    r"(?:19|20)\d\d\b|PMID|DOI|NCT|"
    r"(?:approximately|about|roughly|around|~)?\s*[\d./%]+(?:\s+(?:to|and|or|-)\b.*)?\Z)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:to|up|down|from|against|versus|since|at|on|with|for|now|still|the (?:last|first|latest))\b",
    re.IGNORECASE,
)
# These say something of the whole sentence before them and not of its subject.
_FOLLOWS_OF_ALL = re.compile(
    r"(?:making|leading|resulting|causing|bringing|suggesting|indicating|showing|highlighting|"
    r"reflecting|implying|meaning|including|compared|according|based|given|followed|giving)\b"
)
_DOING = re.compile(r"[a-z]{3,}ing\s\S")
_DONE = re.compile(r"[a-z]{3,}ed\s\S")
# "platelets 439 ×10³/µL", "a BMI of 19.1": a measure and its value.
_MEASURE = re.compile(
    r"(?P<noun>(?:(?!(?:on|in|at|from|since|to|by|for|until|than|over|after|with)\b)"
    r"[^\W\d][\w/-]*\s+){1,5}?)(?P<of>of\s+)?(?P<value>(?:about |roughly |around )?"
    r"[~≈<>≤≥$€£¥+-]?\d.*)",
    re.DOTALL,
)
_COPULA = re.compile(r"(?:is|are|was|were|stayed|remained|went|fell|rose|dropped)\Z", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\s*(?:in|on|at|by|during|since|as|over|between|from|after|before|with|for|among)\s", re.I
)
_SCOPE = re.compile(
    r"\s*(?:in|on|at|by|during|since|as of|over|between|from)\s(?=[^,;:]*\d)[^,;:]{2,60},\s",
    re.IGNORECASE,
)
_LONGEST_ADDED = 22  # words


def split_statement(sentence: str) -> tuple[Part, ...]:
    """The facts that a sentence coordinates, and those that it adds to them, each to stand alone."""
    hidden = hide_nested(sentence)
    parts = [
        fact
        for part in split_facts(sentence)
        for told in finer(sentence, part)
        for added in (_asides(hidden, told) if _plain(sentence, told) else [told])
        for fact in (_bracketed(sentence, hidden, added) if _ends_in_its_place(added) else [added])
    ]
    return tuple(_scoped(sentence, parts))


def _plain(sentence: str, part: Part) -> bool:
    """Whether a part ends in the one stretch that is its own, which may add values."""
    return len(sentence) <= LONGEST_SPLIT and part.pieces[-1] == part.span


def _ends_in_its_place(part: Part) -> bool:
    last = part.pieces[-1]
    return isinstance(last, str) or (last.end == part.span.end and last.start >= part.span.start)


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
    return any(isinstance(piece, Span) and piece.start < scope.end for piece in part.pieces)


# ---------------------------------------------------------------- behind commas


def _asides(text: str, part: Part) -> list[Part]:
    """Values that a sentence adds behind commas, each completed to a sentence."""
    body = part.span.cut(text)
    if NEGATIVE.search(body) or TOGETHER.search(body) or SCOPED.match(body):
        return [part]
    found: list[
        tuple[int, int, tuple[Piece, ...]]
    ] = []  # where each begins, and how it is completed
    verb = main_verb(body)
    last, measures = 0, False
    for cut in _ASIDE.finditer(body):
        behind = re.split(r"[,;]\s", body[cut.end() :], maxsplit=1)[0].strip()
        if verb is not None and cut.start() < verb.start() and _PREPOSITION.match(body):
            continue  # "In 2017, LDL was 87"
        if not _adds(body[last : cut.start()], behind):
            continue
        measures = "with" in cut.group() or (
            measures and cut.group().strip() in (",", "and", ", and")
        )
        completed = _completed(text, part, cut, behind, measures)
        if completed is None:
            continue
        found.append((cut.start(), cut.end(), completed))
        last = cut.end()
    if not found:
        return [part]
    offset = part.span.start
    first = Span(start=offset, end=offset + found[0][0])
    parts = [Part(span=first, pieces=(*part.pieces[:-1], first))]
    ends = [start for start, _, _ in found[1:]] + [len(body)]
    for (_, start, pieces), end in zip(found, ends, strict=True):
        span = Span(start=offset + start, end=offset + end)
        parts.append(Part(span=span, pieces=_until(pieces, span.end)))
    return parts


def _until(pieces: tuple[Piece, ...], end: int) -> tuple[Piece, ...]:
    """The pieces, the last one reaching to where its part ends."""
    last = pieces[-1]
    return (*pieces[:-1], Span(start=last.start, end=end)) if isinstance(last, Span) else pieces


def _adds(before: str, behind: str) -> bool:
    """Whether values stand on both sides of a cut, and what stands behind it can be a fact."""
    if not behind or _NOT_ASIDE.match(behind) or _FOLLOWS_OF_ALL.match(behind):
        return False
    if _DOING.match(behind) or _DONE.match(behind):
        return len(behind.split()) > 2 and len(before.split()) > 3 and has_finite_verb(before)
    if not _VALUED.search(before) or not _VALUED.search(behind):
        return False
    return 2 <= len(behind.split()) <= _LONGEST_ADDED


def _completed(
    text: str, part: Part, cut: re.Match[str], behind: str, measures: bool
) -> tuple[Piece, ...] | None:
    """What is added as pieces that make a sentence; None where it cannot stand without the rest.

    ``measures`` says that it belongs to a "with": "with a BMI of 19 and a pulse of 60".
    """
    offset = part.span.start
    start = offset + cut.end()
    added = Span(start=start, end=start + len(behind))
    if opens_clause(behind, True) and not opens_with_verb(behind):
        return (added,)
    before = Span(start=offset, end=offset + cut.start())
    subject = subject_of(text, Part(span=before, pieces=(*part.pieces[:-1], before)))
    verb = main_verb(before.cut(text))
    # "Two drugs are listed: A, ordered in May": that is of A, and not of the subject.
    listed = verb is not None and re.search(r":\s", before.cut(text)[verb.end() :]) is not None
    if listed:
        subject = None
    if subject is not None and opens_with_verb(behind):
        # "The hotel, opened in May 2023, has 12 rooms": what stands between commas ends no sentence.
        joined = re.search(r"and|but|then|;", cut.group()) is not None or (
            verb is None and "," not in before.cut(text)
        )
        return (subject, added) if joined else None
    if subject is not None and verb and (_DOING.match(behind) or _DONE.match(behind)):
        return (subject, _be(subject.cut(text)), added)
    if _GOES_ON.match(behind) or has_finite_verb(behind) or _PARTICIPLE.match(behind):
        return None
    if verb is None:  # notes: "LDL 94, HDL 61"
        label = subject is not None and subject.cut(text).endswith(":")
        return (subject, added) if subject is not None and label else (added,)
    share = re.compile(rf"\s[^\d\s]*(?={_SHARE})").search(before.cut(text), verb.end() - 1)
    if share is not None and not listed and re.match(_SHARE, behind):  # "were 30% on A, 22% on B"
        return (Span(start=offset, end=offset + share.start()), added)
    measure = _MEASURE.fullmatch(behind)
    if measure is None:
        return None
    if measures and re.match(r"(?:a|an)\s", behind):
        return None if subject is None else (subject, "had", added)
    if measure.group("of"):
        return None
    noun = measure.group("noun").split()
    if noun[0].endswith("ly"):
        return None
    if noun[0].lower() in ("this", "that", "these", "those", "he", "she", "it", "they", "you"):
        return (added,)  # a clause whose verb we do not know
    stays = len(noun) > 1 and noun[-1] in ("steady", "stable", "unchanged", "flat", "normal")
    at = start + (measure.group("noun").rindex(noun[-1]) if stays else measure.end("noun"))
    kept = verb.group() if _COPULA.match(verb.group()) and not stays and not listed else None
    named = Span(start=start, end=at)
    if (
        kept is None
        and not stays
        and not listed
        and _MEASURE.match(before.cut(text)[verb.end() :].strip())
    ):
        return (Span(start=offset, end=offset + verb.end()), added)  # "lists A 5 mg, B 10 mg"
    return (named, kept or _be(named.cut(text)), Span(start=at, end=added.end))


# "is spent, leaving EUR 30,000", and not "fasting glucose 90": it has an object of its own.
_PARTICIPLE = re.compile(
    r"[a-z]{3,}(?:ing|ed)\s(?:(?:the|a|an|its|his|her|their|only|about|another)\s|[A-Z]{3}\s|[^\w\s]?\d)"
)
_SHARE = r"[~<>]?\d[\d.,]*\s?%?\s(?:on|with|in|for|among|at)\s"


def _be(subject: str) -> str:
    word = (subject.split() or [""])[-1].casefold()
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return "were" if plural or word in ("they", "patients") else "was"


# ---------------------------------------------------------------- in brackets

_BRACKET = re.compile(r"\s*\((?P<said>[^()]{3,160})\)(?=[\s.,;:]*\Z)")
# The name right in front of a bracket that begins here: of it the bracket says "born in 1984".
_NAMED = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Dr)\.\s)?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,4}(?=\s\([^()]*\Z)"
)
# A date, a gloss, a reference, an interval: these belong to what stands before the bracket.
_BELONGS = re.compile(
    r"https?\S*|\S*[/.]\S*|"
    r"(?:\W|\d|to|and|or|from|since|in|on|of|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|"
    r"february|march|april|june|july|august|september|october|november|december|st|nd|rd|th|ci|n|p|"
    r"pmid|doi|nct\d++|am|pm)*",
    re.IGNORECASE,
)


def _bracketed(sentence: str, hidden: str, part: Part) -> list[Part]:
    """What stands in brackets at a part's end as facts of their own: "(8 tickets left)", "(eGFR 121)"."""
    raw = part.span.cut(sentence)
    match = _BRACKET.search(raw)
    if match is None or not raw[: match.start()].strip() or NEGATIVE.search(raw):
        return [part]
    said = match.group("said")
    if all(map(_BELONGS.fullmatch, said.split())) or re.search(r"\b(?:e\.g|i\.e|n\s?=)", said):
        return [part]
    offset = part.span.start
    main = Span(start=offset, end=offset + match.start())
    last = part.pieces[-1]
    kept = main if isinstance(last, str) else Span(start=last.start, end=main.end)
    found = [Part(span=main, pieces=(*part.pieces[:-1], kept))]
    at = match.start("said")
    for each in re.finditer(r"(?:[^,;]|,(?=\d{3}\b))+", said):
        lead = len(each.group()) - len(each.group().lstrip())
        span = Span(start=offset + at + each.start() + lead, end=offset + at + each.end())
        completed = _completed_bracket(sentence, hidden, part, span)
        if completed is None:
            return [part]
        found.append(Part(span=span, pieces=completed))
    return found


def _completed_bracket(
    sentence: str, hidden: str, part: Part, span: Span
) -> tuple[Piece, ...] | None:
    said = span.cut(sentence)
    if not _VALUED.search(said) or not re.search(r"[^\W\d_]{3,}", said):
        return None  # "(4h33m)", "(152g)": of what stands before it
    if opens_clause(said, True):
        return (span,)
    body = part.span.cut(hidden)
    if said.startswith("born "):
        named = _NAMED.search(sentence, part.span.start, span.start)
        return None if named is None else (Span(start=named.start(), end=named.end()), "was", span)
    subject = subject_of(hidden, part)
    if main_verb(body) is None and not any(isinstance(piece, str) for piece in part.pieces):
        labelled = subject is not None and _VALUED.search(body[: body.find("(")]) is not None
        return (subject, span) if labelled and subject is not None else None
    measure = _MEASURE.fullmatch(said)
    if measure is None or measure.group("of") or has_finite_verb(said):
        return None
    noun = Span(start=span.start, end=span.start + measure.end("noun"))
    value = Span(start=span.start + measure.start("value"), end=span.end)
    return (noun, _be(noun.cut(sentence)), value)


def subject_of(text: str, part: Part) -> Span | None:
    """What a part is about: the words before its verb or, without one, before its first value."""
    whole = next((piece for piece in part.pieces if isinstance(piece, Span)), part.span)
    body = whole.cut(text)
    verb = main_verb(body)
    label = re.match(r"[^:()]{1,60}(?=:\s)", body)
    if verb is None and label is not None and len(label.group().split()) <= 6:
        return Span(start=whole.start, end=whole.start + label.end() + 1)
    if verb is None and len(part.pieces) > 1:
        return whole  # the subject that was carried over
    value = re.search(r"(?<!\S)\S*\d", body)
    end = verb.start() if verb is not None else value.start() if value is not None else 0
    subject = body[:end].rstrip(" :~+-")
    unscoped = subject[opening.end() :] if (opening := _SCOPE.match(subject)) else subject
    if not unscoped.strip() or len(subject.split()) > 10 or _VALUED.search(unscoped):
        return None
    return Span(start=whole.start, end=whole.start + len(subject))
