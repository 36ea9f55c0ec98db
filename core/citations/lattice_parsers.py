"""Two ways in which an answer points its claims at evidence: lines with ``[E12]``, and JSON (002)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.citations.lenient_json import read_lenient_json
from core.citations.normal import trimmed
from core.errors import InputError
from core.records import Span

_TAG = re.compile(r"\[\s*(E\d+(?:\s*[,;]\s*E\d+)*)\s*\]")
_TAGS = re.compile(r"(?:\s*\[\s*E\d+(?:\s*[,;]\s*E\d+)*\s*\])+")
_BULLET = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
_NO_CLAIM = re.compile(r"#{1,6} .*|[*_]{2}[^*_]+[*_]{2}:?|[-*_=]{3,}|```.*|.*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeClaim:
    """One claim of a lattice; ``index`` counts from 0 and ``malformed`` says why it cannot be read.

    ``span`` is the claim's place in the answer, None where the answer is JSON.
    """

    index: int
    text: str
    pointers: tuple[str, ...]
    span: Span | None = None
    malformed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """The claims that a parser found; ``malformed`` says why the whole cannot be read."""

    form: str
    claims: tuple[LatticeClaim, ...]
    malformed: str | None = None
    fixups: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def parse_pointer_lines(answer: str) -> Lattice:
    """The claims of prose whose lines close with ``[E1]`` or ``[E1, E2]``, one for each run of tags."""
    claims: list[LatticeClaim] = []
    offset = 0
    for line in answer.split("\n"):
        bullet = _BULLET.match(line)
        start = bullet.end() if bullet else 0
        for tags in _TAGS.finditer(line):
            ids = [
                one.strip() for tag in _TAG.findall(tags.group()) for one in re.split("[,;]", tag)
            ]
            claims.append(_claim(answer, offset + start, offset + tags.start(), len(claims), ids))
            start = tags.end()
            start += len(line[start:]) - len(line[start:].lstrip(" \t.;,"))
        rest = trimmed(answer, offset + start, offset + len(line))
        text = rest.cut(answer)
        if re.search(r"\w", text) and _NO_CLAIM.fullmatch(text) is None:
            claims.append(_claim(answer, rest.start, rest.end, len(claims), []))
        offset += len(line) + 1
    return Lattice(form="pointer_lines", claims=tuple(claims))


def _claim(answer: str, start: int, end: int, index: int, ids: list[str]) -> LatticeClaim:
    span = trimmed(answer, start, end)
    return LatticeClaim(
        index=index, text=span.cut(answer), pointers=tuple(dict.fromkeys(ids)), span=span
    )


def parse_json_lattice(raw: str | bytes) -> Lattice:
    """The claims of ``{"claims": [{"text", "evidence_ids"}]}``, read leniently, judged strictly."""
    try:
        read = read_lenient_json(raw)
    except InputError as error:
        return Lattice(form="json", claims=(), malformed=error.message)
    kept = {"fixups": read.fixups, "dropped": read.dropped}
    if not isinstance(read.value, Mapping):
        reason = f"expected an object with claims, found {type(read.value).__name__}"
        return Lattice(form="json", claims=(), malformed=reason, **kept)
    items = read.value.get("claims")
    if not isinstance(items, list):
        reason = f"claims: expected a list, found {type(items).__name__}"
        return Lattice(form="json", claims=(), malformed=reason, **kept)
    claims = tuple(_json_claim(item, index) for index, item in enumerate(items))
    unknown = [key for key in read.value if key != "claims"]
    extra = f"unknown field {', '.join(map(str, unknown))}" if unknown else None
    return Lattice(form="json", claims=claims, malformed=extra, **kept)


def _json_claim(item: object, index: int) -> LatticeClaim:
    if not isinstance(item, Mapping):
        reason = f"claims[{index}]: expected an object, found {type(item).__name__}"
        return LatticeClaim(index=index, text=_told(item), pointers=(), malformed=reason)
    text, ids = item.get("text"), item.get("evidence_ids", [])
    malformed = None
    if not isinstance(text, str):
        malformed = f"claims[{index}].text: expected text, found {type(text).__name__}"
    elif not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        malformed = f"claims[{index}].evidence_ids: expected a list of text"
    elif unknown := sorted(set(item) - {"text", "evidence_ids"}):
        malformed = f"claims[{index}]: unknown field {', '.join(map(str, unknown))}"
    strings = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    return LatticeClaim(
        index=index,
        text=text.strip() if isinstance(text, str) else _told(text),
        pointers=tuple(dict.fromkeys(one.strip() for one in strings)),
        malformed=malformed,
    )


def _told(value: object) -> str:
    return "" if value is None else str(value)[:200]
