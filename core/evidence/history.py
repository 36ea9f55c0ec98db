"""What dated records show to be otherwise: which way a value went, when something was, how long it took."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.evidence.claim_view import ClaimView
from core.evidence.derivations import (
    BEGINS,
    ENDS,
    as_date,
    day_key,
    in_days,
    number_of,
    place_of,
    span_fits,
    unit_of,
)
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Record
from core.evidence.meant import named_days
from core.evidence.quantity_records import Bound, Quantity
from core.evidence.units import TIME
from core.records import Check, FactPlace, Outcome, Span

_WENT = re.compile(
    r"\b(?:(?P<up>rose|risen|(?:has gone|went|going|is|cre(?:pt|eps?|eping)) up|up from|climb(?:ed|ing)|"
    r"increased|gained|put on)|fell|fallen|(?:has gone|went|came|come|is) down|down from|dropped|"
    r"decreased|declined|slipped|lost)\b",
    re.IGNORECASE,
)
_LASTED = re.compile(
    r"\b(?:last(?:ed|s|ing)|took|takes|dragged on|went on|persisted|resolved|cleared|ran|for|within)"
    r"(?:\s(?:for|in|within|about|only))*\s\Z",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:in|on|of|dated|since)\s\Z|[(:,]\s?\Z", re.IGNORECASE)
_MOST_MEANT = 12  # records of one name


def went_otherwise(
    view: ClaimView, said: Sequence[tuple[Attribute, float]], index: FactIndex
) -> Iterator[Check]:
    """A check that an attribute of somebody's record went the other way than the claim says.

    The last of its values, on the claim's dates where it gives several, is then above or below every
    earlier one.
    """
    went = list(_WENT.finditer(view.text))
    up = {match["up"] is not None for match in went}
    named = [attribute for attribute, share in said if share == 1.0]
    if len(up) != 1 or view.denies or len(view.days) == 1 or not index.people:
        return
    for attribute in named if len({attribute.core for attribute in named}) == 1 else ():
        facts = sorted(
            (
                fact
                for fact in attribute.facts
                if fact.date is not None
                and fact.quantity is not None
                and fact.quantity.date is None
                if not view.days or in_days(fact.record, view.days)
            ),
            key=lambda fact: day_key(fact.date) if fact.date is not None else (0, 0, 0),
        )
        changes = [number_of(facts[-1]) - number_of(fact) for fact in facts[:-1]]
        if not changes or not all(change < 0 if True in up else change > 0 for change in changes):
            continue
        first, last = facts[0], facts[-1]
        now = f"{number_of(last):g}{unit_of(last)} on {last.date}"
        yield Check(
            check="trend", outcome=Outcome.CONTRADICTS, veto=True,
            claim_span=Span(start=went[0].start(), end=went[0].end()),
            facts=(place_of(first), place_of(last)),
            reason=f"{first.path}: {number_of(first):g} on {first.date}, {now}",
        )  # fmt: skip


def recorded_otherwise(
    want: Quantity, kind: str, view: ClaimView, index: FactIndex
) -> Check | None:
    """A check that the one thing which a claim names was on another day, or took another time."""
    if view.denies or not index.people:
        return None
    before = (_LASTED if want.unit in TIME else _DATED).search(view.text[: want.span.start])
    told_by = _lasted if want.unit in TIME else _dated
    found = told_by(want, view, index) if before is not None else None
    if before is None or found is None:
        return None
    source_id, record, told = found
    return Check(
        check=kind, outcome=Outcome.CONTRADICTS, veto=True,
        claim_span=Span(start=before.start(), end=want.span.end),
        facts=(FactPlace(source_id=source_id, span=record.span, path=record.name[:60]),),
        reason=f"{record.name[:80]}: {told}, not {want.text}",
    )  # fmt: skip


def _dated(want: Quantity, view: ClaimView, index: FactIndex) -> tuple[str, Record, str] | None:
    """The days of the one kind of record that the claim names and dates, none of them that date."""
    named = named_days(want, view, index)
    found = [(s, r) for s, r, _ in index.named if (s, r.index) in named]
    if len({record.name for _, record in found}) != 1 or len(found) > _MOST_MEANT:
        return None
    source_id, record = found[0]
    return source_id, record, ", ".join(dict.fromkeys(str(day) for _, day in record.dates))


def _lasted(want: Quantity, view: ClaimView, index: FactIndex) -> tuple[str, Record, str] | None:
    """The beginning and end of the one record that the claim says to have lasted so long."""
    if want.bound not in (Bound.EXACT, Bound.ABOUT):
        return None
    said = view.words | view.shorts
    named = [
        (source_id, record)
        for source_id, record, head in index.named
        if head <= said and (not view.days or in_days(record, view.days))
    ]
    if len(named) != 1:
        return None
    ((source_id, record),) = named
    begun = [as_date(day) for key, day in record.dates if BEGINS.search(key)]
    ended = [as_date(day) for key, day in record.dates if ENDS.search(key)]
    if len(begun) != 1 or len(ended) != 1 or begun[0] is None or ended[0] is None:
        return None
    if ended[0] < begun[0] or span_fits(begun[0], ended[0], want):
        return None
    return source_id, record, f"{begun[0]} to {ended[0]}, {(ended[0] - begun[0]).days} days"
