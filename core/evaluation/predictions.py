"""What the verifier said of one frozen claim, kept so that nothing is computed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.errors import BadRecord
from core.ports import Calibrator
from core.records import (
    SHOWN_WRONG,
    AttributionStatus,
    Decision,
    Features,
    Probabilities,
    RankedSource,
    Relation,
    VerdictLabel,
)
from core.stages.calibration import held_by_veto


class Cause(StrEnum):
    """The first thing that blocks a claim, most serious first; ``none`` for one that passes."""

    NONE = "none"
    UNJUDGED = "unjudged"
    IDENTITY = "identity"
    CONTRADICTION = "contradiction"
    CONFLATION = "conflation"
    VALUE = "missing value"
    TOKENS = "too few supported tokens"
    SUPPORT = "support below threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The verifier's answer for one packet row.

    ``relation`` is taken after lexical rescue. ``forced`` says that something else than the support
    probability blocks the claim; with the verdicts that the claim would get ``if_supported`` and
    ``if_unsupported``, another calibrator or threshold is tried without running a model.
    Measurements are None when the claim could not be judged; it then blocks and ``reason`` says why.
    """

    claim_id: str
    decision: Decision
    verdict: VerdictLabel
    cause: Cause
    forced: bool
    if_supported: VerdictLabel
    if_unsupported: VerdictLabel
    reason: str
    threshold: float
    routed_source_id: str | None = None
    routed_tool: str | None = None
    ranking: tuple[RankedSource, ...] = ()
    relation: Relation | None = None
    probabilities: Probabilities | None = None
    rescued: bool = False
    supported_token_ratio: float | None = None
    features: Features | None = None
    probability: float | None = None
    attribution: AttributionStatus = AttributionStatus.NONE
    # What a claim that a check vetoes is called where the reading disputes that; else None.
    if_disputed: VerdictLabel | None = None

    @property
    def ranked_by(self) -> float:
        """What a ranking takes it for: its probability, -1 where something else than that blocks it.

        What a check vetoes is blocked too, and its probability is held down by that already.
        """
        otherwise = self.forced and self.if_disputed is None
        return -1.0 if otherwise or self.probability is None else self.probability

    @property
    def blocked(self) -> bool:
        """Whether the claim was blocked."""
        return self.decision is Decision.BLOCK


def at_threshold(found: Prediction, probability: float | None, threshold: float) -> Prediction:
    """The same claim decided with another probability or threshold; nothing is read again."""
    if probability is None or found.cause is Cause.UNJUDGED:
        return replace(found, threshold=threshold)
    label = found.if_unsupported
    if found.if_disputed is not None:
        probability = held_by_veto(probability, threshold)
        label = found.if_disputed if probability > SHOWN_WRONG else label
    supported = probability >= threshold
    cause = found.cause
    if not found.forced:
        cause = Cause.NONE if supported else Cause.SUPPORT
    return replace(
        found,
        probability=probability,
        threshold=threshold,
        decision=Decision.ALLOW if supported and not found.forced else Decision.BLOCK,
        verdict=found.if_supported if supported else label,
        cause=cause,
    )


def recalibrated(found: Sequence[Prediction], calibrator: Calibrator) -> list[Prediction]:
    """All claims decided anew by another calibrator, from their stored features."""
    judged = [one for one in found if one.features is not None]
    chances = calibrator.probabilities([one.features for one in judged if one.features is not None])
    by_id = {one.claim_id: float(chance) for one, chance in zip(judged, chances, strict=True)}
    return [at_threshold(one, by_id.get(one.claim_id), calibrator.threshold) for one in found]


def prediction_to_json(found: Prediction) -> dict[str, object]:
    """The prediction as one JSON object; ``prediction_from_json`` gives it back."""
    return {
        "claim_id": found.claim_id,
        "decision": found.decision.value,
        "verdict": found.verdict.value,
        "cause": found.cause.value,
        "forced": found.forced,
        "if_supported": found.if_supported.value,
        "if_unsupported": found.if_unsupported.value,
        **({} if found.if_disputed is None else {"if_disputed": found.if_disputed.value}),
        "reason": found.reason,
        "threshold": found.threshold,
        "routed_source_id": found.routed_source_id,
        "routed_tool": found.routed_tool,
        "ranking": [
            {
                "source_id": ranked.source_id,
                "score": ranked.score,
                "nli": _probabilities_to_json(ranked.probabilities),
            }
            for ranked in found.ranking
        ],
        "relation": found.relation.value if found.relation else None,
        "nli": _probabilities_to_json(found.probabilities),
        "rescued": found.rescued,
        "supported_token_ratio": found.supported_token_ratio,
        "calibrator_input": None
        if found.features is None
        else {
            "categorical_features": dict(found.features.categorical),
            "numeric_features": dict(found.features.numeric),
        },
        "support_probability": found.probability,
        "attribution": found.attribution.value,
    }


def prediction_from_json(record: object) -> Prediction:
    """A kept prediction; BadRecord when it is not one that this version wrote."""
    if not isinstance(record, Mapping):
        raise BadRecord("expected an object")
    try:
        relation, inputs = record["relation"], record["calibrator_input"]
        disputed = record.get("if_disputed")
        return Prediction(
            claim_id=str(record["claim_id"]),
            decision=Decision(record["decision"]),
            verdict=VerdictLabel(record["verdict"]),
            cause=Cause(record["cause"]),
            forced=bool(record["forced"]),
            if_supported=VerdictLabel(record["if_supported"]),
            if_unsupported=VerdictLabel(record["if_unsupported"]),
            reason=str(record["reason"]),
            threshold=float(record["threshold"]),
            routed_source_id=record["routed_source_id"],
            routed_tool=record["routed_tool"],
            ranking=tuple(
                RankedSource(
                    source_id=item["source_id"],
                    score=float(item["score"]),
                    probabilities=_probabilities_from_json(item["nli"]),
                )
                for item in record["ranking"]
            ),
            relation=Relation(relation) if relation is not None else None,
            probabilities=_probabilities_from_json(record["nli"]),
            rescued=bool(record["rescued"]),
            supported_token_ratio=record["supported_token_ratio"],
            features=None
            if inputs is None
            else Features(
                categorical=inputs["categorical_features"], numeric=inputs["numeric_features"]
            ),
            probability=record["support_probability"],
            attribution=AttributionStatus(record["attribution"]),
            if_disputed=VerdictLabel(disputed) if disputed is not None else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecord(f"not a kept prediction: {error!r}") from error


def _probabilities_to_json(found: Probabilities | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "entailment": found.entailment,
        "neutral": found.neutral,
        "contradiction": found.contradiction,
    }


def _probabilities_from_json(found: Mapping[str, float] | None) -> Probabilities | None:
    if found is None:
        return None
    return Probabilities(
        entailment=float(found["entailment"]),
        neutral=float(found["neutral"]),
        contradiction=float(found["contradiction"]),
    )
