"""What is shown to be stated otherwise: the same attribute or record, at the same time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.evidence.claim_view import ClaimView
from core.evidence.derivations import (
    BEGINS,
    ENDS,
    SECONDS_OF,
    as_date,
    in_days,
    otherwise,
    span_fits,
)
from core.evidence.fact_index import Attribute, FactIndex, is_its_source
from core.evidence.facts import Fact, Record
from core.evidence.quantity_records import Bound, Quantity, QuantityKind
from core.evidence.units import TIME
from core.evidence.words import stems
from core.text.tokens import PLAIN_WORD

_MOST_MEANT = 12
_TOGETHER = re.compile(r"\b(?:together|combined|both|total|sum|altogether|in all)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;]|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_LASTED = re.compile(
    r"\b(?:last(?:ed|s|ing)|took|takes|dragged on|went on|persisted|resolved|cleared|for|ran|within)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:in|on|of|dated|since)\s\Z|[(:,]\s?\Z", re.IGNORECASE)


def stated_otherwise(
    want: Quantity, view: ClaimView, said: Sequence[tuple[Attribute, float]], index: FactIndex
) -> Fact | None:
    """The fact that states the same attribute at the same time with another value; None without one.

    Where a claim sets times against each other, every time of the attribute must say otherwise.
    """
    if want.kind not in (QuantityKind.NUMBER, QuantityKind.MONEY) or want.noun or want.unit in TIME:
        return None
    if want.bound not in (Bound.EXACT, Bound.ABOUT) or want.high is not None or view.denies:
        return None
    full = [
        attribute for attribute, share in said if share == 1.0 and len(attribute.facts) <= MOST_ROWS
    ]
    named = _nearest(full, want, view)
    if not named or not is_its_source(named[0].source_id, view.words, index):
        return None
    facts = [fact for attribute in named for fact in attribute.facts if fact.quantity is not None]
    only = records_meant(want, view, facts)
    meant = [f for f in facts if not only or (f.source_id, f.record.index) in only]
    if (
        not view.relates
        and view.days
        and not all(in_days(fact.record, view.days) for fact in meant)
    ):
        return None
    if any(not _comparable(fact, want) for fact in meant) or len(meant) > _MOST_MEANT:
        return None
    amounts = {fact.quantity.amount for fact in meant if fact.quantity is not None}
    summed = any(want.amount == a + b for a in amounts for b in amounts if a != b)
    if summed and _TOGETHER.search(view.text):
        return None
    return min(
        meant,
        key=lambda f: abs((f.quantity.amount if f.quantity else 0) - want.amount),
        default=None,
    )


def dated_otherwise(want: Quantity, view: ClaimView, index: FactIndex) -> tuple[str, Record] | None:
    """The one kind of record that the claim names and dates, where none of them carries that date."""
    if (
        _DATED.search(view.text, max(0, want.span.start - 12), want.span.start) is None
        or view.denies
    ):
        return None
    named = named_days(want, view, index)
    records = [(s, r) for s, r, _ in index.named if (s, r.index) in named]
    if (
        not records
        or len(records) > _MOST_MEANT
        or len({record.name for _, record in records}) != 1
    ):
        return None
    source_id, record = records[0]
    return (source_id, record) if is_its_source(source_id, view.words, index) else None


def lasted_otherwise(
    want: Quantity, view: ClaimView, index: FactIndex
) -> tuple[str, Record, str] | None:
    """The one record that the claim says to have lasted so long, which began and ended otherwise."""
    if want.unit not in TIME or want.bound not in (Bound.EXACT, Bound.ABOUT) or view.denies:
        return None
    if _LASTED.search(view.text) is None:
        return None
    said = view.words | view.shorts
    named = [(s, r) for s, r, head in index.named if head <= said]
    if view.days:
        named = [(source_id, record) for source_id, record in named if in_days(record, view.days)]
    if len(named) != 1:
        return None
    ((source_id, record),) = named
    if want.unit in SECONDS_OF:
        told = otherwise(want, record)
        return None if told is None else (source_id, record, told)
    begun = [as_date(day) for key, day in record.dates if BEGINS.search(key)]
    ended = [as_date(day) for key, day in record.dates if ENDS.search(key)]
    if len(begun) != 1 or len(ended) != 1 or begun[0] is None or ended[0] is None:
        return None
    if ended[0] < begun[0] or span_fits(begun[0], ended[0], want):
        return None
    days = (ended[0] - begun[0]).days
    return source_id, record, f"{begun[0]} to {ended[0]}, {days} days"


def _nearest(full: Sequence[Attribute], want: Quantity, view: ClaimView) -> list[Attribute]:
    """Of the attributes that a claim names in full, the one that it names nearest before the value."""
    places: dict[frozenset[str], int] = {}
    for word in PLAIN_WORD.finditer(view.text[: want.span.start]):
        here = stems(word.group()) | {word.group().lower()}
        for attribute in full:
            if here & (attribute.core | attribute.short):
                places[attribute.core] = word.start()
    if not places:
        return []
    last = max(places.values())
    own = [o for o in view.quantities if o.span.end <= last]
    if own and _CLAUSE.search(view.text, last, want.span.start):
        before = view.text[own[-1].span.end : last]
        if not _CLAUSE.search(before):
            return []  # "1,240 are free and 1,200 are wanted": the attribute has a value already
    cores = [core for core, at in places.items() if at == last]
    if len(cores) > 1:  # "blood pressure": the one with most of its words said
        cores = [core for core in cores if len(core) == max(map(len, cores))]
    return [attribute for attribute in full if attribute.core in cores] if len(cores) == 1 else []


def _comparable(fact: Fact, want: Quantity) -> bool:
    have = fact.quantity
    if (
        have is None
        or have.high is not None
        or have.kind not in (QuantityKind.NUMBER, QuantityKind.MONEY)
    ):
        return False
    if want.unit is None:
        return want.kind is have.kind and have.unit != "percent"
    if want.unit == "percent" and have.unit is None:
        return abs(have.amount) <= 1
    return have.unit == want.unit and want.kind is have.kind


MOST_ROWS = 2_000
# "Slide 5", "type 2", "S&P 500": a number that is part of a name, and states no amount.
_NAMED = re.compile(
    r"\b(slides?|steps?|sections?|chapters?|figures?|tables?|phase|types?|grade|stage|groups?|arm|day|"
    r"weeks?|part|level|tier|line|class|version|page|room|line|number|no\.?|id)\s\Z|"
    r"(?<=[a-z,;] )([A-Z][\w&.-]*)\s\Z|(&\s?[A-Z])\s\Z",
    re.IGNORECASE,
)


def records_meant(
    want: Quantity, view: ClaimView, facts: Sequence[Fact]
) -> frozenset[tuple[str, int]]:
    """The records of one attribute that the claim singles out: by row, name, id or date; else none."""
    if len({(fact.source_id, fact.record.index) for fact in facts}) < 2 or len(facts) > MOST_ROWS:
        return frozenset()
    others = frozenset(
        q.text for q in view.quantities if q is not want and name_before(q, view.text) is not None
    )
    scored = [(_singled(fact, view, others), fact) for fact in facts]
    most, least = max(score for score, _ in scored), min(score for score, _ in scored)
    if most == least:
        return frozenset()
    return frozenset((fact.source_id, fact.record.index) for score, fact in scored if score == most)


def _singled(fact: Fact, view: ClaimView, others: frozenset[str]) -> int:
    """How many of a claim's words, identifiers and dates stand in a fact's record, beside its path."""
    record = fact.record
    words = (record.stems - stems(fact.path)) & (view.words | view.shorts)
    numbers = sum(
        re.search(rf"(?<![\d.]){re.escape(other)}(?![\d]|\.\d)", record.text) is not None
        for other in others
    )
    return len(words) + numbers + (not view.relates and in_days(record, view.days))


def named_days(want: Quantity, view: ClaimView, index: FactIndex) -> frozenset[tuple[str, int]]:
    """The dated records that the claim names, where it says one date and sets it against nothing."""
    if want.date is None or want.until is not None or view.relates or len(view.days) > 1:
        return frozenset()
    said = view.words | view.shorts
    return frozenset(
        (source_id, record.index) for source_id, record, head in index.named if head <= said
    )


def name_before(want: Quantity, text: str) -> str | None:
    """The word that a number belongs to as a name; None where it is an amount."""
    if (
        want.unit is not None
        or want.kind is not QuantityKind.NUMBER
        or want.step < 1
        or want.in_words
    ):
        return None
    before = _NAMED.search(text, max(0, want.span.start - 24), want.span.start)
    if before is None:
        return None
    named = before.group().strip()
    return named if before.lastindex == 1 or named[:1].isupper() or "&" in named else None
