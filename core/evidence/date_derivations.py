"""Ages, and the time between two dates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import interval, same_day
from core.evidence.derivation_parts import day_key, shown
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Fact, Record, SourceFacts
from core.evidence.quantity_records import Bound, Day, Quantity
from core.evidence.words import stems
from core.records import Derivation, FactPlace

_MOST_RECORDS = 12
_MOST_DAYS = 40
_LAST_DAYS = 6
_MOST_ATTRIBUTES = 12
_DAYS_OF = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25, None: 365.25}
_AGE = re.compile(
    r"\b(?:age[ds]?|old|turn(?:ed|s|ing)?|birthday|born|is|was|were|now|at|only|just|then)\W{1,3}\Z",
    re.I,
)
_AGE_BEHIND = re.compile(
    r"\A\W{0,2}(?:years?|months?|weeks?|yo\b|y/o|when|at|on|in|as of|of age|-year-old|[.,;]|\Z)",
    re.I,
)
_BEGINNING = re.compile(r"birth|\bborn\b|\bdob\b|created?|founded|registered|established", re.I)


def age(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The age at a date of the claim, of a record it names, or at the last date of the source."""
    if want.unit not in (None, "year", "month", "week", "day") or not _is_age(want, claim):
        return
    for source in index.outputs:
        for birth in _beginnings(source):
            born = as_date(birth.quantity.date if birth.quantity else None)
            for day in _dates_meant(claim, source):
                then = as_date(day)
                if (
                    born is None
                    or then is None
                    or then < born
                    or not span_fits(born, then, want, age=True)
                ):
                    continue
                years = years_between(born, then)
                said = (
                    f"{years} years"
                    if want.unit in (None, "year")
                    else f"{(then - born).days} days"
                )
                yield shown("age", (birth,), said, want, f"{then} minus {born} = {said}")


def _is_age(want: Quantity, claim: ClaimView) -> bool:
    before, behind = claim.text[: want.span.start], claim.text[want.span.end :]
    if re.search(r"\b(?:old|age[ds]?|born|birthday|turn(?:s|ed|ing)?)\b", claim.text, re.I):
        return want.unit is not None or 0 < want.amount < 120
    if want.step < 1:
        return False
    said = _AGE.search(before) is not None and _AGE_BEHIND.match(behind) is not None
    return (
        want.unit is None
        and 0 < want.amount < 120
        and (said or not behind.strip(" .") and not want.noun)
    )


def _beginnings(source: SourceFacts) -> list[Fact]:
    found = []
    for fact in source.facts:
        item = fact.quantity
        if item is None or item.date is None or not item.date.year:
            continue
        if _BEGINNING.search(f"{fact.path} {fact.value[: item.span.start][-24:]}"):
            found.append(fact)
    return found[:3]


def _dates_meant(claim: ClaimView, source: SourceFacts) -> Iterator[Day]:
    """The dates that the claim gives, else those of the records it names, else the source's last ones."""
    said = [day for day in claim.days if day.year and day.month]
    named = [day for record in named_records(claim, source) for _, day in record.dates]
    yield from (day for day in named if any(same_day(day, asked) for asked in said))
    for day in said:  # a month that is said alone may be before or after the birthday
        yield from [day] if day.day else [replace(day, day=1), replace(day, day=28)]
    if not said:
        yield from named[:_MOST_DAYS] or list(reversed(days_of(source)))[:_LAST_DAYS]


def days_of(source: SourceFacts) -> list[Day]:
    """The distinct days that a source's records and fields carry, in order, bounded."""
    days = {day for record in source.records for _, day in record.dates}
    days |= {
        f.quantity.date for f in source.facts if f.structured and f.quantity and f.quantity.date
    }
    return sorted((day for day in days if day.year and day.month), key=day_key)[-_MOST_DAYS:]


def named_records(claim: ClaimView, source: SourceFacts) -> list[Record]:
    """The dated records whose label shares most words with the claim."""
    scored = [
        (len(stems(record.label) & claim.words), record)
        for record in source.records
        if record.dates
    ]
    scored = sorted(
        (each for each in scored if each[0]), key=lambda each: (-each[0], each[1].index)
    )
    return [record for _, record in scored[:_MOST_RECORDS]]


def _best_named(claim: ClaimView, named: list[Record]) -> list[Record]:
    most = max((len(stems(record.label) & claim.words) for record in named), default=0)
    return [record for record in named if len(stems(record.label) & claim.words) == most]


def duration(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The time between two dates of one record, of two named ones, or a date of the claim and one.

    Where the claim gives dates, one of the two is one of these.
    """
    if want.unit not in ("day", "week", "month", "year"):
        return
    said = [day for day in claim.days if day.year]
    for source in index.outputs:
        for ones, others, records in _date_pairs(claim, source, attributes, said):
            if said:
                ones_said = [one for one in ones if _is_said(one, said)]
                others_said = [other for other in others if _is_said(other, said)]
                yield from _between(ones_said, others, records, want, source)
                yield from _between(ones, others_said, records, want, source)
            else:
                yield from _between(ones, others, records, want, source)


def _is_said(day: Day, said: Sequence[Day]) -> bool:
    return any(same_day(day, asked) for asked in said)


def _date_pairs(
    claim: ClaimView, source: SourceFacts, attributes: Sequence[Attribute], said: list[Day]
) -> Iterator[tuple[Sequence[Day], Sequence[Day], list[Record]]]:
    """The dates to be set against each other, nearest first, with the records they are of."""
    named = named_records(claim, source)
    for record in _best_named(claim, named):
        yield _days(record), _days(record), [record]
    for first, second in combinations(named, 2):
        yield _days(first), _days(second), [first, second]
    yield said, said, []
    yield said, [day for record in named for day in _days(record)], []
    own: list[Day] = []
    for attribute in attributes[:_MOST_ATTRIBUTES]:
        if attribute.source_id == source.source_id:
            records = [f.record for f in attribute.facts if f.record.dates][:_MOST_DAYS]
            own += [day for record in records for day in _days(record)]
            for first, second in combinations(records, 2):
                yield _days(first), _days(second), [first, second]
    yield said, own[:_MOST_DAYS] or days_of(source), []
    yield said, _birthdays(claim, source), []
    for record in named:
        yield _days(record), days_of(source)[-1:], [record]


def _days(record: Record) -> list[Day]:
    return [day for _, day in record.dates[:6]]


def _birthdays(claim: ClaimView, source: SourceFacts) -> list[Day]:
    """The birthdays of the years that the claim gives, where it speaks of one."""
    if not re.search(r"birthday|turn(?:s|ed|ing)?\b", claim.text, re.IGNORECASE):
        return []
    births = [
        fact.quantity.date for fact in _beginnings(source) if fact.quantity and fact.quantity.date
    ]
    return [
        Day(year=day.year, month=b.month, day=b.day)
        for b in births
        for day in claim.days
        if day.year
    ]


def _between(
    ones: Sequence[Day],
    others: Sequence[Day],
    records: list[Record],
    want: Quantity,
    source: SourceFacts,
) -> Iterator[Derivation]:
    for one in ones:
        for other in others:
            begin, end = as_date(one), as_date(other)
            if begin is None or end is None:
                if (
                    want.unit == "year"
                    and one.year
                    and other.year
                    and abs(one.year - other.year) == want.amount
                ):
                    first_year, last_year = sorted((one.year, other.year))
                    yield shown(
                        "duration", _places(records, source), want.text, want,
                        f"{last_year} minus {first_year} = {want.amount:g} years",
                    )  # fmt: skip
            elif begin != end:
                first, last = min(begin, end), max(begin, end)
                if span_fits(first, last, want):
                    yield shown(
                        "duration", _places(records, source), want.text, want,
                        f"{last} minus {first} = {_spoken(first, last, want)}",
                    )  # fmt: skip


def _spoken(first: datetime.date, last: datetime.date, want: Quantity) -> str:
    days = (last - first).days
    if want.unit == "year":
        return f"{days / 365.25:.2g} years"
    return (
        f"{days / _DAYS_OF[want.unit]:.3g} {want.unit}s" if want.unit != "day" else f"{days} days"
    )


def _places(records: Iterable[Record], source: SourceFacts) -> list[FactPlace]:
    return [
        FactPlace(source_id=source.source_id, span=each.span, path=each.label[:60])
        for each in records
    ]


# ---------------------------------------------------------------- counting days


def as_date(day: Day | None) -> datetime.date | None:
    """A day of the calendar; the middle of a month that is said alone, None for a year."""
    if day is None or day.year is None or day.month is None:
        return None
    try:
        return datetime.date(day.year, day.month, day.day or 15)
    except ValueError:
        return None


def years_between(first: datetime.date, last: datetime.date) -> int:
    """Full years, as ages are counted."""
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def months_between(first: datetime.date, last: datetime.date) -> int:
    """Full months."""
    return (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)


def span_fits(
    first: datetime.date, last: datetime.date, want: Quantity, *, age: bool = False
) -> bool:
    """Whether the time between two dates is the claim's: rounded, or in completed units for ages."""
    size = _DAYS_OF.get(want.unit)
    if size is None:
        return False
    counted = (last - first).days / size
    done = {"year": years_between, None: years_between, "month": months_between}.get(want.unit)
    full = done(first, last) if done is not None else int(counted)
    exact = want.bound is Bound.EXACT
    if exact and full == want.amount and (age or want.unit in ("year", "month")):
        return True
    if age and exact and want.unit in (None, "year"):
        return False  # an age is counted in full years, never rounded up
    return interval(want).holds(counted)
