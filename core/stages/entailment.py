"""III.4: what the premise says about the claim."""

from __future__ import annotations

from core.errors import ReadingError
from core.records import Entailment, PairReading


def judge_relation(reading: PairReading) -> Entailment:
    """The relation of one reading; ReadingError when its probabilities are none."""
    probabilities = reading.probabilities
    total = probabilities.entailment + probabilities.neutral + probabilities.contradiction
    if not 0.99 <= total <= 1.01:
        raise ReadingError(f"the reader's probabilities sum to {total:.4f}, not to 1")
    return Entailment(relation=probabilities.relation, probabilities=probabilities)
