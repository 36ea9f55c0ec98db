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
from itertools import pairwise

from core.evidence.chart.covering import ENDED, STANDING_WORDS, TAKES_BACK
from core.evidence.chart.phrases import beside_spans, lead_spans
from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.comparing import same_day
from core.evidence.date_derivations import days_of
from core.evidence.derivation_parts import day_key
from core.evidence.fact_index import FactIndex, Stated
from core.evidence.facts import Record
from core.evidence.names import MONTHS
from core.evidence.quantity_records import Day
from core.evidence.units import measured_by
from core.evidence.words import acronyms, stems
from core.records import Check, Claim, FactPlace, Outcome, Span, Trace

WHOLE = "whole"  # the check that a claim is stated whole
MOST_LEFT = 1  # words that may be left of a claim that a check shows to be wrong
_MOST_VALUE_WORDS = 8  # of a field beside the claim's: longer ones are texts of their own
_MOST_FIELDS = 40  # of a record that is about one thing
_MOST_SHOWN = 600  # characters of what contradicts a claim
_WORD = re.compile(r"[^\W_]+(?:[.,'’/-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?\Z")
# Words that only say that something stands in a record, or that it is so.
_PLAIN = frozenset(
    "a an the of for to in on at with by as is are was were be been has have had it its his her their he "
    "she they this that these those patient patients mr mrs ms miss dr chart charts record records "
    "recorded lists listed list shows showed states stated says file documented entry entries there level "
    "levels value values reading readings measured measurement measurements result results stood visit "
    "visits test tests came out gives gave given found reported reports per count counts number total "
    "dated done when then according equals currently current aged age old years year birth born roughly "
    "nearly approximately around about exactly reached underwent suffered received got weighed".split()
)
# What is said of a date that something began on, was put down on, or came to an end on.
_BEGAN = frozenset(
    "started began begun added entered ordered prescribed issued diagnosed noted dates dating onset "
    "since first".split()
)
_BEGAN_AT = re.compile(r"onset|author|start|record|began|issued|prescri|diagnos", re.IGNORECASE)
_DIED = frozenset("died dead death".split())
# Words without content that change what a claim says: none of them goes without saying.
_WEIGHTY = frozenset(
    "no not never none neither nor without only all each both more most less same before after since "
    "until between during again further than few other another such any over under up down against off "
    "once".split()
)
_SAYS_LAST = re.compile(
    r"\b(?:(?:most|more) recent(?:ly)?|latest|last|newest|current(?:ly)?|now|today)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(r"\b(?:is|are|has|have|takes|weighs|stands|currently|now)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|been|stood|measured|recorded|came)\b", re.IGNORECASE)
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
# What takes back, anywhere in a record, what the rest of it says; beside the words of an entry's standing.
_TAKES_BACK = TAKES_BACK | frozenset(
    "invalid preliminary target goal limit threshold reference expected haemolysed hemolysed "
    "repeat corrected superseded".split()
)
_DATED = re.compile(rf"[^\W_]*\d[^\W_]*|\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_DOSES = stems("dose doses shot shots vaccine vaccines immunization immunizations jab")
_OF_ENTRY = frozenset({"status", "subject", "binding", "name", "dose", "schedule"})
_VALUES = frozenset({"value", "date"})
_LITERALS = frozenset({"identifier", "name", "quoted"})
_WORKED_OUT = frozenset({"difference", "percent_change", "ratio"})
_OVER_TIME = _WORKED_OUT | {"count"}
_TIMED = frozenset({"age", "duration"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What of a claim is accounted for: the words that are left, of how many, and by what."""

    left: tuple[str, ...]
    words: int
    stated: tuple[Stated, ...]

    @property
    def share(self) -> float:
        """The share of the claim's words that is accounted for, 0 to 1."""
        return 1.0 - len(self.left) / self.words if self.words else 0.0


def account(claim: Claim, checks: Sequence[Check], index: FactIndex) -> Account:
    """What the facts of the claim's supporting value checks account for."""
    view = view_claim(claim.text, index.people)
    supporting = [c for c in checks if c.check in _VALUES and c.outcome is Outcome.SUPPORTS]
    stated = tuple(each for check in supporting for each in _stated(check, index))
    spans = [*_matched(checks), *lead_spans(claim.text)]
    trend = any(c.check == "trend" and c.outcome is Outcome.SUPPORTS for c in checks)
    if trend or _moves_so(supporting, view, index):
        spans += [_span(match) for match in _MOVES.finditer(view.text)]
    if stated and _is_last(stated, index):
        spans += [_span(match) for match in _SAYS_LAST.finditer(view.text)]
    known = frozenset[str]().union(*(_said_of(each, index) for each in stated))
    if "immunization" in known:
        known |= _DOSES
    words = list(_WORD.finditer(claim.text))
    return Account(
        left=tuple(_left(words, spans, known | index.people, _PLAIN | _events(checks, stated))),
        words=len(words),
        stated=stated,
    )


def stated_whole(claim: Claim, checks: Sequence[Check], index: FactIndex) -> Check | None:
    """A check that one source states all of the claim; None where a word is left or may be meant
    otherwise: another value in the same field, a later one, another date, another person's record."""
    values = [check for check in checks if check.check in _VALUES]
    if not values or any(check.outcome is not Outcome.SUPPORTS for check in values):
        return None
    if any(check.outcome is Outcome.CONTRADICTS for check in checks):
        return None
    if not all(_stated(check, index) for check in values):
        return None
    found = account(claim, checks, index)
    sources = {each.source_id for each in found.stated}
    view = view_claim(claim.text, index.people)
    if found.left or len(sources) != 1 or not _of_the_person(view, sources, index):
        return None
    if not all(_is_clean(each, view, index) for each in found.stated):
        return None
    if not _at_its_time(values, view, index):
        return None
    return Check(
        check=WHOLE,
        outcome=Outcome.SUPPORTS,
        reason="One source states all of it.",
        facts=tuple(dict.fromkeys(place for check in values for place in _places(check))),
        binding=1.0,
    )


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
    words = _WORD.finditer(claim.text)
    plain = _PLAIN | STANDING_WORDS
    return tuple(word for word in _left(words, spans, known, plain) if word not in _WEIGHTY)


def _left(
    words: Iterable[re.Match[str]],
    spans: Sequence[Span],
    known: frozenset[str],
    plain: frozenset[str],
) -> Iterator[str]:
    """The words that stand in none of the spans, are not known, and say more than plain ones."""
    for word in words:
        if any(span.start < word.end() and word.start() < span.end for span in spans):
            continue
        said, meant = _POSSESSIVE.sub("", word.group().casefold()), stems(word.group())
        if said in plain or meant & known or (not meant and said not in _WEIGHTY):
            continue
        yield said


def _matched(checks: Iterable[Check]) -> Iterator[Span]:
    """The stretches of the claim that checks found as it says."""
    for check in checks:
        found = check.outcome is Outcome.SUPPORTS and check.check in _VALUES | _LITERALS
        if found and check.claim_span is not None:
            yield check.claim_span


def _stated(check: Check, index: FactIndex) -> list[Stated]:
    """What stands at a check's places; none where one of them is in no output."""
    found = [
        index.placed.get((place.source_id, place.span.start, place.span.end))
        if place.span is not None
        else None
        for place in _places(check)
    ]
    return [each for each in found if each is not None] if all(found) else []


def _places(check: Check) -> tuple[FactPlace, ...]:
    inputs = check.derivation.inputs if check.derivation is not None else ()
    return tuple(dict.fromkeys((*check.facts, *inputs)))


def _operation(check: Check) -> str:
    return check.derivation.operation if check.derivation is not None else ""


def _said_of(each: Stated, index: FactIndex) -> frozenset[str]:
    """The words by which a field and its record go, and the short values of the record's fields."""
    record, fact = each.record, each.fact
    said = stems(f"{record.name} {record.kind}")
    if fact is not None:
        said |= stems(f"{fact.path} {fact.subject}") | acronyms(fact.path)
        if fact.quantity is not None:
            said |= measured_by(fact.quantity.unit)
    beside = index.beside.get((each.source_id, record.index), ())
    if len(beside) <= _MOST_FIELDS:
        for other in beside:
            if other.structured and len(other.value.split()) <= _MOST_VALUE_WORDS:
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
    if any("death" in stems(f"{each.record.name} {each.record.label}") for each in stated):
        said |= _DIED
    return said


def _moves_so(supporting: Sequence[Check], view: ClaimView, index: FactIndex) -> bool:
    """Whether what the claim says of up and down is so: it was worked out, or its two values differ so."""
    if any(_operation(check) in _WORKED_OUT for check in supporting):
        return True
    amounts = [check for check in supporting if check.check == "value"]
    if len(amounts) != 2:
        return False
    one, other = (_stated(check, index) for check in amounts)
    if len(one) != len(other) or not one:
        return False
    up, down = _UP.search(view.text) is not None, _DOWN.search(view.text) is not None
    for first, second in zip(one, other, strict=True):
        if first.fact is None or second.fact is None or first.fact.path != second.fact.path:
            return False
        if _when(first.record) == _when(second.record):
            return False
        earlier, later = sorted((first, second), key=lambda each: _when(each.record))
        change = _amount(later) - _amount(earlier)
        if (up and change <= 0) or (down and change >= 0):
            return False
    return True


def _amount(each: Stated) -> float:
    item = each.fact.quantity if each.fact is not None else None
    return item.amount if item is not None else 0.0


def _is_clean(each: Stated, view: ClaimView, index: FactIndex) -> bool:
    """Whether it is the one value of its field in its record, and nothing there takes it back."""
    fact = each.fact
    if fact is not None:
        if not fact.structured:
            return False
        dated = fact.quantity is not None and fact.quantity.date is not None
        if "," in fact.value and not dated:
            return False
        beside = index.beside.get((each.source_id, each.record.index), ())
        if len({other.value for other in beside if other.path == fact.path}) > 1:
            return False
    said = {word.casefold() for word in _LETTERS.findall(view.text)}
    if not _PRESENT.search(view.text):  # of what has been it is no matter that it has ended
        said |= ENDED
    return not {word.casefold() for word in _LETTERS.findall(each.record.text)} & _TAKES_BACK - said


def _of_the_person(view: ClaimView, sources: Iterable[str], index: FactIndex) -> bool:
    """Whether the record is of everybody whom the claim names."""
    named = stems(view.text) & index.people
    return all(named <= index.people_of.get(each, frozenset()) for each in sources)


def _at_its_time(values: Sequence[Check], view: ClaimView, index: FactIndex) -> bool:
    """Whether each value is of the date that the claim gives it, or the latest where it gives none."""
    amounts = [check for check in values if check.check == "value"]
    days = [day for day in view.days if day.year is not None]
    if not amounts:
        records = [
            {(each.source_id, each.record.index) for each in _stated(check, index)}
            for check in values
        ]
        return bool(set.intersection(*records))
    if days:
        return _at_days(amounts, days, index)
    last = _SAYS_LAST.search(view.text) is not None
    if last or (_PRESENT.search(view.text) and not _PAST.search(view.text)):
        return all(_is_of_last(check, index, said=last) for check in amounts)
    return len(amounts) == 1 or _in_order(amounts, index)


def _at_days(amounts: Sequence[Check], days: Sequence[Day], index: FactIndex) -> bool:
    """Whether the values are of the claim's days: a change of all of them, the rest one by one."""
    over = [check for check in amounts if _operation(check) in _OVER_TIME]
    plain = [check for check in amounts if _operation(check) not in _OVER_TIME | _TIMED]
    for check in over:
        stated = _stated(check, index)
        if not all(any(_is_of(each.record, (day,)) for each in stated) for day in days):
            return False
    if len(days) == 1:
        return all(_all_in(check, days, index) for check in plain)
    if over:  # "rose by 4 to 74 from 2015 to 2018": what it came to is of the last day
        latest = max(days, key=day_key)
        return all(_all_in(check, (latest,), index) for check in plain)
    return not plain or (
        len(days) == len(plain)
        and all(_all_in(check, (day,), index) for check, day in zip(plain, days, strict=True))
    )


def _is_of_last(check: Check, index: FactIndex, *, said: bool) -> bool:
    """Whether a value is the field's latest; an age, whether it is that at the source's last date."""
    if _operation(check) == "age" and check.derivation is not None:
        (place, *_) = check.derivation.inputs
        source = next(one for one in index.outputs if one.source_id == place.source_id)
        days = days_of(source)
        return bool(days) and check.derivation.text.startswith(str(days[-1]))
    stated = _stated(check, index)
    return _operation(check) not in _TIMED and _is_last(stated, index, said=said)


def _all_in(check: Check, days: Sequence[Day], index: FactIndex) -> bool:
    stated = _stated(check, index)
    return bool(stated) and all(_is_of(each.record, days) for each in stated)


def _is_of(record: Record, days: Sequence[Day]) -> bool:
    return any(same_day(day, asked) for day in record.days for asked in days)


def _in_order(amounts: Sequence[Check], index: FactIndex) -> bool:
    """Whether values that a claim gives one after the other came in that order."""
    when = [max((_when(e.record) for e in _stated(c, index)), default=(0, 0, 0)) for c in amounts]
    return all(first <= second for first, second in pairwise(when))


def _when(record: Record) -> tuple[int, int, int]:
    return day_key(record.days[0]) if record.days else (0, 0, 0)


def _is_last(stated: Sequence[Stated], index: FactIndex, *, said: bool = True) -> bool:
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
        if any(_when(other.record) > _when(each.record) for other in others):
            return False
    return True


def _same_thing(one: Record, other: Record) -> bool:
    """Whether two records are of one thing: rows that are named by their dates all are."""
    return _without_dates(one.name) == _without_dates(other.name)


def _without_dates(name: str) -> frozenset[str]:
    return stems(_DATED.sub(" ", name))


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())
