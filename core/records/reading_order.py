"""priority_rank: which claim is worth reading first, by what the machine said of it."""

from __future__ import annotations

from math import inf

from core.records.basics import AttributionStatus
from core.records.decisions import Features

NOT_JUDGED = 1.0  # rank; nothing is known about it: after everything that is
# Of no value, no word of a source and at most so many words is chatter ("Thanks: that's arranged"): 4 of
# 29 such shipped rows are bad, of all 2,037 of 6,075; of those with one word more 9 of 12.
CHATTER_WORDS = 2


def priority_rank(
    probability: float | None, attribution: AttributionStatus, features: Features | None
) -> float:
    """Where a claim stands in the priority stream, in [0, 1], the first to be read at 0."""
    if attribution is AttributionStatus.CONFLATION:
        return 0.0
    short = features is not None and features.numeric.get("claim_terms_n", inf) <= CHATTER_WORDS
    return NOT_JUDGED if probability is None or (short and shows_nothing(features)) else probability


def shows_nothing(features: Features | None) -> bool:
    """Whether it has no value and no word that any source has: there is nothing to look up."""
    found = {} if features is None else features.numeric
    return found.get("protected_n") == 0 and found.get("all_term_overlap") == 0
