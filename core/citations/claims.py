"""What each claim of an answer cites, and where that leads: one set of findings for every screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.citations.answer import audit_citations
from core.records import CitationFinding, Claim, Span, Trace


def citations_by_claim(
    trace: Trace, claims: Sequence[Claim]
) -> Mapping[str, tuple[CitationFinding, ...]]:
    """The findings of the trace's answer by the id of each claim that they are cited for."""
    found: dict[str, list[CitationFinding]] = {claim.claim_id: [] for claim in claims}
    for finding in audit_citations(trace):
        for claim in _cited_for(finding, claims):
            found[claim.claim_id].append(finding)
    return {claim_id: tuple(cited) for claim_id, cited in found.items()}


def _cited_for(finding: CitationFinding, claims: Sequence[Claim]) -> list[Claim]:
    """The claims of what a mark covers; where none is there, those that the mark stands at."""
    there = [claim for claim in claims if claim.span.overlaps(finding.covers)]
    at = Span(start=finding.span.start - _BESIDE, end=finding.span.end + _BESIDE)
    return there or [claim for claim in claims if claim.span.overlaps(at)]


_BESIDE = 3  # characters: ". [7]"
