"""Numbers with their noun."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 claim``, ``2,000 claims``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
