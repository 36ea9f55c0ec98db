"""Texts as word pieces and back: pairs cut to a budget, and scores of pieces as scores of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.models.bert import Encoded
from core.records import Span, TokenScore
from core.text.tokens import word_spans

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPair:
    """One pair as the model sees it, with the claim's pieces mapped back to the claim's text."""

    pieces: Encoded
    claim_spans: tuple[Span, ...]
    premise_spans: tuple[Span, ...]
    truncated: bool


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Any, max_tokens: int
) -> list[EncodedPair | None]:
    """Return the word pieces of each pair: the premise is cut, never the claim; None where no
    premise would fit."""
    special = int(tokenizer.num_special_tokens_to_add(pair=True))
    claims = list(dict.fromkeys(claim for _, claim in pairs))
    sizes: dict[str, int] = {}
    if claims:
        counted = tokenizer(claims, add_special_tokens=False, return_attention_mask=False)[
            "input_ids"
        ]
        sizes = {claim: len(ids) for claim, ids in zip(claims, counted, strict=True)}
    fitting = [pair for pair in pairs if sizes[pair[1]] + special < max_tokens]
    if not fitting:
        return [None] * len(pairs)
    made = tokenizer(
        [premise for premise, _ in fitting],
        [claim for _, claim in fitting],
        truncation="only_first",
        max_length=max_tokens,
        return_overflowing_tokens=False,
    )
    ready = iter([_encoded(encoding) for encoding in made.encodings])
    return [next(ready) if sizes[claim] + special < max_tokens else None for _, claim in pairs]


def _encoded(encoding: Any) -> EncodedPair:
    sides = encoding.sequence_ids
    premise = [i for i, side in enumerate(sides) if side == 0]
    claim = [i for i, side in enumerate(sides) if side == 1]
    pieces = Encoded(
        ids=tuple(encoding.ids),
        types=tuple(encoding.type_ids),
        premise=(premise[0], premise[-1] + 1) if premise else (0, 0),
        claim=(claim[0], claim[-1] + 1) if claim else (0, 0),
    )
    return EncodedPair(
        pieces=pieces,
        claim_spans=_spans(encoding.offsets, claim),
        premise_spans=_spans(encoding.offsets, premise),
        truncated=bool(encoding.overflowing),
    )


def _spans(offsets: Sequence[tuple[int, int]], places: Sequence[int]) -> tuple[Span, ...]:
    return tuple(Span(start=offsets[i][0], end=offsets[i][1]) for i in places)


def merge_pieces(text: str, spans: Sequence[Span], scores: Floats) -> tuple[TokenScore, ...]:
    """Return one score a word of the text: the highest of its pieces (a word is as grounded as
    its best piece).

    Words are those of core.text.tokens ("bench-6" and "7.2" are one word each); pieces outside
    words (punctuation) keep their own entry, because `max_k a_k` of III.4 runs over all claim
    tokens.
    """
    words = word_spans(text)
    best: dict[tuple[int, int], float] = {}
    at = 0
    for span, score in zip(spans, scores, strict=True):
        while at < len(words) and words[at].end <= span.start:
            at += 1
        inside = at < len(words) and words[at].overlaps(span)
        holder = words[at] if inside else span
        key = (holder.start, holder.end)
        best[key] = max(best.get(key, 0.0), float(score))
    return tuple(
        TokenScore(span=Span(start=start, end=end), score=round(score, 4))
        for (start, end), score in best.items()
    )
