"""A text with one number made another that could as well be true: nothing gives the change away."""

from __future__ import annotations

import re

# A number that stands alone: no part of an identifier, a date or a code.
_NUMBER = re.compile(r"(?<![\w.,/:#-])(\d{1,4}(?:\.\d{1,2})?)(?![\w/:#]|[.,-]\d)")
# The level of an interval, and what numbers something: changed, it would read as a slip.
_LEVEL = re.compile(
    r"\s*(?:%|per cent|percent)[\s-]*(?:CI\b|confidence|credible|interval)", re.IGNORECASE
)
_NUMBERING = re.compile(
    r"(?:PMID|NCT|DOI|ID|MRN|no\.|number|stage|class|type|grade|phase|table|figure|step|version)"
    r"[\s:]*$",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\s*(?:%|per cent|percent)", re.IGNORECASE)


def other_value(text: str) -> str | None:
    """The text with its first number that says something changed; None where it has none."""
    for found in _NUMBER.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _LEVEL.match(after) or _NUMBERING.search(before):
            continue
        other = _another(found[1], percent=_PERCENT.match(after) is not None)
        return f"{before}{other}{after}"
    return None


def _another(number: str, *, percent: bool) -> str:
    """A number of as many decimals, of the same size, and in the range that its unit has."""
    decimals = len(number.partition(".")[2])
    value = float(number)
    if not decimals and 1900 <= value <= 2100:
        return str(int(value) - 2)  # a year stays one that has been
    smallest = 10.0**-decimals
    step = max(smallest, round(value * 0.3, decimals))
    higher = value + step
    if percent and higher > 100:
        higher = value - step
    return f"{higher:.{decimals}f}"
