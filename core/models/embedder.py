"""The embedder: texts to unit vectors by mean-pooled word-piece states (III.3), all-MiniLM-L6-v2
unless told otherwise."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from core.models.bert import BertEncoder, BertShape, Encoded, batch_invariant, groups, padded_length
from core.models.lanes import lanes, share
from core.models.latest import Latest
from core.models.pieces import WordPieces

GROUP_TOKENS = 1_024
# Vectors are rounded so that nothing below hangs on a last bit; 6 decimals move a cosine by less
# than 0.00002.
DECIMALS = 6
# Vectors of texts that were embedded before: 16,384 of them take 50 MB.
KEPT_VECTORS = 16_384


def kept_vectors() -> Latest[bytes, NDArray[np.float64]]:
    """The vectors of the latest texts, by the hash of their content."""
    return Latest(KEPT_VECTORS, sys.maxsize)


def _content(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class BertEmbedder:
    """A BERT sentence encoder with mean pooling; fills `core.ports.Embedder`."""

    def __init__(
        self,
        *,
        name: str,
        weights: Mapping[str, torch.Tensor],
        shape: BertShape,
        tokenizer: WordPieces,
        max_tokens: int = 256,
        precision: str = "fp32",
    ) -> None:
        self.name, self.max_tokens, self.precision = name, max_tokens, precision
        self._tokenizer = tokenizer
        self._kept = kept_vectors()
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        with torch.inference_mode():
            self._encoder = BertEncoder(weights, shape, dtype)
        (invariant,) = lanes().work(batch_invariant, [self._encoder])
        self._group_tokens = GROUP_TOKENS if invariant else 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return unit vectors, shape (len(texts), d), rounded to 6 decimals; a text is read to its
        256th piece.

        A text that was embedded before in this process is not embedded again. That changes nothing
        but the time: a text's vector is the same bits in any batch.
        """
        found = {text: self._kept.get(_content(text)) for text in texts}
        new = [text for text, vector in found.items() if vector is None]
        for text, vector in zip(new, self._embedded(new), strict=True):
            self._kept.put(_content(text), vector)
            found[text] = vector
        if not texts:
            return np.zeros((0, self._encoder.shape.hidden))
        return np.stack([vector for text in texts if (vector := found[text]) is not None])

    def _embedded(self, distinct: Sequence[str]) -> NDArray[np.float64]:
        vectors = np.zeros((len(distinct), self._encoder.shape.hidden))
        if not distinct:
            return vectors
        made = self._tokenizer.of_texts(distinct, self.max_tokens)
        encoded = [Encoded(ids=tuple(one.ids), types=tuple(one.type_ids)) for one in made]
        lengths = [padded_length(len(one.ids), self._encoder.shape.positions) for one in encoded]

        def embed_group(group: tuple[int, list[int]]) -> None:
            padded, indices = group
            states = self._encoder.hidden_states([encoded[i] for i in indices], padded)
            for row, index in enumerate(indices):
                pooled = states[row, : len(encoded[index].ids)].double().mean(0).numpy()
                vectors[index] = np.round(pooled / np.linalg.norm(pooled), DECIMALS)

        lanes().work(embed_group, list(groups(lengths, share(lengths, self._group_tokens))))
        return vectors
