"""One reader of quantities, for claims and for sources (evidence.md, section 3).

Numbers in any notation with their unit, scale, bound and precision; dates at any granularity; clock
times; pairs ("150/92", "4 of 9"). Identifiers, versions, addresses and paths are never numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.evidence.names import MONTHS, WEEKDAYS
from core.evidence.quantity_patterns import (
    AMOUNT,
    BEFORE,
    BEFORE_ARTICLE,
    CODE_BEHIND,
    CURRENCY,
    DASH,
    NOUN,
    SCALE,
    SCALES,
    SIGN,
    VULGAR,
    YEAR,
    spelled_number,
)
from core.evidence.quantity_records import Bound, Day, Quantity, QuantityKind
from core.evidence.units import UNIT, unit_name
from core.evidence.words import STOP
from core.records import Span

# The year of a system's time stamp stands behind the clock.
_STAMP_YEAR = re.compile(rf"\s\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\s[A-Z]{{2,4}})?\s+({YEAR})(?!\d)")
_DOTTED = re.compile(
    r"\d{1,2}\.(?:1[0-2]|0?[1-9])\.\d{2,4}"
)  # nobody writes the month first with dots
# "On the 27th" is a day of a month that is not said; "on the 4th lesson" says which one.
_DAY_BEFORE = re.compile(
    rf"\b(?:(?:on|by|until|till|since|from|to|before|after)\s(?:the\s)?|"
    rf"(?:{'|'.join(WEEKDAYS)}),?\s(?:the\s)?)\Z",
    re.IGNORECASE,
)
_DAY_BEHIND = re.compile(
    r"\s?(?:\Z|[^\w\s]|(?:at|and|but|to|until|in|for|by|from|with|of (?:the|this|last|next) month)\b)"
)
_MOST = 20_000  # quantities of one text
_MOST_DIGITS = 60  # of one number
_HIGHEST_POWER = 200
_SEVERAL = re.compile(r"\d\s?[A-Za-z]+,?\s?(?:and\s)?\d")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_PARTS = {"h": "hour", "m": "minute", "s": "second"}


def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity of a text in order, without overlap; spans are in ``text``."""
    found: list[Quantity] = []
    at = 0
    while len(found) < _MOST and (match := AMOUNT.search(text, at)) is not None:
        # What has more digits is an identifier, or a picture in letters: no amount can hold it.
        literal = (
            match.lastgroup == "literal" or sum(map(str.isdigit, match.group())) > _MOST_DIGITS
        )
        item = None if literal else _read(match)
        at = max(match.end(), match.start() + 1)
        if item is not None:
            at = max(at, item.span.end)
            joined = None
            if found:
                joined = _range_with(found[-1], item, text) or _with_cents(found[-1], item, text)
            if joined is not None:
                found[-1] = joined
            else:
                found.append(item)
    return tuple(_with_years(found, text))


def within_amount(text: str, at: int) -> bool:
    """Whether a place lies inside one amount of several parts: the "and" of "8 hours and 40 minutes"."""
    return any(
        item.span.start < at < item.span.end and _SEVERAL.search(item.span.cut(text))
        for item in read_quantities(text)
    )


def _read(match: re.Match[str]) -> Quantity | None:
    for group in (
        "iso",
        "cjk",
        "dmy",
        "monthyear",
        "stamp",
        "mdy",
        "my",
        "slash",
        "month",
        "decade",
    ):
        if match.group(group):
            return _date(match, group)
    if match.group("clock"):
        return _clock(match)
    if match.group("hours"):
        return _compound(match)
    if match.group("pair") or match.group("of"):
        return _pair(match)
    if match.group("ordinal"):
        number = int(re.sub(r"\D", "", match.group()))
        item = replace(_plain(match, amount=float(number)), kind=QuantityKind.ORDINAL)
        before, behind = match.string[max(0, match.start() - 24) : match.start()], match.end()
        if (
            1 <= number <= 31
            and _DAY_BEFORE.search(before)
            and _DAY_BEHIND.match(match.string, behind)
        ):
            return replace(item, kind=QuantityKind.DATE, date=Day(year=None, day=number))
        return item
    return _number(match)


def _compound(match: re.Match[str]) -> Quantity:
    """ "8 hours and 40 minutes": one time, in the smallest unit that it is said in."""
    parts = re.findall(r"(\d+)\s?([dhms])", match.group().lower())
    last = parts[-1][1]
    amount = sum(float(number) * _SECONDS[unit] for number, unit in parts) / _SECONDS[last]
    return _plain(match, amount=amount, unit=_PARTS[last], digits=3)


def _pair(match: re.Match[str]) -> Quantity:
    """ "150/92" and "4 of 9": two amounts that stand together."""
    first, second = re.findall(r"\d+(?:\.\d+)?", match.group())
    item = _plain(match, amount=float(first), step=_step(first), digits=4)
    return replace(
        item,
        kind=QuantityKind.PAIR,
        high=float(second),
        high_step=_step(second),
        span=_upto(item, _unit_behind(match.string, match.end())[1]),
    )


def _upto(item: Quantity, end: int) -> Span:
    return Span(start=item.span.start, end=max(end, item.span.end))


def _plain(
    match: re.Match[str],
    *,
    amount: float,
    unit: str | None = None,
    step: float = 1.0,
    digits: int = 0,
) -> Quantity:
    return Quantity(
        text=match.group(),
        span=Span(start=match.start(), end=match.end()),
        kind=QuantityKind.NUMBER,
        amount=amount,
        unit=unit,
        step=step,
        digits=digits or len(str(int(abs(amount)))),
        bound=_bound(match.string, match.start()),
    )


def _amount(match: re.Match[str]) -> tuple[float, int, float] | None:
    """The amount, how many digits of it are said, and the step to the next that could be."""
    words, digits = match.group("words"), match.group("digits")
    if words:
        spelled = spelled_number(words)
        return None if spelled is None else (spelled, len(str(int(spelled)).rstrip("0")) or 1, 1.0)
    if match.group("fraction"):
        return VULGAR[match.group("fraction")], 1, 0.01
    plain = re.sub(r"[,\s_]", "", digits).replace("·", ".")
    power = plain.lower().partition("e")[2]
    if power and abs(int(power)) > _HIGHEST_POWER:
        return None  # a piece of a digest ("5e872"), which no amount can hold
    # A number in whole thousands states thousands: 136,000 for 136,226.
    step = 1_000.0 if plain.endswith("000") and "." not in plain else _step(plain)
    digits_said = len(re.sub(r"[eE].*", "", plain).replace(".", "").strip("0"))
    if match.group("vulgar"):
        return float(plain) + VULGAR[match.group("vulgar")], digits_said, 0.01
    return float(plain), digits_said, step


def _number(match: re.Match[str]) -> Quantity | None:
    text, start, end = match.string, match.start(), match.end()
    words, digits = match.group("words"), match.group("digits")
    read = _amount(match)
    if read is None:
        return None
    amount, digits_said, step = read
    scale = SCALE.match(text, end)
    written = scale.group().strip() if scale else ""
    if scale and not (written in "kKbBtTmM" and _unit_longer(text, end, scale.end())):
        by = SCALES[written.lower()]
        amount, step, end = amount * by, step * by, scale.end()
    money = re.match(SIGN, match.group(), re.IGNORECASE)
    unit, kind = None, QuantityKind.NUMBER
    behind = CODE_BEHIND.match(text, end)
    if money or behind:
        kind = QuantityKind.MONEY
        unit = CURRENCY[
            (money.group() if money else behind.group() if behind else "").strip().lower()
        ]
        end = end if money or behind is None else behind.end()
    else:
        # "25+ years": the sign is a bound and the unit stands behind it.
        unit, end = _unit_behind(text, end + 1 if text[end : end + 1] == "+" else end)
    if words and words.lower() in ("a", "an") and not _article_counts(text, start, end, unit):
        return None  # "for a week" is a quantity; "twice a day" a rate, "a patient" an article
    if unit is None and _touches_word(text, end):
        return None
    year = digits if digits and re.fullmatch(YEAR, digits) else None
    sign = re.search(r"[-−+]\Z", text[max(0, start - 1) : start]) if not words else None
    plus = text[match.end() : match.end() + 1] == "+" or text[end : end + 1] == "+"
    bound = Bound.AT_LEAST if plus else _bound(text, start - (1 if sign else 0))
    if sign is not None and re.search(r"[A-Za-z\d)\]]\Z", text[max(0, start - 2) : start - 1]):
        sign = None
    item = Quantity(
        text=text[start:end], span=Span(start=start, end=end), kind=kind,
        amount=-amount if sign is not None and sign.group() in "-−" else amount,
        unit=unit, step=step, bound=bound, signed=sign is not None, digits=digits_said,
        noun="" if unit or kind is QuantityKind.MONEY else _noun(text, end), in_words=bool(words),
    )  # fmt: skip
    if year and unit is None and kind is QuantityKind.NUMBER and scale is None and sign is None:
        item = replace(item, date=Day(year=int(year)), kind=QuantityKind.DATE)
    return item


def _article_counts(text: str, start: int, end: int, unit: str | None) -> bool:
    before = BEFORE_ARTICLE.search(text, max(0, start - 14), start)
    behind = re.compile(r"\s(?:after|later|before|earlier|ago|long|old)\b").match(text, end)
    return unit is not None and (before is not None or behind is not None)


def _step(number: str) -> float:
    number, _, power = number.lower().replace(",", "").partition("e")
    decimals = len(number.partition(".")[2])
    return float(10.0 ** (int(power or 0) - decimals))


def _unit_longer(text: str, end: int, scale_end: int) -> bool:
    """Whether what looks like a scale opens a unit: 36KB, 40 m, 5 M/uL."""
    unit = UNIT.match(text, end)
    if unit is None:
        return False
    return unit_name(unit.group("unit") or "") is not None and unit.end() >= scale_end


def _unit_behind(text: str, end: int) -> tuple[str | None, int]:
    if text[end : end + 3].lower() == " in" or text.startswith((" :", ":"), end):
        return None, end
    long = re.compile(r"[ \u00a0](mm\sHg|per\scent|percentage\spoints?)\b", re.I).match(text, end)
    if long is not None:
        return unit_name(re.sub(r"\s", " ", long.group(1))), long.end()
    match = UNIT.match(text, end)
    if match is None:
        return None, end
    if match.group("fold"):
        return "fold", match.end()
    name = unit_name(match.group("unit"))
    if name is None:  # "5 mg/tablet": the part before the stroke is still a unit
        name = unit_name(match.group("unit").split("/")[0])
        return (
            (name, match.start("unit") + len(match.group("unit").split("/")[0]))
            if name
            else (None, end)
        )
    return name, match.end()


def _touches_word(text: str, end: int) -> bool:
    """Whether a Latin letter stands right behind a number, which then is part of a word."""
    return text[end : end + 1].isascii() and (
        text[end : end + 1].isalpha() or text[end : end + 1] == "_"
    )


def _noun(text: str, end: int) -> str:
    """The one or two words behind a number, where they name what it counts."""
    noun = NOUN.match(text, end)
    said = noun.group().strip(" -\u00a0").lower() if noun is not None else ""
    first = said.split(" ")[0] if said else ""
    counts = first and first not in STOP and first not in MONTHS and spelled_number(first) is None
    return said if counts else ""


def _bound(text: str, start: int) -> Bound:
    before = BEFORE.search(text, max(0, start - 24), start)
    return Bound(before.lastgroup) if before is not None and before.lastgroup else Bound.EXACT


# ---------------------------------------------------------------- dates and times


def _date(match: re.Match[str], group: str) -> Quantity | None:
    raw = match.group()
    numbers = [int(part) for part in re.findall(r"\d+", raw)]
    word = re.search(r"[A-Za-z]{3,}", re.sub(r"(?i)\bof\b|\d(?:st|nd|rd|th)", " ", raw))
    month = MONTHS.get(word.group().lower()) if word is not None else None
    until: Day | None = None
    if group in ("iso", "cjk"):
        day = Day(
            year=numbers[0], month=(numbers + [0, 0])[1] or None, day=(numbers + [0, 0])[2] or None
        )
    elif group == "slash":
        read = _slashed(numbers[1::-1] + numbers[2:] if _DOTTED.fullmatch(raw) else numbers)
        if read is None:
            return None
        day = read
    elif group == "decade":
        first = numbers[0]
        if first < 100 and first < 20:
            return None
        day, until = Day(year=first), Day(year=first + 9)
    elif group == "monthyear":
        day = Day(year=numbers[1], month=numbers[0])
    elif group == "stamp":
        behind = _STAMP_YEAR.match(match.string, match.end())
        day = Day(year=int(behind.group(1)) if behind else None, month=month, day=numbers[0])
    elif group == "my":
        day = Day(year=numbers[0], month=month)
    elif group == "month":
        if raw.rstrip(".").lower() in ("may", "march", "mar", "dec", "jan") and raw[0].islower():
            return None
        if raw == "May" and not _dated_may(match.string, match.start(), match.end()):
            return None
        day = Day(year=None, month=month)
    else:
        year = next((number for number in numbers if number > 31), None)
        if not 1 <= numbers[0] <= 31:
            return None
        if raw[:4].lower() == "may " and raw[0].islower():
            return None
        day = Day(year=year, month=month, day=numbers[0])
        if len(numbers) > 1 and numbers[1] <= 31:
            until = Day(year=year, month=month, day=numbers[1])
    item = _plain(match, amount=float(day.year or 0), digits=4)
    return replace(item, kind=QuantityKind.DATE, date=day, until=until)


def _dated_may(text: str, start: int, end: int) -> bool:
    """Whether a lone "May" is the month: behind a preposition or a comma, or what had something."""
    if re.match(r"\s(?:had|was|is|has|saw|showed|shows)\b", text[end : end + 8]) is not None:
        return True
    before = re.search(
        r"(?:\b(?:in|of|since|until|by|and|to|from|late|early|mid)|[,–(-])\s?-?\Z",
        text[max(0, start - 10) : start],
    )
    return before is not None and re.match(r"\s[a-z]+\b", text[end : end + 24]) is None


def _slashed(numbers: list[int]) -> Day | None:
    first, second, year = numbers
    year += 2000 if year < 50 else 1900 if year < 100 else 0
    if first > 12 >= second:
        return Day(year=year, month=second, day=first)
    if second > 31 or first > 31 or not first or not second or min(first, second) > 12:
        return None
    if second > 12 or first == second:
        return Day(year=year, month=first, day=second)
    # Day and month could be either: the order that most software writes.
    return Day(year=year, month=first, day=second)


def _clock(match: re.Match[str]) -> Quantity:
    parts = [int(part) for part in re.findall(r"\d+", match.group())]
    hour, minute = parts[0], parts[1] if len(parts) > 1 else 0
    half = re.search(r"(?i)([ap])\.?m", match.group())
    if half is not None:
        hour = hour % 12 + (12 if half.group(1).lower() == "p" else 0)
    item = _plain(match, amount=60.0 * hour + minute, unit="minute", digits=4)
    return replace(item, kind=QuantityKind.CLOCK)


_BETWEEN = re.compile(rf"\s?{DASH}\s?|\s(?:to|through|until|and)\s")


def _range_with(first: Quantity, second: Quantity, text: str) -> Quantity | None:
    """ "10-20 mg", "from 4 to 9 %" and "2001-2003" as one range; "from 74 to 62" stays two amounts."""
    between = text[first.span.end : second.span.start]
    joint = _BETWEEN.fullmatch(between)
    if (
        joint is None
        or first.high is not None
        or first.until is not None
        or second.until is not None
    ):
        return None
    if first.kind is QuantityKind.DATE and second.kind is QuantityKind.DATE:
        return None  # both ends of a period are dates of their own
    tight = joint.group().strip() not in ("to", "through", "until", "and")
    if not tight or first.kind is not second.kind or first.kind is not QuantityKind.NUMBER:
        return None
    if (
        first.unit not in (None, second.unit)
        or second.amount <= first.amount
        or second.signed
        and " " in between
    ):
        return None
    return replace(
        first,
        text=text[first.span.start : second.span.end],
        span=Span(start=first.span.start, end=second.span.end),
        high=abs(second.amount),
        unit=second.unit,
        noun=second.noun,
        step=min(first.step, second.step),
    )


_CENTS = re.compile(r"\s(?:cents?|pence|penn(?:y|ies))\b", re.IGNORECASE)


def _with_cents(first: Quantity, second: Quantity, text: str) -> Quantity | None:
    """ "418 euros and 50 cents" as one amount."""
    between = text[first.span.end : second.span.start]
    behind = _CENTS.match(text, second.span.end)
    whole = first.kind is QuantityKind.MONEY and first.high is None and first.amount % 1 == 0
    small = second.kind is QuantityKind.NUMBER and 0 < second.amount < 100
    if behind is None or not (whole and small) or between not in (" and ", " "):
        return None
    span = Span(start=first.span.start, end=behind.end())
    amount = first.amount + second.amount / 100
    return replace(first, text=span.cut(text), span=span, amount=amount, step=0.01)


def _with_years(found: list[Quantity], text: str) -> list[Quantity]:
    """In "Jul, Sep and Dec 2020" each month is one of 2020."""
    for at in range(len(found) - 2, -1, -1):
        item, behind = found[at], found[at + 1]
        if item.date is None or item.date.year is not None or behind.date is None:
            continue
        between = text[item.span.end : behind.span.start]
        if behind.date.year and re.fullmatch(rf"\s?(?:,|and|&|or|to|{DASH}|,\sand)\s?", between):
            found[at] = replace(item, date=replace(item.date, year=behind.date.year))
    return found
