"""Rows of fields whose keys are names: ``meds.current.atenolol.dose``, ``intake.asthma: denied``."""

from __future__ import annotations

from dataclasses import replace

from core.evidence.chart.labels import (
    RELATIVES,
    attribute_of,
    is_section,
    kind_of,
    section_status,
    words_of,
)
from core.evidence.chart.records import EntryKind, Status
from core.evidence.chart.rows import Field, Row
from core.evidence.chart.status import status_of_code
from core.records import Span


def regrouped(row: Row) -> list[Row]:
    """The row, with a row of its own for each key that is a name, in the row's order."""
    held: dict[str, list[Field]] = {}
    kept: list[Field] = []
    for field in row.fields:
        owner = _owner(field, row.section)
        if owner is None:
            kept.append(field)
        else:
            held.setdefault(owner, []).append(field)
    if not held:
        return [row]
    rows = [_keyed_row(owner, fields, row) for owner, fields in held.items()]
    return [replace(row, fields=tuple(kept)), *rows] if kept else rows


def _owner(field: Field, section: str) -> str | None:
    """The path whose last key is the name that the field is about."""
    if field.label_start is None:
        return None
    if "." not in field.label:
        # "Gout: differential only" in a list of problems.
        known = kind_of(section) in _LISTED and field.label.casefold() != section
        return field.label if known and _is_name(field.label) else None
    path, _, last = field.label.rpartition(".")
    if _is_answered(last) and status_of_code(field.text.split(",")[0]) is not None:
        return field.label
    above = path.rpartition(".")[0]
    if _is_name(path.rpartition(".")[2]) and kind_of(above) is not None:
        return path if attribute_of(last) != "other" else None
    return None


def _is_answered(key: str) -> bool:
    """Whether a key that has a status as its value is a name ("bleeding disorder: denied")."""
    return _is_name(key) or (" " in key.strip() and attribute_of(key) in ("name", "other"))


def _is_name(key: str) -> bool:
    """Whether a key is none of the words that charts have keys for."""
    words = words_of(key)
    if (
        not words
        or max(map(len, words)) < 3
        or any(word in _FLAGS or word in RELATIVES for word in words)
    ):
        return False
    if section_status(key) is not Status.UNSTATED:
        return False
    return attribute_of(key) == "other" and kind_of(key) is None and not is_section(key)


_LISTED = (EntryKind.CONDITION, EntryKind.MEDICATION, EntryKind.ALLERGY)
_FLAGS = frozenset(
    "id is has interpreter consent data chart items entries patient demographics resource smoker "
    "pregnant required self mild severe criticality title reference repeat timing".split()
)


def _keyed_row(owner: str, fields: list[Field], row: Row) -> Row:
    path, _, key = owner.rpartition(".")
    first = fields[0]
    assert first.label_start is not None
    place = first.label_start + (len(path) + 1 if path else 0)
    lead = f"{path}." if path else ""
    name = Field(label=f"{lead}name", text=key, span=Span(start=place, end=place + len(key)))
    own = [replace(one, label=f"{lead}note") if one.label == owner else one for one in fields]
    start, end = first.label_start, fields[-1].span.end
    text = "\n".join(f"{one.label}: {one.text}" for one in fields)
    section = row.section or " ".join(words_of(path))
    return Row(text=text, span=Span(start=start, end=end), section=section, fields=(name, *own))
