"""Stage 1: the spans of the sources that a claim could cite, ranked, before anything is written (001)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.citations.claim_records import EvidenceSpan, Ranking, Similarity
from core.records import Source, Span
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms, overlap

MIN_CHARACTERS, MAX_CHARACTERS = 50, 500
NUMERIC_BOOST = 0.1
SPANS_PER_SOURCE = 10
HYBRID_KEYWORD_WEIGHT = 0.8
_NUMERIC = re.compile(r"\d")


def select_spans(
    sources: Sequence[Source],
    query: str,
    *,
    enabled: bool = True,
    ranking: Ranking = Ranking.KEYWORD,
    similarity: Similarity | None = None,
    per_source: int = SPANS_PER_SOURCE,
    least: float = 0.0,
) -> tuple[EvidenceSpan, ...]:
    """Citable spans of 50 to 500 characters, best first, at most ``per_source`` of one source.

    Switched off, every source is one span. Semantic and hybrid ranking need ``similarity``.
    """
    usable = [source for source in sources if source.is_evidence]
    if not enabled:
        whole = [(source, Span(start=0, end=len(source.text))) for source in usable]
        return tuple(_span(source, span, 1.0) for source, span in whole)
    found: list[EvidenceSpan] = []
    for source in usable:
        ranked = sorted(
            (
                _span(source, span, _relevance(span.cut(source.text), query, ranking, similarity))
                for span in citable_spans(source.text)
            ),
            key=lambda one: (-one.score, one.span.start),
        )
        found += [one for one in ranked[:per_source] if one.score >= least]
    return tuple(sorted(found, key=lambda one: (-one.score, one.source_id, one.span.start)))


def citable_spans(text: str) -> tuple[Span, ...]:
    """Sentences, short ones joined to the next and long ones cut at a clause, with their places."""
    found: list[Span] = []
    start: int | None = None
    for sentence in sentence_spans(text):
        begin = sentence.start if start is None else start
        if sentence.end - begin > MAX_CHARACTERS and start is not None:
            begin = sentence.start
        if sentence.end - begin < MIN_CHARACTERS:
            start = begin
            continue
        found += _cut(text, begin, sentence.end)
        start = None
    return tuple(span for span in found if span.end - span.start >= MIN_CHARACTERS)


def _cut(text: str, start: int, end: int) -> list[Span]:
    """A long stretch in pieces, each ending at a clause or a word."""
    pieces: list[Span] = []
    while end - start > MAX_CHARACTERS:
        window = text[start : start + MAX_CHARACTERS]
        ends = [m.end() for m in re.finditer(r"[;,\n]\s*|\s", window) if m.end() >= MIN_CHARACTERS]
        clauses = [
            m.end() for m in re.finditer(r"[;,\n]\s*", window) if m.end() > MAX_CHARACTERS // 2
        ]
        stop = start + (clauses[-1] if clauses else (ends[-1] if ends else MAX_CHARACTERS))
        pieces.append(_bare(text, start, stop))
        start = stop
    return [*pieces, _bare(text, start, end)]


def _bare(text: str, start: int, end: int) -> Span:
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start=start, end=end)


def _relevance(text: str, query: str, ranking: Ranking, similarity: Similarity | None) -> float:
    score = alike(query, text, ranking, similarity)
    return score + (NUMERIC_BOOST if _NUMERIC.search(text) else 0.0)


def alike(
    claim: str,
    quote: str,
    ranking: Ranking,
    similarity: Similarity | None = None,
    keyword_weight: float = HYBRID_KEYWORD_WEIGHT,
) -> float:
    """How alike two texts are by one strategy; ValueError when it needs a similarity and has none."""
    words = overlap(content_terms(claim), content_terms(quote))
    if ranking is Ranking.KEYWORD:
        return words
    if similarity is None:
        raise ValueError(f"{ranking.value} needs a similarity")
    if ranking is Ranking.HYBRID:
        return keyword_weight * words + (1 - keyword_weight) * similarity(claim, quote)
    return similarity(claim, quote)


def bert_score(claim: NDArray[np.float64], quote: NDArray[np.float64]) -> float:
    """BERTScore's F1 of two texts from the unit vectors of their tokens, shape (tokens, d)."""
    if not len(claim) or not len(quote):
        return 0.0
    cosines = claim @ quote.T
    recall, precision = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0


def _span(source: Source, span: Span, score: float) -> EvidenceSpan:
    quote = span.cut(source.text)
    return EvidenceSpan(
        source_id=source.source_id,
        span=span,
        quote=quote,
        score=round(score, 4),
        has_numeric=_NUMERIC.search(quote) is not None,
        title=str(source.extra.get("title") or ""),
    )
