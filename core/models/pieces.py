"""Texts as word pieces and back: pairs cut to a budget, and scores of pieces as scores of words."""

from __future__ import annotations

import threading
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


class WordPieces:
    """A `tokenizers.Tokenizer`, asked by one thread at a time: what it cuts to is its own state."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._asking = threading.Lock()

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many pieces each text has, markers of begin and end left out."""
        with self._asking:
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
            found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [len(one.ids) for one in found]

    def of_texts(self, texts: Sequence[str], most: int) -> list[Any]:
        """The encodings of texts, each cut to `most` pieces."""
        return self._encode(list(texts), most, "longest_first")

    def of_pairs(self, pairs: Sequence[tuple[str, str]], most: int) -> list[Any]:
        """The encodings of pairs, the first text of each cut so that `most` pieces hold both."""
        return self._encode(list(pairs), most, "only_first")

    def around_pairs(self) -> int:
        """How many pieces mark where the texts of a pair begin and end."""
        return int(self._tokenizer.num_special_tokens_to_add(is_pair=True))

    def _encode(self, inputs: list[Any], most: int, strategy: str) -> list[Any]:
        with self._asking:
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(most, strategy=strategy)
            return list(self._tokenizer.encode_batch(inputs))


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: WordPieces, max_tokens: int
) -> list[EncodedPair | None]:
    """Return the word pieces of each pair: the premise is cut, never the claim; None where no
    premise would fit."""
    claims = list(dict.fromkeys(claim for _, claim in pairs))
    sizes = dict(zip(claims, tokenizer.counts(claims), strict=True))
    room = max_tokens - tokenizer.around_pairs()
    fitting = [pair for pair in pairs if sizes[pair[1]] < room]
    ready = iter([_encoded(one) for one in tokenizer.of_pairs(fitting, max_tokens)])
    return [next(ready) if sizes[claim] < room else None for _, claim in pairs]


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
