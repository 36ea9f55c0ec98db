"""What a distortion check finds: the kind, and both texts with their places."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.records import Span


class DistortionKind(StrEnum):
    """How a claim changes what its source says (seed 004, and those that real answers show)."""

    NUMBER_CHANGED = "number changed"
    ENTITY_SUBSTITUTED = "entity substituted"
    NEGATION_FLIP = "negation flip"
    QUALIFIER_DROPPED = "qualifier dropped"
    QUALIFIER_ADDED = "qualifier added"
    SCOPE_CHANGED = "scope changed"
    DIRECTION_REVERSED = "direction reversed"
    ASSOCIATION_AS_CAUSE = "association as cause"
    CERTAINTY_RAISED = "certainty raised"
    STATUS_OR_TIME_CHANGED = "status or time changed"
    COMPARATOR_CHANGED = "comparator changed"
    SPECIFICITY_LOST = "specificity lost"
    SEMANTIC_DRIFT = "semantic drift"


# What is read off two sentences side by side and can be wrong; drift is what the reader says where none
# of these does, and a claim that is only vaguer than its source is not wrong.
NAMED_KINDS = tuple(
    kind
    for kind in DistortionKind
    if kind not in (DistortionKind.SEMANTIC_DRIFT, DistortionKind.SPECIFICITY_LOST)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One feature that two aligned texts tell differently; spans are in the texts compared.

    ``stated_span`` is in the source's sentence, ``claim_span`` in the claim; None where the text says
    it by leaving words out.
    """

    kind: DistortionKind
    said: str
    stated: str
    claim_span: Span | None
    stated_span: Span | None


class Quoted(Protocol):
    """Words of a text, and where they stand in it."""

    @property
    def text(self) -> str: ...

    @property
    def span(self) -> Span: ...


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a text."""

    text: str
    span: Span


def difference(kind: DistortionKind, said: Quoted | None, stated: Quoted | None) -> Difference:
    """The difference between what two texts say, or between that and its absence."""
    return Difference(
        kind=kind,
        said=said.text if said is not None else "",
        stated=stated.text if stated is not None else "",
        claim_span=said.span if said is not None else None,
        stated_span=stated.span if stated is not None else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """A difference between a claim and the sentence of a source that says nearest what it says.

    ``sentence`` and ``stated_span`` are in the source's text; ``coverage`` is the share of the claim's
    content words, rare ones weighing more, that the sentence holds; ``in_field`` is the sentence's.
    """

    claim: str
    difference: Difference
    source_id: str
    sentence: Span
    sentence_text: str
    stated_span: Span | None
    coverage: float
    in_field: bool = False

    @property
    def kind(self) -> DistortionKind:
        """What was changed."""
        return self.difference.kind
