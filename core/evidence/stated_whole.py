"""Whether one source states all of a claim: every word accounted for, at its time, of its person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from core.evidence.accounting import (
    SAYS_LAST,
    VALUES,
    WEIGHTY,
    WORKED_OUT,
    account,
    held_at,
    is_last,
    left_beside,
    operation_of,
    people_at,
    places_of,
    stated_at,
    when,
)
from core.evidence.chart.covering import ENDED, TAKES_BACK
from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.comparing import same_day
from core.evidence.derivations import day_key, days_of, place_of
from core.evidence.fact_index import WORD_BEGINS, FactIndex, Stated
from core.evidence.facts import Fact, Record
from core.evidence.holders import naming_words, stretches_of
from core.evidence.quantity_records import Day
from core.evidence.words import stems
from core.records import Check, Claim, Outcome, Span
from core.text.han import parts_of
from core.text.tokens import PLAIN_WORD

WHOLE = "whole"  # the check that a claim is stated whole
_PRESENT = re.compile(r"\b(?:is|are|has|have|takes|weighs|stands|currently|now)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|been|stood|measured|recorded|came)\b", re.IGNORECASE)
# What takes back, anywhere in a record, what the rest of it says; beside the words of an entry's standing.
_TAKES_BACK = TAKES_BACK | frozenset(
    "invalid preliminary target goal limit threshold reference expected haemolysed hemolysed "
    "repeat corrected superseded".split()
)
_LETTERS = re.compile(r"[^\W\d_]+")
_OVER_TIME = WORKED_OUT | {"count"}
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


def is_current(stated: Stated, view: ClaimView, index: FactIndex) -> bool:
    """Whether nothing later says otherwise, where the claim speaks of now."""
    last = SAYS_LAST.search(view.text) is not None
    if not last and (_PAST.search(view.text) or not _PRESENT.search(view.text)):
        return True
    return is_last((stated,), index, said=last)


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


_LEAST_WORDS = 2  # of a claim, its people aside
_DOUBTFUL = re.compile(
    r"\b(?:if|unless|may|might|could|should|would|or|only|all|every|each|both|same|than|most|least)\b|\?",
    re.IGNORECASE,
)


def stated_in_field(claim: Claim, index: FactIndex) -> Check | None:
    """A check that one field states all of the claim, or that the record it names says otherwise.

    None where a word is left or the claim has a value.
    """
    view = view_claim(claim.text, index.people)
    if view.quantities or _DOUBTFUL.search(claim.text) or len(view.words) < _LEAST_WORDS:
        return None
    found: list[Fact] = []
    moved: list[tuple[Fact, frozenset[str]]] = []
    spoken = naming_words(claim.text)
    for fact in _with_a_word(view.words, index):
        stated = Stated(source_id=fact.source_id, record=fact.record, fact=fact)
        said = _value_said(fact, view)
        if said and index.holders.foreign(fact, spoken - said):
            moved.append((fact, said))
            continue
        if not said or left_beside(claim.text, stated, said, index):
            continue
        if not is_clean(stated, view, index) or not is_of_the_person(view, [stated], index):
            continue
        if is_current(stated, view, index):
            found.append(fact)
    if not found:
        return None if view.denies else _held_otherwise(claim.text, view, moved, spoken, index)
    return Check(
        check=WHOLE,
        outcome=Outcome.SUPPORTS,
        reason=f"The field says just this: {found[0].path}: {found[0].value[:80]}.",
        facts=tuple(place_of(fact) for fact in found[:3]),
        binding=1.0,
    )


def _held_otherwise(
    text: str,
    view: ClaimView,
    moved: Iterable[tuple[Fact, frozenset[str]]],
    spoken: frozenset[str],
    index: FactIndex,
) -> Check | None:
    """What the record that a claim names holds instead of a sibling's value, which it says of it.

    Only where the claim would be stated whole if the record held that value: "INV-1 is overdue", where
    INV-1 is paid and INV-2 overdue.
    """
    for fact, said in moved:
        for own in index.holders.named_instead(fact, spoken - said):
            stated = Stated(source_id=own.source_id, record=own.record, fact=own)
            if _value_said(own, view) or left_beside(text, stated, said, index):
                continue
            if is_clean(stated, view, index) and is_current(stated, view, index):
                return Check(
                    check="value",
                    outcome=Outcome.CONTRADICTS,
                    veto=True,
                    reason=f"{own.path}: {own.value[:80]}, not {fact.value[:80]}, which stands in "
                    "another record.",
                    facts=(place_of(own),),
                )
    return None


def _with_a_word(words: frozenset[str], index: FactIndex) -> Iterator[Fact]:
    """The fields of words, without a number, whose value shares a word with the claim."""
    seen: set[int] = set()
    for word in sorted(words):
        for fact in index.worded.get(word[:WORD_BEGINS], ()):
            if id(fact) not in seen:
                seen.add(id(fact))
                yield fact


def _value_said(fact: Fact, view: ClaimView) -> frozenset[str]:
    """The claim's words that say the field's value, each word of it; empty where one is not said."""
    spoken = {word.casefold() for word in PLAIN_WORD.findall(view.text)}
    found: set[str] = set()
    for word in (part for whole in PLAIN_WORD.findall(fact.value) for part in parts_of(whole)):
        if word.casefold() in WEIGHTY and word.casefold() not in spoken:
            return frozenset()
        said = {each for each in view.words for one in stems(word) if _akin(one, each)}
        if stems(word) and not said:
            return frozenset()
        found |= said
    return frozenset(found)


def _akin(one: str, other: str) -> bool:
    """Whether two stems are forms of one word: of smoked and of smoker."""
    short, long = sorted((one, other), key=len)
    begins = len(short) >= WORD_BEGINS and long.startswith(short)
    return short == long or (begins and len(long) - len(short) < WORD_BEGINS)
