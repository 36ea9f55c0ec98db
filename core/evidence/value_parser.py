"""Values as they are written: numbers, doses, dates, times, money, identifiers, quotations.

Table 2: "Lowercase alphanumeric, decimal, percentage, date, time, currency, and structured
identifier tokens; embedded digits inside alphanumeric words are ignored". So the digits of HbA1c,
SGLT2 and COVID-19 protect nothing, while bench-6, NCT01234567 and E11.9 are compared whole.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from core.evidence.names import MONTHS, WEEKDAYS, folded_words
from core.evidence.positions import is_position
from core.evidence.value_grammar import (
    DOSE_BASES,
    IDENTITY_LABEL,
    NOUN_BEHIND,
    NUMBER,
    SCALES,
    UNITS,
    VALUE,
    Written,
    comparator,
    list_item,
    normalised_number,
    spelled_value,
    unit_of,
)
from core.records import ProtectedValue, Span

# Words with digits that name things: their digits say nothing that could be checked by itself.
_NOT_IDENTIFIERS = re.compile(
    r"(?:covid|sars|mers|omega|type|phase|stage|grade|class|day|week|month|year|top|step|line|part|"
    r"tier|level|vitamin|interleukin|factor|group|arm|cohort|figure|fig|table|section|chapter|"
    r"windows|ios|web|python|gpt|llama|claude|gemini|pre|post|non|mid|sub|co|age|aged|under|over|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-.*",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"(?:CYP|UGT|SLC|ABC|HLA|IL|CD|TNF|KCN|SGLT|DPP|GLP|PCSK|BRCA|MTHFR|ACE|H\dN)\w*"
)
# ---------------------------------------------------------------- grammar of one value

# "1960s", "the 80's": ten years, or ages.
_DECADE = re.compile(r"(?:(?:1[5-9]|20)\d|[2-9])0['’]?s", re.IGNORECASE)

_PATIENT_ID = re.compile(r"(?i)(?:bench|patient|pat|pt|mrn|subject|case|person|member)[-_]?\d+")


@lru_cache(maxsize=512)
def scan(text: str) -> tuple[Written, ...]:
    """Every value of a text in order, without overlap; meant for texts of a few thousand characters."""
    items = []
    for match in VALUE.finditer(text):
        item = _read(match)
        if item is not None:
            items.append(item)
    return tuple(items)


def _read(match: re.Match[str]) -> Written | None:
    group, raw = match.lastgroup or "", match.group()
    if group in ("quoted", "url", "email", "doi", "path", "file", "uuid", "labelled", "nct", "icd"):
        return _literal(match, group)
    if group in ("isodate", "cjkdate", "dmy", "mdy", "my", "slashdate"):
        return _date(match, group)
    if group == "time":
        return list_item(match, "time", _clock(raw))
    if group == "weekday":
        name = raw.casefold().removesuffix("s")
        return replace(list_item(match, "date", name), weekday=WEEKDAYS.index(name))
    if group in ("code", "word"):
        return _code(match)
    if group == "spelled":
        return spelled_value(match)
    return _quantity(match, group)


def _literal(match: re.Match[str], group: str) -> Written | None:
    raw = match.group()
    if group == "quoted":
        inner = raw[1:-1].strip().strip(".,;")
        # A quotation mark can also be an inch sign: 6.3" and 6.9".
        if not inner or re.match(r"\s|[,.)]", raw[1:]):
            return None
        return list_item(match, "quoted", " ".join(folded_words(inner)))
    if group in ("url", "doi", "path"):
        span = Span(start=match.start(), end=match.start() + len(raw.rstrip(".,;:!?*")))
        raw = raw.rstrip(".,;:!?*")
        return Written(
            value=ProtectedValue(
                text=raw, span=span, kind="identifier", normalised=raw.casefold(),
                identity=group == "doi",
            )
        )  # fmt: skip
    if group == "labelled" and re.match(r"(?i)id\b", raw):
        own = re.compile(r"(?i)(?:[a-z]+(?:\s?(?:number|no\.?|code|#))?[\s:#]*)").match(raw)
        rest = raw[own.end() :] if own is not None else raw
        if re.search(
            r"[A-Za-z]", rest
        ):  # "id: bench-6": the record's id names it without the label
            span = Span(start=match.end() - len(rest), end=match.end())
            return Written(
                value=ProtectedValue(
                    text=rest,
                    span=span,
                    kind="identifier",
                    normalised=rest.casefold(),
                    identity=True,
                )
            )
    identity = group == "nct" or (group == "labelled" and bool(IDENTITY_LABEL.match(raw)))
    normalised = raw.casefold()
    if group == "labelled":
        normalised = re.sub(
            r"(?i)\A(?:icd-10|[a-z]+)(?:\s?(?:number|no\.?|code|#))?[\s:#]*", "", raw
        )
        normalised = normalised.casefold() or raw.casefold()
    return list_item(match, "identifier", normalised, identity)


def _code(match: re.Match[str]) -> Written | None:
    raw = match.group()
    if match.lastgroup == "code":
        return list_item(match, "identifier", raw)
    if re.fullmatch(r"(?i)\d+(?:h|hr)\d+(?:m|min)?", raw):
        return list_item(match, "time", raw.casefold())
    if re.fullmatch(r"\d+[A-Za-z]{1,4}", raw):  # 10MG reads as a quantity below
        return _quantity(match, "number")
    if not _is_identifier(raw):
        return None
    return list_item(match, "identifier", raw.casefold(), bool(_PATIENT_ID.fullmatch(raw)))


def _is_identifier(word: str) -> bool:
    if _NOT_IDENTIFIERS.fullmatch(word) or _GENE.fullmatch(word):
        return False
    if "-" in word or "_" in word:
        head, _, tail = word.replace("_", "-").rpartition("-")
        if not any(character.isdigit() for character in tail):
            return sum(character.isdigit() for character in word) >= 3 and not head.islower()
        # bench-6 is a record, IL-6 and SARS-CoV-2 are names of things.
        return word[0].islower() or len(tail) >= 3
    digits = sum(character.isdigit() for character in word)
    if word != word.upper():
        return False
    return digits >= 3 or (len(word) >= 6 and digits >= 1 and bool(re.search(r"[A-Z]{2}", word)))


def _date(match: re.Match[str], group: str) -> Written | None:
    raw = match.group()
    numbers = [int(part) for part in re.findall(r"\d+", raw)]
    month = re.search(r"[A-Za-z]{3,}", re.sub(r"(?i)\bof\b", "", raw))
    named = next(
        (MONTHS[word] for word in re.findall(r"[a-z]{3,}", raw.casefold()) if word in MONTHS),
        None,
    )
    year: int | None
    if group in ("isodate", "cjkdate"):
        date = (numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else None)
        return _dated(match, date)
    if group == "slashdate":
        first, second, year = numbers
        if len(re.findall(r"\d+", raw)[2]) == 2 or not 1500 <= year < 2200:
            return list_item(match, "date", raw)
        if first > 12 >= second:
            return _dated(match, (year, second, first))
        if second > 12 >= first:
            return _dated(match, (year, first, second))
        if first == second:
            return _dated(match, (year, first, second))
        return list_item(match, "date", raw)  # day and month could be either: compared as written
    if month is None or named is None:
        return None
    if group == "my":
        return _dated(match, (numbers[0], named, None))
    if not 1 <= numbers[0] <= 31:
        return None
    year = numbers[1] if len(numbers) > 1 else None
    if year is None and raw.casefold().split()[0] in ("may",) and raw[0].islower():
        return None  # "may 5" in "doses may 5 times": a verb
    return _dated(match, (year if year is not None else 0, named, numbers[0]))


def _dated(match: re.Match[str], date: tuple[int, int | None, int | None]) -> Written:
    year, month, day = date
    text = f"{year:04d}" if year else "----"
    text += "" if month is None else f"-{month:02d}"
    text += "" if day is None else f"-{day:02d}"
    item = list_item(match, "date", text)
    return Written(value=item.value, date=date)


def _clock(raw: str) -> str:
    digits = [int(part) for part in re.findall(r"\d+", raw)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    half = re.search(r"(?i)([ap])\.?m", raw)
    if half is not None:
        hour = hour % 12 + (12 if half.group(1).lower() == "p" else 0)
    seconds = f":{digits[2]:02d}" if len(digits) > 2 and digits[2] else ""
    return f"{hour:02d}:{minute:02d}{seconds}"


def _quantity(match: re.Match[str], group: str) -> Written | None:
    raw = match.group()
    if group == "pressure":
        amounts = tuple(Decimal(part) for part in re.findall(r"\d+", raw))
        item = list_item(match, "number", "/".join(str(amount) for amount in amounts))
        return Written(value=item.value, amounts=amounts, unit="/")
    folded = unicodedata.normalize("NFKC", raw).casefold().replace("−", "-")
    found = list(re.finditer(NUMBER, folded))
    if not found:
        return None
    found = found[: 2 if group in ("range", "money") else 1]  # the 2 of kg/m2 is no amount
    scale = re.search(r"\d\s?(hundred|thousand|million|billion|trillion|bn|[kmb])(?![a-z])", folded)
    unit, below = unit_of(folded, found[-1].end(), group)
    if scale is not None and unit in ("m", "b") and group != "range":
        scale = None if "m" in folded[found[-1].end() :][:2] and raw[-1:] != "M" else scale
    amounts = tuple(decimal_of(part.group()) for part in found)
    if scale is not None and (unit is None or group == "money" or raw.rstrip()[-1:] in "MKB"):
        factor = SCALES[scale.group(1)]
        amounts = tuple(amount * factor for amount in amounts)
        unit = unit if group == "money" else None
    sign = "-" if re.match(r"[^\d.]*-", folded[: found[0].start() + 1]) else ""
    kind = _kind(group, folded, unit)
    factor_unit = UNITS.get(unit or "", (unit or "", Decimal(1)))
    if unit is not None and kind in ("dose", "number"):
        amounts = tuple(amount * factor_unit[1] for amount in amounts)
        unit = factor_unit[0]
    if kind == "date":
        year = int(found[0].group())
        return Written(value=list_item(match, "date", str(year)).value, date=(year, None, None))
    normalised = normalised_number(amounts, unit, below, sign)
    compares = comparator(folded)
    if decade := _DECADE.search(folded):
        normalised, compares = decade.group().replace("'", "").replace("’", ""), "decade"
    return Written(
        value=list_item(match, kind, normalised).value,
        amounts=amounts,
        unit=unit,
        below=below,
        sign=sign,
        compares=compares,
        bare=NOUN_BEHIND.match(match.string, match.end()) is None
        and not is_position(match.string, match.start(), match.end()),
    )


def _kind(group: str, folded: str, unit: str | None) -> str:
    if group == "money":
        return "currency"
    if unit == "%":
        return "percent"
    base = UNITS.get(unit or "", ("", Decimal(0)))[0]
    if base in DOSE_BASES and unit not in ("kg", "kilogram"):
        return "dose"
    if group == "number" and unit is None and re.fullmatch(r"(?:1[5-9]|20|21)\d\d", folded):
        return "date"
    return "number"


def decimal_of(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:  # digits of other scripts that the pattern let through
        return Decimal(0)
