"""How values are written: the pattern, and what its units, currencies and number words mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from core.evidence.names import MONTHS, WEEKDAYS
from core.evidence.quantity_patterns import CURRENCY
from core.records import ProtectedValue, Span

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2
    )
}


SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
    "k": 1_000,
    "m": 1_000_000,
    "b": 1_000_000_000,
    "bn": 1_000_000_000,
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
