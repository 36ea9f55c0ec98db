"""Numbers that only say which one: the index of a list, a row or a reference, never an amount."""

from __future__ import annotations

import re

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
