"""What the verifier said of one frozen claim, kept so that nothing is computed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from core.codec import read_record, record_document
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
    Span,
    State,
    VerdictLabel,
)
from core.records.reading_order import priority_rank
from core.verification.decision import held_by_veto


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
    # What a claim that a check vetoes is called where the NLI score disputes that; else None.
    if_disputed: VerdictLabel | None = None
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
    probable_credit: bool = False  # of a wrong credit where no source supports the claim
    premise: tuple[Span, ...] = ()  # the focused premise, in the routed source's text

    @property
    def state(self) -> State:
        """What may happen with the claim: block is for what is shown, by the rules of ``state_of``."""
        if not self.blocked:
            return State.ALLOW
        vetoed = self.if_disputed is not None and self.verdict is VerdictLabel.CONTRADICTED
        credited = self.attribution is AttributionStatus.CONFLATION and not self.probable_credit
        return State.BLOCK if vetoed or credited else State.NEEDS_REVIEW

    @property
    def ranked_by(self) -> float:
        """What a ranking takes it for: its probability, -1 where something else than that blocks it.

        What a check vetoes is blocked too, and its probability is held down by that already.
        """
        otherwise = self.forced and self.if_disputed is None
        return -1.0 if otherwise or self.probability is None else self.probability

    @property
    def read_at(self) -> float:
        """Where it stands in the order in which people read claims, the first at 0."""
        return priority_rank(self.probability, self.attribution, self.features)

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


# Left out of a kept prediction where they say nothing.
_SELDOM: Mapping[str, object] = {"if_disputed": None, "probable_credit": False, "premise": []}
# A kept prediction names these as a verdict does.
_KEYS = {
    "probabilities": "nli",
    "features": "calibrator_input",
    "probability": "support_probability",
}


def prediction_to_json(found: Prediction) -> dict[str, object]:
    """The prediction as one JSON object; ``prediction_from_json`` gives it back."""
    document = {_KEYS.get(name, name): value for name, value in record_document(found).items()}
    return {
        name: value
        for name, value in document.items()
        if name not in _SELDOM or value != _SELDOM[name]
    }


def prediction_from_json(record: object) -> Prediction:
    """A kept prediction; BadRecord when it is not one that this version wrote."""
    if not isinstance(record, Mapping):
        raise BadRecord("expected an object")
    names = [field.name for field in fields(Prediction)]
    document = {name: record.get(_KEYS.get(name, name), _SELDOM.get(name)) for name in names}
    for name in names:
        # What another version left out has no default here: a claim would pass for a gap.
        if name not in _SELDOM and _KEYS.get(name, name) not in record:
            raise BadRecord("not a kept prediction of this version", path=_KEYS.get(name, name))
    return read_record(Prediction, document)
