"""III.4: which words of the claim are grounded in the premise. A heuristic, not an explanation."""

from __future__ import annotations

from core.config import Config
from core.records import AlignedToken, Alignment, Claim, PairReading
from core.text.tokens import is_content_word


def align_tokens(claim: Claim, reading: PairReading, config: Config) -> Alignment:
    """Mark the content words with ``a_i < tau * max_k a_k`` as weakly grounded (III.4).

    The supported-token ratio is over non-stopword words; a claim without any has ratio 0, so that
    it does not pass for grounded.
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
    return Alignment(tokens=tuple(token for _, token in tokens), supported_token_ratio=ratio)
