"""III.4: protected values, identity, and the lexical rescue of exact structured evidence."""

from __future__ import annotations

from collections.abc import Sequence

from core.config import Config
from core.evidence.names import other_person
from core.evidence.values import nearest_value, settles, value_present
from core.records import (
    CheckedValue,
    Claim,
    Entailment,
    LiteralCheck,
    Premise,
    ProtectedValue,
    Relation,
)
from core.text.chunks import is_record_text
from core.text.tokens import content_terms, overlap


def check_literals(
    claim: Claim,
    premise: Premise,
    source_text: str,
    people: Sequence[str],
    entailment: Entailment,
    config: Config,
) -> LiteralCheck:
    """Find the claim's literals in the source, and rescue a neutral reading of an exact record.

    ``source_text`` is the whole output with its call's lines: unlike the paper, which looks in the
    premise, because a premise is only what was read first. ``people`` are the patients that the
    source's own record lines name.
    """
    values = tuple(
        _checked(value, premise, source_text, claim.text) for value in claim.protected_values
    )
    mismatches = tuple(
        checked.value.text for checked in values if checked.value.identity and not checked.present
    )
    # A name that opens a sentence is no protected value (Appendix C); the record's own name line
    # still tells whether it is this patient's.
    about = claim.subject if claim.patient_specific and not mismatches else None
    if about and other_person(about, people) is not None:
        mismatches = (about,)
    shared = round(overlap(content_terms(claim.text), content_terms(premise.text)), 4)
    rescued = _is_rescued(claim, premise, entailment, values, shared, config)
    return LiteralCheck(
        values=values,
        identity_mismatches=mismatches,
        term_overlap=shared,
        relation=Relation.ENTAILMENT if rescued else entailment.relation,
        rescued=rescued,
    )


def _checked(value: ProtectedValue, premise: Premise, source_text: str, said: str) -> CheckedValue:
    present = value_present(value, premise.text) or value_present(value, source_text)
    return CheckedValue(
        value=value,
        present=present,
        nearest=None if present else nearest_value(value, premise.text, said),
        settles=present or settles(value, premise.text),
    )


def _is_rescued(
    claim: Claim,
    premise: Premise,
    entailment: Entailment,
    values: tuple[CheckedValue, ...],
    shared: float,
    config: Config,
) -> bool:
    """A neutral reading counts as entailment when an exact record holds all the claim's literals."""
    if entailment.relation is not Relation.NEUTRAL or not is_record_text(premise.text):
        return False
    if not all(checked.present for checked in values):
        return False
    needed = config.rescue_overlap_with_values if values else config.rescue_overlap_without_values
    return shared > needed
