"""III.4: which words of the claim are grounded in the premise. A heuristic, not an explanation."""

from __future__ import annotations

from core.config import Config
from core.records import (
    AlignedToken,
    Alignment,
    Claim,
    PairReading,
    Premise,
    Span,
    TokenScore,
)
from core.text.tokens import is_content_word

MOST_SOURCE_TOKENS = 24


def align_tokens(
    claim: Claim, reading: PairReading, config: Config, premise: Premise | None = None
) -> Alignment:
    """Mark the content words with ``a_i < tau * max_k a_k`` as weakly grounded (III.4).

    The supported-token ratio is over non-stopword words; a claim without any has ratio 0, so that
    it does not pass for grounded. With ``premise``, the words of the source that the claim's words
    looked at are kept by the same share of the highest, at most ``MOST_SOURCE_TOKENS`` of them.
    """
    highest = max((token.score for token in reading.tokens), default=0.0)
    tokens = []
    for token in reading.tokens:
        word = token.span.cut(claim.text)
        content = is_content_word(word) and any(letter.isalnum() for letter in word)
        weak = content and token.score < config.alignment_tau * highest
        tokens.append(
            (content, AlignedToken(text=word, span=token.span, score=token.score, weak=weak))
        )
    counted = [token for content, token in tokens if content]
    grounded = sum(1 for token in counted if not token.weak)
    ratio = round(grounded / len(counted), 4) if counted and highest > 0 else 0.0
    return Alignment(
        tokens=tuple(token for _, token in tokens),
        supported_token_ratio=ratio,
        source_tokens=_looked_at(reading, premise, config) if premise is not None else (),
    )


def _looked_at(reading: PairReading, premise: Premise, config: Config) -> tuple[TokenScore, ...]:
    """The content words of the premise that were looked at most, in the source's order."""
    content = []
    for token in reading.premise_tokens:
        word = token.span.cut(premise.text)
        if is_content_word(word) and any(letter.isalnum() for letter in word):
            content.append(token)
    highest = max((token.score for token in content), default=0.0)
    kept = sorted(content, key=lambda token: -token.score)[:MOST_SOURCE_TOKENS]
    placed = [
        TokenScore(span=place, score=token.score)
        for token in kept
        if token.score >= config.alignment_tau * highest > 0
        and (place := _in_source(token.span, premise)) is not None
    ]
    return tuple(sorted(placed, key=lambda token: token.span.start))


def _in_source(span: Span, premise: Premise) -> Span | None:
    """A span of the premise's text in the source's: the premise joins its spans with newlines."""
    at = 0
    for part in premise.spans:
        end = at + part.end - part.start
        if at <= span.start and span.end <= end:
            return Span(start=part.start + span.start - at, end=part.start + span.end - at)
        at = end + 1
    return None
