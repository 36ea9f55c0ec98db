"""What a calibrator's card says of labels beside its threshold (III.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.attribution.families import load_families
from core.calibration.guarantee import LabelledScores
from core.calibration.rows import TrainingRow
from core.calibration.whole import whole_card
from core.models.forest import SHOWN, WHOLE
from core.models.heard import HEARD, heard_card
from core.records import SHOWN_FEATURE, SHOWN_WRONG, Against
from core.statistics import exact_binomial_interval
from core.verification.decision import against

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


def contradicted_card(
    rows: Sequence[TrainingRow], probability: NDArray[np.float64] | None = None
) -> dict[str, dict[str, object]]:
    """For each thing that speaks against a claim: how many of the labelled ones were contradicted.

    Rows of which it is not known whether they were contradicted do not count, nor do those whose
    ``probability``, shape (rows,), disputes what a check shows: of them nobody is told so.
    """
    if probability is not None:
        disputed = probability > SHOWN_WRONG
        rows = [
            row
            for row, carried in zip(rows, disputed, strict=True)
            if not (carried and against(row.features) is Against.SHOWN)
        ]
    found: dict[str, dict[str, object]] = {}
    for kind in Against:
        inside = [row for row in _known(rows) if against(row.features) is kind]
        right = sum(row.contradicted is True for row in inside)
        ends = exact_binomial_interval(right, len(inside))
        if ends is not None:
            found[kind.value] = {
                "contradicted": right,
                "claims": len(inside),
                "answers": len({row.trace_id for row in inside}),
                "low": round(ends[0], 4),
                "high": round(ends[1], 4),
            }
    return found


def _known(rows: Sequence[TrainingRow]) -> list[TrainingRow]:
    return [row for row in rows if row.contradicted is not None]


def judging_card(counted: Sequence[TrainingRow]) -> dict[str, object]:
    """What of a card a forest judges by, beside its trees."""
    return {SHOWN: shown_card(counted), HEARD: heard_card()}


def labels_card(
    rows: Sequence[TrainingRow],
    probability: NDArray[np.float64],
    counted: Sequence[TrainingRow],
    of_counted: NDArray[np.float64],
) -> dict[str, object]:
    """What a calibrator's card says of labels beside its threshold.

    The point of whole answers rests on ``rows``, with ``probability`` by trees that did not see them;
    how often a claim is contradicted rests on ``counted``, whose probabilities are ``of_counted``.
    """
    return {
        "contradicted": contradicted_card(counted, of_counted),
        **judging_card(counted),
        WHOLE: whole_card(labelled(rows, probability)),
    }


def labelled(rows: Sequence[TrainingRow], probability: NDArray[np.float64]) -> LabelledScores:
    """The rows as labelled scores, each of the kind of source that its claim was routed to."""
    numbers = np.unique([row.trace_id for row in rows], return_inverse=True)[1]
    return LabelledScores(
        probability=probability,
        bad=np.array([row.should_block for row in rows], dtype=np.bool_),
        forced=np.array([row.forced for row in rows], dtype=np.bool_),
        trace=numbers.astype(np.int64),
        family=tuple(kind_of(row) for row in rows),
    )


def kind_of(row: TrainingRow) -> str:
    """The kind of source that a row's claim was routed to, by its tool's name."""
    return load_families().family_of_tool(row.features.categorical.get("pred_tool", ""))
