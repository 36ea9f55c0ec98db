"""How values are written: the pattern, and what its units, currencies and number words mean."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from core.evidence.names import MONTHS, WEEKDAYS, folded_words
from core.evidence.quantity_patterns import CURRENCY, NUMBER_WORDS
from core.evidence.quantity_patterns import SCALES as AMOUNT_OF_SCALE
from core.records import ProtectedValue, Span

SCALES = {
    word: int(AMOUNT_OF_SCALE[word])
    for word in "hundred thousand million billion trillion k m b bn".split()
}
# unit -> (what is compared, how many of those it is)
UNITS: dict[str, tuple[str, Decimal]] = {}
for _base, _members in {
    "g": {"kg": "1000", "g": "1", "gram": "1", "mg": "0.001", "milligram": "0.001"}
    | {"mcg": "0.000001", "µg": "0.000001", "ug": "0.000001", "microgram": "0.000001"}
    | {"ng": "0.000000001", "pg": "0.000000000001", "kilogram": "1000"},
    "l": {"l": "1", "liter": "1", "litre": "1", "dl": "0.1", "ml": "0.001", "cc": "0.001"}
    | {"milliliter": "0.001", "millilitre": "0.001", "µl": "0.000001", "ul": "0.000001"},
    "mol": {"mol": "1", "mmol": "0.001", "µmol": "0.000001", "umol": "0.000001"}
    | {"nmol": "0.000000001", "pmol": "0.000000000001"},
    "m": {"km": "1000", "m": "1", "meter": "1", "metre": "1", "cm": "0.01", "mm": "0.001"}
    | {"kilometer": "1000", "kilometre": "1000", "centimeter": "0.01", "millimeter": "0.001"},
    "s": {"second": "1", "sec": "1", "min": "60", "minute": "60", "h": "3600", "hr": "3600"}
    | {"hour": "3600", "day": "86400", "d": "86400", "week": "604800", "wk": "604800"},
    "month": {"month": "1", "mo": "1", "year": "12", "yr": "12", "y": "12"},
    "iu": {"iu": "1", "unit": "1", "units": "1", "u": "1"},
}.items():
    for _unit, _factor in _members.items():
        # Both micro signs are in use: U+00B5 and the Greek letter that NFKC makes of it.
        UNITS[_unit] = UNITS[_unit.replace("\u00b5", "\u03bc")] = (_base, Decimal(_factor))
for _unit in (
    "mmhg bpm meq mosm kcal cal kj pa kpa °c °f °n °s °e °w ° mv ma kw kwh mb gb tb kb mph hz mhz "
    "ghz msec ms ppm copies cells lb lbs oz ounce pound mile inch ft"
).split():
    UNITS.setdefault(_unit, (_unit, Decimal(1)))
for _plural, _singular in {"lbs": "lb", "pound": "lb", "ounce": "oz"}.items():
    UNITS[_plural] = (_singular, Decimal(1))


DOSE_BASES = frozenset({"g", "l", "mol", "iu", "meq"})


# The codes of one list, lower-cased as values are compared; "pound" alone is a weight.
_CURRENCY_CODES = {name: code.casefold() for name, code in CURRENCY.items()}
_CURRENCY_CODES |= {"pound sterling": "gbp"}
_PLAIN_CODES = "|".join(
    name.upper() for name in CURRENCY if re.fullmatch("[a-z]{3}", name) and name != "yen"
)
_CURRENCY_NAMES = re.compile(
    "|".join(
        re.escape(name) + (r"(?![a-z])" if name.isalpha() and name.isascii() else "")
        for name in sorted(_CURRENCY_CODES, key=len, reverse=True)
    )
)


_B = r"(?<![A-Za-z0-9_.])"  # a number may touch Chinese text, never a Latin word


_E = r"(?![A-Za-z0-9_])"


# Between the commas of "Syringes,500,450" stand two numbers, no thousands.
NUMBER = r"(?:(?<!,)\d{1,3}(?:,\d{3})+(?!,\S)(?:\.\d+)?|\d{1,18}(?:\.\d{1,12})?|\.\d{1,12})"


_MONTH = r"(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"


_DASH = r"[-\u2010-\u2015\u2212~]"


_UNIT = (
    r"(?:"
    + "|".join(sorted((re.escape(unit) for unit in UNITS), key=len, reverse=True))
    + r")s?(?!\s?=|(?<=unit)\s?:|(?<=units)\s?:)"  # "10 unit: mg" in a record gives the unit next
)


_UNIT_TAIL = r"(?:/(?:" + _UNIT + r"|\d{1,3}\s?" + _UNIT + r"|dose|kg))?(?:\u00b2|\^2|2(?![\d.]))?"


_MONEY = r"(?:US\$|[$€£¥￥₹])"


_MONEY_CODE = rf"(?:{_PLAIN_CODES}|dollars?|euros?|yuan|yen)"


_SCALE = r"(?:\s?(?:hundred|thousand|million|billion|trillion)|\s?(?:bn|[KMB]))" + _E


_SMALL = "|".join(word for word in NUMBER_WORDS if word not in ("zero",))


_SPELLED = (
    r"(?:(?:" + _SMALL + r")(?:[-\s](?:" + _SMALL + r"|hundred|thousand|million|billion)){0,4})"
)


_COMPARATOR = (
    r"(?:(?:>=|<=|≥|≤|[<>~≈±])\s?|\b(?:(?:at least|at most|no more than|no less than|up to|as many as|"
    r"more than|less than|fewer than|greater than|over|under|above|below|exceeding|nearly|almost|"
    r"about|around|approximately|roughly)\s){1,2})"
)


_PERCENT = r"[ \u00a0]?(?:%|％|percent\b|per cent\b|percentage points?\b)"


VALUE = re.compile(
    # No value starts inside a Latin word or at white space: most places are passed over at once.
    r"(?!\s)(?:(?<![A-Za-z])|(?![A-Za-z]))(?:"
    + "|".join(
        (
            r'(?P<quoted>(?<!\w)"(?=\S)[^"\n]{2,300}"|“[^”\n]{2,300}”|«[^»\n]{2,300}»)',
            r"(?P<url>https?://[^\s<>\"')\]|]{3,2000}|www\.[^\s<>\"')\]|]{3,500})",
            r"(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,24}){1,4})",
            r"(?P<doi>\b10\.\d{4,9}/[^\s\"<>)\]]{2,200})",
            r"(?P<path>(?<![\w/.~])~?/[\w.@+-]{1,128}(?:/[\w.@+-]{1,128}){1,30}/?)",
            r"(?P<file>(?<![\w/.])[\w-]{1,100}\.(?:pdf|md|csv|xlsx?|pptx?|docx?|html?|png|jpe?g|svg|"
            r"json|txt|py|ts|js|wav|mp3|mp4|zip)\b)",
            r"(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
            r"(?P<labelled>\b(?:PMID|MRN|ICD-10|ICD|LOINC|SNOMED|RxCUI|NPI|DIN|EIN|SSN|ISBN|"
            r"ID|CAS)(?:\s?(?:number|no\.?|code|CT|#))?\s?[:#]?\s?#?"
            r"(?=[A-Z0-9.-]{0,19}\d)[A-Z0-9](?:[A-Z0-9-]|\.(?=[A-Z0-9])){0,23}" + _E + r")",
            r"(?P<nct>(?<![A-Za-z0-9_])(?:NCT\d{6,9}|PMC\d{4,9}|rs\d{3,12}|arXiv:\d{4}\.\d{4,5})"
            + _E + r")",
            r"(?P<icd>(?<![A-Za-z0-9_])[A-TV-Z]\d{2}\.\d{1,4}[A-Z]?" + _E + r")",
            r"(?P<isodate>"
            + _B
            + r"(?:1[5-9]|2[01])\d{2}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])"
            r"(?:(?=[T ]\d{1,2}:)|(?![\d])))",
            r"(?P<cjkdate>" + _B + r"\d{4}\s?年\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?)",
            r"(?P<dmy>" + _B + r"\d{1,2}(?:st|nd|rd|th)?(?:\s|-|\sof\s)" + _MONTH
            + r"(?:,?[\s-]\d{4}" + _E + r")?" + _E + r")",
            r"(?P<mdy>\b" + _MONTH + r"\s\d{1,2}(?:st|nd|rd|th)?(?!\d)(?:,?\s\d{4}" + _E + r")?"
            r"(?![\w:%]|\.\d))",
            r"(?P<my>\b" + _MONTH + r",?[\s-]\d{4}" + _E + r")",
            r"(?P<weekday>\b(?:" + "|".join(WEEKDAYS) + r")s?\b)",
            r"(?P<slashdate>" + _B + r"(?:\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})|\d{1,2}-\d{1,2}-\d{4}"
            r"|\d{1,2}\.\d{1,2}\.\d{4})" + _E + r"(?!/))",
            r"(?P<time>(?:(?<=\dT)|" + _B + r")(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?"
            r"(?:\s?[ap]\.?m\b\.?)?" + _E + r"|" + _B + r"(?:1[0-2]|0?[1-9])\s?[ap]\.?m\b\.?)",
            r"(?P<money>(?:" + _COMPARATOR + r")?[-+~]?" + _MONEY + r"\s?" + NUMBER + r"(?:" + _SCALE
            + r")?(?:\s?" + _DASH + r"\s?" + _MONEY + r"?\s?" + NUMBER + r"(?:" + _SCALE + r")?)?"
            r"|(?:" + _COMPARATOR + r")?" + _B + NUMBER + r"(?:" + _SCALE + r")?\s" + _MONEY_CODE + r"\b"
            rf"|\b(?:{_PLAIN_CODES})\s" + NUMBER + r"(?:" + _SCALE + r")?)",
            # LOINC-like codes and words with digits: 4548-4, bench-6, HAT169, XEHM4B
            r"(?P<code>" + _B + r"\d{4,6}-\d" + _E + r"(?!\s?" + _UNIT + _E + r"))",
            r"(?P<word>(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{0,60}\d)(?:[A-Za-z][A-Za-z0-9]{0,40}"
            r"(?:[_-][A-Za-z0-9]{1,40}){0,8}|\d{1,4}[A-Z]{1,10}[A-Z0-9]{1,20})(?![A-Za-z0-9_]))",
            r"(?P<pressure>" + _B + r"\d{2,3}/\d{2,3}(?!/)" + _E + r"(?:\s?mm\s?Hg)?)",
            r"(?P<range>(?:" + _COMPARATOR + r")?" + _B + r"[-−+]?" + NUMBER + r"(?:" + _PERCENT
            + r"|[ \u00a0]?" + _UNIT + _E + r")?(?:\s?" + _DASH + r"\s?|\sto\s)[-−+]?" + NUMBER
            + r"(?![\d-]|\.\d)(?:" + _PERCENT + r"|[ \u00a0-]?" + _UNIT + _UNIT_TAIL + _E + r")?)",
            r"(?P<number>(?:" + _COMPARATOR + r")?(?:(?<![A-Za-z0-9_)])[-−+])?" + _B + NUMBER
            + r"(?:" + _PERCENT + r"|" + _SCALE + r"(?:\s?" + _UNIT + _E + r")?|[ \u00a0-]?" + _UNIT
            + _UNIT_TAIL + _E + r"|(?:st|nd|rd|th)" + _E + r"|(?:['’]?s|x|fold)" + _E + r")?"
            r"(?![A-Za-z_])(?!\.\d))",
            r"(?P<spelled>(?<![A-Za-z0-9_-])(?:" + _COMPARATOR + r")?" + _SPELLED
            + r"(?:" + _PERCENT + r"|[ -]" + _UNIT + _E
            + r")?(?![A-Za-z0-9_]))",
        )
    )
    + ")",
    re.IGNORECASE,
)  # fmt: skip


# "10 tablets" counts something; "dose: 10", "aged 65 and older" leave the unit to another place.
NOUN_BEHIND = re.compile(
    r"[ \u00a0-]?(?!(?:and|or|but|in|on|at|with|for|by|from|as|is|was|were|are|when|once|twice|daily|per|"
    r"to|who|then|unit|units)\b)[A-Za-z]",
    re.IGNORECASE,
)


IDENTITY_LABEL = re.compile(r"(?i)(?:PMID|MRN|ID|SSN)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One value as written: its amounts in ``unit`` (two for a range), or what is compared literally."""

    value: ProtectedValue
    amounts: tuple[Decimal, ...] = ()
    unit: str | None = None
    below: str | None = None
    sign: str = ""
    compares: str = ""
    bare: bool = False
    date: tuple[int, int | None, int | None] | None = None
    weekday: int | None = None  # Monday is 0
    only_in_premises: bool = False


def list_item(match: re.Match[str], kind: str, normalised: str, identity: bool = False) -> Written:
    span = Span(start=match.start(), end=match.end())
    return Written(
        value=ProtectedValue(
            text=match.group(), span=span, kind=kind, normalised=normalised, identity=identity
        )
    )


def unit_of(folded: str, end: int, group: str) -> tuple[str | None, str | None]:
    rest = folded[end:].strip().lstrip("-").strip()
    if group == "money":
        sign = _CURRENCY_NAMES.search(folded)
        return (_CURRENCY_CODES[sign.group()] if sign else None), None
    if re.search(r"%|percent|per cent", folded):
        return "%", None
    if not rest or rest in ("st", "nd", "rd", "th", "s", "x", "fold"):
        return None, None
    name, _, below = rest.partition("/")
    name = name.rstrip("²^2 ").strip()
    for candidate in (name, name.rstrip("s")):
        if candidate in UNITS:
            return candidate, (below.strip() or None)
    return None, None


def spelled_value(match: re.Match[str]) -> Written | None:
    raw = match.group().casefold()
    compares = comparator(raw)
    words = [word for word in re.split(r"[-\s]+", raw) if word in NUMBER_WORDS or word in SCALES]
    if not words:
        return None
    total, current = 0, 0
    for word in words:
        if word in NUMBER_WORDS:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        else:
            total, current = total + max(current, 1) * SCALES[word], 0
    amount = Decimal(total + current)
    last = re.search(r"(?:" + _PERCENT + r")\Z", raw)
    unit_word = raw.split()[-1].rstrip("s") if not last else "%"
    unit = "%" if last else (unit_word if unit_word in UNITS and len(unit_word) > 1 else None)
    kind = "percent" if last else "number"
    if unit and unit != "%":
        base, factor = UNITS[unit]
        amount, unit = amount * factor, base
        kind = "dose" if base in DOSE_BASES else "number"
    item = list_item(match, kind, normalised_number((amount,), unit, None, ""))
    # "one" is mostly a pronoun or an article; a premise's "one" still answers a claim's 1.
    return Written(
        value=item.value,
        amounts=(amount,),
        unit=unit,
        compares=compares,
        only_in_premises=words == ["one"] and not unit,
    )


def normalised_number(
    amounts: tuple[Decimal, ...], unit: str | None, below: str | None, sign: str
) -> str:
    numbers = "..".join(plain_number(amount) for amount in amounts)
    text = f"{sign}{numbers}"
    if unit == "%":
        return text + "%"
    return text + (f" {unit}" if unit else "") + (f"/{below}" if below else "")


def plain_number(amount: Decimal) -> str:
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def comparator(folded: str) -> str:
    """Return how the number is meant: ``<``, ``>``, ``~`` for about, or nothing for exactly."""
    match = re.match(
        r"\s*(>=|<=|≥|≤|[<>~≈±]|at least|at most|more than|less than|fewer than|greater than|"
        r"no more than|no less than|up to|as many as|over|under|above|below|exceeding|nearly|"
        r"almost|about|around|approximately|roughly)\b|\s*(>=|<=|≥|≤|[<>~≈±])",
        folded,
    )
    if match is None:
        return ""
    said = match.group(1) or match.group(2)
    if re.search(r"\b(?:over|more than|at least|less than|under)\s", folded[len(said) :]):
        return comparator(folded[match.end() :].lstrip())  # "about over 15", "well over"
    if said in _ABOUT:
        return "~"
    if said == "±":
        return ""
    return "<" if said.startswith(_UPPER) else ">"


_ABOUT = frozenset("~ ≈ nearly almost about around approximately roughly".split())


_UPPER = (
    "<", "≤", "at most", "less", "fewer", "no more", "up to", "under", "below", "as many as",
)  # fmt: skip


_BEFORE = 24  # characters before a number that can make it a position
_BEHIND = 24
_OPENS_LINE = re.compile(r"(?:^|\n)[ \t]*(?:[-*•>][ \t]+)?(?P<mark>[\[(#|]?)[ \t]*\Z")
_BRACKET = re.compile(r"(?P<before>[^\s]?)\s*\[\Z")
_COUNTED = re.compile(r"\b(?:row|item|entry|line|no|nr|record|index|ref|reference)\.?\s*#?\Z", re.I)
_UNIT_CELL = re.compile(
    r"(?:mg|g|mcg|µg|ug|ml|l|units?|iu|kg|mmol|meq|%|tablets?|caps?\w*)\b", re.I
)


def is_position(text: str, start: int, end: int) -> bool:
    """Whether the number at these places of a text is an index: "[5] metformin", "5. metformin"."""
    before, behind = text[max(0, start - _BEFORE) : start], text[end : end + _BEHIND]
    if not text[start:end].strip().isdecimal():
        return False
    bracket = _BRACKET.search(before)
    # "doses: [5]" lists an amount; "metformin [5]" and "medications[5]:" refer.
    if bracket and behind.startswith("]"):
        return bracket["before"] not in (":", "=", ",", "[")
    if _COUNTED.search(before):
        return True
    opens = _OPENS_LINE.search(("\n" if start <= _BEFORE else "") + before)
    if opens is None:
        return False
    if opens["mark"] == "#":
        return True
    if opens["mark"] == "|":
        return bool(re.match(r"\s*\|\s*[^\W\d]", behind)) and not _UNIT_CELL.match(
            behind.lstrip(" |\t")
        )
    return bool(re.match(r"[.):\]]{1,2}[ \t]+[^\W\d]", behind))


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
