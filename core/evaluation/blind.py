"""Running a source-blind baseline on a packet: its scores to predictions that name no source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.evaluation.baselines import Baseline, BlindClaim
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from core.ports import Progress
from core.records import Decision, VerdictLabel

ROWS_AT_ONCE = 64


def blind_claims(rows: Sequence[PacketRow]) -> list[BlindClaim]:
    """What a source-blind method may see of each row: the claim and the texts, pooled."""
    return [
        BlindClaim(
            claim=row.claim,
            evidence=tuple(source.text for source in row.sources if source.is_evidence),
        )
        for row in rows
    ]


def blind_scores(
    rows: Sequence[PacketRow], baseline: Baseline, *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """The baseline's support score of every row, shape (n,)."""
    claims = blind_claims(rows)
    parts = []
    for start in range(0, len(claims), ROWS_AT_ONCE):
        parts.append(baseline.scores(claims[start : start + ROWS_AT_ONCE]))
        if progress:
            progress(min(start + ROWS_AT_ONCE, len(claims)), len(claims), baseline.name)
    return np.concatenate(parts) if parts else np.zeros(0)


def blind_predictions(
    rows: Sequence[PacketRow], scores: NDArray[np.float64], threshold: float
) -> list[Prediction]:
    """Blocked below the threshold, and where nothing could be read."""
    return [
        _decided(row, float(score) >= threshold, threshold)
        for row, score in zip(rows, scores, strict=True)
    ]


def _decided(row: PacketRow, passes: bool, threshold: float) -> Prediction:
    verdict = VerdictLabel.SUPPORTED if passes else VerdictLabel.NOT_ENOUGH_EVIDENCE
    return Prediction(
        claim_id=row.claim_id,
        decision=Decision.ALLOW if passes else Decision.BLOCK,
        verdict=verdict,
        cause=Cause.NONE if passes else Cause.SUPPORT,
        forced=False,
        if_supported=VerdictLabel.SUPPORTED,
        if_unsupported=VerdictLabel.NOT_ENOUGH_EVIDENCE,
        reason="",
        threshold=threshold,
    )
