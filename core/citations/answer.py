"""Audit what an answer cites: every citation resolved against the captured run, and read there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.citations.mentions import Mention, mentions_in, reference_list
from core.citations.records_of import RunRecord, RunRecords
from core.citations.resolve import Resolution, resolve_entry, resolve_mention
from core.citations.scope import Scope, scopes_of
from core.citations.support import Weights
from core.records import (
    Citation,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
    Relation,
    Span,
    Trace,
)

Reads = Callable[[str, str], Relation]  # (claim, evidence) to what the evidence says of it
_COUNTED = frozenset(
    {
        CitationKind.NUMBER,
        CitationKind.SUPERSCRIPT,
        CitationKind.FOOTNOTE,
        CitationKind.POINTER,
    }
)


def audit_citations(trace: Trace, *, reads: Reads | None = None) -> tuple[CitationFinding, ...]:
    """Every citation of the trace's answer, in order, with where it leads and whether that says it.

    ``reads``, a pair reader if there is one, can turn "says otherwise" into "says it"; without one
    the records of the run are compared by their words.
    """
    answer = trace.answer or ""
    run = RunRecords(trace.sources)
    listed = reference_list(answer)
    mentions = mentions_in(answer, run, listed)
    scopes = scopes_of(answer, mentions, listed.body_end)
    weights = Weights(run.records)
    entries = [
        record
        for label in listed.entries
        for record in resolve_entry(label, run, listed, trace.question).records
    ]
    found = []
    for mention, scope in zip(mentions, scopes, strict=True):
        resolution = resolve_mention(mention, run, listed, answer, trace.question)
        found.append(
            _finding(mention, scope, resolution, answer, weights, entries, mentions, reads)
        )
    found += _annotations(trace, answer, mentions)
    return tuple(sorted(found, key=lambda one: (one.span.start, one.span.end, one.text)))


def _finding(
    mention: Mention,
    scope: Scope,
    resolution: Resolution,
    answer: str,
    weights: Weights,
    entries: Sequence[RunRecord],
    mentions: Sequence[Mention],
    reads: Reads | None,
) -> CitationFinding:
    place = _place(resolution)
    if resolution.outcome is not None:
        return _said(mention, scope, resolution.outcome, resolution.reason, place)
    if resolution.acted or mention.kind in (CitationKind.PATH, CitationKind.TOOL):
        # It names what was done with, not where a statement is from.
        reason = resolution.reason or f"{mention.key} is part of this run"
        return _said(mention, scope, CitationOutcome.SILENT, reason, place)
    sentence, around = (_without(span, mentions, answer) for span in (scope.sentence, scope.around))
    terms = weights.weigh(sentence, around)
    support = weights.support(
        terms, resolution.records, _rivals(mention.kind, weights.records, entries)
    )
    cited = support.best_cited or resolution.records[0]
    place = CitedPlace(source_id=cited.place.source_id, span=cited.place.span)
    rival = support.best_rival
    if support.said_elsewhere and rival is not None:
        if reads is not None and reads(sentence, cited.text) is Relation.ENTAILMENT:
            return _said(mention, scope, CitationOutcome.SAYS_IT, "the cited record says it", place)
        title = rival.title or rival.place.source_id
        reason = (
            f"the cited record has {support.cited:.0%} of what is said here, "
            f"{title[:80]!r} has {support.rival:.0%}"
        )
        return _said(mention, scope, CitationOutcome.SAYS_OTHERWISE, reason, place, rival.place)
    if support.says_it:
        reason = f"the cited record has {support.cited:.0%} of what is said here"
        return _said(mention, scope, CitationOutcome.SAYS_IT, reason, place)
    reason = f"the cited record has {support.cited:.0%} of what is said here, and no other has more"
    return _said(mention, scope, CitationOutcome.SILENT, reason, place)


def _rivals(
    kind: CitationKind, records: Sequence[RunRecord], entries: Sequence[RunRecord]
) -> Sequence[RunRecord]:
    """The records that could have been cited in this way instead."""
    if kind in _COUNTED:
        return [one for one in entries or records if not one.lists_tools]
    records = [record for record in records if not record.lists_tools]
    if kind in (CitationKind.URL, CitationKind.LINK):
        return [record for record in records if "://" in record.text]
    return [record for record in records if record.ids or record.title]


def _said(
    mention: Mention,
    scope: Scope,
    outcome: CitationOutcome,
    reason: str,
    place: CitedPlace | None,
    better: CitedPlace | None = None,
) -> CitationFinding:
    return CitationFinding(
        text=mention.text,
        span=mention.span,
        covers=scope.sentence,
        kind=mention.kind,
        outcome=outcome,
        reason=reason,
        resolves_to=place,
        better=better,
    )


def _place(resolution: Resolution) -> CitedPlace | None:
    return resolution.records[0].place if resolution.records else None


def _without(span: Span, mentions: Sequence[Mention], answer: str) -> str:
    """The text of a range without the citations in it, so that an id does not support itself."""
    parts, start = [], span.start
    for mention in mentions:
        inside = mention.span.start >= start and mention.span.end <= span.end
        if inside and mention.kind is not CitationKind.TITLE:
            parts.append(answer[start : mention.span.start])
            start = mention.span.end
    return " ".join([*parts, answer[start : span.end]])


def _annotations(trace: Trace, answer: str, mentions: Sequence[Mention]) -> list[CitationFinding]:
    """The citations that came as annotations of the capture and that no mark in the answer shows."""
    return [
        _annotated(citation, trace)
        for citation in trace.citations
        if citation.span.end <= len(answer)
        and not any(citation.span.overlaps(mention.span) for mention in mentions)
    ]


def _annotated(citation: Citation, trace: Trace) -> CitationFinding:
    known = citation.source_id is not None and any(
        source.source_id == citation.source_id for source in trace.sources
    )
    if known:
        outcome, reason = CitationOutcome.SILENT, "the annotation names a source of this run"
    elif citation.url:
        outcome = CitationOutcome.NOT_RESOLVABLE_HERE
        reason = f"{citation.url} was not captured with this run"
    else:
        outcome = CitationOutcome.RESOLVES_TO_NOTHING
        reason = "the annotation names no source of this run"
    return CitationFinding(
        text=citation.text,
        span=citation.span,
        covers=citation.span,
        kind=CitationKind.ANNOTATION,
        outcome=outcome,
        reason=reason,
        resolves_to=CitedPlace(source_id=str(citation.source_id), span=None) if known else None,
    )
