"""How much of a claim the facts behind its checks account for, word by word.

A check that finds one value of a claim says little of the rest: "Leo is the speaker of class 8B" has
a value that some record states, and is false. Here every word of the claim must be a value that a
check supports, somebody's name, what the fact's field or record is called, or a word that only says
that it stands there; what is none of these is left. Of a claim of which nothing is left nothing can
be wrong, and only where hardly anything is left is a difference shown a contradiction of this claim
and not of another one (evidence.md, section 5). Unlike the paper, which has no checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.evidence.chart.covering import STANDING_WORDS
from core.evidence.chart.phrases import beside_spans, lead_spans
from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.derivations import day_key
from core.evidence.fact_index import FactIndex, Stated
from core.evidence.facts import Fact, Record
from core.evidence.names import MONTHS
from core.evidence.units import measured_by
from core.evidence.words import PLAIN, acronyms, stems
from core.records import Check, Claim, FactPlace, Outcome, Span, Trace
from core.text.han import RUN, word_places
from core.text.tokens import WORD

MOST_LEFT = 1  # words that may be left of a claim that a check shows to be wrong
_MOST_VALUE_WORDS = 8  # of a field beside the claim's: longer ones are texts of their own
_MOST_FIELDS = 40  # of a record that is about one thing
_MOST_SHOWN = 600  # characters of what contradicts a claim
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+")  # beside Chinese characters
_POSSESSIVE = re.compile(r"['’]s?\Z")
# What is said of a date that something began on, was put down on, or came to an end on.
_BEGAN = frozenset(
    "started began begun added entered ordered prescribed issued diagnosed noted dates dating onset "
    "since first".split()
)
_BEGAN_AT = re.compile(r"onset|author|start|record|began|issued|prescri|diagnos", re.IGNORECASE)
_LASTED = frozenset(
    "lasted lasts took takes ran persisted resolve resolved cleared after for within over".split()
)
_DIED = frozenset("died dead death".split())
# Words without content that change what a claim says: none of them goes without saying.
WEIGHTY = frozenset(
    "no not never none neither nor without only all each both more most less same before after since "
    "until between during again further than few other another such any over under up down against off "
    "once".split()
)
SAYS_LAST = re.compile(
    r"\b(?:(?:most|more) recent(?:ly)?|latest|last|newest|current(?:ly)?|now|today)\b",
    re.IGNORECASE,
)
_ROSE = (
    r"rose|risen|rising|rises?|increased?|gained|climbed|crept|grew|grown|put on|went up|up|higher"
)
_FELL = (
    r"fell|fallen|falling|falls|decreased?|lost|dropped|declined|slipped|went down|down|lower|eased"
)
_MOVED = r"went|gone|moved|changed|from|to|then|between|over|against|compared|vs|versus|previously"
_UP, _DOWN, _MOVES = (
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (_ROSE, _FELL, f"{_ROSE}|{_FELL}|{_MOVED}")
)
_DATED = re.compile(rf"[^\W_]*\d[^\W_]*|\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_NAMES_IT = re.compile(r"(?:name|title|symbol|ticker|label)\Z", re.IGNORECASE)
_DOSES = stems("dose doses shot shots vaccine vaccines immunization immunizations jab")
_OF_ENTRY = frozenset({"status", "subject", "binding", "name", "dose", "schedule"})
VALUES = frozenset({"value", "date"})
_LITERALS = frozenset({"identifier", "name", "quoted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What of a claim is accounted for: the words that are left, and by what the others are told."""

    left: tuple[str, ...]
    stated: tuple[Stated, ...]


def account(claim: Claim, checks: Sequence[Check], index: FactIndex) -> Account:
    """What the facts of the claim's supporting value checks account for."""
    view = view_claim(claim.text, index.people)
    supporting = [c for c in checks if c.check in VALUES and c.outcome is Outcome.SUPPORTS]
    stated = tuple(each for check in supporting for each in stated_at(check, index))
    spans = [*_matched(checks), *lead_spans(claim.text)]
    if _moves_so(supporting, view, index):
        spans += [_span(match) for match in _MOVES.finditer(view.text)]
    if stated and is_last(stated, index):
        spans += [_span(match) for match in SAYS_LAST.finditer(view.text)]
    known = frozenset[str]().union(*(_said_of(each, index) for each in stated))
    if "immunization" in known:
        known |= _DOSES
    words, plain = _words(claim.text), PLAIN | _events(checks, stated)
    people = frozenset[str]().union(*(people_at(each, index) for each in stated))
    return Account(left=tuple(_left(words, spans, known | people, plain)), stated=stated)


def left_of(
    claim: Claim, against: Check, checks: Sequence[Check], trace: Trace, people: frozenset[str]
) -> tuple[str, ...]:
    """The words that are left of a claim beside what a check holds against it and the check's facts."""
    spans = [*_matched(checks), *beside_spans(claim.text, of_entry=against.check in _OF_ENTRY)]
    if against.claim_span is not None:
        spans.append(against.claim_span)
    known: frozenset[str] = people
    for place in against.facts:
        known |= stems(place.path or "") | acronyms(place.path or "")
        if place.span is not None:
            known |= stems(place.span.cut(trace.source(place.source_id).text)[:_MOST_SHOWN])
    words = _words(claim.text)
    plain = PLAIN | STANDING_WORDS
    return tuple(word for word in _left(words, spans, known, plain) if word not in WEIGHTY)


def _words(text: str) -> Iterator[tuple[Span, str]]:
    """The words of a claim with their places; Chinese ones one by one, without function words."""
    for match in WORD.finditer(text):
        word, start = match.group(), match.start()
        if word.isascii() or not RUN.search(word):
            yield _span(match), word
            continue
        for run in RUN.finditer(word):
            for at, part in word_places(run.group()):
                begins = start + run.start() + at
                yield Span(start=begins, end=begins + len(part)), part
        for rest in _PLAIN_WORD.finditer(word):
            yield Span(start=start + rest.start(), end=start + rest.end()), rest.group()


def _left(
    words: Iterable[tuple[Span, str]],
    spans: Sequence[Span],
    known: frozenset[str],
    plain: frozenset[str],
) -> Iterator[str]:
    """The words that stand in none of the spans, are not known, and say more than plain ones."""
    for place, word in words:
        if any(span.overlaps(place) for span in spans):
            continue
        # A Chinese word is accounted for as it is written: its English ones are many.
        said = _POSSESSIVE.sub("", word.casefold())
        meant = frozenset({word}) if RUN.fullmatch(word) else stems(word)
        if said in plain or meant & known or (not meant and said not in WEIGHTY):
            continue
        yield said


def _matched(checks: Iterable[Check]) -> Iterator[Span]:
    """The stretches of the claim that checks found as it says."""
    for check in checks:
        found = check.outcome is Outcome.SUPPORTS and check.check in VALUES | _LITERALS
        if found and check.claim_span is not None:
            yield check.claim_span


def stated_at(check: Check, index: FactIndex) -> list[Stated]:
    """What stands at a check's places; none where one of them is in no output."""
    found = [
        index.placed.get((place.source_id, place.span.start, place.span.end))
        if place.span is not None
        else None
        for place in places_of(check)
    ]
    return [each for each in found if each is not None] if all(found) else []


def held_at(stated: Stated, index: FactIndex) -> tuple[Fact, ...]:
    """The facts that stand with it: of its record, and of no sibling inside that record."""
    if stated.fact is not None:
        return index.holders.held_with(stated.fact)
    return index.beside.get((stated.source_id, stated.record.index), ())


def people_at(stated: Stated, index: FactIndex) -> frozenset[str]:
    """The words of the names of those whom it is of."""
    fact = stated.fact or next(iter(held_at(stated, index)), None)
    if fact is None:
        return index.people_of.get(stated.source_id, frozenset())
    return index.holders.people(fact)


def places_of(check: Check) -> tuple[FactPlace, ...]:
    """Where a check's facts stand, and those that a value was worked out from."""
    inputs = check.derivation.inputs if check.derivation is not None else ()
    return tuple(dict.fromkeys((*check.facts, *inputs)))


def operation_of(check: Check) -> str:
    """How a value was worked out; empty where it is stated."""
    return check.derivation.operation if check.derivation is not None else ""


def _said_of(each: Stated, index: FactIndex) -> frozenset[str]:
    """The words by which a field and its record go, and the short values of the record's fields."""
    record, fact = each.record, each.fact
    said = stems(f"{record.name} {record.kind}") | index.asked.get(each.source_id, frozenset())
    if fact is not None:
        over = " ".join(index.holders.steps(fact))
        said |= stems(f"{over} {fact.path} {fact.subject}") | acronyms(fact.path)
        if fact.quantity is not None:
            said |= measured_by(fact.quantity.unit)
    beside = held_at(each, index)
    for other in beside:
        # Of a record of many fields only those that name it say what all of it is about.
        telling = len(beside) <= _MOST_FIELDS or _NAMES_IT.search(other.path)
        if telling and other.structured and len(other.value.split()) <= _MOST_VALUE_WORDS:
            said |= stems(f"{other.path} {other.value}")
    return said


def _events(checks: Sequence[Check], stated: Sequence[Stated]) -> frozenset[str]:
    """The words that say what came about at the dates of the facts."""
    said: frozenset[str] = frozenset()
    dated = [each.fact.path for each in stated if each.fact is not None and each.fact.quantity]
    if any(_BEGAN_AT.search(path) for path in dated):
        # "Since" says that it lasts as well.
        lasts = any(c.check == "status" and c.outcome is Outcome.SUPPORTS for c in checks)
        said |= _BEGAN if lasts else _BEGAN - {"since"}
    if any(operation_of(check) == "duration" for check in checks):
        said |= _LASTED
    if any("death" in stems(f"{each.record.name} {each.record.label}") for each in stated):
        said |= _DIED
    return said


def _moves_so(supporting: Sequence[Check], view: ClaimView, index: FactIndex) -> bool:
    """Whether what the claim says of up and down is so: it was worked out, or its two values differ so."""
    if any(operation_of(check) == "difference" for check in supporting):
        return True
    amounts = [check for check in supporting if check.check == "value"]
    if len(amounts) != 2:
        return False
    one, other = (stated_at(check, index) for check in amounts)
    if len(one) != len(other) or not one:
        return False
    up, down = _UP.search(view.text) is not None, _DOWN.search(view.text) is not None
    for first, second in zip(one, other, strict=True):
        if first.fact is None or second.fact is None or first.fact.path != second.fact.path:
            return False
        if when(first.record) == when(second.record):
            return False
        earlier, later = sorted((first, second), key=lambda each: when(each.record))
        change = _amount(later) - _amount(earlier)
        if (up and change <= 0) or (down and change >= 0):
            return False
    return True


def _amount(each: Stated) -> float:
    item = each.fact.quantity if each.fact is not None else None
    return item.amount if item is not None else 0.0


def when(record: Record) -> tuple[int, int, int]:
    """The first day of a record, to sort by; zeros where it has none."""
    return day_key(record.days[0]) if record.days else (0, 0, 0)


def is_last(stated: Sequence[Stated], index: FactIndex, *, said: bool = True) -> bool:
    """Whether no value of the same field is of a later date; of none at all, where last is ``said``."""
    for each in stated:
        if each.fact is None:
            continue
        others = [
            other
            for other in index.by_path.get((each.source_id, each.fact.path), ())
            if other.record.index != each.record.index and _same_thing(other.record, each.record)
        ]
        if not each.record.days and any(said or other.record.days for other in others):
            return False
        if any(when(other.record) > when(each.record) for other in others):
            return False
    return True


def _same_thing(one: Record, other: Record) -> bool:
    """Whether two records are of one thing: rows that are named by their dates all are."""
    return _without_dates(one.name) == _without_dates(other.name)


def _without_dates(name: str) -> frozenset[str]:
    return stems(_DATED.sub(" ", name))


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())
