"""III.5: probability and threshold to the support decision, nothing else."""

from __future__ import annotations

from core.errors import ReadingError
from core.records import Support


def decide_support(
    probability: float,
    threshold: float,
    review_from: float | None = None,
    threshold_kind: str | None = None,
) -> Support:
    """Supported when the calibrated probability reaches the threshold; all in [0, 1].

    ``review_from`` is where a blocked claim becomes one that needs a person; ``threshold_kind``
    names the kind of source whose own threshold it is.
    """
    if not 0.0 <= probability <= 1.0:
        raise ReadingError(f"the calibrator gave {probability!r}, which is no probability")
    return Support(
        probability=round(probability, 4),
        threshold=threshold,
        review_from=review_from,
        threshold_kind=threshold_kind,
    )


def held_by_veto(probability: float, threshold: float) -> float:
    """The support of a claim that a check vetoes: below any threshold, whatever calibrator gave it."""
    return max(0.0, min(probability, round(threshold - 0.0001, 4)))
