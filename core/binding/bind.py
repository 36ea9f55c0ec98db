"""A claim's values bound to what the outputs and calls state: the same, otherwise, elsewhere, or open.

For each amount, date and weekday of a claim two places are compared: the one that holds it and to which the
claim's other words point most, and the one of the same kind to which they point most though it holds
something else. Where the second is the better place, the value stands under another field or in another
record than the claim says; that is told only of a claim which some place would else state whole, since of
answers by other authors it is no better a sign than none. A value that no output, no call and no arithmetic
on them gives is open, and a place can say otherwise by itself: another weekday, a bound turned round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.binding.following import Following
from core.binding.outline import Field, Outline, Places, type_of
from core.evidence.claim_view import view_claim
from core.evidence.comparing import LOWER, UPPER
from core.evidence.derivations import follows_within
from core.evidence.facts import Fact
from core.evidence.meant import name_before
from core.evidence.names import WEEKDAYS
from core.evidence.quantity_patterns import MONTH
from core.evidence.quantity_records import Bound, Quantity, QuantityKind
from core.evidence.stated_whole import WHOLE
from core.evidence.words import stem, stems
from core.records import Check, Claim, Outcome, Span
from core.text.tokens import PLAIN_WORD

Scores = NDArray[np.float64]

# How near to a field a word of the claim stands: in its name or value, in another value of its record,
# over it, elsewhere in its source, in another source. A word that names a sibling field points away.
OWN, VALUE_BESIDE, STEP, SENTENCE_BESIDE, OVER, NAME_BESIDE, IN_SOURCE, ELSEWHERE = (
    1.0, 0.8, 0.6, 0.6, 0.5, 0.2, 0.25, 0.1,
)  # fmt: skip
ASKED = 0.35  # what a word of the question weighs beside one of the claim
VALUE_WEIGHT = 1.5  # what another value of the claim weighs beside its rarest word
DIFFERS = 0.05  # by how much another place must be better
_NEAR = 8.0  # words: at this distance from a value a word of the claim counts half
_WEAK = 0.2  # what the claim points to less than so has its value by chance
_MOST_HOLDING = 400
_MOST_INPUTS = 12  # fields that are shown
_BESIDE = 3  # characters between a weekday and its date
_NOWHERE = np.zeros(0, dtype=np.int32)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w.])([A-Z]{1,4})[ -]\Z")  # of a number: "OV 640"
_DAY_OF = re.compile(
    rf"\s?(?:to|and|until|[-–—])\s?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{MONTH}\b", re.I
)
_LETTER = re.compile(r"(?<![\w.'’-])[B-HJ-Z](?![\w.'’-])")  # of a name: "K", "Platform B"


class Bond(StrEnum):
    """What became of one value of a claim, and the kind of check that says so; of what stands elsewhere
    there is none unless some place would state all of the claim: then it is otherwise."""

    SAME = "bound"
    OTHERWISE = "otherwise"
    ELSEWHERE = "elsewhere"
    OPEN = "open"


BINDINGS = frozenset(bond.value for bond in Bond)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One value of a claim with where it stands, or with what gives it.

    ``rival`` is the best field of the same kind that holds something else. ``why`` says what is otherwise,
    or how it follows from ``inputs``.
    """

    text: str
    span: Span
    bond: Bond
    place: Field | None = None
    rival: Field | None = None
    why: str = ""
    inputs: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value of the claim: where it stands in it, its words, and the fields that hold it or could."""

    text: str
    span: Span
    words: frozenset[str]
    holding: Places
    alike: Places
    want: Quantity | None = None
    weekday: int | None = None

    def part(
        self,
        bond: Bond,
        place: Field | None = None,
        rival: Field | None = None,
        why: str = "",
        inputs: tuple[Field, ...] = (),
    ) -> Part:
        """What became of it."""
        return Part(
            text=self.text,
            span=self.span,
            bond=bond,
            place=place,
            rival=rival,
            why=why,
            inputs=inputs,
        )


def bind(
    claim: Claim, stated: Following, question: str = "", checks: Sequence[Check] = ()
) -> tuple[Part, ...]:
    """The values of a claim, each with what became of it; ``checks`` tell which follow from what is
    stated, and the question says what a claim leaves unsaid."""
    return _Binder(claim.text, stated, question, checks).parts()


def with_bindings(
    claim: Claim, stated: Following, question: str, checks: Sequence[Check]
) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """The checks, and the binding as checks: silent ones of what is open or otherwise, and of what is the
    same where no other check has found it.

    A value that stands elsewhere is otherwise where some place would state all of the claim, and no place
    does then: one part differs, and all others are the same.
    """
    parts = bind(claim, stated, question, checks)
    whole = any(check.check == WHOLE and check.outcome is Outcome.SUPPORTS for check in checks)
    if whole and any(part.bond in (Bond.ELSEWHERE, Bond.OTHERWISE) for part in parts):
        checks = [check for check in checks if check.check != WHOLE]
        parts = tuple(
            replace(part, bond=Bond.OTHERWISE, why=_apart(part))
            if part.bond is Bond.ELSEWHERE
            else part
            for part in parts
        )
    bound = (_check_of(part, checks) for part in parts)
    return tuple(checks), tuple(check for check in bound if check is not None)


def _apart(part: Part) -> str:
    assert part.place is not None and part.rival is not None
    says = "says" if part.rival.prose else "is"
    return (
        f"{part.text} stands {_where(part.place)}; {part.rival.called} {says} “{part.rival.quoted}”"
    )


def _check_of(part: Part, checks: Sequence[Check]) -> Check | None:
    places = tuple(field.where for field in (part.place, part.rival) if field is not None)
    if part.bond is Bond.SAME:
        if any(_supports(check, part.span) for check in checks):
            return None
        where = f"stands {_where(part.place)}" if part.place is not None else part.why
        inputs = tuple(field.where for field in part.inputs)
        return Check(
            check=part.bond.value, outcome=Outcome.SUPPORTS, claim_span=part.span,
            facts=places[:1] or inputs, reason=f"{part.text} {where}",
        )  # fmt: skip
    if part.bond is Bond.ELSEWHERE:
        return None
    reason = part.why
    if part.bond is Bond.OPEN:
        reason = f"{part.text} was not found in any source or call, nor worked out from them"
    return Check(
        check=part.bond.value, outcome=Outcome.SILENT, claim_span=part.span, facts=places, reason=reason
    )  # fmt: skip


def _where(field: Field) -> str:
    """Where a value stands, in words."""
    return f"in the sentence “{field.quoted}”" if field.prose else f"under {field.called}"


def _supports(check: Check, span: Span) -> bool:
    """Whether a check found what stands in a stretch of the claim."""
    here = check.claim_span is not None and check.claim_span.overlaps(span)
    return here and check.outcome is Outcome.SUPPORTS


class _Binder:
    """One claim beside all fields of a trace; arrays of scores have the shape (fields,)."""

    def __init__(
        self, text: str, stated: Following, question: str, checks: Sequence[Check]
    ) -> None:
        self.text, self.stated, self.checks = text, stated, checks
        self.outline: Outline = stated.outline
        self.count = len(self.outline.fields)
        self.view = view_claim(text, frozenset())
        letters = {match.group().lower(): match.start() for match in _LETTER.finditer(text)}
        self.short = self.view.shorts | letters.keys()
        said = stems(text) | letters.keys()
        self.words = sorted(said)
        self.places = {
            word: match.start()
            for match in reversed(list(PLAIN_WORD.finditer(text)))
            for word in stems(match.group())
        } | letters
        self.weights = {word: self._rarity(word) for word in self.words}
        self.weights |= {
            word: ASKED * self._rarity(word) for word in sorted(stems(question) - said)
        }
        self.heaviest = max(self.weights.values(), default=1.0)
        self.levels = {word: self._level(word) for word in self.weights}
        self.amounts = list(self._amounts())
        self.values = [*self.amounts, *self._weekdays()]
        self.held = [self._beside(value) for value in self.values]

    def parts(self) -> tuple[Part, ...]:
        """What became of each value."""
        found = [self._part(value) for value in self.values]
        known = [part.span for part in found if part.bond is not Bond.OPEN]
        return tuple(
            # "From 42.7 to 39.6, a change of −3.1": it follows from the claim's other values.
            replace(part, bond=Bond.SAME, why="follows from the claim's other values")
            if part.bond is Bond.OPEN and follows_within(self.text, part.span, known)
            else part
            for part in found
        )

    # ------------------------------------------------------------ words

    def _at(self, postings: Mapping[str, Places], word: str) -> Places:
        found = postings.get(word, _NOWHERE)
        if word in self.short:
            found = np.concatenate([found, postings.get(f"={word}", _NOWHERE)])
        return found

    def _rarity(self, word: str) -> float:
        """How much a word tells the trace's records apart; one that stands nowhere weighs most."""
        outline = self.outline
        at = [self._at(postings, word) for postings in (outline.of_label, outline.of_value)]
        n = len(np.unique(outline.record[np.concatenate(at)])) if self.count else 0
        return 0.2 + float(np.log1p((outline.records - n + 0.5) / (n + 0.5)))

    def _level(self, word: str) -> Scores:
        """How near a word stands to each field."""
        outline = self.outline
        level = np.zeros(self.count)
        if not self.count:
            return level
        sources = outline.of_source.get(word)
        label, value = self._at(outline.of_label, word), self._at(outline.of_value, word)
        if sources is not None or len(label):
            level += ELSEWHERE
        if sources is not None:
            level[np.isin(outline.source, sources)] = IN_SOURCE
        level[self._in_records(label)] = NAME_BESIDE
        above = np.isin(outline.record, outline.of_context.get(word, _NOWHERE))
        level[above] = np.maximum(level[above], OVER)
        for places, near in (
            (value[outline.prose[value]], SENTENCE_BESIDE),
            (value[~outline.prose[value]], VALUE_BESIDE),
        ):
            beside = self._in_records(places)
            level[beside] = np.maximum(level[beside], near)
        step = outline.of_step.get(word, _NOWHERE)
        level[step] = np.maximum(level[step], STEP)
        if not word.isdigit():  # "V-02" shares its 02 with any day of February
            level[value] = OWN
        # What all of a source is of tells none of its fields from another.
        level[np.isin(outline.source, outline.of_whole.get(word, _NOWHERE))] = VALUE_BESIDE
        level[label] = OWN
        return level

    def _field(self, at: int) -> Field:
        return self.outline.fields[int(at)]

    def _in_records(self, places: Places) -> NDArray[np.bool_]:
        """The fields of the records that hold some fields."""
        there = np.zeros(self.outline.records, dtype=np.bool_)
        there[self.outline.record[places]] = True
        return np.asarray(there[self.outline.record])

    # ------------------------------------------------------------ values

    def _amounts(self) -> Iterator[_Value]:
        for want in self.view.quantities:
            # "One" and "twice" are said without counting, "28 to 30 December" begins with a day.
            said = (
                want.in_words and want.unit is None and (want.amount == 1 or want.text == "twice")
            )
            begins = _DAY_OF.match(self.text, want.span.end) is not None
            if want.kind is QuantityKind.ORDINAL or said or begins:
                continue
            if (named := self._code(want)) is not None:
                yield named
                continue
            if name_before(want, self.text):
                continue
            holding = self._holding(want)
            alike = self.outline.alike.get(type_of(want), _NOWHERE)
            yield _Value(
                text=want.text.strip(" .,"),
                span=want.span,
                words=stems(want.span.cut(self.text)),
                holding=holding,
                alike=np.union1d(alike, self._named_alike(holding)),
                want=want,
            )

    def _code(self, want: Quantity) -> _Value | None:
        """The name that a number is part of ("OV 640", "OV640" in a source); None of others."""
        before = _NAME.search(self.text[: want.span.start])
        if before is None or want.unit is not None or want.kind is not QuantityKind.NUMBER:
            return None
        digits = want.span.cut(self.text).strip(" .,").casefold()
        words = frozenset({digits, before.group(1).casefold() + digits})
        at = [self.outline.of_value.get(word, _NOWHERE) for word in words]
        span = Span(start=before.start(1), end=want.span.end)
        holding = np.unique(np.concatenate(at))
        return _Value(
            text=span.cut(self.text).strip(" .,"), span=span, words=words | stems(before.group(1)),
            holding=holding, alike=_NOWHERE, want=want,
        )  # fmt: skip

    def _holding(self, want: Quantity) -> Places:
        outline, found = self.outline, dict[int, None]()
        facts: list[Fact] = []
        if want.date is not None:
            facts += outline.index.amounts.on_day(want)
        if want.date is None or (want.date.year and not want.date.month and want.until is None):
            facts += [fact for fact, _ in outline.index.amounts.near(want)]
        if want.bound is not Bound.EXACT:  # "up to 65" is of the 65, where one is stated
            ends = [(f, f.quantity) for f in facts if f.quantity is not None]
            facts = [f for f, item in ends if want.amount in (item.amount, item.high)] or facts
        for fact in facts:
            at = outline.place_of.get(id(fact))
            if at is not None and any(q is fact.quantity for q in outline.fields[at].quantities):
                found[at] = None
            if len(found) >= _MOST_HOLDING:
                break
        return np.array(sorted(found), dtype=np.int32)

    def _named_alike(self, holding: Places) -> Places:
        """The fields with an amount that go by the names of those which hold a value."""
        outline = self.outline
        names = {outline.fields[at].leaf for at in holding[:50] if not outline.prose[at]}
        return np.unique(
            np.concatenate([_NOWHERE, *(outline.leaves[name] for name in sorted(names))])
        )

    def _weekdays(self) -> Iterator[_Value]:
        """The weekdays that the claim names; beside a date of it, as that date's."""
        for match in _WEEKDAY.finditer(self.text):
            day = WEEKDAYS.index(match.group().casefold().removesuffix("s"))
            word = stem(match.group())
            holding, alike = self.outline.weekday.get(day, _NOWHERE), _NOWHERE
            date = next((value for value in self.amounts if _beside(value, match)), None)
            if date is not None and date.want is not None:
                known = None if date.want.date is None else date.want.date.weekday
                if known is not None:  # no calendar has this day
                    holding = holding if known == day else _NOWHERE
                elif len(date.holding):
                    holding = np.intersect1d(holding, date.holding)
                alike = date.holding
            yield _Value(
                text=match.group(),
                span=Span(start=match.start(), end=match.end()),
                words=frozenset({word}),
                holding=holding,
                alike=alike,
                weekday=day,
            )

    # ------------------------------------------------------------ comparing

    def _beside(self, value: _Value) -> Scores:
        """How near a value of the claim stands to each field, as another value of it sees it."""
        level = np.zeros(self.count)
        if len(value.holding):
            sources = np.unique(self.outline.source[value.holding])
            level[np.isin(self.outline.source, sources)] = IN_SOURCE
            level[self._in_records(value.holding)] = VALUE_BESIDE
        return level

    def _pointed(self, value: _Value) -> Scores:
        """How much the claim's other words and values point to each field, in [0, 1]."""
        total, weight = np.zeros(self.count), 0.0
        for word, level in self.levels.items():
            if word not in value.words:
                at = self.places.get(word)
                by = self.weights[word] * (1.0 if at is None else self._nearness(at, value))
                total, weight = total + by * level, weight + by
        for other, level in zip(self.values, self.held, strict=True):
            if other is not value and not other.span.overlaps(value.span):
                by = VALUE_WEIGHT * self.heaviest * self._nearness(other.span.start, value)
                total, weight = total + by * level, weight + by
        return total / weight if weight else total

    def _nearness(self, at: int, value: _Value) -> float:
        first, last = sorted((at, value.span.start))
        return 1.0 / (1.0 + len(PLAIN_WORD.findall(self.text[first:last])) / _NEAR)

    def _part(self, value: _Value) -> Part:
        outline = self.outline
        if not len(value.holding):
            if value.weekday is not None:
                return self._other_day(value)
            return self._following(value) or value.part(Bond.OPEN)
        pointed = self._pointed(value)
        at = int(value.holding[np.argmax(pointed[value.holding])])
        place, score = outline.fields[at], float(pointed[at])
        if score < _WEAK and (part := self._following(value)) is not None:
            return part  # it stands somewhere by chance
        if why := _turned_round(value, place):
            return value.part(Bond.OTHERWISE, place, why=why)
        rivals = np.setdiff1d(value.alike, value.holding)
        for other in self.values:  # what holds another value of the claim is told by that one
            if other is not value:
                rivals = np.setdiff1d(rivals, other.holding)
        # Its siblings in the record, and the fields of its name in other ones.
        named = _NOWHERE if place.prose else outline.leaves.get(place.leaf, _NOWHERE)
        beside = outline.record[rivals] == outline.record[at]
        rivals = rivals[beside | np.isin(rivals, named)]
        same = [(f.name, f.owner) == (place.name, place.owner) for f in map(self._field, rivals)]
        rivals = rivals[~np.array(same, dtype=np.bool_)]  # of another time
        if not len(rivals):
            return value.part(Bond.SAME, place)
        best = int(rivals[np.argmax(pointed[rivals])])
        bond = Bond.ELSEWHERE if score - float(pointed[best]) < -DIFFERS else Bond.SAME
        return value.part(bond, place, outline.fields[best])

    def _other_day(self, value: _Value) -> Part:
        """A weekday that stands nowhere; where its date is known, another day's."""
        date = next((one for one in self.amounts if _beside(one, value.span)), None)
        dated = None if date is None or date.want is None else date.want.date
        day = None if dated is None else dated.weekday
        place = self.outline.fields[int(value.alike[0])] if len(value.alike) else None
        if day is None and place is not None:
            day = next(iter(sorted(place.weekdays)), None)
        if day is None or day == value.weekday:
            return value.part(Bond.OPEN)
        why = f"{date.text if date else 'that date'} is a {WEEKDAYS[day].title()}, no {value.text}"
        return value.part(Bond.OTHERWISE, place, why=why)

    def _following(self, value: _Value) -> Part | None:
        """A value that follows from what is stated, by a check or by arithmetic; None where it does not."""
        if any(_supports(check, value.span) for check in self.checks):
            return value.part(Bond.SAME)
        if value.want is None:
            return None
        found = self.stated.find(value.want, frozenset(self.words) - value.words)
        if found is None:
            return None
        fields = tuple(self.outline.fields[at] for at in found.inputs)
        return value.part(Bond.SAME, why=f"is {found.told(fields)}", inputs=fields[:_MOST_INPUTS])


def _turned_round(value: _Value, place: Field) -> str:
    """What a field says whose own sign turns the bound round ("<0.01" beside "at least 0.01")."""
    want = value.want
    side = 0 if want is None else (want.bound in LOWER) - (want.bound in UPPER)
    if want is None or not side or place.prose:
        return ""
    there = [item.bound for item in place.quantities if item.amount in (want.amount, want.high)]
    against = UPPER if side > 0 else LOWER
    if not there or not all(bound in against for bound in there):
        return ""
    mine = "at least" if side > 0 else "at most"
    return f"the claim says {mine} {value.text}, {place.called} “{place.quoted}”"


def _beside(value: _Value, place: re.Match[str] | Span) -> bool:
    """Whether a value is a day of a month that stands right beside a place of the claim."""
    start, end = place.span() if isinstance(place, re.Match) else (place.start, place.end)
    date = value.want.date if value.want is not None else None
    apart = max(value.span.start - end, start - value.span.end)
    return date is not None and bool(date.day) and apart <= _BESIDE
