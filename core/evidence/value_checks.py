"""What the facts say of each value of a claim: supported with its place, otherwise, or silent.

A value that is nowhere is silent, but for a day or a length of time that a record of that name and the
direction of a change that its dated values show to be otherwise; the rest is told by the binding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.derivations import BEGINS, ENDS, derive, place_of
from core.evidence.fact_index import (
    Attribute,
    FactIndex,
    measured_attributes,
    said_attributes,
)
from core.evidence.facts import Fact
from core.evidence.history import recorded_otherwise, went_otherwise
from core.evidence.holders import stretches_of
from core.evidence.meant import name_before, named_days, records_meant
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.units import measured_by
from core.evidence.words import stems
from core.records import Check, Claim, FactPlace, Outcome, Span

_OUT_OF = (5.0, 10.0, 100.0)
_MUCH_SHARED = 0.3
_MOST_ATTRIBUTES = 12
_PROSE_SHARE = 0.2  # of the claim's words in a sentence whose converted number may be what is meant
_ENOUGH_DIGITS = 3  # a number of so many digits is rarely there by chance
_OF_DAY = re.compile(r"(?:\d[T ]|\b(?:at|from|until|by)\s)\Z", re.IGNORECASE)
_WHEN = re.compile(r"depart|arriv|schedul|_at\b|\b(?:at|dep|arr|due)\b", re.IGNORECASE)
_LITERAL_KINDS = frozenset({"identifier", "quoted", "name"})


def check_values(claim: Claim, index: FactIndex) -> tuple[Check, ...]:
    """One check for each quantity, date and literal of the claim, and one for what rose or fell."""
    view = view_claim(claim.text, index.people)
    said = said_attributes(view.words, view.shorts, index)
    meant = {id(want): _meant(want, index, said) for want in view.quantities}
    whole = list({id(each): each for several in meant.values() for each in several}.values())
    checks = [
        _check_quantity(want, view, index, meant[id(want)] if want.unit else whole)
        for want in view.quantities
    ]
    found = (check for check in checks if check is not None)
    return (*found, *went_otherwise(view, said, index), *_literals(claim, index))


def _check_quantity(
    want: Quantity, view: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Check | None:
    if want.kind is QuantityKind.ORDINAL or (
        want.in_words and want.amount == 1 and want.unit is None
    ):
        return None
    kind = "date" if want.kind is QuantityKind.DATE else "value"
    found = _found(want, view, index, attributes)
    if found is not None:
        return replace(found, check=kind, claim_span=want.span)
    named = name_before(want, view.text)
    if named is not None:
        place = _literal_place(f"{named} {want.text}", index)
        return None if place is None else _stands(f"{named} {want.text}", "value", place, want.span)
    return recorded_otherwise(want, kind, view, index) or Check(
        check=kind,
        outcome=Outcome.SILENT,
        reason=f"no fact states {want.text}, and none follows from what is stated",
        claim_span=want.span,
    )


def _meant(
    want: Quantity, index: FactIndex, said: Sequence[tuple[Attribute, float]]
) -> list[Attribute]:
    """The attributes that the claim names, else those that its unit measures."""
    attributes = [attribute for attribute, _ in said]
    units = {
        fact.quantity.unit for a in attributes for fact in a.facts if fact.quantity is not None
    }
    if want.unit is not None and want.unit not in units:
        attributes += [a for a in measured_attributes(want.unit, index) if a not in attributes]
    return attributes


def _found(
    want: Quantity, view: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> Check | None:
    """The check that supports a quantity: as a stated fact, as two ends of a range, or as derived."""
    best = _best(want, view, index, attributes)
    if best is not None:
        fact, how, shared = best
        return Check(
            check="value",
            outcome=Outcome.SUPPORTS,
            reason=f"{_shown(fact)} gives {want.text}"
            + ("" if how == "as stated" else f" ({how})"),
            facts=(place_of(fact),),
            binding=shared,
        )
    if want.high is not None and want.kind is QuantityKind.NUMBER:
        low = _found(replace(want, high=None), view, index, attributes)
        high = _found(replace(want, amount=want.high, high=None), view, index, attributes)
        return low if low is None or high is None else replace(low, facts=(*low.facts, *high.facts))
    if want.kind is QuantityKind.PAIR and want.high in _OUT_OF:  # "2.5 out of 10"
        alone = replace(want, kind=QuantityKind.NUMBER, high=None, digits=2)
        best = _best(alone, view, index, attributes)
        if best is not None:
            return _found(alone, view, index, attributes)
    derived = derive(want, view, index, attributes)
    if derived is None:
        return None
    return Check(
        check="value",
        outcome=Outcome.SUPPORTS,
        reason=derived.text,
        facts=derived.inputs,
        derivation=derived,
    )


def _shown(fact: Fact) -> str:
    item = fact.quantity
    value = item.text if item is not None else fact.value[:60]
    name = fact.path or fact.record.label[:60]
    when = (
        f" on {fact.date}"
        if fact.date is not None and item is not None and item.date is None
        else ""
    )
    return f"{name}: {value}{when}"


# ---------------------------------------------------------------- stated as such


def _best(
    want: Quantity, view: ClaimView, index: FactIndex, attributes: Sequence[Attribute]
) -> tuple[Fact, str, float] | None:
    """The fact that states the value and shares most words with the claim; None where none is about it."""
    best: tuple[tuple[float, bool, bool], Fact, str, float] | None = None
    singled = {
        (attribute.source_id, attribute.path): records_meant(want, view, attribute.facts)
        for attribute in attributes[:_MOST_ATTRIBUTES]
    }
    dated_records = named_days(want, view, index)
    stretches = stretches_of(view.text, want.span, view.quantities)
    named = {(attribute.source_id, attribute.path) for attribute in attributes}
    records = {(f.source_id, f.record.index) for attribute in attributes for f in attribute.facts}
    for fact, how in _stating(want, index):
        shared = _shared(fact, view)
        dated = want.kind is QuantityKind.DATE and (fact.source_id, fact.record.index) in records
        meant = dated or (fact.source_id, fact.path) in named
        if not _is_about(want, fact, how, shared, meant, bool(named), view):
            continue
        if index.holders.is_of_another(fact, index.holders.nearest(fact, stretches)):
            continue
        here = (fact.source_id, fact.record.index)
        only = singled.get((fact.source_id, fact.path)) if want.date is None else dated_records
        if fact.structured and only and here not in only:
            continue
        rank = (shared + (0.5 if meant else 0.0), how == "as stated", fact.span is not None)
        if best is None or rank > best[0]:
            best = (rank, fact, how, shared)
    return None if best is None else best[1:]


def _stating(want: Quantity, index: FactIndex) -> Iterator[tuple[Fact, str]]:
    if want.date is not None:
        yield from ((fact, "as stated") for fact in index.amounts.on_day(want))
        if want.date.month or not want.date.year or want.until is not None:
            return
    yield from index.amounts.near(want)


def _shared(fact: Fact, view: ClaimView) -> float:
    """The share of the claim's content words that stand at the fact's place."""
    if not view.words:
        return 0.0
    here = stems(f"{fact.path} {fact.subject}") | fact.record.stems
    return len(view.words & here) / len(view.words)


def _lasts(fact: Fact) -> bool:
    """Whether "08:40" may be how long something took: no time of day behind a date or an "at", and not
    when something began or ended."""
    begins = fact.quantity.span.start if fact.quantity is not None else 0
    if _OF_DAY.search(fact.value[:begins]) is not None:
        return False
    told = not fact.structured or bool(stems(fact.path) & measured_by("minute"))
    return told or not any(each.search(fact.path) for each in (BEGINS, ENDS, _WHEN))


def _is_about(
    want: Quantity,
    fact: Fact,
    how: str,
    shared: float,
    meant: bool,
    some_named: bool,
    view: ClaimView,
) -> bool:
    """Whether a fact with the claim's number is one about what the claim says."""
    have = fact.quantity
    if have is None or have.kind is QuantityKind.ORDINAL:  # "#5" says which one, not how much
        return False
    if have.kind is QuantityKind.CLOCK and want.kind is QuantityKind.NUMBER and not _lasts(fact):
        return False
    if want.kind is QuantityKind.DATE and have.date is not None:
        day = want.date
        month = day is not None and day.year is not None and day.month is not None
        full = day is None or (day.day and day.month) or (month and fact.structured)
        return bool(full) or meant or shared > 0
    named = bool(stems(fact.path) & (view.words | measured_by(want.unit)))
    if want.unit is not None and have.unit is None and have.kind is QuantityKind.NUMBER:
        # In a sentence a bare number is no other one's amount; a field may leave its unit out.
        exact = shared > 0 and (
            how == "as stated"
            and want.digits > 1
            or want.digits >= _ENOUGH_DIGITS
            or want.unit == "fold"
            or (want.unit == "percent" and "%" in fact.record.text)
        )
        if not (meant or named if fact.structured else exact):
            return False
    if want.unit is None and want.step >= 1 and (want.noun or want.in_words) and not meant:
        counted = view.behind(want) & (stems(f"{fact.path} {fact.value}") | fact.record.stems)
        little = shared < _MUCH_SHARED or (fact.structured and want.digits < 2)
        if have.unit is not None or not counted and little:
            return False
    if how not in ("as stated", "rounded") and want.digits < _ENOUGH_DIGITS:
        return meant or named or (not fact.structured and shared > _PROSE_SHARE)
    same_unit = want.unit is not None and (
        want.unit == have.unit or have.kind is QuantityKind.MONEY
    )
    if fact.structured and some_named and not meant and want.digits < _ENOUGH_DIGITS:
        said = shared >= _MUCH_SHARED or bool(stems(f"{fact.path} {fact.value}") & view.words)
        return said and (same_unit or want.unit is None)
    alone = want.digits > 1 or not fact.record.text.isascii()
    return shared > 0 or meant or want.digits > _ENOUGH_DIGITS or (same_unit and alone)


# ---------------------------------------------------------------- literals


def _literals(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """Identifiers, paths, names and quotations, found as written in an output or in a call."""
    for value in claim.protected_values:
        if value.kind not in _LITERAL_KINDS:
            continue
        literal = value.normalised if value.kind == "identifier" else value.text
        place = _literal_place(literal, index)
        yield _stands(value.text, value.kind, place, value.span)


def _stands(text: str, kind: str, place: FactPlace | None, span: Span) -> Check:
    where = "no output and in no call"
    if place is not None:
        where = "an output" if place.span is not None else "the call's arguments"
    return Check(
        check=kind, outcome=Outcome.SILENT if place is None else Outcome.SUPPORTS,
        reason=f"{text} stands in {where}", claim_span=span, facts=(place,) if place else (),
    )  # fmt: skip


def _literal_place(needle: str, index: FactIndex) -> FactPlace | None:
    loose = r"[\s\W_]{1,4}".join(re.escape(part) for part in re.findall(r"[^\W_]+", needle)[:24])
    if not loose:
        return None
    pattern = re.compile(rf"(?<![^\W_]){loose}(?![^\W_])", re.IGNORECASE)
    for source_id, text, is_output in index.texts:
        match = pattern.search(text)
        if match is not None:
            span = Span(start=match.start(), end=match.end()) if is_output else None
            return FactPlace(source_id=source_id, span=span)
    return None
