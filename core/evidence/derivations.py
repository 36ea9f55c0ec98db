"""A small typed grammar of derivations: how a claim's number follows from stated ones.

Only facts of one attribute, one record or one source are put together, in a fixed order, smallest
derivation first, and every search is bounded (evidence.md, section 4).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import in_unit, interval, same_day, sign_fits
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Fact, Record, SourceFacts
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import TIME
from core.evidence.words import stems
from core.records import Derivation, FactPlace, Span

MOST_IN_SERIES = 24


def place_of(fact: Fact) -> FactPlace:
    """Where a fact stands."""
    return FactPlace(source_id=fact.source_id, span=fact.span, path=fact.path or None)


def shown(
    operation: str, inputs: Iterable[Fact | FactPlace], result: str, want: Quantity, text: str
) -> Derivation:
    """A derivation with its inputs' places and the tolerance of the claim's precision."""
    wide = interval(want)
    dated = want.kind is QuantityKind.DATE
    return Derivation(
        operation=operation,
        inputs=tuple(place_of(each) if isinstance(each, Fact) else each for each in inputs),
        result=result,
        tolerance=None if dated else f"{(wide.high - wide.low) / 2:g}",
        text=text,
    )


def series(attribute: Attribute) -> list[Fact]:
    """The numbers of an attribute, bounded."""
    return [f for f in attribute.facts if f.quantity and f.quantity.date is None][:MOST_IN_SERIES]


def number_of(fact: Fact) -> float:
    """A fact's amount."""
    return fact.quantity.amount if fact.quantity is not None else 0.0


def unit_of(fact: Fact) -> str:
    """A fact's unit behind a space, or nothing."""
    named = fact.quantity.unit if fact.quantity is not None else None
    return f" {named}" if named else ""


def matches(amount: float, have: Quantity, want: Quantity, words: frozenset[str]) -> bool:
    """Whether an amount in a stated quantity's unit is the claim's."""
    wide = interval(want)
    return any(wide.holds(abs(each)) for each, _ in in_unit(amount, have, want, words))


def in_time(first: Fact, second: Fact) -> tuple[Fact, Fact]:
    """Two facts, the earlier one first."""
    if (
        first.date is not None
        and second.date is not None
        and day_key(second.date) < day_key(first.date)
    ):
        return second, first
    return first, second


def of_one_thing(first: Fact, second: Fact) -> bool:
    """Whether two numbers of an attribute are of one thing over time, and not of two rows."""
    if first.date is not None and second.date is not None:
        return first.date != second.date
    return first.record.name == second.record.name


def day_key(day: Day) -> tuple[int, int, int]:
    """Sorts days; what is not said sorts first."""
    return (day.year or 0, day.month or 0, day.day or 0)


def direction_fits(change: float, claim: ClaimView, want: Quantity) -> bool:
    """Whether a change goes where the claim says."""
    if want.signed:
        return sign_fits(change, want)
    if claim.says_up == claim.says_down:
        return True
    return (change > 0) == claim.says_up


def derive(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Derivation | None:
    """The smallest derivation that gives the claim's number; None when the grammar holds none."""
    for search in (pair, difference, age, duration, count, total):
        found = next(search(want, claim, index, attributes), None)
        if found is not None:
            return found
    return None


def difference(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Later minus earlier of one attribute, where the claim speaks of a change."""
    changes = claim.says_up or claim.says_down or claim.says_change or want.signed
    if not changes or want.kind in (QuantityKind.DATE, QuantityKind.PAIR) or want.unit in TIME:
        return
    for attribute in attributes:
        for first, second in combinations(series(attribute), 2):
            earlier, later = in_time(first, second)
            change = number_of(later) - number_of(earlier)
            have = later.quantity
            if (
                have is None
                or not of_one_thing(first, second)
                or unit_of(earlier) != unit_of(later)
                or not change
            ):
                continue
            if direction_fits(change, claim, want) and matches(change, have, want, attribute.core):
                yield shown(
                    "difference", (earlier, later), f"{change:+.6g}{unit_of(later)}", want,
                    f"{number_of(later):g} minus {number_of(earlier):g} = {change:+.6g}{unit_of(later)}",
                )  # fmt: skip


def pair(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """ "150/92" from two fields of one record, or from two changes of the same pair of fields."""
    if want.kind is not QuantityKind.PAIR or want.high is None:
        return
    first, second = interval(want), interval(want, want.high, step=want.high_step)
    pairs = list(_pairs(attributes or index.attributes))
    for one, other in pairs:
        if first.holds(number_of(one)) and second.holds(number_of(other)):
            yield shown(
                "pair", (one, other), want.text, want,
                f"{one.path} {number_of(one):g} over {other.path} {number_of(other):g}",
            )  # fmt: skip


def _pairs(attributes: Sequence[Attribute]) -> Iterator[tuple[Fact, Fact]]:
    """Two numbers of one record in the same unit, either one first."""
    by_record: dict[tuple[str, int], list[Fact]] = {}
    for attribute in attributes:
        for fact in series(attribute):
            if unit_of(fact):
                by_record.setdefault((fact.source_id, fact.record.index), []).append(fact)
    for facts in by_record.values():
        for one, other in combinations(facts[:MOST_IN_SERIES], 2):
            if unit_of(one) == unit_of(other) and one.span != other.span:
                yield one, other
                yield other, one


_MOST_COUNTED = 500
_MOST_SETS = 24
# What any listing counts, whatever its records are called.
_LISTED = stems(
    "paper study article abstract trial result entry item row record option listing product episode "
    "station train file repository location place event time occasion"
)


def count(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """How many records of a source carry the words that stand behind the claim's number."""
    whole = want.amount == int(want.amount) and want.step >= 1 and want.kind is QuantityKind.NUMBER
    if want.unit not in (None, "fold") or not whole or not 0 < want.amount <= _MOST_COUNTED:
        return
    behind = claim.behind(want, 5)
    wide = interval(want)
    for source in (*index.outputs, *index.arguments):
        records = [record for record in source.records if in_period(record, claim)]
        for kind, several in _kinds(records).items():
            named = stems(kind) & behind or (behind & _LISTED and len(several) * 2 > len(records))
            if wide.holds(len(several)) and named:
                yield _counted(several, f"entries of {kind}", want, source)
            if stems(kind) & behind:  # what a kind of record counts, its words do not count again
                behind = behind - stems(kind)
        for words in _word_sets(behind, claim, records):
            held = [record for record in records if words <= record.stems]
            if held and wide.holds(len(held)) and (len(held) > 1 or len(words) > 1):
                yield _counted(held, f"entries with {', '.join(sorted(words))}", want, source)


def _counted(records: list[Record], what: str, want: Quantity, source: SourceFacts) -> Derivation:
    places = [
        FactPlace(source_id=source.source_id, span=each.span, path=each.label[:60])
        for each in records[:12]
    ]
    listed = "; ".join(_brief(record) for record in records[:4]) + (
        "; …" if len(records) > 4 else ""
    )
    return shown("count", places, str(len(records)), want, f"{len(records)} {what}: {listed}")


def _kinds(records: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.kind, []).append(record)
    return {kind: several for kind, several in found.items() if kind}


def _word_sets(
    behind: frozenset[str], claim: ClaimView, records: list[Record]
) -> list[frozenset[str]]:
    """Which words to count by, most first: those behind the number, all of the claim, fewer of them."""
    held = frozenset().union(*(record.stems for record in records)) if records else frozenset()
    said = claim.words & held
    # "on four occasions", "three entries": what is counted stands elsewhere in the claim.
    near = said if behind & _LISTED else behind & held
    sets = [near, near | said]
    sets += [near - {word} for word in sorted(near)]
    sets += [frozenset({word}) for word in sorted(near)]
    return [each for at, each in enumerate(sets) if each and each not in sets[:at]][:_MOST_SETS]


def in_period(record: Record, claim: ClaimView) -> bool:
    """Whether a record's dates lie in the period, or on the days, that the claim gives, if any."""
    years = sorted(day.year for day in claim.days if day.year)
    if not years or not record.dates:
        return True
    stated = [day.year or 0 for _, day in record.dates]
    if re.search(r"\bsince\b", claim.text):
        return max(stated) >= years[0]
    return any(years[0] <= year <= years[-1] for year in stated)


def in_days(record: Record, days: Sequence[Day]) -> bool:
    """Whether one of a record's dates is one that the claim gives."""
    return any(same_day(day, asked) for _, day in record.dates for asked in days)


def _brief(record: Record) -> str:
    day = record.dates[0][1] if record.dates else None
    return re.sub(r"\s+", " ", record.label)[:40] + (f" ({day})" if day else "")


def total(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The sum of one attribute, or of the other amounts that the claim itself gives."""
    if want.kind not in (QuantityKind.NUMBER, QuantityKind.MONEY):
        return
    parts = [
        q for q in claim.quantities if q is not want and q.unit == want.unit and q.date is None
    ]
    if len(parts) >= 2 and abs(sum(q.amount for q in parts) - want.amount) <= want.step / 2:
        yield shown(
            "sum", (), want.text, want, " + ".join(q.text for q in parts) + f" = {want.text}"
        )
    if not re.search(
        r"\b(?:total|sum|altogether|in all|overall|combined)\b", claim.text, re.IGNORECASE
    ):
        return
    for attribute in attributes:
        facts = [f for f in attribute.facts if f.quantity and f.quantity.date is None]
        added = sum(number_of(fact) for fact in facts)
        have = facts[0].quantity if facts else None
        if len(facts) >= 2 and have and matches(added, have, want, attribute.core):
            text = f"sum of {len(facts)} {attribute.path} = {added:g}"
            yield shown("sum", facts[:12], f"{added:g}", want, text)


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


BEGINS = re.compile(r"onset|start|begin|begun|from|author", re.IGNORECASE)
ENDS = re.compile(r"abatement|end|stop|resol|until|\bto\b", re.IGNORECASE)
_MOST_GIVEN = 8  # amounts of one claim that are put together
_COMPUTED = frozenset({QuantityKind.NUMBER, QuantityKind.MONEY})


def follows_within(text: str, place: Span, given: Sequence[Span]) -> bool:
    """Whether the amount at ``place`` is a difference, sum, ratio or change of two at ``given``.

    Places are in ``text``. At the precision that the amount is written in; a sign says the direction, and
    a unit what may give it: no pulse of 40 bpm follows from a pressure of 120/80.
    """
    quantities = read_quantities(text)
    wanted = [one for one in quantities if one.span.overlaps(place) and one.kind in _COMPUTED]
    amounts = [
        (amount, one.unit)
        for one in quantities
        if any(one.span.overlaps(span) for span in given) and not one.span.overlaps(place)
        if one.date is None
        for amount in (one.amount, *(() if one.high is None else (one.high,)))
    ][:_MOST_GIVEN]
    return bool(wanted) and all(
        any(
            interval(want).holds(abs(amount)) and sign_fits(amount, want)
            for first, second in (combinations if want.signed else permutations)(amounts, 2)
            for amount in _of_two(first, second, want.unit)
        )
        for want in wanted
    )


def _of_two(
    one: tuple[float, str | None], other: tuple[float, str | None], unit: str | None
) -> Iterator[float]:
    """What two amounts give in a unit, the first one before the second."""
    (first, of_first), (second, of_second) = one, other
    alike = of_first == of_second or None in (of_first, of_second)
    if unit == "percent":
        if first and alike:
            yield 100 * (second - first) / abs(first)
            yield 100 * second / first
        return
    if alike and unit in (None, of_first, of_second):
        yield second - first
        yield first + second
    if first and ((alike and unit in (None, "fold")) or unit == f"{of_second} / {of_first}"):
        yield second / first
