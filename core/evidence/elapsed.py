"""The time between two moments of one record whose times of day are stated."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import interval
from core.evidence.count_derivations import in_days
from core.evidence.derivation_parts import shown
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Record
from core.evidence.quantity_records import Quantity
from core.records import Derivation, FactPlace

SECONDS_OF = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3_600.0}
BEGINS = re.compile(r"onset|start|begin|begun|from|author", re.IGNORECASE)
ENDS = re.compile(r"abatement|end|stop|resol|until|\bto\b", re.IGNORECASE)
_MOST_RECORDS = 500
_MOMENT = re.compile(
    r"([\w.]{1,40})\"?:\s*\"?(\d{4}-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?)"
    r"\s?(Z|UTC|[+-][0-2]\d:?[0-5]\d)?(?![\d:])"
)

Stretch = tuple[datetime.datetime, datetime.datetime]


def elapsed(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The time from the beginning to the end of the record that the claim names, below a day.

    Where it names several alike, each must have taken so long.
    """
    if want.unit not in SECONDS_OF:
        return
    lasting = _meant(claim, index)
    if not lasting or not all(_agrees(stretch, want) for _, _, stretch in lasting):
        return
    places = [
        FactPlace(source_id=source_id, span=record.span, path=record.label[:60])
        for source_id, record, _ in lasting[:12]
    ]
    first, last = lasting[0][2]
    said = f"{_counted((first, last), want):.4g} {want.unit}s"
    yield shown("duration", places, said, want, f"{_told(last)} minus {_told(first)} = {said}")


def otherwise(want: Quantity, record: Record) -> str | None:
    """From when to when a record went on, where that plainly is not the claim's time; else None."""
    stretch = stretch_of(record.text, named=True)
    if stretch is None or want.unit not in SECONDS_OF:
        return None
    counted = _counted(stretch, want)
    near = interval(want, cut=True).holds(counted) or abs(counted - want.amount) <= want.step
    if near:
        return None
    first, last = stretch
    return f"{_told(first)} to {_told(last)}, {counted:.4g} {want.unit}s"


@lru_cache(maxsize=4_096)
def stretch_of(text: str, named: bool = False) -> Stretch | None:
    """When a record began and ended; None where a time of day is missing, or several could be meant.

    The two moments are those of fields called so, or with ``named`` False the only two that there are.
    """
    found = list(_MOMENT.finditer(text))
    moments = {match[1]: match for match in found}
    if len(moments) < len(found):
        return None
    begun = [moments[key] for key in moments if BEGINS.search(key)]
    ended = [moments[key] for key in moments if ENDS.search(key)]
    if len(begun) == len(ended) == 1 and begun != ended:
        pair = (begun[0], ended[0])
    elif len(found) == 2 and not named:
        pair = (found[0], found[1])
    else:
        return None
    first, last = (_moment(match) for match in pair)
    if first is None or last is None or (first.tzinfo is None) != (last.tzinfo is None):
        return None
    return (first, last) if first <= last else None


def _moment(match: re.Match[str]) -> datetime.datetime | None:
    zone = {"Z": "+00:00", "UTC": "+00:00", None: ""}.get(match[3], match[3])
    try:
        return datetime.datetime.fromisoformat(f"{match[2]}{zone}")
    except ValueError:
        return None


def _meant(claim: ClaimView, index: FactIndex) -> list[tuple[str, Record, Stretch]]:
    """The records with a beginning and an end that share most words with the claim."""
    found = [
        (source.source_id, record, stretch)
        for source in index.outputs
        for record in source.records[:_MOST_RECORDS]
        if (stretch := stretch_of(record.text)) is not None
    ]
    if claim.days:
        found = [each for each in found if in_days(each[1], claim.days)]
    shares = [len(record.stems & claim.words) for _, record, _ in found]
    most = max(shares, default=0)
    if not most and len(found) > 1:
        return []
    return [each for each, share in zip(found, shares, strict=True) if share == most]


def _agrees(stretch: Stretch, want: Quantity) -> bool:
    return interval(want).holds(_counted(stretch, want))


def _counted(stretch: Stretch, want: Quantity) -> float:
    return (stretch[1] - stretch[0]).total_seconds() / SECONDS_OF[want.unit or ""]


def _told(moment: datetime.datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds" if moment.second else "minutes")
