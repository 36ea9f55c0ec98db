"""Whether an attribute went the way that a claim says: up, down, or the same, over its dated facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.comparing import same_day
from core.evidence.derivations import day_key, in_days, number_of, place_of, shown, unit_of
from core.evidence.fact_index import Attribute, FactIndex, is_its_source, said_attributes
from core.evidence.facts import Fact
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import stems
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
