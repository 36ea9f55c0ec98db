"""How many records carry the words of a claim, and sums."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.evidence.claim_view import ClaimView
from core.evidence.comparing import interval, same_day
from core.evidence.derivation_parts import matches, number_of, shown
from core.evidence.fact_index import Attribute, FactIndex
from core.evidence.facts import Record, SourceFacts
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.evidence.words import stems
from core.records import Derivation, FactPlace

_MOST_COUNTED = 500
_MOST_SETS = 24
# What any listing counts, whatever its records are called.
_LISTED = stems(
    "paper study article abstract trial result entry item row record option listing product episode "
    "station train file repository location place event time occasion"
)


def count(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """How many records of a source carry the words that stand behind the claim's number."""
    whole = want.amount == int(want.amount) and want.step >= 1 and want.kind is QuantityKind.NUMBER
    if want.unit not in (None, "fold") or not whole or not 0 < want.amount <= _MOST_COUNTED:
        return
    behind = claim.behind(want, 5)
    wide = interval(want)
    for source in (*index.outputs, *index.arguments):
        records = [record for record in source.records if in_period(record, claim)]
        for kind, several in _kinds(records).items():
            named = stems(kind) & behind or (behind & _LISTED and len(several) * 2 > len(records))
            if wide.holds(len(several)) and named:
                yield _counted(several, f"entries of {kind}", want, source)
            if stems(kind) & behind:  # what a kind of record counts, its words do not count again
                behind = behind - stems(kind)
        for words in _word_sets(behind, claim, records):
            held = [record for record in records if words <= record.stems]
            if held and wide.holds(len(held)) and (len(held) > 1 or len(words) > 1):
                yield _counted(held, f"entries with {', '.join(sorted(words))}", want, source)


def _counted(records: list[Record], what: str, want: Quantity, source: SourceFacts) -> Derivation:
    places = [
        FactPlace(source_id=source.source_id, span=each.span, path=each.label[:60])
        for each in records[:12]
    ]
    listed = "; ".join(_brief(record) for record in records[:4]) + (
        "; …" if len(records) > 4 else ""
    )
    return shown("count", places, str(len(records)), want, f"{len(records)} {what}: {listed}")


def _kinds(records: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.kind, []).append(record)
    return {kind: several for kind, several in found.items() if kind}


def _word_sets(
    behind: frozenset[str], claim: ClaimView, records: list[Record]
) -> list[frozenset[str]]:
    """Which words to count by, most first: those behind the number, all of the claim, fewer of them."""
    held = frozenset().union(*(record.stems for record in records)) if records else frozenset()
    said = claim.words & held
    # "on four occasions", "three entries": what is counted stands elsewhere in the claim.
    near = said if behind & _LISTED else behind & held
    sets = [near, near | said]
    sets += [near - {word} for word in sorted(near)]
    sets += [frozenset({word}) for word in sorted(near)]
    return [each for at, each in enumerate(sets) if each and each not in sets[:at]][:_MOST_SETS]


def in_period(record: Record, claim: ClaimView) -> bool:
    """Whether a record's dates lie in the period, or on the days, that the claim gives, if any."""
    years = sorted(day.year for day in claim.days if day.year)
    if not years or not record.dates:
        return True
    stated = [day.year or 0 for _, day in record.dates]
    if re.search(r"\bsince\b", claim.text):
        return max(stated) >= years[0]
    return any(years[0] <= year <= years[-1] for year in stated)


def in_days(record: Record, days: Sequence[Day]) -> bool:
    """Whether one of a record's dates is one that the claim gives."""
    return any(same_day(day, asked) for _, day in record.dates for asked in days)


def _brief(record: Record) -> str:
    day = record.dates[0][1] if record.dates else None
    return re.sub(r"\s+", " ", record.label)[:40] + (f" ({day})" if day else "")


def total(
    want: Quantity, claim: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Iterator[Derivation]:
    """The sum of one attribute, or of the other amounts that the claim itself gives."""
    if want.kind not in (QuantityKind.NUMBER, QuantityKind.MONEY):
        return
    parts = [
        q for q in claim.quantities if q is not want and q.unit == want.unit and q.date is None
    ]
    if len(parts) >= 2 and abs(sum(q.amount for q in parts) - want.amount) <= want.step / 2:
        yield shown(
            "sum", (), want.text, want, " + ".join(q.text for q in parts) + f" = {want.text}"
        )
    if not re.search(
        r"\b(?:total|sum|altogether|in all|overall|combined)\b", claim.text, re.IGNORECASE
    ):
        return
    for attribute in attributes:
        facts = [f for f in attribute.facts if f.quantity and f.quantity.date is None]
        added = sum(number_of(fact) for fact in facts)
        have = facts[0].quantity if facts else None
        if len(facts) >= 2 and have and matches(added, have, want, attribute.core):
            text = f"sum of {len(facts)} {attribute.path} = {added:g}"
            yield shown("sum", facts[:12], f"{added:g}", want, text)
