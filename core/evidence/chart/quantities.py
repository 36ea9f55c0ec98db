"""Doses, schedules and dates as prescriptions and letters write them, with their spans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from core.evidence.chart.records import Dose, Frequency, When
from core.evidence.comparing import readings_of
from core.evidence.quantities import read_quantities
from core.records import Span

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS: dict[str, Decimal] = {word: Decimal(at) for at, word in enumerate(_COUNTED)} | {
    "half": Decimal("0.5"), "once": Decimal(1), "twice": Decimal(2), "thrice": Decimal(3),
    "a": Decimal(1), "an": Decimal(1),
}  # fmt: skip
_WORDS = "|".join(sorted((word for word in _NUMBERS if len(word) > 2), key=len, reverse=True))
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"

_UNITS: dict[str, tuple[str, str]] = {
    "kg": ("mcg", "1000000000"), "g": ("mcg", "1000000"), "gm": ("mcg", "1000000"),
    "gram": ("mcg", "1000000"), "grams": ("mcg", "1000000"),
    "mg": ("mcg", "1000"), "mgs": ("mcg", "1000"), "milligram": ("mcg", "1000"),
    "milligrams": ("mcg", "1000"), "mcg": ("mcg", "1"), "µg": ("mcg", "1"), "μg": ("mcg", "1"),
    "ug": ("mcg", "1"), "microgram": ("mcg", "1"), "micrograms": ("mcg", "1"),
    "ng": ("mcg", "0.001"),
    "unit": ("unit", "1"), "units": ("unit", "1"), "iu": ("unit", "1"), "u": ("unit", "1"),
    "ml": ("ml", "1"), "millilitre": ("ml", "1"), "millilitres": ("ml", "1"),
    "milliliters": ("ml", "1"), "meq": ("meq", "1"), "mmol": ("mmol", "1"),
    "tablet": ("tablet", "1"), "tablets": ("tablet", "1"), "tab": ("tablet", "1"),
    "tabs": ("tablet", "1"), "capsule": ("tablet", "1"), "capsules": ("tablet", "1"),
    "pill": ("tablet", "1"), "pills": ("tablet", "1"),
    "puff": ("puff", "1"), "puffs": ("puff", "1"), "drop": ("drop", "1"), "drops": ("drop", "1"),
    "spray": ("spray", "1"), "sprays": ("spray", "1"), "patch": ("patch", "1"),
}  # fmt: skip
STRENGTHS = frozenset({"mcg", "unit", "ml", "meq", "mmol"})
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_DOSE = re.compile(
    rf"(?<![\w.,/-])(?P<first>{_NUMBER}|(?:{_WORDS})\b)"
    rf"(?:\s?(?:/|[-\u2013]|to)\s?(?P<second>{_NUMBER}))?[\s-]?(?P<unit>{_UNIT})\b"
    r"(?P<rate>\s?/\s?(?:[a-z]{1,4}\b|\d+)|\s(?:a|per)\s(?:day|d)\b|\sdaily\sdose)?",
    re.IGNORECASE,
)
_DAY = re.compile(r"\s?/\s?(?:day|d)\b|\s(?:a|per)\sday\b|\sdaily\sdose", re.IGNORECASE)


def find_doses(text: str) -> Iterator[Dose]:
    """Amounts of a drug in the text; laboratory values (mg/dL, mmol/L) are none."""
    for match in _DOSE.finditer(text):
        rate = match["rate"]
        per_day = rate is not None and _DAY.fullmatch(rate) is not None
        if rate is not None and not per_day:
            continue
        unit, factor = _UNITS[match["unit"].casefold()]
        for number in (match["first"], match["second"]):
            if number is not None:
                yield Dose(
                    amount=_decimal(number) * Decimal(factor),
                    unit=unit,
                    text=match.group().strip(),
                    span=Span(start=match.start(), end=match.end()),
                    per_day=per_day,
                )


def _decimal(number: str) -> Decimal:
    known = _NUMBERS.get(number.casefold())
    return known if known is not None else Decimal(number.replace(",", ""))


# ---------------------------------------------------------------- schedules

_PERIODS = {"hour": Fraction(1, 24), "hr": Fraction(1, 24), "h": Fraction(1, 24)} | {
    "day": Fraction(1), "d": Fraction(1), "night": Fraction(1), "morning": Fraction(1),
    "evening": Fraction(1), "week": Fraction(7), "wk": Fraction(7), "w": Fraction(7),
    "month": Fraction(30), "mo": Fraction(30), "fortnight": Fraction(14), "year": Fraction(365),
}  # fmt: skip
_PERIOD = "|".join(sorted(_PERIODS, key=len, reverse=True))
_TIMES = re.compile(
    rf"\b(?P<times>once|twice|thrice|(?:(?:{_WORDS})|\d{{1,2}})(?:\s(?:times?|doses))|\d{{1,2}}\s?[x×])"
    rf"[\s-]?(?:(?:a|an|per|each|every|/)\s?(?P<period>{_PERIOD})|(?P<adverb>daily|weekly|monthly|"
    rf"nightly))\b",
    re.IGNORECASE,
)
_EVERY = re.compile(
    rf"\b(?:every|each|q\.?)\s?(?P<count>(?:{_WORDS}|other|second|third|\d{{1,2}})\b|\d{{1,2}})?"
    rf"[\s-]?(?P<period>{_PERIOD})s?\b(?!\s+of\b)",
    re.IGNORECASE,
)
_ADVERBS = {
    "daily": Fraction(1), "nightly": Fraction(1), "weekly": Fraction(1, 7),
    "monthly": Fraction(1, 30), "hourly": Fraction(24), "fortnightly": Fraction(1, 14),
}  # fmt: skip
_ADVERB = re.compile(r"(?<![\w-])(?:" + "|".join(_ADVERBS) + r")\b", re.IGNORECASE)
_CODES: dict[str, Fraction] = {
    "bid": Fraction(2), "bd": Fraction(2), "bds": Fraction(2), "tid": Fraction(3),
    "tds": Fraction(3), "td": Fraction(3), "qid": Fraction(4), "qds": Fraction(4),
    "qd": Fraction(1), "od": Fraction(1), "qod": Fraction(1, 2), "qhs": Fraction(1),
    "qam": Fraction(1), "qpm": Fraction(1), "qwk": Fraction(1, 7), "qw": Fraction(1, 7),
    "hs": Fraction(1), "nocte": Fraction(1), "mane": Fraction(1),
}  # fmt: skip
_CODE = re.compile(
    r"(?<![\w.])(?:" + "|".join(r"\.?".join(code) for code in sorted(_CODES, key=len, reverse=True))
    + r")(?:\.(?=\W|$))?(?![\w])", re.IGNORECASE,
)  # fmt: skip
# As they stand in capitals, at the end of a prescription: "on" is a word.
_LATIN = re.compile(r"(?<![\w.])(?P<code>ON|OM)\b(?=\s*(?:[,;.()\]]|-\s|\Z|since\b|start))")
_CODE_MOMENTS = {"qhs": "night", "hs": "night", "nocte": "night", "qam": "morning"} | {
    "mane": "morning", "qpm": "evening",
}  # fmt: skip
_MOMENT = re.compile(
    r"\b(?:(?P<morning>(?:in the|each|every) morning|mornings?\b|with breakfast|before breakfast)"
    r"|(?P<noon>at noon|at lunch|with lunch|midday)"
    r"|(?P<evening>(?:in the|each|every) evening|evenings?\b|with (?:dinner|supper))"
    r"|(?P<night>at night|at bedtime|before bed|bedtime|each night|every night|nightly))",
    re.IGNORECASE,
)
_PRN = re.compile(
    r"\b(?:p\.?r\.?n\b\.?|as needed|as required|when needed|when required|if needed|if required|"
    r"on demand)",
    re.IGNORECASE,
)
_MEAL = "meals"
_MEALS = re.compile(r"\b(?:with|before|after) (?:each |every |all )?(?:meals|food three)\b", re.I)


def find_frequencies(text: str) -> Iterator[Frequency]:
    """Schedules in the text; words that belong together ("twice daily as needed") are one."""
    parts = sorted(_parts(text), key=lambda part: (part[0].start, -part[0].end))
    group: list[tuple[Span, Fraction | None, str | None, bool]] = []
    for part in parts:
        if group and part[0].start < group[-1][0].end:
            continue
        if group and not re.fullmatch(
            r"[\s,(]*(?:and|\+|&|/)?[\s,]*", text[group[-1][0].end : part[0].start]
        ):
            yield _frequency(text, group)
            group = []
        group.append(part)
    if group:
        yield _frequency(text, group)


def _parts(text: str) -> Iterator[tuple[Span, Fraction | None, str | None, bool]]:
    for match in _TIMES.finditer(text):
        times = Fraction(_decimal(re.sub(r"\s?(?:times?|doses|[x×])\Z", "", match["times"])))
        if match["adverb"]:
            yield _span(match), times * _ADVERBS[match["adverb"].casefold()], None, False
        else:
            yield _span(match), times / _PERIODS[match["period"].casefold()], None, False
    for match in _EVERY.finditer(text):
        if match.group().casefold() in _CODES:  # "QDS" is no "qd" of several
            continue
        period = match["period"].casefold()
        moment = {"night": "night", "morning": "morning", "evening": "evening"}.get(period)
        yield _span(match), 1 / (_count(match["count"]) * _PERIODS[period]), moment, False
    for match in _MOMENT.finditer(text):
        yield _span(match), None, match.lastgroup, False
    for match in _CODE.finditer(text):
        code = match.group().replace(".", "").casefold()
        yield _span(match), _CODES[code], _CODE_MOMENTS.get(code), False
    for match in _LATIN.finditer(text):
        yield _span(match), Fraction(1), "night" if match["code"] == "ON" else "morning", False
    for match in _ADVERB.finditer(text):
        yield _span(match), _ADVERBS[match.group().casefold()], None, False
    for match in _MEALS.finditer(text):
        yield _span(match), None, _MEAL, False
    for match in _PRN.finditer(text):
        yield _span(match), None, None, True


def _count(word: str | None) -> Fraction:
    if word is None:
        return Fraction(1)
    ordinal = {"other": 2, "second": 2, "third": 3}.get(word.casefold())
    return Fraction(ordinal) if ordinal else Fraction(_decimal(word))


def _frequency(text: str, group: list[tuple[Span, Fraction | None, str | None, bool]]) -> Frequency:
    moments = frozenset(moment for _, _, moment, _ in group if moment is not None)
    rates = [rate for _, rate, _, _ in group if rate is not None]
    rate = max(rates) if rates else None
    # "With meals" says how often only where nothing else does: "twice daily with meals" is twice.
    if rate is None and moments - {"night"} == {_MEAL}:
        rate = Fraction(2 + len(moments))
    moments -= {_MEAL}
    # "Every morning and every evening" is twice a day.
    if moments and (rate is None or (rate == 1 and len(moments) > 1)):
        rate = Fraction(len(moments))
    start, end = group[0][0].start, group[-1][0].end
    return Frequency(
        per_day=rate,
        moments=moments,
        as_needed=any(needed for *_, needed in group),
        text=text[start:end],
        span=Span(start=start, end=end),
    )


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())


# ---------------------------------------------------------------- dates


def find_dates(text: str) -> Iterator[When]:
    """Dates of the text with a year, at the granularity that they are written in; both ends of a period."""
    return iter(_dates(text))


@lru_cache(maxsize=4_096)  # the rows of a chart are asked claim by claim
def _dates(text: str) -> tuple[When, ...]:
    return tuple(_read_dates(text)) if re.search(r"\d\d", text) else ()


def _read_dates(text: str) -> Iterator[When]:
    for item in read_quantities(text):
        if item.until is not None and item.until.month is None:
            continue  # ten years
        first, *others = readings_of(item) or (None,)
        for day in (first, item.until):
            if day is not None and day.year:
                yield When(
                    year=day.year, month=day.month, day=day.day, text=item.text, span=item.span,
                    others=tuple((d.year, d.month, d.day) for d in others if d is not None),
                )  # fmt: skip


def same_date(claimed: When, stated: When) -> bool:
    """Whether the stated date is the claimed one at the coarser of both granularities."""
    readings = ((stated.year, stated.month, stated.day), *stated.others)
    wanted = ((claimed.year, claimed.month, claimed.day), *claimed.others)
    return any(
        all(a is None or b is None or a == b for a, b in zip(one, two, strict=True))
        for one in wanted
        for two in readings
    )
