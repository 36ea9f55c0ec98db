"""What each claim of an answer cites, and where that leads: one set of findings for every screen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.citations.answer import audit_citations
from core.records import CitationFinding, Claim, Span, Trace

_WORDS = 2  # fewer between two marks are no statement: "[1], [2]", "[1] and [2]"


def citations_by_claim(
    trace: Trace, claims: Sequence[Claim]
) -> Mapping[str, tuple[CitationFinding, ...]]:
    """The findings of the trace's answer by the id of each claim that they are cited for."""
    findings = audit_citations(trace)
    found: dict[str, list[CitationFinding]] = {claim.claim_id: [] for claim in claims}
    for finding in findings:
        for claim in _cited_for(finding, findings, claims, trace.answer or ""):
            found[claim.claim_id].append(finding)
    return {claim_id: tuple(cited) for claim_id, cited in found.items()}


def _cited_for(
    finding: CitationFinding,
    findings: Sequence[CitationFinding],
    claims: Sequence[Claim],
    answer: str,
) -> list[Claim]:
    """The claims of the stretch that a mark stands for, else those of all that it covers."""
    stretch = _stretch(finding, findings, answer)
    there = [claim for claim in claims if claim.span.overlaps(stretch)]
    return there or [claim for claim in claims if claim.span.overlaps(finding.covers)]


def _stretch(finding: CitationFinding, findings: Sequence[CitationFinding], answer: str) -> Span:
    """What one of several marks in a sentence stands for: up to it, or on from it.

    Marks close what they stand for ("… [1], and … [2]"), unless the first opens its sentence
    ("Ostrander (2019) found …, Paakkonen (2021) …").
    """
    covers = finding.covers
    marks = sorted(
        {one.span for one in findings if one.covers.overlaps(covers) and _inside(one.span, covers)},
        key=lambda span: (span.start, span.end),
    )
    if len(marks) < 2 or finding.span not in marks:
        return covers
    groups = [[marks[0]]]
    for mark in marks[1:]:
        if _says_little(answer[groups[-1][-1].end : mark.start]):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    at = next(i for i, group in enumerate(groups) if finding.span in group)
    if _says_little(answer[covers.start : groups[0][0].start]):
        end = groups[at + 1][0].start if at + 1 < len(groups) else covers.end
        return Span(start=groups[at][0].start, end=end)
    start = groups[at - 1][-1].end if at else covers.start
    return Span(start=start, end=groups[at][-1].end)


def _inside(span: Span, whole: Span) -> bool:
    return whole.start <= span.start and span.end <= whole.end


def _says_little(text: str) -> bool:
    return len(re.findall(r"[^\W_]+", text)) <= _WORDS
