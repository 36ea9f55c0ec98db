"""What the provenance of one answer comes to (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.records import Check, Decision, FactPlace, Span, State, Versions


class Grounding(StrEnum):
    """Where a claim seems to come from."""

    CONTEXT_GROUNDED = "CONTEXT_GROUNDED"
    MIXED = "MIXED"
    PARAMETRIC = "PARAMETRIC"
    UNCERTAIN = "UNCERTAIN"


class RiskLevel(StrEnum):
    """How likely a claim is made up or distorted."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


class Tier(StrEnum):
    """The quality of an answer by the risk of its riskiest claim."""

    S = "S"
    A = "A"
    B = "B"
    C = "C"
    D = "D"


class Override(StrEnum):
    """What forbids showing an answer by its risk: the formula sees none of these."""

    BLOCKED = "blocked"
    NOT_JUDGED = "not judged"
    CRITICAL_OMISSION = "critical omission"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabrication:
    """A value or citation of a claim that no output and no call holds and that follows from none.

    ``span`` is in the claim's text; None for a citation, which stands in the answer.
    """

    claim_id: str | None
    text: str
    kind: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPlace:
    """A claim of one turn of a conversation; turn 0 is the earliest, an answer alone is turn 0.

    ``span`` is in what was said in that turn.
    """

    turn: int
    claim_id: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two claims that cannot both hold, and the words in which they differ."""

    kind: str
    first: ClaimPlace
    second: ClaimPlace
    first_said: str
    second_said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A fact that bears on the task and that the answer is silent on; ``score`` is 0 to 1."""

    severity: RiskLevel
    category: str
    name: str
    text: str
    place: FactPlace
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskScore:
    """The four parts of a claim's risk, each 0 to 1, and their weighted sum."""

    attribution: float
    fidelity: float
    entailment: float
    specificity: float
    total: float
    level: RiskLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One call that a claim rests on: its facts, the call, and what it was asked."""

    source_id: str
    tool_name: str
    call_id: str | None
    arguments: str | None
    facts: tuple[FactPlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimProvenance:
    """One factual claim traced to its sources: claim → facts → call → run → task.

    ``span`` is in the answer. ``support`` is the calibrated probability, None for a claim that was
    not judged.
    """

    claim_id: str
    text: str
    span: Span
    claim_type: str
    grounding: Grounding
    grounding_score: float
    relation: str | None
    support: float | None
    state: State
    decision: str
    distortions: tuple[Check, ...]
    fabrications: tuple[Fabrication, ...]
    risk: RiskScore
    chain: tuple[ChainLink, ...]

    @property
    def level(self) -> RiskLevel | None:
        """The level to show: None of a blocked claim, which is never of low risk."""
        return None if self.decision == Decision.BLOCK.value else self.risk.level


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceReport:
    """The provenance of one answer: ``risk`` is its riskiest claim's, None without claims.

    ``formula_level`` is what that risk gives, ``level`` what may be shown of it. ``turns`` counts what
    the agent said in the conversation, this answer the last. ``omissions`` are the most serious, three
    at most; ``omissions_found`` counts all of them.
    """

    trace_id: str
    content_hash: str | None
    task: str
    state: State
    decision: str
    claims: tuple[ClaimProvenance, ...]
    set_aside: Mapping[str, int]
    citations_made_up: tuple[Fabrication, ...]
    turns: int
    contradictions: tuple[Contradiction, ...]
    omissions: tuple[Omission, ...]
    omissions_found: int
    risk: float | None
    mean_risk: float | None
    formula_level: RiskLevel | None
    versions: Versions

    @property
    def overrides(self) -> tuple[Override, ...]:
        """What a low risk must not hide, the most serious first; empty where the answer stands."""
        held = {
            Override.BLOCKED: self.decision == Decision.BLOCK.value,
            Override.NOT_JUDGED: self.decision == Decision.UNAVAILABLE.value,
            Override.CRITICAL_OMISSION: any(
                each.severity is RiskLevel.CRITICAL for each in self.omissions
            ),
        }
        return tuple(name for name, holds in held.items() if holds)

    @property
    def level(self) -> RiskLevel | None:
        """The formula's level, unless something overrides it."""
        return None if self.overrides else self.formula_level

    @property
    def grounding_percentage(self) -> float | None:
        """The share of factual claims that pass, as the decision has it; None without claims.

        Not what is like its source: that tells no good claim from a bad one.
        """
        if not self.claims:
            return None
        return sum(claim.level is not None for claim in self.claims) / len(self.claims)

    @property
    def critical_fabrications(self) -> tuple[Fabrication, ...]:
        """What is made up in claims that do not pass or are of CRITICAL risk, and every such citation."""
        held = (c for c in self.claims if c.level in (None, RiskLevel.CRITICAL))
        return (*(each for c in held for each in c.fabrications), *self.citations_made_up)

    @property
    def omitted_facts(self) -> tuple[Omission, ...]:
        """What the answer is silent on, under the seed's name."""
        return self.omissions

    @property
    def hallucination_count(self) -> int:
        """How many claims are of HIGH or CRITICAL risk."""
        return sum(c.risk.level in (RiskLevel.HIGH, RiskLevel.CRITICAL) for c in self.claims)
