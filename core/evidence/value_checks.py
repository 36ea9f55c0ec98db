"""What the facts say of each value of a claim: supported with its place, contradicted, or silent.

A value that is nowhere is silent. Contradicted needs the attribute that the claim names, its subject
and its time, stated otherwise beyond the tolerance, with no fact and no derivation that gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.count_derivations import in_days
from core.evidence.derivation_parts import place_of
from core.evidence.derivations import derive
from core.evidence.fact_index import Attribute, FactIndex, measured_attributes, said_attributes
from core.evidence.facts import Fact
from core.evidence.quantities import Bound, Quantity, QuantityKind
from core.evidence.units import TIME, measured_by
from core.evidence.words import stems
from core.records import Check, Claim, FactPlace, Outcome, Span

_OUT_OF = (5.0, 10.0, 100.0)
_MOST_MEANT = 12
_MUCH_SHARED = 0.3
_MOST_ROWS = 2_000
_MOST_ATTRIBUTES = 12
_PROSE_SHARE = 0.2  # of the claim's words in a sentence whose converted number may be what is meant
_ENOUGH_DIGITS = 3  # a number of so many digits is rarely there by chance
_LITERAL_KINDS = frozenset({"identifier", "quoted", "name"})


def check_values(claim: Claim, index: FactIndex) -> tuple[Check, ...]:
    """One check for each quantity, date and literal of the claim, in the claim's order."""
    view = view_claim(claim.text, index.people)
    said = said_attributes(view.words, view.shorts, index)
    meant = {id(want): _meant(want, index, said) for want in view.quantities}
    whole = list({id(each): each for several in meant.values() for each in several}.values())
    checks = [
        _check_quantity(want, view, index, said, meant[id(want)] if want.unit else whole)
        for want in view.quantities
    ]
    return (*(check for check in checks if check is not None), *_literals(claim, index))


def _check_quantity(
    want: Quantity,
    view: ClaimView,
    index: FactIndex,
    said: Sequence[tuple[Attribute, float]],
    attributes: Sequence[Attribute],
) -> Check | None:
    if want.kind is QuantityKind.ORDINAL or (
        want.in_words and want.amount == 1 and want.unit is None
    ):
        return None
    kind = "date" if want.kind is QuantityKind.DATE else "value"
    found = _found(want, view, index, attributes)
    if found is not None:
        return replace(found, check=kind, claim_span=want.span)
    named = _name_before(want, view.text)
    if named is not None:
        place = _literal_place(f"{named} {want.text}", index)
        return None if place is None else _stands(f"{named} {want.text}", "value", place, want.span)
    other = _stated_otherwise(want, view, said, index)
    if other is not None:
        return Check(
            check=kind,
            outcome=Outcome.CONTRADICTS,
            reason=f"{_shown(other)}, not {want.text}",
            veto=True,
            claim_span=want.span,
            facts=(place_of(other),),
        )
    return Check(
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


# "Slide 5", "type 2", "S&P 500": a number that is part of a name, and states no amount.
_NAMED = re.compile(
    r"\b(slides?|steps?|sections?|chapters?|figures?|tables?|phase|types?|grade|stage|groups?|arm|day|"
    r"weeks?|part|level|tier|line|class|version|page|room|line|number|no\.?|id)\s\Z|"
    r"(?<=[a-z,;] )([A-Z][\w&.-]*)\s\Z|(&\s?[A-Z])\s\Z",
    re.IGNORECASE,
)


def _name_before(want: Quantity, text: str) -> str | None:
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
        (attribute.source_id, attribute.path): _records_meant(want, view, attribute.facts)
        for attribute in attributes[:_MOST_ATTRIBUTES]
    }
    dated_records = _named_days(want, view, index)
    named = {(attribute.source_id, attribute.path) for attribute in attributes}
    records = {(f.source_id, f.record.index) for attribute in attributes for f in attribute.facts}
    for fact, how in _stating(want, index):
        shared = _shared(fact, view)
        dated = want.kind is QuantityKind.DATE and (fact.source_id, fact.record.index) in records
        meant = dated or (fact.source_id, fact.path) in named
        if not _is_about(want, fact, how, shared, meant, bool(named), view):
            continue
        here = (fact.source_id, fact.record.index)
        only = singled.get((fact.source_id, fact.path)) if want.date is None else dated_records
        if fact.structured and only and here not in only:
            continue
        rank = (shared + (0.5 if meant else 0.0), how == "as stated", fact.span is not None)
        if best is None or rank > best[0]:
            best = (rank, fact, how, shared)
    return None if best is None else best[1:]


def _records_meant(
    want: Quantity, view: ClaimView, facts: Sequence[Fact]
) -> frozenset[tuple[str, int]]:
    """The records of one attribute that the claim singles out: by row, name, id or date; else none."""
    if len({(fact.source_id, fact.record.index) for fact in facts}) < 2 or len(facts) > _MOST_ROWS:
        return frozenset()
    others = frozenset(
        q.text for q in view.quantities if q is not want and _name_before(q, view.text) is not None
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


def _named_days(want: Quantity, view: ClaimView, index: FactIndex) -> frozenset[tuple[str, int]]:
    """The dated records that the claim names, where it says one date and sets it against nothing."""
    if want.date is None or want.date.month is None or view.relates or len(view.days) > 1:
        return frozenset()
    said = view.words | view.shorts
    return frozenset(
        (source_id, record.index) for source_id, record, head in index.named if head <= said
    )


def _stating(want: Quantity, index: FactIndex) -> Iterator[tuple[Fact, str]]:
    if want.date is not None:
        yield from ((fact, "as stated") for fact in index.on_day(want))
        if want.date.month is not None or want.until is not None:
            return
    yield from index.near(want)


def _shared(fact: Fact, view: ClaimView) -> float:
    """The share of the claim's content words that stand at the fact's place."""
    if not view.words:
        return 0.0
    here = stems(f"{fact.path} {fact.subject}") | fact.record.stems
    return len(view.words & here) / len(view.words)


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
    if have is None:
        return False
    if want.kind is QuantityKind.DATE and have.date is not None:
        full = want.date is None or want.date.day is not None
        full = full or (
            want.date.year is not None and want.date.month is not None and fact.structured
        )
        return full or meant or shared > 0
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
    if want.unit is None and (want.noun or want.in_words) and not meant:
        counted = view.behind(want) & (stems(f"{fact.path} {fact.value}") | fact.record.stems)
        if have.unit is not None or not counted and (fact.structured or shared < _MUCH_SHARED):
            return False
    if how not in ("as stated", "rounded") and want.digits < _ENOUGH_DIGITS:
        return meant or named or (not fact.structured and shared > _PROSE_SHARE)
    same_unit = want.unit is not None and (
        want.unit == have.unit or have.kind is QuantityKind.MONEY
    )
    if fact.structured and some_named and not meant and want.digits < _ENOUGH_DIGITS:
        said = bool(stems(f"{fact.path} {fact.value}") & view.words)
        return said and (same_unit or want.unit is None)
    alone = want.digits > 1 or not fact.record.text.isascii()
    return shared > 0 or meant or want.digits > _ENOUGH_DIGITS or (same_unit and alone)


# ---------------------------------------------------------------- stated otherwise


def _stated_otherwise(
    want: Quantity, view: ClaimView, said: Sequence[tuple[Attribute, float]], index: FactIndex
) -> Fact | None:
    """The fact that states the same attribute at the same time with another value; None without one.

    Where a claim sets times against each other, every time of the attribute must say otherwise.
    """
    if want.kind not in (QuantityKind.NUMBER, QuantityKind.MONEY) or want.noun or want.unit in TIME:
        return None
    if want.bound not in (Bound.EXACT, Bound.ABOUT) or want.high is not None:
        return None
    full = [
        attribute
        for attribute, share in said
        if share == 1.0 and len(attribute.facts) <= _MOST_ROWS
    ]
    named = _nearest(full, want, view)
    if not named or not _is_its_source(named[0], view, index):
        return None
    facts = [fact for attribute in named for fact in attribute.facts if fact.quantity is not None]
    only = _records_meant(want, view, facts)
    meant = [f for f in facts if not only or (f.source_id, f.record.index) in only]
    if (
        not view.relates
        and view.days
        and not all(in_days(fact.record, view.days) for fact in meant)
    ):
        return None
    if any(not _comparable(fact, want) for fact in meant) or len(meant) > _MOST_MEANT:
        return None
    return min(
        meant,
        key=lambda f: abs((f.quantity.amount if f.quantity else 0) - want.amount),
        default=None,
    )


def _nearest(full: Sequence[Attribute], want: Quantity, view: ClaimView) -> list[Attribute]:
    """Of the attributes that a claim names in full, the one that it names nearest before the value."""
    places: dict[frozenset[str], int] = {}
    for word in re.finditer(r"[^\W_]+", view.text[: want.span.start]):
        here = stems(word.group()) | {word.group().lower()}
        for attribute in full:
            if here & (attribute.core | attribute.short):
                places[attribute.core] = word.start()
    if not places:
        return []
    last = max(places.values())
    cores = [core for core, at in places.items() if at == last]
    if len(cores) > 1:  # "blood pressure": the one with most of its words said
        cores = [core for core in cores if len(core) == max(map(len, cores))]
    return [attribute for attribute in full if attribute.core in cores] if len(cores) == 1 else []


def _is_its_source(attribute: Attribute, view: ClaimView, index: FactIndex) -> bool:
    """Whether no other source holds more of the claim's words than the one of the attribute."""
    own = len(view.words & index.held.get(attribute.source_id, frozenset()))
    return all(len(view.words & held) <= own for held in index.held.values())


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


# ---------------------------------------------------------------- literals


def _literals(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """Identifiers, paths, names and quotations, found as written in an output or in a call."""
    for value in claim.protected_values:
        if value.kind not in _LITERAL_KINDS:
            continue
        literal = value.normalised if value.kind == "identifier" else value.text
        place = _literal_place(literal, index)
        if place is not None:
            yield _stands(value.text, value.kind, place, value.span)
        else:
            yield Check(
                check=value.kind,
                outcome=Outcome.SILENT,
                reason=f"{value.text} stands in no output and in no call",
                claim_span=value.span,
            )


def _stands(text: str, kind: str, place: FactPlace, span: Span) -> Check:
    where = "an output" if place.span is not None else "the call's arguments"
    return Check(
        check=kind,
        outcome=Outcome.SUPPORTS,
        reason=f"{text} stands in {where}",
        claim_span=span,
        facts=(place,),
    )


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
