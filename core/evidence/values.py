"""Protected values: the literals of a claim, and whether a premise holds them (III.2, III.4)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from core.evidence.names import contains, folded_words, name_runs, near_each_other
from core.evidence.quantity_patterns import NUMBER_WORDS
from core.evidence.quantity_records import Day
from core.evidence.value_grammar import (
    NUMBER,
    SCALES,
    UNITS,
    Written,
    decimal_of,
    plain_number,
    scan,
)
from core.records import ProtectedValue, Span
from core.text.tokens import content_terms

_TIME_BELOW = frozenset({"day", "d", "daily", "hour", "h", "hr", "week", "wk", "dose", "month"})
_READ_WHOLE = 4_000  # characters; in a longer text only the surroundings of likely places are read
_MOST_PLACES = 400
_AROUND = 80
# Where a weekday may be meant in a long text: any date that is written whole begins or ends in a year.
_WHOLE_DATE = r"(?<!\d)(?:1[5-9]|2[01])\d\d(?!\d)"


def protected_values(text: str) -> tuple[ProtectedValue, ...]:
    """The literals of ``text`` that may not be lost, in order and without overlap; spans in ``text``.

    A run of capitalised words counts as a name unless it opens a sentence (Appendix B and C).
    """
    found = [item.value for item in scan(text) if not item.only_in_premises]
    taken = [value.span for value in found]
    found += [
        name for name in name_runs(text) if not any(name.span.overlaps(span) for span in taken)
    ]
    return tuple(sorted(found, key=lambda value: value.span.start))


def value_present(value: ProtectedValue, premise_text: str) -> bool:
    """Whether the premise holds the value after normalisation, on token boundaries (III.4).

    Units must be compatible where both sides name one; a range is held when both of its ends are.
    """
    if value.kind in ("name", "quoted"):
        return _words_present(value, premise_text)
    wanted = scan(value.text)
    if not wanted:  # a value kept with a claim from elsewhere: compared as written
        return _literally(value.text, premise_text)
    want = wanted[0]
    if want.value.kind == "identifier":
        return _literally(want.value.normalised, premise_text)
    if _holds(want, _held(want, premise_text)):
        return True
    return len(premise_text) <= _READ_WHOLE and years_apart(want, scan(premise_text))


def value_spans(value: ProtectedValue, text: str) -> tuple[Span, ...]:
    """Where the text holds the value, in whatever way it is written: 5463 is in "5,463"."""
    return tuple(each.span for each in protected_values(text) if value_present(value, each.text))


def settles(value: ProtectedValue, premise_text: str) -> bool:
    """Whether the premise's lack of a value by itself says that the claim is not supported (III.4).

    Not for a name of no patient or record, a small count in words, or a bound that nothing close by
    fails: a source may say them in other words, so their absence only lowers the support.
    """
    if value.identity or value.kind == "quoted":
        return True
    if value.kind == "name":
        return False
    wanted = scan(value.text)
    return not wanted or is_decisive(wanted[0], scan(premise_text[:_READ_WHOLE]))


def nearest_value(value: ProtectedValue, premise_text: str, said: str = "") -> str | None:
    """The premise's value that a reviewer would set beside ``value``, as written; None without one.

    An amount is set beside amounts in its unit alone: first those whose clause shares most words with
    ``said``, what the claim says (the dose of the same drug), then the one that differs least. Only the
    first 20,000 characters of a premise are searched: it is a help for a person.
    """
    premise_text = premise_text[:20_000]
    if value.kind == "name":
        names = [name.text for name in name_runs(premise_text, opening_too=True)]
        return _most_alike(value.text, [name for name in names if _share_word(name, value.text)])
    wanted = scan(value.text)
    if not wanted:
        return None
    want = wanted[0]
    there = scan(premise_text)
    if want.amounts and value.kind not in ("date", "time"):
        terms = content_terms(said) - content_terms(value.text)
        ranked = sorted(
            (item for item in there if item.amounts and item.unit == want.unit),
            key=lambda item: (
                -len(terms & content_terms(_clause_of(item, premise_text))),
                abs(item.amounts[0] - want.amounts[0]),
            ),
        )
        return ranked[0].value.text if ranked else None
    alike = [item.value.text for item in there if item.value.kind == value.kind]
    return _most_alike(value.text, alike)


_CLAUSE_ENDS = re.compile(r"[;\n]|[.,](?=\s)")


def _clause_of(item: Written, text: str) -> str:
    """The clause, line or item of a list that a value stands in."""
    span = item.value.span
    before = [
        match.end() for match in _CLAUSE_ENDS.finditer(text, max(0, span.start - 200), span.start)
    ]
    after = _CLAUSE_ENDS.search(text, span.end)
    return text[
        before[-1] if before else max(0, span.start - 200) : after.start() if after else None
    ]


def names_in(text: str) -> tuple[ProtectedValue, ...]:
    """Every run of capitalised words, those that open a sentence too; ``identity`` marks cued people."""
    return tuple(name_runs(text, opening_too=True))


# ---------------------------------------------------------------- where to look


def _held(want: Written, text: str) -> Iterator[Written]:
    """The values of a text that could hold ``want``: all of a short one, those near it in a long one."""
    if len(text) <= _READ_WHOLE:
        for item in scan(text):
            yield from _with_quoted(item)
        return
    for count, match in enumerate(_anchor(want).finditer(text)):
        if count >= _MOST_PLACES:
            return
        start, end = max(0, match.start() - _AROUND), min(len(text), match.end() + _AROUND)
        # The cut may fall inside a number; only what reaches into the place itself is believed.
        for item in scan(text[start:end]):
            span = item.value.span
            if start + span.start < match.end() and match.start() < start + span.end:
                yield from _with_quoted(item)


def _with_quoted(item: Written) -> Iterator[Written]:
    """A value; a record's quoted field is one literal and may still hold the amount: "apixaban 5 mg"."""
    yield item
    if item.value.kind == "quoted":
        yield from scan(item.value.text.strip("\"'“”‘’"))


_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)\Z", re.IGNORECASE)
_ANY_NUMBER = re.compile(
    r"(?<![\d.,])\d|\b(?:" + "|".join([*NUMBER_WORDS, *SCALES]) + r")\b", re.IGNORECASE
)


def _anchor(want: Written) -> re.Pattern[str]:
    """Finds every place of a text where ``want`` may stand in some notation."""
    if is_bound(want):
        return _ANY_NUMBER
    if want.date is not None:
        year, _, day = want.date
        number = str(year) if year else rf"0?{day}"
        return re.compile(rf"(?<!\d){number}(?!\d)")
    if want.weekday is not None:
        return re.compile(rf"\b{want.value.normalised}s?\b|{_WHOLE_DATE}", re.IGNORECASE)
    if want.amounts:
        forms = {form for amount in want.amounts for form in _forms(amount, want.unit)}
        return re.compile("|".join(sorted(forms)), re.IGNORECASE)
    numbers = re.findall(r"\d+", want.value.normalised)
    hours = {int(numbers[0]), int(numbers[0]) % 12, int(numbers[0]) % 12 or 12} if numbers else {0}
    return re.compile(rf"(?<!\d)0?(?:{'|'.join(map(str, sorted(hours)))})(?!\d)")


def _forms(amount: Decimal, unit: str | None) -> Iterator[str]:
    """Patterns of the numbers that say the amount: in each unit of its kind, scaled, or in words."""
    base = UNITS.get(unit or "", ("", Decimal(0)))[0]
    factors = {factor for of_base, factor in UNITS.values() if of_base == base} or {Decimal(1)}
    numbers = {amount / factor for factor in factors | {Decimal(1)}}
    numbers |= {amount / scale for scale in SCALES.values() if amount >= scale}
    for number in numbers:
        whole, _, decimals = plain_number(number).partition(".")
        if len(decimals) > 12 or len(whole) > 18:
            continue
        digits = "0?" + ",?".join(_thousands(whole))
        if whole == "0":
            digits = "0?"
        tail = rf"\.{decimals}0*" if decimals else r"(?:\.0+)?"
        yield rf"(?<![\d])(?<!\d\.){digits}{tail}(?!\d)"
        if not decimals:
            yield from (
                rf"\b{word}\b" for word, said in NUMBER_WORDS.items() if _opens(said, number)
            )
            yield from (rf"\b{word}\b" for word, scale in SCALES.items() if number >= scale > 99)


def _opens(said: int, number: Decimal) -> bool:
    """Whether the number can be spoken with this word: "twenty" in twenty-five."""
    return said == number or (said >= 20 and said < number < said + 10)


def _thousands(whole: str) -> list[str]:
    first = len(whole) % 3
    return [part for part in (whole[:first], *re.findall(r"\d{3}", whole[first:])) if part]


def _words_present(value: ProtectedValue, text: str) -> bool:
    """Whether a name stands in the text in any order, or a quotation word for word."""
    words = folded_words(value.normalised)
    if not words:
        return True
    found = near_each_other if value.kind == "name" else _in_order
    if len(text) <= _READ_WHOLE:
        return found(words, folded_words(text))
    longest = max(words, key=len)
    reach = 3 * len(value.normalised) + 2 * _AROUND
    stem = re.escape(re.sub(r"\d+\Z", "", longest) or longest)
    for count, match in enumerate(re.finditer(stem, text, re.IGNORECASE)):
        if count >= 10 * _MOST_PLACES:
            break
        around = text[max(0, match.start() - reach) : match.end() + reach]
        if found(words, folded_words(around)):
            return True
    return False


def _in_order(words: tuple[str, ...], held: tuple[str, ...]) -> bool:
    return contains(held, words)


def _literally(needle: str, text: str) -> bool:
    """Whether the identifier stands in the text with no letter or digit touching it."""
    behind = "" if needle.casefold().startswith("http") else r"(?![-.][^\W_])"
    pattern = rf"(?<![^\W_]){re.escape(needle)}(?![^\W_]){behind}"
    return re.search(pattern, text, re.IGNORECASE) is not None


# ---------------------------------------------------------------- comparing


def _holds(want: Written, held: Iterator[Written]) -> bool:
    if want.date is not None:
        date = want.date
        return any(_date_fits(date, item) for item in held)
    if want.weekday is not None:
        return any(want.weekday in (item.weekday, _weekday_of(item)) for item in held)
    if not want.amounts:
        return any(item.value.normalised == want.value.normalised for item in held)
    if want.unit == "/":
        return any(item.unit == "/" and item.amounts == want.amounts for item in held)
    missing = set(want.amounts)
    for item in held:
        if _in_identifier(want, item):
            return True
        if _amounts_fit(want, item, want.amounts):
            return True
        missing -= {end for end in missing if _amounts_fit(want, item, (end,))}
        if not missing and len(want.amounts) == 2:
            return True
    return False


def _date_fits(want: tuple[int, int | None, int | None], item: Written) -> bool:
    if item.date is None:
        year_alone = want[1] is None and want[2] is None
        return year_alone and item.unit is None and item.amounts == (Decimal(want[0]),)
    # A year is held by a date of that year; a missing part of the premise is no evidence for it.
    return all(
        asked in (None, 0) or asked == there for asked, there in zip(want, item.date, strict=True)
    )


def _weekday_of(item: Written) -> int | None:
    year, month, day = item.date or (None, None, None)
    return Day(year=year, month=month, day=day).weekday


def _amounts_fit(want: Written, item: Written, amounts: tuple[Decimal, ...]) -> bool:
    if want.compares == "decade" and (item.date is not None or item.amounts):
        return fulfils(want, item)
    if item.date is not None:  # a year alone is a number, and a day of the month an ordinal
        year, month, day = item.date
        said = day if _ORDINAL.search(want.value.text) else year if month is None else None
        return want.unit is None and said is not None and amounts == (Decimal(said),)
    if not item.amounts or not _units_fit(want, item):
        return False
    if want.sign and item.sign != want.sign and item.amounts[0] != 0:
        return False
    if {want.compares, item.compares} == {"<", ">"}:
        return False
    there = item.amounts
    if amounts == there:
        return True
    # "Mr. Haddad, 41" is held by "41 years", whatever years are counted in.
    written = _as_written(item) if want.unit is None and item.unit is not None else ()
    if amounts == written:
        return True
    comparable = item.value.kind == want.value.kind and item.unit == want.unit
    if is_bound(want) and comparable and fulfils(want, item):
        return True
    if len(amounts) == 1:
        # One end of the premise's range answers a claim about that number.
        return amounts[0] in (*there, *written) or _rescaled(want, item, amounts[0])
    return False


def _as_written(item: Written) -> tuple[Decimal, ...]:
    return tuple(decimal_of(number) for number in re.findall(NUMBER, item.value.text))


def _in_identifier(want: Written, item: Written) -> bool:
    """A long bare number is the premise's identifier: "Its PMID is 92660418" for "PMID 92660418"."""
    digits = want.value.normalised
    if want.unit is not None or item.value.kind != "identifier" or not digits.isdecimal():
        return False
    return len(digits) >= 5 and digits in re.findall(r"\d+", item.value.text)


def _rescaled(want: Written, item: Written, amount: Decimal) -> bool:
    """A unitless premise number in the claim's own unit: dose: 10, unit: mg for "10 mg"."""
    if want.unit is None or item.unit is not None or want.unit == "%":
        return False
    written = re.search(NUMBER, want.value.text.replace("−", "-"))
    return written is not None and decimal_of(written.group()) in item.amounts


def _units_fit(want: Written, item: Written) -> bool:
    if want.unit == "/" or item.unit == "/":
        return False
    if item.unit is None:
        return want.unit is None or item.bare
    if want.unit is None:
        # "32 patients" is not held by "32 %".
        return item.unit != "%"
    if want.value.kind == "currency" and item.value.kind == "currency":
        return bool(set(want.unit.split("|")) & set(item.unit.split("|")))
    if want.unit != item.unit:
        return False
    if want.below is None or item.below is None:
        missing = want.below or item.below
        return missing is None or missing in _TIME_BELOW or want.below is None
    return _below(want.below) == _below(item.below)


def _below(unit: str) -> str:
    unit = unit.rstrip("s") if len(unit) > 2 else unit
    return {"d": "day", "daily": "day", "h": "hour", "hr": "hour", "wk": "week"}.get(unit, unit)


def _share_word(one: str, other: str) -> bool:
    return bool({*folded_words(one)} & {*folded_words(other)})


def _most_alike(text: str, others: list[str]) -> str | None:
    """The most similar of the first few hundred candidates; earlier ones win ties."""
    scored = [
        (difflib.SequenceMatcher(None, text.casefold(), other.casefold()).ratio(), -index, other)
        for index, other in enumerate(others[:300])
    ]
    best = max(scored, default=None)
    return best[2] if best is not None and best[0] > 0.3 else None


# How far a number may lie from the one it is taken for. Without a unit it may count something else.
_REACH_WITH_UNIT = Decimal(4)
_REACH_WITHOUT = Decimal(2)
_ABOUT = Decimal("0.1")
_CLOSE = Decimal("1.5")
_MOST_YEARS = 6
_SMALL_COUNT = 12


def is_bound(want: Written) -> bool:
    """Whether the value says more than, less than, about, or names ten years."""
    return bool(want.compares) and len(want.amounts) == 1


def fulfils(want: Written, there: Written) -> bool:
    """Whether a written value makes the bound true; units have been found to fit."""
    amount = want.amounts[0]
    if want.compares == "decade":
        return _in_decade(amount, there)
    return any(_within(want, amount, number) for number in there.amounts)


def years_apart(want: Written, items: Iterable[Written]) -> bool:
    """Whether two years of the text lie as many years apart as the value says.

    Only for a text with few years: among many, some two lie any number of years apart.
    """
    if want.unit != "month" or len(want.amounts) != 1 or want.amounts[0] % 12:
        return False
    years = sorted({year for item in items for year in _years(item)})
    if not 2 <= len(years) <= _MOST_YEARS:
        return False
    wanted = want.amounts[0] / 12
    if wanted < 2:
        return False
    apart = {Decimal(b - a) for i, a in enumerate(years) for b in years[i + 1 :]}
    if want.compares == ">":
        return any(wanted <= number <= _REACH_WITH_UNIT * wanted for number in apart)
    if want.compares == "<":
        return any(number <= wanted for number in apart)
    # A year more or less: birthdays and terms begin within a year.
    return any(abs(number - wanted) <= 1 for number in apart)


def is_decisive(want: Written, items: Iterable[Written]) -> bool:
    """Whether the value's absence settles the matter by itself.

    A small count in words need not be written in a source that lists what is counted. A bound, an
    approximation or a decade is settled only by a comparable value close by that fails it.
    """
    if is_bound(want):
        return any(_speaks_against(want, item) for item in items)
    in_words = want.value.text[:1].isalpha() and want.unit is None and want.value.kind == "number"
    return not (in_words and all(amount <= _SMALL_COUNT for amount in want.amounts))


def _within(want: Written, amount: Decimal, number: Decimal) -> bool:
    reach = _REACH_WITHOUT if want.unit is None else _REACH_WITH_UNIT
    if want.compares == ">":
        return amount <= number <= amount * reach
    if want.compares == "<":
        return amount / reach <= number <= amount
    return abs(number - amount) <= _ABOUT * abs(amount)


def _in_decade(first: Decimal, there: Written) -> bool:
    if there.compares == "decade":
        return there.amounts == (first,) or (
            min(first, *there.amounts) < 100 and (first - there.amounts[0]) % 100 == 0
        )
    if first < 100:  # "her 80s", "the 80's"
        ages = [int(number) for number in there.amounts if there.unit in (None, "month")]
        ages = [age // 12 if there.unit == "month" else age for age in ages]
        return any(first <= year % 100 < first + 10 for year in (*_years(there), *ages))
    return any(first <= year < first + 10 for year in _years(there))


def _years(item: Written) -> list[int]:
    if item.date is not None:
        return [item.date[0]] if item.date[0] else []
    if item.unit is not None:
        return []
    return [int(n) for n in item.amounts if 1500 <= n < 2200 and n == n.to_integral_value()]


def _speaks_against(want: Written, item: Written) -> bool:
    if want.compares == "decade" or not item.amounts or item.unit != want.unit:
        return False
    amount, number = want.amounts[0], item.amounts[0]
    return number > 0 and amount / _CLOSE <= number <= amount * _CLOSE
