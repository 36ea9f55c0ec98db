"""Units as they are written, what they measure, and how one becomes another.

Spellings are a closed list, so that finding a unit costs no library; converting one into another
is pint's work, which is loaded when two different units first meet.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from core.evidence.words import stem, stems

if TYPE_CHECKING:
    import pint

# What pint calls a unit, and how texts spell it. Two spellings of one name are the same unit.
_SPELLINGS: dict[str, str] = {
    "kilometer": "km kms kilometer kilometers kilometre kilometres 公里 千米",
    "meter": "m meter meters metre metres 米",
    "centimeter": "cm cms centimeter centimeters centimetre centimetres 厘米",
    "millimeter": "mm millimeter millimeters millimetre millimetres 毫米",
    "mile": "mi mile miles",
    "foot": "ft foot feet",
    "inch": "inch inches",
    "yard": "yd yard yards",
    "nautical_mile": "nmi",
    "light_year": "light-year light-years ly",
    "kilogram": "kg kgs kilo kilos kilogram kilograms 公斤 千克",
    "gram": "g gram grams gm 克",
    "milligram": "mg milligram milligrams 毫克",
    "microgram": "mcg µg ug microgram micrograms",
    "nanogram": "ng",
    "picogram": "pg",
    "pound": "lb lbs pound pounds",
    "ounce": "oz ounce ounces",
    "stone": "stone",
    "metric_ton": "t ton tons tonne tonnes 吨",
    "liter": "l liter liters litre litres 升",
    "deciliter": "dl",
    "milliliter": "ml cc milliliter milliliters millilitre millilitres 毫升",
    "microliter": "µl ul",
    "femtoliter": "fl",
    "gallon": "gallon gallons",
    "cup": "cup cups",
    "tablespoon": "tbsp tablespoon tablespoons",
    "teaspoon": "tsp teaspoon teaspoons",
    "mole": "mol",
    "millimole": "mmol",
    "micromole": "µmol umol",
    "nanomole": "nmol",
    "picomole": "pmol",
    "millisecond": "ms msec millisecond milliseconds",
    "second": "s sec secs second seconds 秒",
    "minute": "min mins minute minutes 分钟",
    "hour": "h hr hrs hour hours 小时",
    "day": "d day days 天",
    "week": "w wk wks week weeks",
    "month": "mo mos month months 个月",
    "year": "y yr yrs year years 年",
    "decade": "decade decades",
    "byte": "byte bytes",
    "kilobyte": "kb kilobyte kilobytes",
    "megabyte": "mb megabyte megabytes",
    "gigabyte": "gb gigabyte gigabytes",
    "terabyte": "tb terabyte terabytes",
    "kibibyte": "kib",
    "mebibyte": "mib",
    "gibibyte": "gib",
    "degree_Celsius": "°c celsius ℃",
    "degree_Fahrenheit": "°f fahrenheit",
    "kelvin": "kelvin",
    "degree": "° degree degrees",
    "watt": "watt watts",
    "kilowatt": "kw kilowatt kilowatts",
    "megawatt": "mw megawatt megawatts",
    "kilowatt_hour": "kwh",
    "joule": "joule joules",
    "kilojoule": "kj",
    "kilocalorie": "kcal kcals cal calories",
    "volt": "v volt volts",
    "millivolt": "mv",
    "ampere": "amp amps",
    "millimeter_Hg": "mmhg mm[hg]",  # "mm Hg" is put together below
    "pascal": "pa",
    "kilopascal": "kpa",
    "hertz": "hz",
    "kilohertz": "khz",
    "megahertz": "mhz",
    "gigahertz": "ghz",
    "mile / hour": "mph",
    "kilometer / hour": "kph",
    "hectare": "ha hectare hectares",
    "acre": "acre acres",
    "acre_foot": "acre-feet",
}
# Units that are only ever compared with themselves.
_OWN = {
    "iu": "iu iu.",
    "u": "u",
    "meq": "meq",
    "mosm": "mosm",
    "bpm": "bpm beats/min",
    "score": "{score}",
    "10*3": "10*3 k/ul",
    "10*6": "10*6",
    "percent": "% ％ percent",
    "fold": "fold -fold times x ×",
    "star": "stars star ★",
    "pixel": "px pixel pixels",
    "dpi": "dpi",
}
NAMES: dict[str, str] = {
    spelling: name
    for table in (_SPELLINGS, _OWN)
    for name, spellings in table.items()
    for spelling in spellings.split()
}
NAMES |= {"mm hg": "millimeter_Hg", "per cent": "percent", "percentage point": "percent"}
NAMES |= {"percentage points": "percent"}
TIME = frozenset(
    {"millisecond", "second", "minute", "hour", "day", "week", "month", "year", "decade"}
)
# In these the case says which: M is a million, m a metre; B a billion, KB a thousand bytes.
_ONLY_LOWER = frozenset({"m", "g", "s", "h", "d", "w", "y", "t", "v", "l"}) - {"l", "v"}
_NUMERATOR = sorted(
    (re.escape(s) for s in NAMES if s not in ("x", "×", "times")), key=len, reverse=True
)
UNIT = re.compile(
    r"[ \u00a0\-]?(?P<unit>(?:" + "|".join(_NUMERATOR) + r")"
    r"(?:\s?[/·]\s?\{?(?:\d+(?:\.\d+)?[\s_]?)?(?:[A-Za-zµμ]{1,6}|\[[A-Za-z]+\])[²2³3]?\}?(?![A-Za-z])){0,2}[²2³3]?)"
    r"(?![A-Za-z\d]|\.\d)|[ \u00a0-]?(?P<fold>times|fold|x|×)(?![A-Za-z\d])",
    re.IGNORECASE,
)  # fmt: skip
_POWER = str.maketrans({"²": "2", "³": "3", "\u03bc": "µ"})


def unit_name(written: str) -> str | None:
    """The name of a written unit ("mg/dL" is "milligram / deciliter"); None for no known one."""
    folded = written.strip().translate(_POWER).replace("{1.", "1.").removesuffix("}")
    folded = written.strip() if folded.startswith("{") else folded
    if len(folded) == 1 and folded.lower() in _ONLY_LOWER and not folded.islower():
        return None
    return _unit_name(folded.lower())


@lru_cache(maxsize=2_048)
def _unit_name(folded: str) -> str | None:
    whole = NAMES.get(folded)
    if whole is not None:
        return whole
    names: list[str] = []
    for part in (each.strip() for each in re.split(r"[/·]", folded)):
        if part in NAMES:
            names.append(NAMES[part])
            continue
        base = re.fullmatch(r"(\d+(?:\.\d+)?)?[\s_]?([^\d]+?|10\*\d)([23])?", part)
        if base is None:
            return None
        name = NAMES.get(base.group(2).strip())
        if name is None and names:  # mg/kg/dose, cells per field: compared as written
            name = base.group(2).strip()
        if name is None:
            return None
        size = f"{base.group(1)} * " if base.group(1) else ""
        names.append(f"{size}{name}" + (f" ** {base.group(3)}" if base.group(3) else ""))
    return " / ".join(names)


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint  # a third of a second, paid only when two different units meet

    return pint.UnitRegistry(cache_folder=None)


@lru_cache(maxsize=4_096)
def factor(unit: str, into: str) -> float | None:
    """What an amount in ``unit`` is multiplied with to be one in ``into``; None when it cannot be."""
    if unit == into:
        return 1.0
    if _is_own(unit) or _is_own(into) or "degree_" in unit or "degree_" in into:
        return None
    import pint

    registry = _registry()
    try:
        return float(registry.Quantity(1.0, unit).to(into).magnitude)
    except (pint.errors.PintError, AttributeError, AssertionError, TypeError, ValueError):
        return None


def _is_own(unit: str) -> bool:
    return any(part.strip().split(" ")[0] in _OWN for part in unit.split("/"))


# Conversions that depend on what is measured: (words of the attribute, from, into, factor, offset).
# Molar masses: glucose 180.16, cholesterol 386.65, triglycerides 885.7 (as used), creatinine 113.12,
# urea nitrogen 28.01, bilirubin 584.66, uric acid 168.11, calcium 40.08 g/mol. HbA1c: NGSP = 0.09148
# IFCC + 2.152 (Hoelzel et al., Clin Chem 2004;50:166-174).
_PER_DL, _MILLI, _MICRO = (
    "milligram / deciliter",
    "millimole / liter",
    "micromole / liter",
)
_ANALYTES: tuple[tuple[frozenset[str], str, str, float, float], ...] = (
    (frozenset({"glucose", "sugar", "fbg", "fpg"}), _PER_DL, _MILLI, 1 / 18.016, 0.0),
    (frozenset({"cholesterol", "ldl", "hdl", "tc"}), _PER_DL, _MILLI, 1 / 38.665, 0.0),
    (frozenset({"triglyceride", "triglycerides", "tg"}), _PER_DL, _MILLI, 1 / 88.57, 0.0),
    (frozenset({"creatinine"}), _PER_DL, _MICRO, 88.4, 0.0),
    (frozenset({"urea", "bun"}), _PER_DL, _MILLI, 1 / 2.801, 0.0),
    (frozenset({"bilirubin"}), _PER_DL, _MICRO, 17.104, 0.0),
    (frozenset({"urate", "uric"}), _PER_DL, _MICRO, 59.48, 0.0),
    (frozenset({"calcium"}), _PER_DL, _MILLI, 1 / 4.008, 0.0),
    (
        frozenset({"a1c", "hba1c", "hemoglobin", "haemoglobin"}),
        "percent",
        "millimole / mole",
        1 / 0.09148,
        -2.152 / 0.09148,
    ),
)


def converted(amount: float, unit: str, into: str, words: frozenset[str]) -> float | None:
    """An amount in another unit; ``words`` say what is measured, where that decides (mg/dL, mmol/L)."""
    by = factor(unit, into)
    if by is not None:
        return amount * by
    if {unit, into} == {"degree_Celsius", "degree_Fahrenheit"}:
        return amount * 1.8 + 32 if into == "degree_Fahrenheit" else (amount - 32) / 1.8
    for names, one, other, times, offset in _ANALYTES:
        names = names | {stem(name) for name in names}
        if names & words and (unit, into) == (one, other):
            return amount * times + offset
        if names & words and (unit, into) == (other, one):
            return (amount - offset) / times
    return None


# What a unit measures, as the attributes that are counted in it are called.
MEASURES: tuple[tuple[str, frozenset[str]], ...] = (
    ("kilogram", stems("weight mass wt")),
    ("meter", stems("height length distance radius width depth elevation")),
    ("second", stems("duration time elapsed period")),
    ("byte", stems("size bytes length")),
    ("millimeter_Hg", stems("pressure bp")),
    ("degree_Celsius", stems("temperature temp")),
)


@lru_cache(maxsize=512)
def measured_by(unit: str | None) -> frozenset[str]:
    """The stems of attributes that a unit measures: weight for kg, pressure for mmHg."""
    if unit is None:
        return frozenset()
    found = [words for base, words in MEASURES if unit == base or factor(unit, base) is not None]
    return frozenset().union(*found) if found else frozenset()
