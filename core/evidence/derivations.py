"""A small typed grammar of derivations: how a claim's number follows from stated ones.

Only facts of one attribute, one record or one source are put together, in a fixed order, smallest
derivation first, and every search is bounded (evidence.md, section 4).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import in_unit, interval, same_day, sign_fits
from core.evidence.fact_index import Attribute, FactIndex, latest_day
from core.evidence.facts import Fact, Record, SourceFacts
from core.evidence.quantities import Bound, Day, Quantity, QuantityKind
from core.evidence.units import TIME, factor
from core.evidence.words import stems
from core.records import Derivation, FactPlace

_MOST_IN_SERIES = 24
_MOST_DAYS = 30
_MOST_COUNT = 500
_AGE = re.compile(
    r"\b(?:age[ds]?|old|born|birth|year-old|(?:is|was|were|turned|now|at|when|just|only)\s(?:now\s|only\s|just\s)?[\w-]{1,12}"
    r"(?=\s(?:when|at|on|in|now|years?|months?)\b|[.,]|$))",
    re.IGNORECASE,
)


def place_of(fact: Fact) -> FactPlace:
    """Where a fact stands."""
    return FactPlace(source_id=fact.source_id, span=fact.span, path=fact.path or None)


def derive(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Derivation | None:
    """The smallest derivation that gives the claim's number; None when the grammar holds none."""
    for search in (_pair, _difference, _relative, _age, _duration, _count, _sum, _body_mass, _within_record):
        found = next(search(want, claim, index, attributes), None)
        if found is not None:
            return found
    return None


def _shown(
    operation: str, inputs: Iterable[Fact | FactPlace], result: str, want: Quantity, text: str
) -> Derivation:
    wide = interval(want)
    half = (wide.high - wide.low) / 2
    return Derivation(
        operation=operation,
        inputs=tuple(place_of(each) if isinstance(each, Fact) else each for each in inputs),
        result=result,
        tolerance=f"{half:g}" if want.kind is not QuantityKind.DATE else None,
        text=text,
    )


# ---------------------------------------------------------------- one attribute over time


def _series(attribute: Attribute) -> list[Fact]:
    return [f for f in attribute.facts if f.quantity and f.quantity.date is None][:_MOST_IN_SERIES]


def _matches(amount: float, have: Quantity, want: Quantity, words: frozenset[str]) -> bool:
    wide = interval(want)
    return any(wide.holds(abs(each)) for each, _ in in_unit(amount, have, want, words))


def _number(fact: Fact) -> float:
    return fact.quantity.amount if fact.quantity is not None else 0.0


def _unit(fact: Fact) -> str:
    named = fact.quantity.unit if fact.quantity is not None else None
    return f" {named}" if named else ""


def _difference(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Later minus earlier of one attribute, where the claim speaks of a change."""
    if not (claim.says_up or claim.says_down or claim.says_change or want.signed) or want.kind is QuantityKind.DATE:
        return
    for attribute in attributes:
        for first, second in combinations(_series(attribute), 2):
            earlier, later = _in_time(first, second)
            change = _number(later) - _number(earlier)
            have = later.quantity
            if have is None or have.unit != (earlier.quantity.unit if earlier.quantity else None):
                continue
            if change and _direction_fits(change, claim, want) and _matches(change, have, want, attribute.core):
                yield _shown(
                    "difference", (earlier, later), f"{change:+.6g}{_unit(later)}", want,
                    f"{_number(later):g} minus {_number(earlier):g} = {change:+.6g}{_unit(later)}",
                )  # fmt: skip


def _in_time(first: Fact, second: Fact) -> tuple[Fact, Fact]:
    if first.date is not None and second.date is not None and _key(second.date) < _key(first.date):
        return second, first
    return first, second


def _key(day: Day) -> tuple[int, int, int]:
    return (day.year or 0, day.month or 0, day.day or 0)


def _direction_fits(change: float, claim: ClaimView, want: Quantity) -> bool:
    if want.signed:
        return sign_fits(change, want)
    if claim.says_up == claim.says_down:
        return True
    return (change > 0) == claim.says_up


def _relative(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Percent change and ratio of one attribute."""
    if want.unit not in ("percent", "fold"):
        return
    for attribute in attributes:
        for first, second in combinations(_series(attribute), 2):
            earlier, later = _in_time(first, second)
            if not _number(earlier) or not _number(later):
                continue
            change = (_number(later) / _number(earlier) - 1) * 100
            ratio = _number(later) / _number(earlier)
            wide = interval(want)
            if want.unit == "percent" and wide.holds(abs(change)) and _direction_fits(change, claim, want):
                yield _shown(
                    "percent_change", (earlier, later), f"{change:+.4g} %", want,
                    f"({_number(later):g} / {_number(earlier):g} − 1) × 100 = {change:+.4g} %",
                )  # fmt: skip
            elif want.unit == "fold" and (wide.holds(ratio) or wide.holds(1 / ratio)):
                yield _shown(
                    "ratio", (earlier, later), f"{ratio:.4g}", want,
                    f"{_number(later):g} / {_number(earlier):g} = {ratio:.4g}",
                )  # fmt: skip


# ---------------------------------------------------------------- one record


def _pair(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """ "150/92" from two fields of one record, or from two changes of the same pair of fields."""
    if want.kind is not QuantityKind.PAIR or want.high is None:
        return
    first, second = interval(want), interval(want, want.high)
    by_record: dict[tuple[str, int], list[Fact]] = {}
    for attribute in attributes[:40]:
        for fact in _series(attribute):
            by_record.setdefault((fact.source_id, fact.record.index), []).append(fact)
    pairs = []
    for facts in by_record.values():
        for one, other in [*combinations(facts, 2), *combinations(facts[::-1], 2)]:
            if one.path == other.path or _unit(one) != _unit(other) or not _unit(one):
                continue
            pairs.append((one, other))
            if first.holds(_number(one)) and second.holds(_number(other)):
                yield _shown(
                    "pair", (one, other), want.text, want,
                    f"{one.path} {_number(one):g} over {other.path} {_number(other):g}",
                )  # fmt: skip
    for (a, b), (c, d) in combinations(pairs[:_MOST_IN_SERIES], 2):
        changes = _number(c) - _number(a), _number(d) - _number(b)
        if (a.path, b.path) == (c.path, d.path) and _cut_fits(changes, want):
            yield _shown(
                "difference", (a, b, c, d), want.text, want,
                f"{_number(c):g} minus {_number(a):g} = {changes[0]:+.4g}, "
                f"{_number(d):g} minus {_number(b):g} = {changes[1]:+.4g}",
            )  # fmt: skip
    if want.high <= 99 and 1 <= want.amount <= 12 and want.step >= 1:
        yield from _month_and_year(want, index)


def _cut_fits(changes: tuple[float, float], want: Quantity) -> bool:
    one, other = interval(want, cut=True), interval(want, want.high, cut=True)
    return one.holds(abs(changes[0])) and other.holds(abs(changes[1]))


def _month_and_year(want: Quantity, index: FactIndex) -> Iterator[Derivation]:
    """ "11/17" is November 2017 where the source has a date in it."""
    for fact in index.dated:
        day = fact.quantity.date if fact.quantity else None
        if day is not None and day.month == want.amount and (day.year or 0) % 100 == want.high:
            yield _shown("date", (fact,), str(day), want, f"{want.text} is the month of {day}")
            return


def _within_record(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Two fields of one record that the claim names: difference, ratio, percent above."""
    if want.unit in TIME or want.kind in (QuantityKind.DATE, QuantityKind.PAIR) or want.digits < 2:
        return
    by_record: dict[tuple[str, int], list[Fact]] = {}
    for fact in _said_facts(claim, index):
        by_record.setdefault((fact.source_id, fact.record.index), []).append(fact)
    wide = interval(want)
    for facts in by_record.values():
        for one, other in combinations(facts[:_MOST_IN_SERIES], 2):
            a, b = _number(one), _number(other)
            if not a or not b or one.path == other.path:
                continue
            for amount, operation, text in (
                ((a / b - 1) * 100, "percent_change", f"({a:g} / {b:g} − 1) × 100"),
                ((b / a - 1) * 100, "percent_change", f"({b:g} / {a:g} − 1) × 100"),
                (a / b * 100, "share", f"{a:g} / {b:g} × 100"),
                (b / a * 100, "share", f"{b:g} / {a:g} × 100"),
                (a / b, "ratio", f"{a:g} / {b:g}"),
                (b / a, "ratio", f"{b:g} / {a:g}"),
            ):
                percent = operation != "ratio"
                if percent == (want.unit == "percent") and wide.holds(abs(amount)) and sign_fits(amount, want):
                    yield _shown(operation, (one, other), f"{amount:.4g}", want, f"{text} = {amount:.4g}")


def _said_facts(claim: ClaimView, index: FactIndex) -> Iterator[Fact]:
    for attribute in index.attributes:
        if attribute.core & claim.words:
            yield from _series(attribute)


def _body_mass(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """Weight over height squared (kg/m²) of one person."""
    if "bmi" not in claim.shorts and "mass" not in claim.words:
        return
    heights = [f for a in index.attributes for f in a.facts if "height" in a.core]
    weights = [f for a in index.attributes for f in a.facts if "weight" in a.core]
    wide = interval(want)
    for weight in weights[:200]:
        for height in heights[:200]:
            same = weight.record.index == height.record.index or weight.date == height.date is not None
            if not same or weight.source_id != height.source_id:
                continue
            kilograms = _in(weight, "kilogram")
            metres = _in(height, "meter")
            if kilograms and metres and wide.holds(kilograms / metres**2):
                if not (weight.record.stems & claim.words) and weight.record.index == height.record.index:
                    continue
                yield _shown(
                    "bmi", (weight, height), f"{kilograms / metres**2:.2f}", want,
                    f"{kilograms:g} kg / ({metres:g} m)² = {kilograms / metres**2:.2f}",
                )  # fmt: skip


def _in(fact: Fact, unit: str) -> float | None:
    by = factor(fact.quantity.unit, unit) if fact.quantity and fact.quantity.unit else None
    return None if by is None else _number(fact) * by


# ---------------------------------------------------------------- dates


def _date(day: Day | None) -> datetime.date | None:
    if day is None or day.year is None or day.month is None:
        return None
    try:
        return datetime.date(day.year, day.month, day.day or 15)
    except ValueError:
        return None


def years_between(first: datetime.date, last: datetime.date) -> int:
    """Full years, as ages are counted."""
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def _age(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The age at a date that the claim or a record it names gives, else at the record's last date."""
    if want.unit not in (None, "year", "month", "week", "day") or want.noun and not want.noun.startswith(("when", "at", "on", "in", "now", "year")):
        return
    if want.unit is None and (not 0 < want.amount < 120 or _AGE.search(claim.text) is None):
        return
    for source in index.outputs:
        births = [f for f in source.facts if f.quantity and f.quantity.date and _is_birth(f)]
        for birth in births[:3]:
            born = _date(birth.quantity.date if birth.quantity else None)
            if born is None:
                continue
            for day in _dates_meant(claim, source):
                then = _date(day)
                if then is None or then < born:
                    continue
                if _span_fits(born, then, want, whole=True):
                    years = years_between(born, then)
                    said = f"{years} years" if want.unit in (None, "year") else f"{(then - born).days} days"
                    yield _shown("age", (birth,), said, want, f"{then} minus {born} = {said}")


def _is_birth(fact: Fact) -> bool:
    before = fact.value[: fact.quantity.span.start] if fact.quantity else ""
    return re.search(r"birth|\bborn|\bdob\b", f"{fact.path} {before}", re.IGNORECASE) is not None


def _dates_meant(claim: ClaimView, source: SourceFacts) -> Iterator[Day]:
    """The dates that the claim gives, those of the records it names, then the source's last date."""
    yield from (day for day in claim.days if day.year and day.month)
    named = _named_records(claim, source)
    yield from [day for record in named for _, day in record.dates][:_MOST_DAYS]
    last = latest_day(source)
    if last is not None:
        yield last


def _named_records(claim: ClaimView, source: SourceFacts) -> list[Record]:
    """The dated records whose label shares most words with the claim."""
    scored = [(len(stems(record.label) & claim.words), record) for record in source.records if record.dates]
    scored = [pair for pair in scored if pair[0]]
    scored.sort(key=lambda pair: (-pair[0], pair[1].index))
    return [record for _, record in scored[:12]]


def _span_fits(first: datetime.date, last: datetime.date, want: Quantity, whole: bool = False) -> bool:
    """Whether the time between two dates is the claim's, rounded or in completed units."""
    days = (last - first).days
    sizes = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25, None: 365.25, "hour": 1 / 24}
    size = sizes.get(want.unit)
    if size is None:
        return False
    count = days / size
    if interval(want).holds(count):
        return True
    done = years_between(first, last) if want.unit in (None, "year") else int(count + 1e-6)
    if want.unit == "month":
        done = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
    return (whole or want.unit in ("year", "month")) and want.bound is Bound.EXACT and want.amount == done


def _duration(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The time between two dates of one record, of two named records, or a record and the claim."""
    if want.unit not in ("day", "week", "month", "year"):
        return
    for source in index.outputs:
        named = _named_records(claim, source)
        for record in named:
            yield from _spans(record.dates, record.dates, (record,), want, source)
        for first, second in combinations(named, 2):
            yield from _spans(first.dates, second.dates, (first, second), want, source)
    said = [("", day) for day in claim.days if day.year]
    for source in index.outputs:
        dated = _named_records(claim, source)
        for record in dated:
            yield from _spans(said, record.dates, (record,), want, source)
    for attribute in attributes[:12]:
        days = [(f.path, f.date) for f in attribute.facts if f.date is not None][:_MOST_IN_SERIES]
        for (path, one), (_, other) in combinations([(p, d) for p, d in days if d], 2):
            first, last = sorted(filter(None, (_date(one), _date(other))))[:2] if _date(one) and _date(other) else (None, None)
            if first and last and first != last and _span_fits(first, last, want):
                inputs = [f for f in attribute.facts if f.date in (one, other)][:2]
                yield _shown("duration", inputs, want.text, want, f"{last} minus {first} = {(last - first).days} days")


def _spans(
    ones: Sequence[tuple[str, Day]],
    others: Sequence[tuple[str, Day]],
    records: tuple[Record, ...],
    want: Quantity,
    source: SourceFacts,
) -> Iterator[Derivation]:
    for _, one in ones[:6]:
        for _, other in others[:6]:
            begin, end = _date(one), _date(other)
            if begin is None or end is None or begin == end:
                if one.year and other.year and not (one.month and other.month) and want.unit == "year" and abs(one.year - other.year) == want.amount:
                    yield _shown("duration", _record_places(records, source), want.text, want, f"{other} minus {one} = {abs(one.year - other.year)} years")
                continue
            first, last = min(begin, end), max(begin, end)
            if _span_fits(first, last, want):
                days = (last - first).days
                yield _shown(
                    "duration", _record_places(records, source), want.text, want,
                    f"{last} minus {first} = {days} days",
                )  # fmt: skip


def _record_places(records: Iterable[Record], source: SourceFacts) -> list[FactPlace]:
    return [FactPlace(source_id=source.source_id, span=each.span, path=each.label[:60]) for each in records]


# ---------------------------------------------------------------- many records


def _count(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """How many records of a source carry the words that stand behind the claim's number."""
    whole = want.amount == int(want.amount) and want.step >= 1
    if want.unit not in (None, "fold") or not whole or not 0 < want.amount <= _MOST_COUNT or want.kind is QuantityKind.DATE:
        return
    behind = claim.behind(want, 5)
    for source in (*index.outputs, *index.arguments):
        records = [record for record in source.records if _in_period(record, claim)]
        for words in _word_sets(behind, claim, records):
            counted = [record for record in records if words <= record.stems]
            wide = interval(want)
            if counted and wide.holds(len(counted)):
                places = _record_places(counted[:12], source)
                yield _shown(
                    "count", places, str(len(counted)), want,
                    f"{len(counted)} entries with {', '.join(sorted(words))}: "
                    + "; ".join(_brief(record) for record in counted[:4]) + ("; …" if len(counted) > 4 else ""),
                )  # fmt: skip
        kinds: dict[str, list[Record]] = {}
        for record in records:
            kinds.setdefault(re.split(r"[:=]", record.label)[0][:40], []).append(record)
        for kind, several in kinds.items():
            if len(several) > 2 and len(several) == want.amount and (stems(kind) & claim.words or len(kinds) <= 2):
                yield _shown("count", _record_places(several[:12], source), str(len(several)), want, f"{len(several)} entries of {kind}")


def _word_sets(behind: frozenset[str], claim: ClaimView, records: list[Record]) -> list[frozenset[str]]:
    """Which words to count by, most first: those behind the number, all of the claim, fewer of them."""
    held = frozenset().union(*(record.stems for record in records)) if records else frozenset()
    near, said = behind & held, claim.words & held
    sets = [near, near | (said & claim.words)]
    sets += [near - {word} for word in sorted(near)]
    sets += [frozenset({word}) for word in sorted(near)]
    sets += [frozenset({word}) for word in sorted(said - near)]
    return [each for at, each in enumerate(sets) if each and each not in sets[:at]][:24]


def _in_period(record: Record, claim: ClaimView) -> bool:
    """Whether a record's dates lie in the period or on the days that the claim gives, if any."""
    years = sorted(day.year for day in claim.days if day.year)
    if not years or not record.dates:
        return True
    stated = [day.year or 0 for _, day in record.dates]
    if re.search(r"\bsince\b", claim.text):
        return max(stated) >= years[0]
    return any(years[0] <= year <= years[-1] for year in stated)


def _brief(record: Record) -> str:
    day = record.dates[0][1] if record.dates else None
    return re.sub(r"\s+", " ", record.label)[:40] + (f" ({day})" if day else "")


def _sum(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The sum of one attribute, or of the other amounts that the claim itself gives."""
    if want.kind is QuantityKind.DATE or want.digits < 2:
        return
    parts = [q for q in claim.quantities if q is not want and q.unit == want.unit and q.date is None]
    if len(parts) >= 2 and abs(sum(q.amount for q in parts) - want.amount) <= want.step / 2:
        yield _shown("sum", (), want.text, want, " + ".join(q.text for q in parts) + f" = {want.text}")
    if not re.search(r"\b(?:total|sum|altogether|in all|overall|combined|together)\b", claim.text, re.IGNORECASE):
        return
    for attribute in attributes:
        facts = [f for f in attribute.facts if f.quantity and f.quantity.date is None]
        total = sum(_number(fact) for fact in facts)
        have = facts[0].quantity if facts else None
        if len(facts) >= 2 and have and _matches(total, have, want, attribute.core):
            yield _shown("sum", facts[:12], f"{total:g}", want, f"sum of {len(facts)} {attribute.path} = {total:g}")


def in_days(record: Record, days: Sequence[Day]) -> bool:
    """Whether one of a record's dates is one that the claim gives."""
    return any(same_day(day, asked) for _, day in record.dates for asked in days)
