"""Part 3 of a proof: each value of a claim is quoted, or computed by us from what is quoted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from core.evidence.comparing import (
    LOWER,
    UPPER,
    dates_agree,
    fits,
    halves,
    holds,
    same_day,
    sign_fits,
)
from core.evidence.facts import Fact
from core.evidence.names import WEEKDAYS
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import TIME
from core.evidence.values import on_weekday, value_present
from core.evidence.words import stems
from core.judge.arithmetic import CONSTANTS, BadExpression, Evaluated, evaluate, is_free, shown
from core.judge.quotes import place_in
from core.judge.testimony import Material, Quoted, asks, is_about_run, records_at
from core.records import Claim, Span
from core.records.judge import Calculation, QuotedPart
from core.text.tokens import denies

MOST_CALCULATIONS = 12
_MOST_COUNTED = 60
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_ALONE = re.compile(r"(?<![A-Za-z\d.])\d+(?:\.\d+)?")  # not the one of PM2.5
_GROUPED = re.compile(r"(?<=\d)[,\u202f\u00a0 ](?=\d{3}(?!\d))")
_THOUSANDS = re.compile(r"000(?![\d.])")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\d/])")
_DOTTED = re.compile(r"(?<![\d.])(?:(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})|(\d\d)\.(\d\d)\.)(?!\d)")
_STAMP = re.compile(r"(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(?:\d\d)?)?(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DAYS = re.compile(r"\s*(?:to|until|and|or|[-–—,])\s*")
_NUMBERED = re.compile(r"(?<![A-Za-z\d])([A-Z]{2,5}) ?(\d{2,}(?:-\d+)*)(?![\w.,]*\d)")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_MOST_ROUNDED = 0.01  # of an amount in whole thousands


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the quotes that testify hold between them; ``years`` are those that their sources name."""

    text: str
    quoted: tuple[Quoted, ...]
    quantities: tuple[Quantity, ...]
    numerals: Counter[float]
    computed: tuple[Evaluated, ...]
    years: frozenset[int] = frozenset()


def shown_by(quoted: tuple[Quoted, ...], material: Material) -> Shown:
    quotes = [one.quote.quote for one in quoted]
    cells = [part for quote in quotes for part in re.split(r",(?=\S)|[|\n]", quote)]
    text = "\n".join(quotes)
    stated = [fact.quantity for fact in facts_in(quoted, material) if fact.quantity is not None]
    # A field says the unit of its number ("kg": 16.2), which the number alone does not.
    of_unit = {item.amount for item in stated if item.unit is not None}
    # A field's name holds quantities too: "logins_30d".
    names = [quote.replace("_", " ") for quote in quotes if "_" in quote]
    read = [item for text in (*quotes, *cells, *names) for item in read_quantities(text)]
    quantities = stated + [item for item in read if item.unit or item.amount not in of_unit]
    quantities = _with_written_days(quantities, text, material)
    pairs = [item for item in quantities if item.kind is QuantityKind.PAIR]
    quantities += [half for pair in pairs for half in halves(pair)]
    return Shown(
        text=text,
        quoted=quoted,
        quantities=tuple(quantities),
        numerals=_numerals(text),
        computed=(),
        years=_years_named(quoted, material),
    )


def _with_written_days(quantities: list[Quantity], text: str, material: Material) -> list[Quantity]:
    """The quantities with the days that a quote writes in figures: 31/01/26, 31.01., 20260131104500.

    The sources' own dates tell whether the day or the month is first; where none does it may be either,
    if it has a year: "12/8" may be a blood pressure, "3/4" a share.
    """
    day_first = {
        int(match[1]) > 12
        for source in material.sources.values()
        for match in _SLASHED.finditer(source.text)
        if (int(match[1]) > 12) is not (int(match[2]) > 12)
    }
    if day_first == {True}:
        quantities = [item for item in quantities if not _SLASHED.fullmatch(item.text)]
    slashed = [
        match for match in _SLASHED.finditer(text)
        if True in day_first or (match[3] and not day_first)
    ]  # fmt: skip
    days = [(match, match[3], match[2], match[1]) for match in slashed]
    for match in _DOTTED.finditer(text):
        days.append((match, match[3], match[2] or match[5], match[1] or match[4]))
    stamps = [(match, match[1], match[2], match[3]) for match in _STAMP.finditer(text)]
    for match, year, month, day in days + stamps:
        whole = int(year) if year else None
        date = Day(
            year=whole + 2000 if whole is not None and whole < 100 else whole,
            month=int(month),
            day=int(day),
        )
        if replace(date, year=date.year or 2000).weekday is not None:  # 29.02. is of some year
            quantities.append(_written(match, kind=QuantityKind.DATE, date=date))
    for match, *_ in stamps:
        if match[4] and int(match[4]) < 24 and int(match[5]) < 60:
            minutes = int(match[4]) * 60 + int(match[5])
            quantities.append(_written(match, kind=QuantityKind.CLOCK, amount=float(minutes)))
    return quantities


def _written(match: re.Match[str], **what: Any) -> Quantity:
    return Quantity(text=match.group(), span=Span(start=match.start(), end=match.end()), **what)


def _years_named(quoted: Sequence[Quoted], material: Material) -> frozenset[int]:
    texts = [material.trace.question]
    for name in dict.fromkeys(one.place.source_id for one in quoted):
        if source := material.sources.get(name):
            texts += [source.text, source.arguments or ""]
    return frozenset(int(year) for text in texts for year in _YEAR.findall(text))


def facts_in(quoted: Sequence[Quoted], material: Material) -> Iterator[Fact]:
    """The facts that a quote holds: all of their value, as it is written."""
    for one in quoted:
        for record in records_at(one.place, material):
            for fact in material.index.beside.get((one.place.source_id, record.index), ()):
                if (
                    fact.span is not None
                    and _inside(fact.span, one.place.span)
                    and place_in(fact.value, one.quote.quote) is not None
                ):
                    yield fact


def _inside(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _numerals(text: str) -> Counter[float]:
    """Every number that is written in a text, read with and without marks between its thousands."""
    found = Counter(float(n) for n in _NUMERAL.findall(text) if len(n) <= 18)
    for joined in _NUMERAL.findall(_GROUPED.sub("", text)):
        if len(joined) <= 18 and not found[float(joined)]:
            found[float(joined)] = 1
    return found


def with_calculations(
    expressions: Sequence[str], shows: Shown, claim: Claim
) -> tuple[Shown, tuple[Calculation, ...], list[str]]:
    """The calculations whose operands are all quoted; those that are not fail."""
    kept: list[Evaluated] = []
    told: list[Calculation] = []
    failed: list[str] = []
    about = stems(claim.text)
    if len(expressions) > MOST_CALCULATIONS:
        failed.append(f"it calculates more than {MOST_CALCULATIONS} times")
    for expression in expressions[:MOST_CALCULATIONS]:
        try:
            result = evaluate(expression, about)
        except BadExpression as error:
            failed.append(f"“{expression:.60}” is not evaluated: {error}")
            continue
        if (missing := _unquoted(result, shows, claim)) is not None:
            failed.append(f"{missing} of “{expression:.60}” stands in no quote")
        elif result.holds is False:
            failed.append(f"“{expression:.60}” does not hold")
        elif not result.counted and is_free(expression):
            failed.append(f"“{expression:.60}” comes to the same whatever is quoted")
        elif not (result.texts or any(_is_quoted(number, shows) for number in _literals(result))):
            failed.append(f"“{expression:.60}” computes with nothing that is quoted")
        else:
            kept.append(result)
            told.append(_calculation(expression, result))
    return replace(shows, computed=tuple(kept)), tuple(told), failed


def _calculation(expression: str, result: Evaluated) -> Calculation:
    signs = expression.replace("*", "×").replace("/", "÷").replace(" - ", " − ")
    if result.holds is None:
        return Calculation(expression=signs, result=shown(result.value))
    return Calculation(expression=signs, result="true" if result.holds else "false")


def _unquoted(result: Evaluated, shows: Shown, claim: Claim) -> str | None:
    """The first operand that no quote holds; what is compared with may be the claim's own, or 0."""
    own = {0.0, *CONSTANTS}
    own |= {
        part for q in read_quantities(claim.text) for part in (q.amount, q.high) if part is not None
    }
    operands = [*result.numbers, *(one for one in (*result.above, *result.below) if one not in own)]
    for number in operands:
        if not _is_quoted(number, shows):
            return f"{number:g}"
    for text in result.texts:
        if not _text_quoted(text, shows):
            return f"“{text:.40}”"
    for literal, times in Counter(result.counted).items():
        there = shows.numerals[literal] if isinstance(literal, float) else 1
        if times > there:
            return f"{literal} as often as it is counted"
    return None


def _literals(result: Evaluated) -> tuple[float, ...]:
    return (*result.numbers, *result.constants, *result.above, *result.below)


def _is_quoted(number: float, shows: Shown) -> bool:
    return bool(shows.numerals[number]) or any(
        number in (item.amount, item.high)
        for item in shows.quantities
        if item.kind not in (QuantityKind.DATE, QuantityKind.CLOCK)
    )


def _text_quoted(text: str, shows: Shown) -> bool:
    if place_in(text, shows.text) is not None:
        return True
    wanted = read_quantities(text)
    return bool(wanted) and all(
        any(_same_moment(have, want, shows) for have in shows.quantities) for want in wanted
    )


def _same_moment(have: Quantity, want: Quantity, shows: Shown) -> bool:
    if want.kind is QuantityKind.DATE:
        return have.date is not None and want.date in (have.date, *_in_years(have.date, shows))
    return have.kind is want.kind and have.amount == want.amount


def _in_years(date: Day, shows: Shown) -> Iterator[Day]:
    """A day that is written without its year, in each year that its sources name."""
    if date.year is None and date.day is not None:
        yield from (replace(date, year=year) for year in shows.years)


def value_failures(claim: Claim, shows: Shown, material: Material) -> list[str]:
    """Values of the claim that are neither quoted nor computed."""
    failed: list[str] = []
    wanted = _with_first_days(claim.text)
    about = stems(claim.text)
    asked = [one for one in shows.quoted if one.place.part is QuotedPart.ARGUMENTS]
    named = list(_numbered_names(claim.text, shows, material))
    wanted = [item for item in wanted if not any(name.overlaps(item.span) for name in named)]
    for value in claim.protected_values:
        if value.kind == "name" or any(name.overlaps(value.span) for name in named):
            continue
        # What is only asked for is evidence of what was asked for.
        holding = [one for one in asked if value_present(value, one.quote.quote)]
        if holding and not any(_may_state(one, claim, material) for one in holding):
            stated = [one for one in shows.quoted if one not in holding]
            if not any(value_present(value, one.quote.quote) for one in stated):
                failed.append(f"“{value.text}” stands only in what the agent wrote")
                continue
        inside = [item for item in wanted if item.span.overlaps(value.span)]
        if inside:
            failed += [
                f"“{item.text}” is in no quote and follows from no calculation"
                for item in inside
                if not _is_shown(item, shows, about, denied=denies(claim.text))
            ]
        elif not (
            value_present(value, shows.text)
            or _is_written(value.text, shows)
            or _is_day_of_week(value.text, shows)
        ):
            failed.append(f"“{value.text}” is in no quote")
    read = {part for item in wanted for part in _parts(item)}
    months = {item.span.start for item in wanted if item.date is not None and not item.date.day}
    text = _GROUPED.sub("", claim.text)
    for match in _ALONE.finditer(text):
        # "/1.73 m²" is read as a unit, and "47 February" as February: their numbers are values too.
        number, no_day = float(match.group()), match.end() + 1 in months and text == claim.text
        if text == claim.text and any(name.start <= match.start() < name.end for name in named):
            continue
        if number not in read and (no_day or not shows.numerals[number]):
            failed.append(f"“{match.group()}” is in no quote")
    return list(dict.fromkeys(failed))


def _is_day_of_week(text: str, shows: Shown) -> bool:
    """Whether a quote has a weekday: named, or as that of a whole date."""
    name = text.casefold().strip(" .,")
    return name in WEEKDAYS and on_weekday(WEEKDAYS.index(name), shows.text, shows.quantities)


def _numbered_names(text: str, shows: Shown, material: Material) -> Iterator[Span]:
    """Names with a number ("NV 423", "TCNU 771204-3") that a quoted record, its call or the question says.

    Such a number says what the claim is about; it is no value of it. What has another number behind it
    in a quote ("HR: 80") is no name but what was measured. Apart they stand as the whole of two fields.
    """
    texts = [material.trace.question]
    for one in shows.quoted:
        source = material.sources.get(one.place.source_id)
        texts += [source.arguments or ""] if source else []
        texts += [record.text for record in records_at(one.place, material)]
    for match in _NUMBERED.finditer(text):
        code, number = map(re.escape, match.groups())
        before, behind = r"(?<![A-Za-z\d])", r"(?![A-Za-z\d])"
        if re.search(rf"{before}{code}[^\w\n]{{0,4}}(?!{number}{behind})\d", shows.text):
            continue
        joined = re.compile(rf"{before}{code}[\s_-]?{number}{behind}")
        field = re.compile(rf"{before}{code}[\"']?\s*[,;|}}\n<]")
        another = re.compile(rf"[:=|,>]\s*[\"']?{number}{behind}")
        for there in texts:
            # The first field with the code will do: one search behind it, not one behind each.
            apart = (first := field.search(there)) and another.search(there, first.end())
            if apart or joined.search(there):
                yield Span(start=match.start(), end=match.end())
                break


def _is_written(text: str, shows: Shown) -> bool:
    """Whether an id stands there with other joints or as a part of one, or a calculation says it."""
    if any(one.value == text for one in shows.computed):
        return True
    joined = re.escape(text.replace("_", "-"))
    name = re.compile(rf"(?<![A-Za-z\d]){joined}(?![A-Za-z\d])")
    return any(map(str.isdigit, text)) and bool(name.search(shows.text.replace("_", "-")))


def _parts(item: Quantity) -> Iterator[float]:
    """The numbers that were read as parts of a quantity; those of names and ids are none."""
    if item.date is None:
        numerals = _NUMERAL.findall(_GROUPED.sub("", item.text))
        several = (
            item.high is not None or item.kind is QuantityKind.CLOCK or item.unit in TIME
        )  # "1 h 38 min" is one
        yield from (float(numeral) for numeral in numerals[: None if several else 1])
    for day in (item.date, item.until):
        if day is not None:
            yield from (float(part) for part in (day.year, day.month, day.day) if part)


def _may_state(one: Quoted, claim: Claim, material: Material) -> bool:
    if is_about_run(claim.text):
        return True
    return asks(material.sources[one.place.source_id], one.quote.quote)


def _is_shown(want: Quantity, shows: Shown, about: frozenset[str], *, denied: bool = False) -> bool:
    """Whether a value of the claim is quoted, or computed, at the precision of the claim."""
    if want.kind is QuantityKind.ORDINAL:
        days = {item.date.day for item in shows.quantities if item.date is not None}
        return (
            not want.text[:1].isdigit() or bool(shows.numerals[want.amount]) or want.amount in days
        )
    if want.date is not None and any(
        same_day(day, want.date)
        for have in shows.quantities
        if have.date is not None and want.until is None
        for day in _in_years(have.date, shows)
    ):
        return True
    bound = want.bound
    exact = replace(want, bound=Bound.EXACT) if bound in LOWER + UPPER else want
    if _THOUSANDS.search(want.text):
        # "136,000" may stand for 136,226; "1000 mg" is no rounded 1,400.
        exact = replace(exact, step=min(want.step, abs(want.amount) * _MOST_ROUNDED))
    if any(holds(have, exact, about) for have in shows.quantities):
        return True
    bare = exact.kind is QuantityKind.NUMBER and exact.unit is None and not exact.noun
    if bare and not exact.in_words and exact.high is None and shows.numerals[exact.amount]:
        return True  # "19M", "v3.1": a number that counts nothing is written there as it is
    if any(follows(one, exact, about) for one in shows.computed):
        return True
    if exact.kind is QuantityKind.PAIR:
        return all(_is_shown(half, shows, about, denied=denied) for half in halves(want))
    if bound in LOWER + UPPER:
        return any(_keeps(one, want, denied=denied) for one in shows.computed)
    return _is_count(exact, shows)


def _keeps(one: Evaluated, want: Quantity, *, denied: bool) -> bool:
    """Whether a comparison, or the least or most of what is quoted, keeps a bound of the claim."""
    lower = want.bound in LOWER
    if one.holds:
        told = (*one.above, *one.below) if denied else one.above if lower else one.below
        return want.amount in told
    if one.extreme is None or not isinstance(one.value, float) or denied:
        return False
    if lower:
        return one.extreme == "min" and one.value >= want.amount
    return one.extreme == "max" and one.value <= want.amount


def _with_first_days(text: str) -> list[Quantity]:
    """The quantities of a claim; the 9 of "9 to 12 February" is a day of that month."""
    found = list(read_quantities(text))
    for place, (one, then) in enumerate(pairwise(found)):
        day = int(one.amount)
        if (
            one.kind is QuantityKind.NUMBER and one.unit is None and one.amount == day <= 31
            and then.date is not None and then.date.day
            and _DAYS.fullmatch(text[one.span.end : then.span.start])
        ):  # fmt: skip
            date = replace(then.date, day=day)
            found[place] = replace(one, kind=QuantityKind.DATE, date=date)
    return found


def follows(one: Evaluated, want: Quantity, about: frozenset[str]) -> bool:
    """Whether a calculation's result is the claim's value; a comparison computes nothing."""
    if one.holds is not None:
        return False
    if isinstance(one.value, datetime):
        if want.kind is QuantityKind.CLOCK:
            return one.value.hour * 60 + one.value.minute == want.amount
        day = Day(year=one.value.year, month=one.value.month, day=one.value.day)
        have = replace(want, date=day, until=None)
        return want.kind is QuantityKind.DATE and dates_agree(have, want)
    if isinstance(one.value, str) or want.kind is QuantityKind.DATE:
        return False
    if want.kind is QuantityKind.CLOCK:
        return abs(one.value * 60 - want.amount) < 0.5
    scale = next((by for word, by in _SCALES.items() if word in want.text.casefold()), 1.0)
    step = 1.0 if float(one.value).is_integer() else 1e-9
    if scale > 1 and abs(one.value * scale - want.amount) <= want.step / 2:
        return True  # "2.918 million", computed in millions
    have = replace(
        want, amount=one.value, high=None, unit=None, step=step, kind=QuantityKind.NUMBER,
        bound=Bound.EXACT, signed=True, date=None,
    )  # fmt: skip
    if want.kind is QuantityKind.PAIR or want.high is not None:
        return False
    return sign_fits(one.value, want) and fits(have, want, about) is not None


def _is_count(want: Quantity, shows: Shown) -> bool:
    """Whether a count in words is how many lines or quotes were quoted: what we count ourselves."""
    if want.kind is not QuantityKind.NUMBER or want.unit is not None or not want.in_words:
        return False
    sources = {one.place.source_id for one in shows.quoted}
    lines = {line for one in shows.quoted for line in one.quote.quote.splitlines() if line.strip()}
    places = {one.place for one in shows.quoted}
    counts = {len(places), len(lines), len(lines) - 1, len(sources)}
    return 1 < want.amount <= _MOST_COUNTED and want.amount in counts
