"""Which records a claim means: those that it singles out by row, name, id or date."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.evidence.claim_view import ClaimView
from core.evidence.derivations import in_days
from core.evidence.fact_index import FactIndex
from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import stems

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
