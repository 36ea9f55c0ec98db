"""How often a claim that something speaks against was contradicted, by what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Against(StrEnum):
    """What speaks against a claim, the strongest first."""

    SHOWN = "shown by a check"
    HELD = "held against it by a check"
    READ = "read so by the reader"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictedShare:
    """Labelled claims with one thing against them, and how many of them people found contradicted.

    ``low`` and ``high`` are the exact 95 % interval of the share (Clopper and Pearson); ``answers``
    is how many answers the claims are from, since those of one are not independent.
    """

    contradicted: int
    claims: int
    answers: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The calibrated probability that such a claim is contradicted."""
        return self.contradicted / self.claims
