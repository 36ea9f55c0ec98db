"""What follows by arithmetic from the fields of one name: totals, counts, differences, shares, durations.

The fields are those of the outline, so that a count or a total is of one list of records of one source, and
a duration is between two times that are written. Bounded; the first that gives a claim's amount is told.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.binding.outline import Field, Outline
from core.evidence.comparing import interval
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.evidence.units import TIME, factor
from core.evidence.words import stems

_CHOSEN = frozenset({"count", "difference", "sum", "share", "ratio"})  # of some of the values
_MOST_PAIRED = 24  # values of a name
_MOST_TOLD = 6  # values in a reason
_MOST_OF_NAME = 60
_MOST_NAMES = 80
_MOST_TIMES = 40
_COUNTS = (1.0, 400.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """An amount that follows, by what and from which fields; ``words`` are of their names and records."""

    amount: float
    unit: str | None
    how: str
    inputs: tuple[int, ...]

    def told(self, fields: Sequence[Field]) -> str:
        """How it follows, in words: "the total of “orders total” (399.0, 120.5)"."""
        said = ", ".join(field.quoted for field in fields[:_MOST_TOLD])
        more = ", …" if len(fields) > _MOST_TOLD else ""
        return f"the {self.how} of {fields[0].alone} ({said}{more})"


@dataclass(slots=True)
class Following:
    """An outline with all that follows within it, worked out when it is first asked for, for all claims."""

    outline: Outline
    _found: list[Followed] | None = None

    def find(self, want: Quantity, words: frozenset[str]) -> Followed | None:
        """What gives the claim's amount, of fields whose names or records the claim's words mention; the
        one that shares most of them."""
        if want.kind in (QuantityKind.DATE, QuantityKind.CLOCK, QuantityKind.ORDINAL):
            return None
        if self._found is None:
            self._found = list(self._all())
        wide = interval(want)
        best: tuple[int, Followed] | None = None
        for one in self._found:
            if not _in(one, want, wide.low, wide.high):
                continue
            said = frozenset[str]().union(
                *(
                    stems(self.outline.fields[at].name) | stems(self.outline.fields[at].text[:120])
                    for at in one.inputs[:6]
                )
            )
            shared = len(said & words)
            if one.how in _CHOSEN and not shared:
                continue
            if best is None or shared > best[0]:
                best = (shared, one)
        return None if best is None else best[1]

    def _all(self) -> Iterator[Followed]:
        outline = self.outline
        names: dict[tuple[str, str], list[int]] = {}
        valued: dict[tuple[str, str, str], list[int]] = {}
        for at, one in enumerate(outline.fields):
            if one.prose or one.call:
                continue
            key = (one.source_id, one.path)
            names.setdefault(key, []).append(at)
            if len(one.text) <= 40 and not one.quantities:
                valued.setdefault((*key, one.text.casefold()), []).append(at)
        for of in names.values():
            if len(of) > 1:
                yield Followed(amount=len(of), unit=None, how="count", inputs=tuple(of))
        for of in valued.values():
            yield Followed(amount=len(of), unit=None, how="count", inputs=tuple(of))
        for of in list(names.values())[:_MOST_NAMES]:
            yield from self._of_name(of[:_MOST_OF_NAME])
        yield from self._durations()

    def _of_name(self, of: Sequence[int]) -> Iterator[Followed]:
        fields = self.outline.fields
        told = [
            (at, fields[at].quantities[0])
            for at in of
            if len(fields[at].quantities) == 1
            and fields[at].quantities[0].kind in (QuantityKind.NUMBER, QuantityKind.MONEY)
        ]
        if len(told) < 2:
            return
        unit = told[0][1].unit
        amounts = [(at, item.amount) for at, item in told if item.unit == unit]
        total = sum(amount for _, amount in amounts)
        every = tuple(at for at, _ in amounts)
        yield Followed(amount=total, unit=unit, how="total", inputs=every)
        yield Followed(amount=total / len(amounts), unit=unit, how="mean", inputs=every)
        # Of many values some two give any amount.
        for (a, first), (b, second) in combinations(
            amounts if len(amounts) <= _MOST_PAIRED else (), 2
        ):
            if first == second:
                continue
            yield Followed(amount=abs(first - second), unit=unit, how="difference", inputs=(a, b))
            yield Followed(amount=first + second, unit=unit, how="sum", inputs=(a, b))
            for one, other in ((first, second), (second, first)):
                if other:
                    yield Followed(
                        amount=100 * abs(one / other - 1),
                        unit="percent",
                        how="share",
                        inputs=(a, b),
                    )
                    yield Followed(amount=one / other, unit="fold", how="ratio", inputs=(a, b))
        if total:
            for at, amount in amounts:
                yield Followed(
                    amount=100 * amount / total,
                    unit="percent",
                    how="share",
                    inputs=(at, *every[:4]),
                )

    def _durations(self) -> Iterator[Followed]:
        moments: list[tuple[int, datetime.datetime, bool]] = []
        for at, one in enumerate(self.outline.fields):
            if one.call or len(moments) >= _MOST_TIMES:
                continue
            day = next((q.date for q in one.quantities if q.date is not None), None)
            clock = next((q.amount for q in one.quantities if q.kind is QuantityKind.CLOCK), None)
            when = _moment(day, clock)
            if when is not None:
                moments.append((at, when, clock is not None))
        for (a, first, exact), (b, second, also) in combinations(moments, 2):
            apart = abs((second - first).total_seconds())
            if not apart or exact != also:
                continue
            unit = "minute" if exact else "day"
            yield Followed(
                amount=apart / (60 if exact else 86_400), unit=unit, how="duration", inputs=(a, b)
            )


def _moment(day: Day | None, clock: float | None) -> datetime.datetime | None:
    if day is None and clock is None:
        return None
    try:
        if day is None:
            base = datetime.datetime(2000, 1, 1)
        elif day.year and day.month and day.day:
            base = datetime.datetime(day.year, day.month, day.day)
        else:
            return None
        return base + datetime.timedelta(minutes=clock or 0.0)
    except ValueError:
        return None


def _in(one: Followed, want: Quantity, low: float, high: float) -> bool:
    if one.how == "duration":
        if want.unit not in TIME:
            return False
        by = factor(one.unit or "", want.unit or "")
        amount = one.amount * by if by else -1.0
        slack = 0.5 if want.step >= 1 and want.unit not in ("minute", "second") else 0.0
        return low - slack <= amount <= high + slack
    if want.kind is QuantityKind.MONEY:
        return one.how in ("total", "sum", "difference", "mean") and low <= one.amount <= high
    if one.unit in ("percent", "fold") or want.unit in ("percent", "fold"):
        return one.unit == want.unit and low <= one.amount <= high
    if one.how == "count":
        return (
            want.unit is None
            and _COUNTS[0] <= want.amount <= _COUNTS[1]
            and low <= one.amount <= high
        )
    if want.unit is not None and one.unit is not None and want.unit != one.unit:
        return False
    return low <= one.amount <= high
