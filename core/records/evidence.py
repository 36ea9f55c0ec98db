"""What a check found: facts with their places, derivations, outcomes (evidence.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.records.basics import Span


class Outcome(StrEnum):
    """What a check found in the evidence; silent is neither for nor against."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SILENT = "silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPlace:
    """Where a source states a fact: ``span`` is in the source's text, ``path`` its attribute path.

    A span of None means the call's arguments, or a part of the record that was searched whole.
    """

    source_id: str
    span: Span | None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """How a value follows from stated ones; ``text`` is the one line that people read.

    "2019-12-18 minus 1988-09-05 = 31 years" has the operation "duration", two inputs, the result
    "31 years" and the tolerance that the claim's precision gives, in the result's unit.
    """

    operation: str
    inputs: tuple[FactPlace, ...]
    result: str
    tolerance: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One typed comparison of a claim with facts of the evidence (evidence.md, section 5).

    ``check`` is its kind (value, date, status, binding, absence, subject, name, action, argument …);
    ``claim_span`` is the part of the claim's text that was compared; ``veto`` is set only where a
    contradiction is shown: same attribute, subject and time, stated otherwise. ``binding`` is the share
    of the claim's content words that stand at the fact's place, 0 to 1, where it was measured.
    """

    check: str
    outcome: Outcome
    veto: bool = False
    claim_span: Span | None = None
    facts: tuple[FactPlace, ...] = ()
    derivation: Derivation | None = None
    reason: str
    binding: float | None = None
