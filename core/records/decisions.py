"""Support, attribution, verdicts and the answer's gate (III.5 - III.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.records.basics import AttributionStatus, Decision, VerdictLabel
from core.records.claims import Claim
from core.records.evidence import Check
from core.records.measurements import Alignment, Entailment, LiteralCheck, Premise, Route
from core.records.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The calibrator's input, with the names of Appendix B."""

    categorical: Mapping[str, str]
    numeric: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The calibrated support decision for the routed source: probability ≥ threshold, nothing else."""

    probability: float
    threshold: float

    @property
    def supported(self) -> bool:
        """Whether the probability reaches the threshold."""
        return self.probability >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Whether the answer credits the source that supports the claim (III.6)."""

    status: AttributionStatus
    stated_family: str | None
    routed_family: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSource:
    """A source besides the routed one that was read and holds every literal of the claim.

    It may say the claim too, so that its features are kept: another calibrator can then tell.
    """

    source_id: str
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Everything the stages left about one claim."""

    route: Route
    premise: Premise
    entailment: Entailment
    alignment: Alignment
    literals: LiteralCheck
    features: Features
    support: Support
    attribution: Attribution
    others: tuple[OtherSource, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A factual claim that no stage could judge; it blocks (III.7)."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A stretch of the answer that claims nothing checkable; it is allowed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """A claim, what was found, and what follows from it; ``reasons`` most serious first."""

    claim: Claim
    outcome: Judged | Unjudged | SetAside
    verdict: VerdictLabel | None
    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDecision:
    """The answer's gate (III.7)."""

    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What produced a verification; the same trace, versions and machine give the same bytes."""

    pipeline: str
    config_sha256: str
    embedder: str
    pair_reader: str
    precision: str
    calibrator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A verified trace: the paper's per-claim source verdicts and the answer-level decision."""

    trace: Trace
    families: Mapping[str, str]
    claims: tuple[ClaimVerdict, ...]
    answer: AnswerDecision
    versions: Versions
    latency_seconds: Mapping[str, tuple[float, ...]]
