"""A packet's labelled predictions to guaranteed operating points, by kind of source (III.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.attribution.families import Families
from core.calibration.guarantee import LabelledScores
from core.errors import InputError
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction

NO_SOURCE = "no source"


def labelled_scores(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction], families: Families
) -> LabelledScores:
    """The labelled claims of a packet with the family that each was routed to.

    ``predictions`` are those of ``rows``, in order. Raises InputError when no row has a label.
    """
    pairs = [(row, found) for row, found in zip(rows, predictions, strict=True) if row.scored]
    if not pairs:
        raise InputError("the packet has no claim with a label: no threshold can be shown to hold")
    numbers = {
        trace: number
        for number, trace in enumerate(dict.fromkeys(row.trace_id for row, _ in pairs))
    }
    return LabelledScores(
        # What could not be judged is forced to block, so its probability is never looked at.
        probability=np.array(
            [0.0 if found.probability is None else found.probability for _, found in pairs]
        ),
        bad=np.array([row.should_block for row, _ in pairs], dtype=np.bool_),
        forced=np.array([found.forced for _, found in pairs], dtype=np.bool_),
        trace=np.array([numbers[row.trace_id] for row, _ in pairs], dtype=np.int64),
        family=tuple(_family(row, found, families) for row, found in pairs),
    )


def _family(row: PacketRow, found: Prediction, families: Families) -> str:
    if found.routed_source_id is None:
        return NO_SOURCE
    return families.families_of(row.sources).get(found.routed_source_id, NO_SOURCE)
