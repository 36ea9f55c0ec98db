"""What the joint verifier predicts of claims, raw and calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from core.calibration.threshold import by_false_pass, sweep
from core.evaluation.predictions import Cause, Prediction
from core.records import Decision, Probabilities, RankedSource, Relation, VerdictLabel
from training.joint_verifier import RELATIONS, ClaimPairs, JointReading

VERDICTS = {
    Relation.ENTAILMENT: VerdictLabel.SUPPORTED,
    Relation.NEUTRAL: VerdictLabel.NOT_ENOUGH_EVIDENCE,
    Relation.CONTRADICTION: VerdictLabel.CONTRADICTED,
}


def predictions(
    claims: Sequence[ClaimPairs],
    readings: Sequence[JointReading],
    support: NDArray[np.float64] | None = None,
    threshold: float = 0.5,
) -> list[Prediction]:
    """The claims as decided: raw (None) by the owner's relation alone, else by ``support``."""
    found = []
    for index, (one, said) in enumerate(zip(claims, readings, strict=True)):
        relation = RELATIONS[int(np.argmax(said.relations[said.best]))]
        chance = (
            float(relation is Relation.ENTAILMENT) if support is None else float(support[index])
        )
        passes = chance >= threshold
        held_back = (
            VerdictLabel.NOT_ENOUGH_EVIDENCE
            if relation is Relation.ENTAILMENT
            else VERDICTS[relation]
        )
        ranking = tuple(
            RankedSource(
                source_id=one.source_ids[i],
                score=round(float(said.owns[i]), 4),
                probabilities=_probabilities(said.relations[i]),
            )
            for i in np.argsort(-said.owns, kind="stable")
        )
        owner = one.source_ids[said.best]
        found.append(
            Prediction(
                claim_id=one.row.claim_id,
                decision=Decision.ALLOW if passes else Decision.BLOCK,
                verdict=VerdictLabel.SUPPORTED if passes else held_back,
                cause=Cause.NONE if passes else Cause.SUPPORT,
                forced=False,
                if_supported=VerdictLabel.SUPPORTED,
                if_unsupported=held_back,
                reason="joint verifier",
                threshold=threshold,
                routed_source_id=owner,
                routed_tool=next(s.tool_name for s in one.row.sources if s.source_id == owner),
                ranking=ranking,
                relation=relation,
                probabilities=_probabilities(said.relations[said.best]),
                probability=round(chance, 4),
            )
        )
    return found


def _probabilities(row: NDArray[np.float64]) -> Probabilities:
    entailment, neutral, contradiction = (round(float(value), 4) for value in row)
    return Probabilities(entailment=entailment, neutral=neutral, contradiction=contradiction)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCalibration:
    """Turns both heads' words on a claim into P(supported by its owner), with a threshold."""

    model: Any
    threshold: float

    def support(self, readings: Sequence[JointReading]) -> NDArray[np.float64]:
        """Shape (claims,)."""
        columns = np.array([reading.features() for reading in readings])
        chances: NDArray[np.float64] = self.model.predict_proba(columns)[:, 1]
        return chances


def calibrate(
    claims: Sequence[ClaimPairs], readings: Sequence[JointReading], max_false_pass: float
) -> JointCalibration:
    """Fit on claims that the heads did not learn from; the threshold by false pass on the same."""
    right = np.array(
        [
            one.row.label is VerdictLabel.SUPPORTED
            and one.source_ids[said.best] in one.row.gold_source_ids
            for one, said in zip(claims, readings, strict=True)
        ]
    )
    model = LogisticRegression(max_iter=2_000).fit(
        np.array([reading.features() for reading in readings]), right
    )
    fitted = JointCalibration(model=model, threshold=0.5)
    bad = np.array([one.row.should_block for one in claims])
    points = sweep(fitted.support(readings), bad, np.zeros(len(claims), dtype=bool))
    return replace(fitted, threshold=by_false_pass(points, max_false_pass).point.threshold)
