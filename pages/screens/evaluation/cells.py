"""Cells of tables, and what a report counts."""

from __future__ import annotations

from core.records import JsonObject


def count_in(part: JsonObject, name: str) -> int:
    """A count of the report; 0 where it has none."""
    value = part.get(name)
    return int(value) if isinstance(value, int | float) else 0


def number_of(value: object) -> float | None:
    """A number of a report, rounded for a table."""
    return round(float(value), 4) if isinstance(value, int | float) else None
