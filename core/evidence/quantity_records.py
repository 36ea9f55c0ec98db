"""A quantity as it is written: amount, unit, precision, bound, date."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import StrEnum

from core.records import Span


class QuantityKind(StrEnum):
    """What a quantity is compared as."""

    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    CLOCK = "clock"
    PAIR = "pair"
    ORDINAL = "ordinal"


class Bound(StrEnum):
    """How a quantity is meant: exactly, about, or as a bound."""

    EXACT = "exact"
    ABOUT = "about"
    NEARLY = "nearly"
    OVER = "over"
    AT_LEAST = "at_least"
    UNDER = "under"
    AT_MOST = "at_most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A date at the granularity it is written in; parts that are not said are None."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def weekday(self) -> int | None:
        """Of a whole date, Monday 0; None of a part of one, and of a date that no calendar has."""
        if not (self.year and self.month and self.day):
            return None
        try:
            return datetime.date(self.year, self.month, self.day).weekday()
        except ValueError:
            return None

    def __str__(self) -> str:
        year = "----" if self.year is None else f"{self.year:04d}"
        if self.day and not self.month:
            return f"{self.day}."
        return "-".join([year, *(f"{part:02d}" for part in (self.month, self.day) if part)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One amount as written: ``amount`` (and ``high`` of a range or pair) in ``unit``.

    ``step`` is the smallest difference that the writing shows (0.1 for 12.3, 10 million for $3.17
    billion); ``noun`` is the word behind a number without a unit; ``span`` is in the text read.
    """

    text: str
    span: Span
    kind: QuantityKind
    amount: float = 0.0
    high: float | None = None
    high_step: float | None = None
    unit: str | None = None
    step: float = 1.0
    bound: Bound = Bound.EXACT
    signed: bool = False
    date: Day | None = None
    until: Day | None = None
    noun: str = ""
    digits: int = 0
    in_words: bool = False
