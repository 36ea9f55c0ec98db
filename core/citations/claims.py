"""What each claim of an answer cites, and which claims only name what is cited."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from core.citations.answer import audit_citations
from core.citations.mentions import HEADING, mentions_in, reference_list
from core.citations.records_of import RunRecords, run_terms
from core.citations.resolve import resolve_entry
from core.records import CitationFinding, Claim, ClaimType, Span, Trace

_BESIDE = 3  # characters: ". [7]"
_LABEL = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?:\[\^?\w{1,12}\]:?|\d{1,3}[.)]|[⁰¹²³⁴-⁹]+)[ \t]*$", re.M
)
_OF_LISTS = run_terms("PMID DOI PMC NCT arXiv http https www available accessed et al vol pp")
# Each citation is compared with all others: an answer with more of them is not judged, and blocks.
MOST_MENTIONS = 200


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


def cites_too_much(trace: Trace) -> str | None:
    """Why the citations of an answer are not followed; None where they are few enough."""
    answer = trace.answer or ""
    if len(answer) < 3 * MOST_MENTIONS:
        return None
    listed = reference_list(answer)
    count = max(len(listed.entries), len(mentions_in(answer, RunRecords(trace.sources), listed)))
    if count <= MOST_MENTIONS:
        return None
    return f"An answer with {count:,} citations; with more than {MOST_MENTIONS} nothing is judged."


def set_entries_aside(trace: Trace, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims, those that only name a record of the run in the list of references set aside.

    An entry that leads to nothing, or that says one word more than its record has, stays a claim.
    """
    if len(claims) > 0 and all(claim.beyond_limit for claim in claims):
        return tuple(claims)
    if (reason := cites_too_much(trace)) is not None:
        return tuple(
            replace(claim, beyond_limit=True, reason=reason)
            if claim.claim_type is ClaimType.FACTUAL
            else claim
            for claim in claims
        )
    answer = trace.answer or ""
    listed = reference_list(answer)
    if not listed.entries:
        return tuple(claims)
    run = RunRecords(trace.sources)
    named: list[tuple[Span, str]] = []
    for label, what in listed.entries.items():
        records = resolve_entry(label, run, listed, trace.question).records
        held = _OF_LISTS.union(*(one.terms | run_terms(one.place.source_id) for one in records))
        start = answer.find(what, listed.body_end)
        if records and start >= 0 and run_terms(what) <= held:
            place = Span(start=start, end=start + len(what))
            named.append((place, records[0].place.source_id))
    return tuple(_aside(claim, answer, named, listed.body_end) for claim in claims)


def _aside(claim: Claim, answer: str, named: Sequence[tuple[Span, str]], body_end: int) -> Claim:
    there = [(span, source_id) for span, source_id in named if span.overlaps(claim.span)]
    if claim.span.start < body_end or claim.claim_type is not ClaimType.FACTUAL:
        return claim
    left, at = [], claim.span.start
    for span, _ in there:
        left.append(answer[at : span.start])
        at = span.end
    left.append(answer[at : claim.span.end])
    if re.search(r"\w", _LABEL.sub("", HEADING.sub("", "\n".join(left)))):
        return claim
    sources = " and ".join(dict.fromkeys(source_id for _, source_id in there))
    reason = f"An entry of the list of references; it leads to {sources}."
    if not there:
        reason = "The heading of the list of references."
    return replace(claim, claim_type=ClaimType.BOILERPLATE, reason=reason)
