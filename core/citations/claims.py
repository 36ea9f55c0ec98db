"""What each claim of an answer cites, and where that leads: one set of findings for every screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from core.citations.answer import audit_citations
from core.records import CitationFinding, Claim, ClaimType, Span, Trace


def citations_by_claim(
    trace: Trace, claims: Sequence[Claim]
) -> Mapping[str, tuple[CitationFinding, ...]]:
    """The findings of the trace's answer by the id of each claim that they are cited for."""
    found: dict[str, list[CitationFinding]] = {claim.claim_id: [] for claim in claims}
    factual = [claim for claim in claims if claim.claim_type is ClaimType.FACTUAL]
    if factual and all(claim.beyond_limit for claim in factual):
        return dict.fromkeys(found, ())  # of an answer beyond a limit nothing is followed
    order = sorted(claims, key=lambda claim: claim.span.start)
    reach = list(accumulate((claim.span.end for claim in order), max))
    for finding in audit_citations(trace):
        for claim in _cited_for(finding, order, reach):
            found[claim.claim_id].append(finding)
    return {claim_id: tuple(cited) for claim_id, cited in found.items()}


def _cited_for(
    finding: CitationFinding, order: Sequence[Claim], reach: Sequence[int]
) -> list[Claim]:
    """The claims of what a mark covers; where none is there, those that the mark stands at."""
    at = Span(start=finding.span.start - _BESIDE, end=finding.span.end + _BESIDE)
    return _overlapping(finding.covers, order, reach) or _overlapping(at, order, reach)


def _overlapping(span: Span, order: Sequence[Claim], reach: Sequence[int]) -> list[Claim]:
    """The claims that share a place with the span; ``reach`` is how far those up to each one go."""
    past = bisect_left(order, span.end, key=lambda claim: claim.span.start)
    first = bisect_right(reach, span.start, hi=past)
    return [claim for claim in order[first:past] if claim.span.overlaps(span)]


_BESIDE = 3  # characters: ". [7]"
