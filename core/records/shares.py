"""How often labelled claims like one were right, and from where an answer passes as a whole (III.7)."""

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


SHOWN_FEATURE = "source_shown"  # 1 where an entry of the claim's source states all of it
# 1 where the least of the sources that could show the claim was looked for, for an NLI model that
# was taught to read it, and how far the most entailing of its NLI scores goes: 0 where there is nothing.
CLOSE_READ_FEATURE, CLOSE_FEATURE = "close_read", "entailment_close"
VETOES_FEATURE = "checks_vetoes"  # how many checks hold against a claim what vetoes it
# A claim that a check vetoes has the support ``SHOWN_WRONG`` at most. Only where everything else carried it
# to ``DISPUTED_FROM`` it has ``DISPUTED``, in which a person has to look: of 39 such claims beyond 0.6
# (development packets, answers and charts by other authors) 24 were right, of 158 others 15.
SHOWN_WRONG, DISPUTED, DISPUTED_FROM = 0.1, 0.62, 0.55
NLI_FEATURE = "entailment_any"  # how far the most entailing of all that was read of a claim goes
ABSENCE_FEATURE = (
    "check_absence"  # above 0 where what the claim says is absent was looked for, and is
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownShare:
    """Labelled claims of which a check covers every word, and how many of them people found supported.

    ``answers`` is how many answers the claims are from, since those of one are not independent.
    """

    supported: int
    claims: int
    answers: int

    @property
    def share(self) -> float:
        """The probability that the next such claim is supported: Laplace's rule, never quite 1."""
        return (self.supported + 1) / (self.claims + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholePoint:
    """From where on an answer passes as a whole, and the labelled answers that it rests on.

    ``threshold`` is of the geometric mean of the support of an answer's weakest claims; of ``bad``
    labelled answers with a claim that should be blocked ``bad_passed`` come as far, of ``good``
    others ``good_passed``.
    """

    threshold: float
    bad: int
    bad_passed: int
    good: int
    good_passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Why a claim passes with its answer: what the answer's weakest claims have, and what was asked."""

    weakest: float
    asked: WholePoint
