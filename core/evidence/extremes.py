"""Whether what a claim calls the highest, lowest, nearest or first of an attribute is just that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.comparing import same_day
from core.evidence.derivation_parts import number_of, place_of, shown
from core.evidence.fact_index import FactIndex, said_attributes
from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import stems
from core.records import Check, Claim, Outcome, Span

_HIGHEST = re.compile(
    r"\b(?:highest|largest|biggest|greatest|longest|heaviest|tallest|maximum|peak\w*)\b",
    re.IGNORECASE,
)
_LOWEST = re.compile(
    r"\b(?:lowest|smallest|least|shortest|lightest|closest|nearest|cheapest|minimum)\b",
    re.IGNORECASE,
)
_IDENTIFIES = re.compile(r"(?:\b|_)(?:id|uuid)\Z", re.IGNORECASE)  # a number that ranks nothing
_MOST_ROWS = 500


def check_extreme(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check for a claim that one row holds an attribute's extreme; nothing for other claims."""
    high, low = _HIGHEST.search(claim.text), _LOWEST.search(claim.text)
    match = high or low
    if match is None or (high is not None and low is not None):
        return
    view = view_claim(claim.text, index.people)
    for attribute, _ in said_attributes(view.words, view.shorts, index):
        if _IDENTIFIES.search(attribute.path):
            continue
        facts = [
            f for f in attribute.facts if f.quantity and f.quantity.date is None and f.structured
        ]
        if not 3 <= len(facts) <= _MOST_ROWS or len({f.record.index for f in facts}) < 3:
            continue
        meant = _meant(facts, view, index)
        if len(meant) != 1:
            continue
        ends = [number_of(fact) for fact in facts]
        end = max(ends) if high is not None else min(ends)
        name = "highest" if high is not None else "lowest"
        own = f"{meant[0].record.label[:40]}: {number_of(meant[0]):g}"
        text = f"{name} of {len(facts)} {attribute.path}: {end:g}; {own}"
        zero = Quantity(text="", span=Span(start=0, end=0), kind=QuantityKind.DATE)
        holds = number_of(meant[0]) == end
        yield Check(
            check="rank",
            outcome=Outcome.SUPPORTS if holds else Outcome.CONTRADICTS,
            reason=text,
            claim_span=Span(start=match.start(), end=match.end()),
            facts=(place_of(meant[0]),),
            derivation=shown(name, (meant[0],), f"{end:g}", zero, text) if holds else None,
        )
        return


def _meant(facts: list[Fact], view: ClaimView, index: FactIndex) -> list[Fact]:
    """The row that the claim names, by a date or by words that no other row has as many of."""
    days = [day for day in view.days if day.month is not None]
    on_day = {
        (fact.source_id, fact.record.index)
        for fact in index.dated
        if fact.quantity
        and fact.quantity.date
        and any(same_day(fact.quantity.date, day) for day in days)
    }
    if on_day:
        return [fact for fact in facts if (fact.source_id, fact.record.index) in on_day]
    scored = [(len((fact.record.stems - stems(fact.path)) & view.words), fact) for fact in facts]
    most = max(score for score, _ in scored)
    return [fact for score, fact in scored if score == most and most]
