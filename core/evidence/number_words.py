"""Numbers in words: "twenty-five", "a million", "two and a half", "twice"."""

from __future__ import annotations

import re

_ONES = {
    word: float(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10.0 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
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
    small = "|".join(sorted([*_ONES, *_TENS], key=len, reverse=True))
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
        if word in _ONES or word in _TENS or word in _OTHERS and word != "dozen":
            current += {**_ONES, **_TENS, **_OTHERS}[word]
        elif word == "dozen":
            current = max(current, 1.0) * 12
        elif word == "hundred":
            current = max(current, 1.0) * 100
        elif word in SCALES:
            total, current = total + max(current, 1.0) * SCALES[word], 0.0
        elif word != "and":
            return None
    return total + current + (0.5 if half else 0.0)
