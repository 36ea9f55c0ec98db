"""The verdict document as ``verify`` writes it, typed so that the screens can read it."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class StatedDocument(TypedDict):
    """The words of the answer that credit a source."""

    text: str
    span: list[int]
    family: str | None
    source_id: str | None


class ValueDocument(TypedDict):
    """A protected value of a claim, and whether the premise holds it."""

    text: str
    kind: str
    normalised: str
    present: bool | None
    span: NotRequired[list[int]]
    nearest: NotRequired[str | None]


class ProbabilitiesDocument(TypedDict):
    """The three label probabilities of a reading."""

    entailment: float
    neutral: float
    contradiction: float


class NliDocument(TypedDict):
    """A relation with its probabilities."""

    relation: str
    probabilities: ProbabilitiesDocument


class RankedDocument(TypedDict):
    """One candidate source of a claim."""

    source_id: str
    score: float
    nli: ProbabilitiesDocument | None


class RouteDocument(TypedDict):
    """The source that a claim was checked against."""

    source_id: str
    tool_name: str
    family: str
    route_score: float
    routing_margin: float
    ranking: list[RankedDocument]


class PremiseDocument(TypedDict):
    """The evidence read for a claim; spans are in the source's text."""

    source_id: str
    text: str
    spans: list[list[int]]
    truncated: bool


class TokenDocument(TypedDict):
    """A word of the claim with its alignment score."""

    text: str
    span: list[int]
    score: float
    weak: bool


class AlignmentDocument(TypedDict):
    """Where the claim's words are grounded."""

    tokens: list[TokenDocument]
    supported_token_ratio: float


class AttributionDocument(TypedDict):
    """Whether the answer credits the source that supports the claim."""

    status: str
    stated_family: str | None
    routed_family: str | None
    reason: str


class ClaimDocument(TypedDict):
    """One claim and what was found."""

    claim_id: str
    text: str
    span: list[int]
    said: str
    claim_type: str
    stated_attribution: StatedDocument | None
    protected_values: list[ValueDocument]
    unwritten_values: NotRequired[list[ValueDocument]]
    routed_source: RouteDocument | None
    premise: PremiseDocument | None
    nli: NliDocument | None
    alignment: AlignmentDocument | None
    support_probability: float | None
    threshold: float | None
    support_decision: str | None
    verdict: str | None
    attribution: AttributionDocument
    decision: str
    reasons: list[str]


class SourceDocument(TypedDict):
    """One source as the verdict names it."""

    source_id: str
    tool_name: str
    family: str
    text: str
    status: str


class VerdictDocument(TypedDict):
    """One verified trace."""

    trace_id: str
    question: str
    answer: str | None
    decision: str
    reasons: list[str]
    sources: list[SourceDocument]
    claims: list[ClaimDocument]
    versions: dict[str, str]
