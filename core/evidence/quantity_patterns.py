"""How quantities are written: one pattern that finds the next amount, date or literal of a text."""

from __future__ import annotations

import re

from core.evidence.names import MONTHS

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
_OTHERS = {"a": 1.0, "an": 1.0, "dozen": 12.0, "twice": 2.0, "half": 0.5, "两": 2.0}
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "千": 1e3, "万": 1e4, "million": 1e6, "m": 1e6,
    "mn": 1e6, "亿": 1e8, "billion": 1e9, "b": 1e9, "bn": 1e9, "trillion": 1e12, "t": 1e12,
}  # fmt: skip
_BIG = ("hundred", "thousand", "million", "billion", "trillion", "dozen")
# An article counts one only before a scale or a unit of time: "a million", "within a week".
_ARTICLE = (
    r"an?(?=\s(?:hundred|thousand|million|billion|trillion|dozen|"
    r"minute|hour|day|week|month|year|decade)\b)"
)


def spelled_pattern() -> str:
    """The regular expression of a number in words."""
    small = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    big = "|".join(_BIG)
    return (
        rf"(?<![A-Za-z0-9_-])(?:(?:{_ARTICLE})|twice|(?:{small}))"
        rf"(?:(?:[-\s]|\sand\s)(?:{small}|{big})){{0,5}}(?:\sand\sa\shalf)?(?![A-Za-z])"
        rf"|(?<![A-Za-z0-9_-])half\sa\s(?:million|billion|dozen)\b"
    )


def spelled_number(words: str) -> float | None:
    """The value of a number in words; None for what is none."""
    half = words.lower().endswith(" and a half")
    said = re.split(r"[-\s]+", words.lower().removesuffix(" and a half"))
    if said[0] == "half":
        return None if len(said) < 3 else 0.5 * (12.0 if said[-1] == "dozen" else SCALES[said[-1]])
    total = current = 0.0
    for word in said:
        if word in NUMBER_WORDS or word in _OTHERS and word != "dozen":
            current += (NUMBER_WORDS | _OTHERS)[word]
        elif word == "dozen":
            current = max(current, 1.0) * 12
        elif word == "hundred":
            current = max(current, 1.0) * 100
        elif word in SCALES:
            total, current = total + max(current, 1.0) * SCALES[word], 0.0
        elif word != "and":
            return None
    return total + current + (0.5 if half else 0.0)


MONTH = r"(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")"
NUMBER = (
    r"(?:\d{1,3}(?:[\u00a0\u202f\u2009]\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?=\s[a-z])"
    # Between the commas of "Syringes,500,450" stand two numbers, no thousands.
    r"|\d{1,3}·\d{1,4}|(?<!,)\d{1,3}(?:,\d{3})+(?!,\S)(?:\.\d+)?|\d{1,3}(?:_\d{3})+"
    r"|\d{1,18}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?|\.\d{1,15})"
)
VULGAR = {
    "½": 0.5, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 0.25, "¾": 0.75, "⅕": 0.2, "⅖": 0.4, "⅗": 0.6,
    "⅘": 0.8, "⅙": 1 / 6, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625, "⅞": 0.875,
}  # fmt: skip
DASH = r"[-\u2010-\u2015\u2212~]"
YEAR = r"(?:1[5-9]|20|21)\d\d"
_LABELS = "PMID|PMC|MRN|LOINC|SNOMED|RxCUI|NPI|ISBN|DOI|CAS"
# What holds digits and is no amount: addresses, paths, files, codes, versions, words with digits.
LITERAL = (
    r"(?P<literal>https?://[^\s<>\"'\])]{1,2000}|www\.[^\s<>\"'\])]{1,500}"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,24}){1,4}|10\.\d{4,9}/[^\s\"<>\])]{2,200}"
    r"|(?<![\w/.])~?/(?=[^\s/]*[A-Za-z])[\w.@+-]{1,128}(?:/[\w.@+-]{1,128}){0,30}"
    r"|[\w-]{1,100}\.(?:pdf|md|csv|xlsx?|pptx?|docx?|html?|png|jpe?g|svg|json|txt|py|ts|js|wav|mp3|mp4|zip)\b"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    rf"|\b(?:{_LABELS})\b[\s:#]{{0,3}}\d[\d-]{{0,20}}"
    rf"|(?<![\w.])(?!\d{{1,2}}\.\d{{1,2}}\.{YEAR}(?!\.?\d))v?\d+(?:\.\d+){{2,5}}(?![\w])"
    r"|(?<![\w.])v\d+(?:\.\d+)?\b|\d{4,6}-\d(?![\d-])"
    r"|(?<![A-Za-z0-9_])(?!(?:mid|pre|post|late|early|sub|non|a|to|of|up)-)(?=[A-Za-z])[A-Za-z][A-Za-z]{0,20}"
    r"-?(?=\d)"
    r"(?!(?:\d{1,2}-\d{4}))[A-Za-z0-9_]{1,30}(?:-[A-Za-z0-9]{1,20}){0,4}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9_.])\d+-[A-Z]{1,3}\d[\w-]*"
    r"|(?:[×x]\s?|\b)10(?:\^|\*)?[³⁶⁹\d]\s?/\s?[µμu]?L\b)"  # ×10³/µL: the number before it is the amount
)
DATES = (
    rf"(?P<iso>(?<![\d./-]){YEAR}(?:[-/](?:1[0-2]|0?[1-9])(?:[-/](?:3[01]|[12]\d|0?[1-9]))?"
    r"|\.(?:1[0-2]|0?[1-9])\.(?:3[01]|[12]\d|0?[1-9]))(?!\d|[-/.]\d)"
    r"(?:T(?=\d))?)"
    r"|(?P<cjk>\d{4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?)?)"
    rf"|(?P<dmy>(?<![\w.,])(?:\d{{1,2}}[-\u2010-\u2015])?\d{{1,2}}(?:st|nd|rd|th)?"
    rf"[\s-](?:of\s)?{MONTH}\b\.?(?:,?[\s-]{YEAR}(?!\d))?)"
    rf"|(?P<monthyear>(?<![\d/.])(?:1[0-2]|0?[1-9])/{YEAR}(?![\d/]))"
    rf"|(?P<stamp>\b{MONTH}\s{{1,2}}\d{{1,2}}(?=\s\d\d:\d\d))"  # "Feb  7 06:32:09 2027 GMT"
    rf"|(?P<mdy>\b{MONTH}\b\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?![\d%:]|\.\d|\s?(?:mg|kg|cm)\b)"
    rf"(?:{DASH}\d{{1,2}}(?!\d))?(?:,?\s{YEAR}(?!\d))?)"
    rf"|(?P<my>\b{MONTH}\b\.?,?(?:[\s-]|\sof\s){YEAR}(?!\d))"
    rf"|(?P<slash>(?<![\d/.-])\d{{1,2}}(?:/\d{{1,2}}/|-\d{{1,2}}-|\.\d{{1,2}}\.)(?:{YEAR}|\d\d)(?![\d/-]))"
    rf"|(?P<month>\b(?:January|February|March|April|May|June|July|August|September|October|November|"
    r"December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
    r"|(?P<decade>(?<![\w.])(?:(?:1[5-9]|20)\d|[2-9])0['’]?s\b)"
)
CURRENCY = {
    "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "euro": "EUR",
    "euros": "EUR", "£": "GBP", "¥": "CNY|JPY", "￥": "CNY|JPY", "元": "CNY", "yuan": "CNY",
    "rmb": "CNY", "yen": "JPY", "₹": "INR",
}  # fmt: skip
_CODES = "USD EUR GBP CNY JPY INR CHF CAD AUD SEK NOK DKK PLN CZK HUF BRL MXN SGD HKD NZD ZAR KRW"
CURRENCY |= {code.lower(): code for code in _CODES.split()}
_CODE = "|".join((*_CODES.split(), "RMB"))
SIGN = rf"(?:US\$|[$€£¥￥₹]\s?|(?:{_CODE})\s)"
CODE_BEHIND = re.compile(
    rf"\s?(?:{_CODE}|dollars?|euros?|yuan|yen|元)(?![A-Za-z])",
    re.IGNORECASE,
)
SCALE = re.compile(
    r"\s?(?:hundred|thousand|million|billion|trillion|[万亿千])(?![A-Za-z])|\s?(?:bn|mn|[KMBT])(?![A-Za-z\d])"
)
# What a match can begin with: most words are passed over at their first letters.
_FIRST = "|".join(
    sorted({
        re.escape(word.lower()[:3])
        for word in (*MONTHS, *NUMBER_WORDS, *CURRENCY, "twice", "half", "a ", "an ", "http")
        if word[0].isalpha() and word.isascii()
    })
)  # fmt: skip
AMOUNT = re.compile(
    rf"(?:(?<![a-z])(?={_FIRST}|(?:{_LABELS})\b|[a-z][\w.+-]*[\d@.])|(?=[^\sa-z]))(?:"
    + LITERAL
    + "|"
    + DATES
    + r"|(?P<hours>(?<![\w.])(?:\d{1,3}\s?d(?:ays?)?,?\s?(?:and\s)?\d{1,2}\s?h(?:rs?|ours?)?"
    r"(?:,?\s?(?:and\s)?\d{1,2}\s?(?:m|mins?|minutes?))?"
    r"|\d{1,3}\s?h(?:rs?|ours?)?,?\s?(?:and\s)?\d{1,2}\s?(?:m|mins?|minutes?)"
    r"(?:,?\s?(?:and\s)?\d{1,2}\s?s(?:ec(?:ond)?s?)?)?"
    r"|\d{1,3}\s?m(?:in(?:ute)?s?)?,?\s?(?:and\s)?\d{1,2}\s?s(?:ec(?:ond)?s?)?)(?![A-Za-z]))"
    r"|(?P<clock>(?<![\d:.])(?:(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:\s?[ap]\.?m\b\.?)?(?!\d|:\d)"
    r"|(?:1[0-2]|0?[1-9])\s?[ap]\.?m\b\.?))"
    rf"|(?P<pair>(?<![\w./])\d{{1,3}}(?:\.\d{{1,2}})?(?:/|\sover\s)\d{{1,3}}(?:\.\d{{1,2}})?(?![\w/]|\.\d))"
    rf"|(?P<of>(?<![\w.])\d{{1,5}}(?:\.\d{{1,2}})?\s(?:out\s)?of\s(?:the\s|all\s)?\d{{1,6}}(?![\w]|[.,]\d))"
    rf"|(?P<ordinal>(?<![\w.])\d{{1,4}}(?:st|nd|rd|th)\b|#\s?\d{{1,4}}(?![\w.]))"
    rf"|(?P<number>(?:{SIGN})?(?<![A-Za-z_.\d])(?P<digits>{NUMBER})(?P<vulgar>[½⅓⅔¼¾⅛⅜⅝⅞])?)"
    r"|(?P<fraction>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞])"
    rf"|(?P<words>{spelled_pattern()}))",
    re.IGNORECASE,
)  # fmt: skip
BEFORE = re.compile(
    r"(?:(?P<over>more than|greater than|larger than|over|above|exceeding|exceeds?|"
    r"well over|just over|(?<![-=])>|超过)"
    r"|(?P<at_least>at least|no (?:less|fewer) than|not less than|minimum of|as (?:many|much) as|>=|≥|至少)"
    r"|(?P<under>less than|fewer than|lower than|under|below|<)"
    r"|(?P<at_most>at most|no more than|not more than|up to|maximum of|within|<=|≤)"
    r"|(?P<nearly>nearly|almost|close to|just under|just below|approaching)"
    r"|(?P<about>about|around|approximately|approx\.?|roughly|some|circa|ca\.?|near|nearer|~|≈|约|大约))"
    r"\s{0,2}(?:an?\s|the\s)?\Z",
    re.IGNORECASE,
)
NOUN = re.compile(r"[ \u00a0-](?:[a-z]+[ -])?([A-Za-z]{3,24})")
BEFORE_ARTICLE = re.compile(
    r"\b(?:within|in|for|after|of|than|about|over|under|nearly|almost|last(?:s|ed)|took|takes|roughly|is|was|"
    r"only|just)\s\Z",
    re.IGNORECASE,
)
