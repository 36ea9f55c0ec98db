"""priority_rank: which claim is worth reading first, by what the machine said of it."""

from __future__ import annotations

from core.records.basics import AttributionStatus
from core.records.decisions import Features

NOT_JUDGED = 1.0  # rank; nothing is known about it: after everything that is
# Of no value, no word of a source and at most so many words is chatter ("Thanks: that's arranged"): 3 of
# 28 such shipped rows are bad, of all 1,975 of 5,821; of those with one word more 9 of 11.
CHATTER_WORDS = 2


def priority_rank(
    probability: float | None, attribution: AttributionStatus, features: Features | None
) -> float:
    """Where a claim stands in the priority stream, in [0, 1], the first to be read at 0."""
    if attribution is AttributionStatus.CONFLATION:
        return 0.0
    return NOT_JUDGED if probability is None or _is_chatter(features) else probability


def _is_chatter(features: Features | None) -> bool:
    """Whether it says too little, and nothing that a source speaks of, to be read before the rest."""
    found = {} if features is None else features.numeric
    return (
        found.get("claim_terms_n", CHATTER_WORDS + 1) <= CHATTER_WORDS
        and found.get("protected_n") == 0
        and found.get("all_term_overlap") == 0
    )
