"""Closed choices, places and free JSON: what every record is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

JsonObject = Mapping[str, object]


class Decision(StrEnum):
    """What happens to a claim or an answer (III.7); only answers can be unavailable."""

    ALLOW = "allow"
    BLOCK = "block"
    UNAVAILABLE = "unavailable"


class ClaimType(StrEnum):
    """What a stretch of the answer is; only factual claims are judged (III.2)."""

    FACTUAL = "factual"
    BOILERPLATE = "boilerplate"
    META = "meta"
    OPINION = "opinion"
    QUESTION = "question"
    ADVICE = "advice"


class SourceStatus(StrEnum):
    """Whether a tool output can be evidence: only ``ok`` and ``truncated`` can."""

    OK = "ok"
    ERROR = "error"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    NOT_CAPTURED = "not_captured"
    ECHO = "echo"


class Relation(StrEnum):
    """What the premise says about the claim (III.4)."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


class VerdictLabel(StrEnum):
    """The four factual verdicts of the paper, and not having been judged."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"
    UNJUDGED = "unjudged"


class AttributionStatus(StrEnum):
    """How the stated or implied source compares with the routed one (III.6)."""

    MATCH = "match"
    CONFLATION = "conflation"
    UNAVAILABLE = "unavailable"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open range of code points ``[start, end)`` of the text that its holder names."""

    start: int
    end: int

    def cut(self, text: str) -> str:
        """The part of ``text`` that this span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end
