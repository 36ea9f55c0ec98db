"""What reading claims is expected to find, and which share of them is supported (the prior)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Support, VerdictLabel
from core.review.records import ReviewedClaim
from core.statistics import exact_binomial_interval

LEAST_AUDITED = 50  # labels of random claims, for a prior: at 0.90 its interval is then 0.18 wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """How many of ``claims`` are expected to be errors, within two standard deviations of the sum.

    ``by_chance`` is what as many claims drawn at random hold at the stated prior.
    """

    claims: int
    errors: float
    low: float
    high: float
    by_chance: float

    @property
    def words(self) -> str:
        """ "6 errors (2 to 10)"."""
        errors = round(self.errors)
        return f"{errors} error{'' if errors == 1 else 's'} ({self.low:.0f} to {self.high:.0f})"


def yield_words(queue: Yield) -> str:
    """What the next claims of the queue are expected to hold, beside as many drawn at random."""
    return (
        f"Reading the next {queue.claims:,} claims of the queue is expected to find {queue.words}; as "
        f"many drawn at random hold {queue.by_chance:.0f}."
    )


def expected_yield(
    probabilities: Sequence[float], *, base_rate: float | None, prior: float
) -> Yield:
    """The yield of claims with these probabilities of support, told at ``prior`` (``Support.at_prior``).

    The interval is of claims that are right or wrong by themselves; those of one answer are not quite.
    """
    told = [Support(probability=one, threshold=0.5, base_rate=base_rate) for one in probabilities]
    chances = [one.probability if base_rate is None else one.at_prior(prior) for one in told]
    wrong = [1.0 - chance for chance in chances if chance is not None]
    errors = math.fsum(wrong)
    spread = 2.0 * math.sqrt(math.fsum(one * (1.0 - one) for one in wrong))
    return Yield(
        claims=len(wrong),
        errors=errors,
        low=max(0.0, errors - spread),
        high=min(float(len(wrong)), errors + spread),
        by_chance=len(wrong) * (1.0 - prior),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedPrior:
    """How many of the random claims that people settled are ``supported``."""

    claims: int
    supported: int

    @property
    def value(self) -> float | None:
        """The share of supported claims, in (0, 1), by Jeffreys' rule; None with too few labels."""
        enough = self.claims >= LEAST_AUDITED
        share = round((self.supported + 0.5) / (self.claims + 1), 3)
        return min(max(share, 0.001), 0.999) if enough else None

    @property
    def words(self) -> str:
        """ "estimated from 64 audit labels: 0.86 (95 % interval 0.75 to 0.93)", or what is missing."""
        ends = exact_binomial_interval(self.supported, self.claims)
        if self.value is None or ends is None:
            return (
                f"not estimated: {self.claims} audit labels (claims drawn at random, settled by people), "
                f"{LEAST_AUDITED - self.claims} more are needed"
            )
        return (
            f"estimated from {self.claims:,} audit labels: {self.value:.2f} (95 % interval "
            f"{ends[0]:.2f} to {ends[1]:.2f})"
        )


def audited_prior(reviewed: Sequence[ReviewedClaim]) -> AuditedPrior:
    """The prior by the claims that were drawn at random (``ProjectSettings.supported_prior``)."""
    drawn = [one.resolution.final for one in reviewed if one.inclusion_probability is not None]
    labels = [final.label for final in drawn if final is not None and final.label is not None]
    return AuditedPrior(claims=len(labels), supported=labels.count(VerdictLabel.SUPPORTED))
