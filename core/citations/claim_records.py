"""What passes between the stages of the claim-level pipeline (001)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from core.records import Derivation, Probabilities, Span


class FiveWay(StrEnum):
    """The verdicts of seed 001."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NEI = "nei"


class Confidence(StrEnum):
    """How much work a claim's verification gets: little, some, all."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Depth(StrEnum):
    """How a claim was verified."""

    QUICK = "quick"
    STANDARD = "standard"
    CHAIN = "full_cove"


class Ranking(StrEnum):
    """By what texts are compared; ``bert_score`` and ``editor`` need a function given for it."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"
    BERT_SCORE = "bert_score"
    EDITOR = "editor"


class Action(StrEnum):
    """What becomes of a citation."""

    KEEP = "keep"
    REPLACE = "replace"
    REMOVE = "remove"
    ADD_ALTERNATE = "add_alternate"


Similarity = Callable[[str, str], float]  # two texts to how alike they are, from 0 to 1
Judge = Callable[[str, str], Probabilities]  # (claim, quote), and nothing else: 001's isolation


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSpan:
    """A stretch of a source that a claim can cite; ``span`` is in the source's text."""

    source_id: str
    span: Span
    quote: str
    score: float
    has_numeric: bool
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedClaim:
    """A claim and the evidence that it cites, if any."""

    text: str
    evidence: EvidenceSpan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question about a claim, answered from the evidence alone; ``answer`` None: it is not there."""

    question: str
    expected: str
    answer: str | None
    agrees: bool

    @property
    def told(self) -> str:
        """The answer in words."""
        return self.answer if self.answer is not None else "NOT FOUND IN EVIDENCE"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericFinding:
    """How a claim's number compares with the evidence: value, unit, entity, period, derivation."""

    verdict: FiveWay
    score: float
    claim_value: str
    evidence_value: str | None
    entity_match: bool
    period_match: bool
    reason: str
    derivation: Derivation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedVerdict:
    """The verdict on one claim and its quote, how it was reached, and what was asked on the way."""

    verdict: FiveWay
    depth: Depth
    reason: str
    answers: tuple[Answered, ...] = ()
    numeric: tuple[NumericFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What to do with a claim's citation; ``similarity`` is the new evidence's, by ``method``."""

    action: Action
    method: Ranking
    evidence: EvidenceSpan | None = None
    similarity: float | None = None
    reason: str = ""
