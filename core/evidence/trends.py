"""Whether an attribute went the way that a claim says: up, down, or the same, over its dated facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.count_derivations import in_days
from core.evidence.derivation_parts import day_key, number_of, place_of, shown, unit_of
from core.evidence.fact_index import Attribute, FactIndex, is_its_source, said_attributes
from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity, QuantityKind
from core.records import Check, Claim, Outcome, Span

_UP = re.compile(
    r"\b(?:rose|risen|has gone up|went up|going up|is up|up from|crept up|creep\w* up|climbed|climbing|"
    r"increased|"
    r"gained|put on)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:fell|fallen|has gone down|went down|came down|come down|is down|down from|dropped|decreased|"
    r"declined|"
    r"slipped|lost)\b",
    re.IGNORECASE,
)


def check_trend(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check for a claim that one attribute of a record rose or fell; nothing for other claims."""
    view = view_claim(claim.text, index.people)
    up, down = _UP.search(view.text), _DOWN.search(view.text)
    if (up is None) == (down is None) or not index.people:
        return
    said = [
        attribute
        for attribute, share in said_attributes(view.words, view.shorts, index)
        if share == 1.0
    ]
    if len({attribute.core for attribute in said}) != 1:
        return
    for attribute in said:
        facts = _dated(attribute, view)
        if len(facts) < 2 or not is_its_source(attribute.source_id, view.words, index):
            continue
        changes = [number_of(facts[-1]) - number_of(fact) for fact in facts[:-1]]
        rises, falls = all(c > 0 for c in changes), all(c < 0 for c in changes)
        if not rises and not falls:
            continue
        match = up or down
        span = Span(start=match.start(), end=match.end()) if match is not None else None
        yield _judged(facts, rises == (up is not None), span)


def _judged(facts: list[Fact], fits: bool, span: Span | None) -> Check:
    first, last = facts[0], facts[-1]
    now = f"{number_of(last):g}{unit_of(last)} on {last.date}"
    text = f"{first.path}: {number_of(first):g} on {first.date}, {now}"
    zero = Quantity(text="", span=Span(start=0, end=0), kind=QuantityKind.DATE)
    change = f"{number_of(last) - number_of(first):+.6g}{unit_of(last)}"
    return Check(
        check="trend",
        outcome=Outcome.SUPPORTS if fits else Outcome.CONTRADICTS,
        reason=text,
        veto=not fits,
        claim_span=span,
        facts=(place_of(first), place_of(last)),
        derivation=shown("trend", (first, last), change, zero, text),
    )


def _dated(attribute: Attribute, view: ClaimView) -> list[Fact]:
    """The attribute's numbers in time; only those of the claim's dates where it gives two or more."""
    facts = [
        fact for fact in attribute.facts if fact.date is not None and fact.quantity is not None
    ]
    facts = [fact for fact in facts if fact.quantity and fact.quantity.date is None]
    if len(view.days) == 1:
        return []
    if len(view.days) > 1:
        facts = [fact for fact in facts if in_days(fact.record, view.days)]
    return sorted(facts, key=lambda fact: day_key(fact.date) if fact.date else (0, 0, 0))
