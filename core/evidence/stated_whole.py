"""Whether one source states all of a claim: every word accounted for, at its time, of its person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from core.evidence.accounting import (
    SAYS_LAST,
    VALUES,
    account,
    held_at,
    is_last,
    operation_of,
    people_at,
    places_of,
    stated_at,
    when,
)
from core.evidence.chart.covering import ENDED, TAKES_BACK
from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.comparing import same_day
from core.evidence.derivations import day_key, days_of
from core.evidence.fact_index import FactIndex, Stated
from core.evidence.facts import Record
from core.evidence.holders import stretches_of
from core.evidence.quantity_records import Day
from core.evidence.words import stems
from core.records import Check, Claim, Outcome, Span

WHOLE = "whole"  # the check that a claim is stated whole
_PRESENT = re.compile(r"\b(?:is|are|has|have|takes|weighs|stands|currently|now)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|been|stood|measured|recorded|came)\b", re.IGNORECASE)
# What takes back, anywhere in a record, what the rest of it says; beside the words of an entry's standing.
_TAKES_BACK = TAKES_BACK | frozenset(
    "invalid preliminary target goal limit threshold reference expected haemolysed hemolysed "
    "repeat corrected superseded".split()
)
_LETTERS = re.compile(r"[^\W\d_]+")
_OVER_TIME = frozenset({"count", "difference"})
_TIMED = frozenset({"age", "duration"})


def stated_whole(claim: Claim, checks: Sequence[Check], index: FactIndex) -> Check | None:
    """A check that one source states all of the claim; None where a word is left or may be meant
    otherwise: another value in the same field, a later one, another date, another person's record."""
    values = [check for check in checks if check.check in VALUES]
    if not values or any(check.outcome is not Outcome.SUPPORTS for check in values):
        return None
    if any(check.outcome is Outcome.CONTRADICTS for check in checks):
        return None
    if not all(stated_at(check, index) for check in values):
        return None
    found = account(claim, checks, index)
    sources = {each.source_id for each in found.stated}
    view = view_claim(claim.text, index.people)
    if found.left or len(sources) != 1 or not is_of_the_person(view, found.stated, index):
        return None
    if not all(_is_of_the_named(check, view, index) for check in values):
        return None
    if not all(is_clean(each, view, index) for each in found.stated):
        return None
    if not _at_its_time(values, view, index):
        return None
    return Check(
        check=WHOLE,
        outcome=Outcome.SUPPORTS,
        reason="Nothing of the statement is left open: each value, name and date of it stands there.",
        facts=tuple(dict.fromkeys(place for check in values for place in places_of(check))),
        binding=1.0,
    )


def is_clean(each: Stated, view: ClaimView, index: FactIndex) -> bool:
    """Whether it is the one value of its field in its record, and nothing there takes it back."""
    fact = each.fact
    if fact is not None:
        if not fact.structured:
            return False
        dated = fact.quantity is not None and fact.quantity.date is not None
        if "," in fact.value and not dated:
            return False
        beside = held_at(each, index)
        if len({other.value for other in beside if other.path == fact.path}) > 1:
            return False
    said = {word.casefold() for word in _LETTERS.findall(view.text)}
    if not _PRESENT.search(view.text):  # of what has been it is no matter that it has ended
        said |= ENDED
    return not {word.casefold() for word in _LETTERS.findall(each.record.text)} & _TAKES_BACK - said


def is_of_the_person(view: ClaimView, stated: Iterable[Stated], index: FactIndex) -> bool:
    """Whether what is stated is of everybody whom the claim names."""
    named = stems(view.text) & index.people
    return all(named <= people_at(each, index) for each in stated)


def _is_of_the_named(check: Check, view: ClaimView, index: FactIndex) -> bool:
    """Whether no word names a record of the same list that holds none of what the check rests on."""
    at = check.claim_span or Span(start=0, end=0)
    stretches = stretches_of(view.text, at, view.quantities)
    facts = [each.fact for each in stated_at(check, index) if each.fact is not None]
    foreign = [
        index.holders.foreign(fact, index.holders.nearest(fact, stretches)) for fact in facts
    ]
    return not (foreign and frozenset.intersection(*foreign))


def _at_its_time(values: Sequence[Check], view: ClaimView, index: FactIndex) -> bool:
    """Whether each value is of the date that the claim gives it, or the latest where it gives none."""
    amounts = [check for check in values if check.check == "value"]
    days = [day for day in view.days if day.year is not None]
    if not amounts:
        records = [
            {(each.source_id, each.record.index) for each in stated_at(check, index)}
            for check in values
        ]
        return bool(set.intersection(*records))
    if days:
        return _at_days(amounts, days, index)
    last = SAYS_LAST.search(view.text) is not None
    if last or (_PRESENT.search(view.text) and not _PAST.search(view.text)):
        return all(_is_of_last(check, index, said=last) for check in amounts)
    return len(amounts) == 1 or _in_order(amounts, index)


def _at_days(amounts: Sequence[Check], days: Sequence[Day], index: FactIndex) -> bool:
    """Whether the values are of the claim's days: a change of all of them, the rest one by one."""
    over = [check for check in amounts if operation_of(check) in _OVER_TIME]
    plain = [check for check in amounts if operation_of(check) not in _OVER_TIME | _TIMED]
    for check in over:
        stated = stated_at(check, index)
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
    if operation_of(check) == "age" and check.derivation is not None:
        (place, *_) = check.derivation.inputs
        source = next(one for one in index.outputs if one.source_id == place.source_id)
        days = days_of(source)
        return bool(days) and check.derivation.text.startswith(str(days[-1]))
    stated = stated_at(check, index)
    return operation_of(check) not in _TIMED and is_last(stated, index, said=said)


def _all_in(check: Check, days: Sequence[Day], index: FactIndex) -> bool:
    stated = stated_at(check, index)
    return bool(stated) and all(_is_of(each.record, days) for each in stated)


def _is_of(record: Record, days: Sequence[Day]) -> bool:
    return any(same_day(day, asked) for day in record.days for asked in days)


def _in_order(amounts: Sequence[Check], index: FactIndex) -> bool:
    """Whether values that a claim gives one after the other came in that order."""
    dated = [max((when(e.record) for e in stated_at(c, index)), default=(0, 0, 0)) for c in amounts]
    return all(first <= second for first, second in pairwise(dated))
