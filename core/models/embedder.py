"""The embedder: texts to unit vectors by mean-pooled word-piece states (III.3), all-MiniLM-L6-v2
unless told otherwise."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.models.bert import BertEncoder, Encoded, batch_invariant, groups, padded_length
from core.models.pair_reader import bert_shape

GROUP_TOKENS = 1_024
# Vectors are rounded so that nothing below hangs on a last bit; 6 decimals move a cosine by less
# than 0.00002.
DECIMALS = 6


class BertEmbedder:
    """A BERT sentence encoder with mean pooling; fills `core.ports.Embedder`."""

    def __init__(
        self,
        *,
        name: str,
        model: Any,
        tokenizer: Any,
        max_tokens: int = 256,
        precision: str = "fp32",
    ) -> None:
        self.name, self.max_tokens, self.precision = name, max_tokens, precision
        self._tokenizer = tokenizer
        self._tokenizing = (
            threading.Lock()
        )  # a fast tokenizer must not be set up by two threads at once
        state = {key: value.detach() for key, value in model.state_dict().items()}
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        with torch.inference_mode():
            self._encoder = BertEncoder(state, bert_shape(model.config), dtype)
            self._group_tokens = GROUP_TOKENS if batch_invariant(self._encoder) else 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return unit vectors, shape (len(texts), d), rounded to 6 decimals; a text is read to its
        256th piece."""
        hidden = self._encoder.shape.hidden
        vectors = np.zeros((len(texts), hidden))
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return vectors
        with self._tokenizing:
            made = self._tokenizer(distinct, truncation=True, max_length=self.max_tokens).encodings
        encoded = [Encoded(ids=tuple(one.ids), types=tuple(one.type_ids)) for one in made]
        lengths = [padded_length(len(one.ids), self._encoder.shape.positions) for one in encoded]
        places: dict[str, list[int]] = {}
        for index, text in enumerate(texts):
            places.setdefault(text, []).append(index)
        with torch.inference_mode():
            for padded, indices in groups(lengths, self._group_tokens):
                states = self._encoder.hidden_states([encoded[i] for i in indices], padded)
                for row, index in enumerate(indices):
                    pooled = states[row, : len(encoded[index].ids)].double().mean(0).numpy()
                    vectors[places[distinct[index]]] = np.round(
                        pooled / np.linalg.norm(pooled), DECIMALS
                    )
        return vectors
