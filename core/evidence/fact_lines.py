"""The lines that structured sources are made of: fields, cells, JSON inside a line, arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from core.evidence.quantity_records import Day

KEY_VALUE = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\*\*)?([^\s:|<>{}][^:|<>{}\n]{0,90}?)(?:\*\*)?\s?[:：](?:\*\*)?\s+(\S.*)?$"
)
# A setting: ``idle_timeout_s = 15``.
ASSIGNED = re.compile(r"\s*([A-Za-z_][\w.-]{0,60})\s*=\s*([^=\s].*)$")
FIELD = re.compile(r"(?:^|,\s+)([A-Za-z_][\w.\[\] -]{0,60}?):\s+")
JSON_FIELD = re.compile(
    r'"([A-Za-z_][\w -]{0,60})":\s*(?:"((?:[^"\\]|\\.){0,400})"'
    r"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null))"
)
SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?\n]*")
TAG = re.compile(r"<[^>]{1,200}>")
CELL = re.compile(r"<t[hd][^>]{0,200}>(.*?)</t[hd]>", re.IGNORECASE | re.DOTALL)
DATE_KEY = re.compile(
    r"date|time|onset|abatement|authored|issued|recorded|effective|start|end|created|published|birth",
    re.I,
)
SUBJECT_KEY = re.compile(r"(?:patient|title|pmid|subject|file|name)\Z", re.I)
HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.{0,80})\Z")
NAMES_IT = re.compile(
    r"\A(?:code|display|name|test|analyte|title|label|item)\Z|CodeableConcept\Z", re.I
)
HEADER_UNIT = re.compile(r"[(\[]\s*([^)\]]{1,16})\s*[)\]]\s*\Z")
# The unit at the end of a field's name (``duration_min``, ``backoffMs``, ``temp_F``).
_KEY_UNIT = re.compile(
    r"(?:_|(?<=[a-z]))(?P<unit>(?i:ms|secs?|seconds|mins?|minutes|hrs?|hours|days|weeks|months|years|"
    r"mcg|mg|kg|lbs?|cm|mm|km|bytes|[kmg]i?b|pct|percent|usd|eur|gbp|chf|sek))\Z"
    r"|_(?P<short>s|h|d|g|F|C)\Z"
)
_SHORT_UNITS = {"s": "s", "h": "h", "d": "days", "g": "g", "F": "°F", "C": "°C"}


@lru_cache(maxsize=4_096)
def key_unit(path: str) -> str | None:
    """The unit that a field's name ends in, as written; None where it names none."""
    header = HEADER_UNIT.search(path)
    if header is not None:
        return header.group(1)
    found = _KEY_UNIT.search(path)
    if found is None or path.casefold() == (found["unit"] or "").casefold():
        return None
    unit = found["unit"] or _SHORT_UNITS[found["short"]]
    return "percent" if unit.casefold() == "pct" else unit


@lru_cache(maxsize=256)
def argument_lines(arguments: str) -> str:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return "\n".join(leaves(value, ""))


def leaves(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        yield ""  # rows of a sheet
        for row in value:
            yield "| " + " | ".join(str(cell) for cell in row) + " |"
        yield ""
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, path)
    elif isinstance(value, str) and "\n" in value:
        yield ""
        yield value
        yield ""
    else:
        yield f"{path}: {value}" if path else str(value)


def path_of(key: str, label: str) -> str:
    """A field that only says "value" is named by what its record is of."""
    return label if label and re.match(r"value|result\Z|amount\Z|measurement\Z", key, re.I) else key


def dates_of(text: str) -> Iterator[tuple[str, Day]]:
    """The dates of a record by the field they stand in."""
    for match in re.finditer(
        r"([\w.]{1,40})\"?:\s\"?((?:1[5-9]|2[01])\d\d-[01]\d(?:-[0-3]\d)?)", text
    ):
        if DATE_KEY.search(match.group(1)):
            parts = [int(part) for part in match.group(2).split("-")]
            yield (
                match.group(1),
                Day(year=parts[0], month=parts[1], day=parts[2] if len(parts) > 2 else None),
            )


def split_fields(text: str) -> Iterator[tuple[str, int, str]]:
    """The fields ``key: value, key: value`` of a list line; commas inside JSON split nothing."""
    depth, spans = 0, []
    levels = []
    for character in text:
        depth += character in "{["
        levels.append(depth)
        depth -= character in "}]"
    for match in FIELD.finditer(text):
        if match.start() == 0 or levels[match.start()] == 0:
            spans.append(match)
    for index, match in enumerate(spans):
        end = spans[index + 1].start() if index + 1 < len(spans) else len(text)
        yield match.group(1), match.end(), text[match.end() : end].rstrip(", ")


def unit_after(pieces: list[re.Match[str]], index: int) -> str:
    if pieces[index].group(1) != "value":
        return ""
    for near in pieces[index + 1 : index + 3]:
        if near.group(1) == "unit" and near.group(2):
            return near.group(2)
        if near.group(1) == "value":
            break
    return ""


def bar_cells(start: int, line: str) -> list[tuple[int, str]] | None:
    if line.count("|") < 2 or not line.lstrip().startswith("|"):
        return None
    cells, at = [], start
    for part in line.split("|"):
        cells.append((at + len(part) - len(part.lstrip()), part.strip().strip("*")))
        at += len(part) + 1
    return cells[1:-1] if line.rstrip().endswith("|") else cells[1:]


def html_cells(start: int, line: str) -> list[tuple[int, str]] | None:
    if "<tr" not in line[:40].lower():
        return None
    return [
        (start + cell.start(1), TAG.sub("", cell.group(1)).strip()) for cell in CELL.finditer(line)
    ]


def comma_cells(start: int, line: str) -> list[tuple[int, str]] | None:
    if (
        line.count(",") < 2
        or ": " in line
        or ". " in line
        or len(line) > 2_000
        or line.startswith("-")
    ):
        return None
    cells, at = [], start
    for part in line.split(","):
        cells.append((at, part.strip().strip('"')))
        at += len(part) + 1
    return cells
