"""The calibrated probability that a claim is supported that an entry of a source states whole.

Such claims are few among labelled ones, and a forest over twenty signals has little use for a signal
that one row in a hundred carries: a frequency is kept, as for what is shown against a claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.calibration.rows import TrainingRow
from core.records import SHOWN_FEATURE

LEAST = 10  # labelled claims; of fewer a frequency says too little to raise a probability


def shown_card(rows: Sequence[TrainingRow]) -> dict[str, int] | None:
    """How many of the labelled claims that are shown whole people found supported; None for few."""
    shown = [row for row in rows if row.features.numeric.get(SHOWN_FEATURE, 0.0) >= 1.0]
    if len(shown) < LEAST:
        return None
    return {
        "supported": sum(row.supported_by_route for row in shown),
        "claims": len(shown),
        "answers": len({row.trace_id for row in shown}),
    }
