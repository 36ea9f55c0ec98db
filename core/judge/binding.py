"""Part 4 of a proof: the quotes are of the record, the attribute and the time that the claim is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from core.evidence.comparing import dates_agree, holds
from core.evidence.facts import Fact, Record
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity
from core.evidence.values import names_in, value_present
from core.evidence.words import stems
from core.judge.testimony import Material, records_at
from core.judge.values import Shown, facts_in, follows
from core.records import Claim, ProtectedValue

_WHEN = re.compile(r"\s*(?:%|[A-Za-zµ/%²]{1,9})?\s*(?:\(|in|on|for|of)\s*")


def record_failures(claim: Claim, shows: Shown, material: Material) -> list[str]:
    """Names and ids of the claim that head another record than those that are quoted."""
    failed = []
    for value in _names(claim):
        if _is_named(value, shows, material):
            continue
        elsewhere = _other_record(value, shows, material)
        if elsewhere is not None:
            failed.append(f"“{value.text}” is the name of another record than the one quoted")
        elif value.identity and not value_present(value, material.trace.question):
            failed.append(f"no quoted record is about “{value.text}”")
    return failed


def _names(claim: Claim) -> list[ProtectedValue]:
    found = [value for value in claim.protected_values if value.kind in ("name", "identifier")]
    opening = [name for name in names_in(claim.text) if " " in name.text]
    taken = [value.span for value in found]
    return found + [name for name in opening if not any(name.span.overlaps(s) for s in taken)]


def _is_named(value: ProtectedValue, shows: Shown, material: Material) -> bool:
    """Whether a quote, its record, or what a call asked for names it."""
    if value_present(value, shows.text):
        return True
    for one in shows.quoted:
        source = material.sources.get(one.place.source_id)
        if source is None:
            return value_present(value, material.calls)
        if source.arguments and value_present(value, source.arguments):
            return True
        if any(value_present(value, record.text) for record in records_at(one.place, material)):
            return True
    return False


def _other_record(value: ProtectedValue, shows: Shown, material: Material) -> Record | None:
    """A record of a quoted source that names it, beside those that are quoted."""
    for one in shows.quoted:
        quoted = {record.index for record in records_at(one.place, material)}
        for record in material.index.records_of.get(one.place.source_id, ()):
            if record.index not in quoted and value_present(value, record.text):
                return record
    return None


def attribute_failures(claim: Claim, shows: Shown, material: Material) -> list[str]:
    """Values that stand under another field's name than the one that the claim says."""
    failed = []
    about = stems(claim.text)
    facts = list(facts_in(shows.quoted, material))
    wanted = read_quantities(claim.text)
    for want in wanted:
        holding = [fact for fact in facts if fact.quantity and holds(fact.quantity, want, about)]
        if not holding or any(follows(one, want, about) for one in shows.computed):
            continue
        # A field that holds another value of the claim is named by the claim for that one's sake.
        others = frozenset(
            fact.path
            for fact in facts
            for other in wanted
            if other is not want and fact.quantity and holds(fact.quantity, other, about)
        )
        rivals = [_rival(fact, want, about, others, material) for fact in holding]
        if all(rival is not None for rival in rivals) and rivals[0] is not None:
            name = holding[0].path.split(".")[-1]
            failed.append(
                f"“{want.text}” is {name}, and the claim says {rivals[0].path.split('.')[-1]}"
            )
    return failed


def _rival(
    fact: Fact, want: Quantity, about: frozenset[str], taken: frozenset[str], material: Material
) -> Fact | None:
    """Another field of the record, with another value of the kind, that the claim's words name better."""
    if not fact.structured:
        return None
    own = stems(fact.path)
    for other in material.index.beside.get((fact.source_id, fact.record.index), ()):
        if (
            other.path not in taken | {fact.path}
            and other.structured
            and other.quantity is not None
            and fact.quantity is not None
            and other.quantity.kind is fact.quantity.kind
            and other.quantity.unit == fact.quantity.unit
            and not holds(other.quantity, want, about)
        ):
            theirs = stems(other.path.split(".")[-1])
            if theirs - own and theirs - own <= about and not (own - theirs) & about:
                return other
    return None


def time_failures(claim: Claim, shows: Shown, material: Material) -> list[str]:
    """Values whose record is of another day or year than the one that the claim says right behind them."""
    failed = []
    about = stems(claim.text)
    facts = list(facts_in(shows.quoted, material))
    wanted = read_quantities(claim.text)
    for value, when in pairwise(wanted):
        between = claim.text[value.span.end : when.span.start]
        if value.date is not None or when.date is None or not _WHEN.fullmatch(between):
            continue
        holding = [fact for fact in facts if fact.quantity and holds(fact.quantity, value, about)]
        times = [list(_times(fact, material)) for fact in holding]
        if times and all(of and not any(dates_agree(t, when) for t in of) for of in times):
            failed.append(f"“{value.text}” is not of {when.text} in the record quoted")
    return failed


def _times(fact: Fact, material: Material) -> Iterator[Quantity]:
    """The dates and years of a fact's record."""
    for other in material.index.beside.get((fact.source_id, fact.record.index), ()):
        if other.quantity is not None and other.quantity.date is not None:
            yield other.quantity
