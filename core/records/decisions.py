"""Support, attribution, verdicts and the answer's gate (III.5 - III.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import ClaimError
from core.records.basics import AttributionStatus, ClaimType, Decision, JsonObject, VerdictLabel
from core.records.citations import CitationFinding
from core.records.claims import Claim
from core.records.edits import RepairOutcome
from core.records.evidence import Check
from core.records.judge import JudgeOutcome
from core.records.measurements import Alignment, Entailment, LiteralCheck, Premise, Route
from core.records.shares import Together
from core.records.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The calibrator's input, with the names of Appendix B."""

    categorical: Mapping[str, str]
    numeric: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The calibrated support decision for the routed source: probability ≥ threshold, nothing else.

    From ``review_from`` up to the threshold neither outcome is sure enough: it needs a person.
    ``threshold_kind`` is the kind of source whose own threshold it is; None where it is everyone's.
    ``together`` is set where the threshold is the lower one of an answer that passes as a whole.
    ``base_rate`` is the share of supported claims among those that the probability was calibrated on;
    None where nobody calibrated it.
    """

    probability: float
    threshold: float
    review_from: float | None = None
    threshold_kind: str | None = None
    together: Together | None = None
    base_rate: float | None = None

    def at_prior(self, prior: float) -> float | None:
        """The probability where a share ``prior`` of the claims is supported, both in (0, 1), by odds.

        What a claim's evidence weighs stays as it is (Saerens et al., 2002). None where the base rate is
        not known.

        >>> round(Support(probability=0.5, threshold=0.6, base_rate=0.5).at_prior(0.9), 6)
        0.9
        """
        if self.base_rate is None:
            return None
        in_favour = self.probability * prior / self.base_rate
        against = (1.0 - self.probability) * (1.0 - prior) / (1.0 - self.base_rate)
        return in_favour / (in_favour + against)

    @property
    def supported(self) -> bool:
        """Whether the probability reaches the threshold."""
        return self.probability >= self.threshold

    @property
    def needs_review(self) -> bool:
        """Whether it is blocked and yet too likely to be right for that to be the last word."""
        return (
            self.review_from is not None and self.review_from <= self.probability < self.threshold
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Whether the answer credits the source that supports the claim (III.6).

    ``probable`` is set of a wrong credit that a person decides: the evidence is better in another source
    than in the credited one and not by enough, or no source supports the claim, or nothing is credited.
    """

    status: AttributionStatus
    stated_family: str | None
    routed_family: str | None
    reason: str
    probable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSource:
    """A source besides the routed one that was read and holds every literal of the claim.

    It may say the claim too, so that its features are kept: another calibrator can then tell.
    """

    source_id: str
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What the stages measured of one claim: all that a calibrator needs to decide it (III.3 - III.5).

    ``others_kept`` is False in a verdict from before the other sources' features were kept: then it
    cannot be decided again without the models.
    """

    route: Route
    premise: Premise
    entailment: Entailment
    alignment: Alignment
    literals: LiteralCheck
    features: Features
    others: tuple[OtherSource, ...] = ()
    checks: tuple[Check, ...] = ()
    others_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Measurements):
    """Everything the stages left about one claim: what was measured, and what follows from it."""

    support: Support
    attribution: Attribution
    judge: JudgeOutcome | None = None  # None where none was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A factual claim that no stage could judge; it blocks (III.7)."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A stretch of the answer that claims nothing checkable; it is allowed, so no factual claim has it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """A claim, what was found, and what follows from it; ``reasons`` most serious first.

    ``citations`` are what the answer cites for it, each with where that leads.
    ``extra`` holds fields of a document that another version wrote, kept as they came.
    Raises ClaimError for a factual claim that is set aside: that is the one way past every check.
    """

    claim: Claim
    outcome: Judged | Unjudged | SetAside
    verdict: VerdictLabel | None
    decision: Decision
    reasons: tuple[str, ...]
    citations: tuple[CitationFinding, ...] = ()
    extra: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        factual = self.claim.claim_type is ClaimType.FACTUAL
        if factual and isinstance(self.outcome, SetAside):
            raise ClaimError(f"{self.claim.claim_id}: a factual claim cannot be set aside")


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

    def fitted_with(self) -> dict[str, str]:
        """What of it a calibrator's card names, for whoever decides on other scores later."""
        names = ("embedder", "pair_reader", "precision", "config_sha256")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A verified trace: the paper's per-claim source verdicts and the answer-level decision.

    ``content_hash`` names the version of the trace that was verified, where that is told;
    ``repair`` is what became of the answer where it was repaired.
    """

    trace: Trace
    families: Mapping[str, str]
    claims: tuple[ClaimVerdict, ...]
    answer: AnswerDecision
    versions: Versions
    latency_seconds: Mapping[str, tuple[float, ...]]
    repair: RepairOutcome | None = None
    content_hash: str | None = None
    extra: JsonObject = field(default_factory=dict)
