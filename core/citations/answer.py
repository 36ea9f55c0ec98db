"""Audit what an answer cites: every citation resolved against the captured run, and read there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.citations.instead import mark_of
from core.citations.mentions import Mention, mentions_in, reference_list
from core.citations.records_of import RunRecord, RunRecords
from core.citations.resolve import Resolution, resolve_annotation, resolve_entry, resolve_mention
from core.citations.scope import Scope, scopes_of
from core.citations.support import RIVAL_LEAD, Terms, Weights
from core.records import (
    Citation,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
    Span,
    Trace,
)

_COUNTED = frozenset(
    {
        CitationKind.NUMBER,
        CitationKind.SUPERSCRIPT,
        CitationKind.FOOTNOTE,
        CitationKind.POINTER,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cited:
    """An answer and what it cites, opened for reading; ``entries`` by the label of its reference list."""

    answer: str
    run: RunRecords
    mentions: tuple[Mention, ...]
    weights: Weights
    entries: Mapping[str, tuple[RunRecord, ...]]


def audit_citations(trace: Trace) -> tuple[CitationFinding, ...]:
    """Every citation of the trace's answer, in order, with where it leads and whether that says it.

    The records of the run are compared by their words.
    """
    answer = trace.answer or ""
    run = RunRecords(trace.sources)
    listed = reference_list(answer)
    mentions = mentions_in(answer, run, listed)
    unmarked = _unmarked(trace, mentions)
    if not mentions and not unmarked:
        return ()
    cited = _Cited(
        answer=answer,
        run=run,
        mentions=mentions,
        weights=Weights(run.records),
        entries={
            label: resolve_entry(label, run, listed, trace.question).records
            for label in listed.entries
        },
    )
    scopes = scopes_of(answer, mentions, listed.body_end)
    found = []
    for mention, scope in zip(mentions, scopes, strict=True):
        told = None if mention.key in listed.entries else _captured(mention, trace)
        resolution = (
            resolve_annotation(told, run)
            if told
            else resolve_mention(mention, run, listed, answer, trace.question)
        )
        found.append(_finding(mention, scope, resolution, cited))
    for citation, mention in unmarked:
        scope = Scope(sentence=citation.span, around=citation.span)
        found.append(_finding(mention, scope, resolve_annotation(citation, run), cited))
    return tuple(sorted(found, key=lambda one: (one.span.start, one.span.end, one.text)))


def _captured(mention: Mention, trace: Trace) -> Citation | None:
    """What the capture told of a mark that only counts: the source that its provider meant."""
    if mention.kind not in _COUNTED:
        return None
    marks = (mention.text, f"[{mention.key}]", mention.key)
    return next(
        (
            one
            for one in trace.citations
            if one.source_id and one.text in marks and one.span.overlaps(mention.span)
        ),
        None,
    )


def _unmarked(trace: Trace, mentions: Sequence[Mention]) -> list[tuple[Citation, Mention]]:
    """The citations that came as annotations of the capture and that no mark in the answer shows."""
    return [
        (
            citation,
            Mention(
                kind=CitationKind.ANNOTATION,
                text=citation.text,
                key=citation.url or citation.text,
                span=citation.span,
            ),
        )
        for citation in trace.citations
        if citation.span.end <= len(trace.answer or "")
        and not any(citation.span.overlaps(mention.span) for mention in mentions)
    ]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a citation comes to; ``better`` is the record that says what it is cited for."""

    outcome: CitationOutcome
    reason: str
    place: CitedPlace | None
    better: RunRecord | None = None


def _finding(
    mention: Mention, scope: Scope, resolution: Resolution, cited: _Cited
) -> CitationFinding:
    found = _resolved(mention, scope, resolution, cited)
    blocks = found.outcome.blocks
    return CitationFinding(
        text=mention.text,
        span=mention.span,
        covers=scope.sentence,
        kind=mention.kind,
        outcome=found.outcome,
        reason=found.reason,
        resolves_to=found.place,
        better=found.better.place if found.better else None,
        instead=mark_of(found.better, mention, cited.run, cited.entries) if blocks else None,
    )


def _resolved(mention: Mention, scope: Scope, resolution: Resolution, cited: _Cited) -> _Answer:
    """Where a citation leads, and, where that says something, whether it says this."""
    place = resolution.records[0].place if resolution.records else None
    if resolution.outcome is CitationOutcome.RESOLVES_TO_NOTHING:
        better = _best(mention, scope, cited)
        return _Answer(resolution.outcome, resolution.reason, place, better)
    if resolution.outcome is not None:
        return _Answer(resolution.outcome, resolution.reason, place)
    if resolution.acted or mention.kind in (CitationKind.PATH, CitationKind.TOOL):
        # It names what was done with, not where a statement is from.
        reason = resolution.reason or f"{mention.key} is part of this run"
        return _Answer(CitationOutcome.SILENT, reason, place)
    return _read(mention, scope, resolution, cited)


def _read(mention: Mention, scope: Scope, resolution: Resolution, cited: _Cited) -> _Answer:
    """Whether the records that a citation leads to say what they are cited for, or others do."""
    support = cited.weights.support(
        _terms(scope, cited), resolution.records, _rivals(mention.kind, cited)
    )
    place, rival = (support.best_cited or resolution.records[0]).place, support.best_rival
    has = f"the cited record has {support.cited:.0%} of what is said here"
    # What was not read to its end may say it there.
    if support.said_elsewhere and rival is not None and not any(r.cut for r in resolution.records):
        title = rival.title or rival.place.source_id
        reason = f"{has}, {title[:80]!r} has {support.rival:.0%}"
        return _Answer(CitationOutcome.SAYS_OTHERWISE, reason, place, rival)
    sentence = _without(scope.sentence, cited.mentions, cited.answer)
    if support.says_it and (missing := cited.weights.days_missing(sentence, resolution.records)):
        reason = f"the cited record does not have {', '.join(missing)}"
        return _Answer(CitationOutcome.SILENT, reason, place)
    if support.says_it:
        return _Answer(CitationOutcome.SAYS_IT, has, place)
    return _Answer(CitationOutcome.SILENT, f"{has}, and no other has more", place)


def _terms(scope: Scope, cited: _Cited) -> Terms:
    sentence, around = (
        _without(span, cited.mentions, cited.answer) for span in (scope.sentence, scope.around)
    )
    return cited.weights.weigh(sentence, around)


def _best(mention: Mention, scope: Scope, cited: _Cited) -> RunRecord | None:
    """The record that alone says what a citation of nothing is cited for, if one does."""
    rivals = _rivals(mention.kind, cited)
    terms = _terms(scope, cited)
    first = cited.weights.support(terms, (), rivals)
    if first.best_rival is None:
        return None
    found = cited.weights.support(terms, [first.best_rival], rivals)
    alone = found.cited - found.rival >= RIVAL_LEAD
    return first.best_rival if alone and found.says_it and found.informative >= 3 else None


def _rivals(kind: CitationKind, cited: _Cited) -> Sequence[RunRecord]:
    """The records that could have been cited in this way instead."""
    records = cited.weights.records
    if kind in _COUNTED:
        listed = [record for found in cited.entries.values() for record in found]
        return [one for one in listed or records if not one.lists_tools]
    records = tuple(record for record in records if not record.lists_tools)
    if kind in (CitationKind.URL, CitationKind.LINK):
        return [record for record in records if "://" in record.text]
    if kind is CitationKind.ANNOTATION:
        return records
    return [record for record in records if record.ids or record.title]


def _without(span: Span, mentions: Sequence[Mention], answer: str) -> str:
    """The text of a range without the citations in it, so that an id does not support itself."""
    parts, start = [], span.start
    for mention in mentions:
        inside = mention.span.start >= start and mention.span.end <= span.end
        if inside and mention.kind is not CitationKind.TITLE:
            parts.append(answer[start : mention.span.start])
            start = mention.span.end
    return " ".join([*parts, answer[start : span.end]])
