"""A synthetic training pair, and the names of the relations."""

from __future__ import annotations

from dataclasses import dataclass

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPair:
    """A premise, a hypothesis and their relation."""

    premise: str
    hypothesis: str
    label: str
