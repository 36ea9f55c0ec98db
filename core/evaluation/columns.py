"""Packet rows and predictions side by side, as arrays that metrics and resampling work on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import trace_numbers
from core.errors import InputError
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.records import AttributionStatus, Relation, VerdictLabel

LABELS: tuple[VerdictLabel, ...] = (
    VerdictLabel.SUPPORTED,
    VerdictLabel.UNSUPPORTED,
    VerdictLabel.CONTRADICTED,
    VerdictLabel.NOT_ENOUGH_EVIDENCE,
)
RELATIONS: tuple[Relation, ...] = tuple(Relation)
NOT_ONE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Scored claims as arrays of one length; codes index ``LABELS`` and ``RELATIONS``.

    ``rank`` is the place of the first right source in the ranking, from 1, and 0 where none is
    ranked; ``right_source`` is whether the routed source is a right one; ``supported_by_route`` is
    the calibrator's target; ``probability`` is NaN where a claim was not judged; ``ranked_by`` is
    what a ranking takes the claim for (``Prediction.ranked_by``), and
    ``read_at`` where it stands in the order in which people read.
    """

    trace: NDArray[np.int64]
    bad: NDArray[np.bool_]
    blocked: NDArray[np.bool_]
    forced: NDArray[np.bool_]
    label: NDArray[np.int64]
    verdict: NDArray[np.int64]
    gold_relation: NDArray[np.int64]
    relation: NDArray[np.int64]
    eligible: NDArray[np.bool_]
    right_source: NDArray[np.bool_]
    rank: NDArray[np.int64]
    jaccard: NDArray[np.float64]
    attribution_known: NDArray[np.bool_]
    gold_conflation: NDArray[np.bool_]
    conflation: NDArray[np.bool_]
    probability: NDArray[np.float64]
    supported_by_route: NDArray[np.bool_]
    ranked_by: NDArray[np.float64]
    read_at: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.trace)

    def where(self, chosen: NDArray[np.bool_]) -> Columns:
        """The chosen claims, their traces numbered anew."""
        kept = {field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        kept["trace"] = np.unique(kept["trace"], return_inverse=True)[1].astype(np.int64)
        return Columns(**kept)


def scored_rows(rows: Sequence[PacketRow]) -> list[PacketRow]:
    """The rows that have a label, in the order of the columns.

    The order is fixed because a sum's last bit depends on it: no figure may show how a file is sorted.
    """
    scored = (row for row in rows if row.scored)
    return sorted(scored, key=lambda row: (row.trace_id, row.claim_id))


def pair_columns(rows: Sequence[PacketRow], predictions: Sequence[Prediction]) -> Columns:
    """Columns of the scored rows by trace and claim id; each needs a prediction, found by claim id."""
    by_id = {prediction.claim_id: prediction for prediction in predictions}
    missing = [row.claim_id for row in rows if row.scored and row.claim_id not in by_id]
    if missing:
        raise InputError(f"{len(missing)} claims have no prediction, {missing[0]!r} first")
    pairs = [(row, by_id[row.claim_id]) for row in scored_rows(rows)]
    right = [_is_right(row, found) for row, found in pairs]
    return Columns(
        trace=trace_numbers([row.trace_id for row, _ in pairs]),
        bad=_flags(row.should_block for row, _ in pairs),
        blocked=_flags(found.blocked for _, found in pairs),
        forced=_flags(found.forced for _, found in pairs),
        label=_codes((row.label for row, _ in pairs), LABELS),
        verdict=_codes((found.verdict for _, found in pairs), LABELS),
        gold_relation=_codes((row.relation for row, _ in pairs), RELATIONS),
        relation=_codes((found.relation for _, found in pairs), RELATIONS),
        eligible=_flags(row.source_eligible for row, _ in pairs),
        right_source=_flags(right),
        rank=np.array([_rank(row, found) for row, found in pairs], dtype=np.int64),
        jaccard=np.array([_jaccard(row, found) for row, found in pairs], dtype=np.float64),
        attribution_known=_flags(row.gold_attribution is not None for row, _ in pairs),
        gold_conflation=_flags(
            row.gold_attribution is AttributionStatus.CONFLATION for row, _ in pairs
        ),
        conflation=_flags(found.attribution is AttributionStatus.CONFLATION for _, found in pairs),
        probability=np.array(
            [np.nan if found.probability is None else found.probability for _, found in pairs],
            dtype=np.float64,
        ),
        supported_by_route=_flags(is_target(row, found) for row, found in pairs),
        ranked_by=np.array([found.ranked_by for _, found in pairs], dtype=np.float64),
        read_at=np.array([found.read_at for _, found in pairs], dtype=np.float64),
    )


def is_target(row: PacketRow, found: Prediction) -> bool:
    """The calibrator's target: supported, by the routed source when the right ones are known."""
    supported = row.label is VerdictLabel.SUPPORTED
    return supported and (_is_right(row, found) if row.source_eligible else True)


def _is_right(row: PacketRow, found: Prediction) -> bool:
    return found.routed_source_id is not None and found.routed_source_id in row.gold_source_ids


def _rank(row: PacketRow, found: Prediction) -> int:
    for place, ranked in enumerate(found.ranking, start=1):
        if ranked.source_id in row.gold_source_ids:
            return place
    return 0


def _jaccard(row: PacketRow, found: Prediction) -> float:
    """Overlap of the right sources with as many of the best ranked ones."""
    gold = set(row.gold_source_ids)
    head = {ranked.source_id for ranked in found.ranking[: len(gold)]}
    return len(gold & head) / len(gold | head) if gold else 0.0


def _flags(values: Iterable[bool]) -> NDArray[np.bool_]:
    return np.array(list(values), dtype=np.bool_)


def _codes(values: Iterable[object], names: Sequence[object]) -> NDArray[np.int64]:
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(value, NOT_ONE) for value in values], dtype=np.int64)
