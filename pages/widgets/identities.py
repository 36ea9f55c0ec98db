"""What a source is about, in a few words: whose record it is, which article, or what was asked."""

from __future__ import annotations

import json
import re

from core.capture.files import WrittenNumber
from core.capture.values import written
from core.evidence.names import recorded_names
from core.records import Source

_HEAD = 20_000  # characters: a record says near its top what it is
_LONGEST = 90
_TITLE = re.compile(r'"?\b(?:article_?)?title"?\s*[:=]\s*"?([^"\n]{6,300})', re.IGNORECASE)
_RECORD_ID = re.compile(r"\b(?:PMID[:\s#]*\d{5,9}|NCT\d{8})\b", re.IGNORECASE)


def identity_of(source: Source) -> str:
    """Patient, article or question of a source; "" when it says none of them."""
    if not source.text.strip():
        return _asked(source.arguments)
    people = recorded_names(source.text)
    if people:
        return _and_others(people[0], len(people))
    head = source.text[:_HEAD]
    titles = [" ".join(each.split()).rstrip(".,") for each in _TITLE.findall(head)]
    if titles:
        return _and_others(_short(titles[0]), len(titles))
    ids = list(dict.fromkeys(_RECORD_ID.findall(head)))
    if ids:
        return _and_others(ids[0], len(ids))
    return _asked(source.arguments)


def arguments_of(source: Source | None) -> list[tuple[str, str]] | None:
    """What its tool was called with, as names and values; what is no object stands whole, without a name.

    None where that was not captured.
    """
    text = source.arguments if source else None
    try:
        given = json.loads(text or "", object_pairs_hook=_distinct, parse_float=WrittenNumber)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return None if text is None else [("", text)]
    return [(name, written(value)) for name, value in given.items()]


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The pairs as an object; ValueError where a name stands twice, for only one of them would be shown."""
    if len(named := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return named


def _asked(arguments: str | None) -> str:
    """Of what a tool was called with the words with the most letters that fit, in quotation marks.

    An id, a date and how to sort have fewer than what is looked for; a text that is written is longer.
    """
    try:
        given = json.loads(arguments or "")
    except ValueError:
        return ""
    values = given.values() if isinstance(given, dict) else [given]
    texts = [" ".join(each.split()) for each in values if isinstance(each, str) and each.strip()]
    words = max(
        texts, key=lambda text: (len(text) <= _LONGEST) * sum(map(str.isalpha, text)), default=""
    )
    return f"“{_short(words)}”" if words else ""


def _and_others(first: str, count: int) -> str:
    return first if count == 1 else f"{first} + {count - 1} more"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
