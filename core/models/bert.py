"""A lean BERT forward pass over loaded weights, whose results do not depend on what else is in the
batch.

`transformers` can run the same weights; this exists for three reasons. The alignment of III.4
needs attention averaged over layers and heads for every claim token, and here that average is
summed up layer by layer, so a batch's attention tensors are never held. Everything after the last
layer's attention is computed for the one position that is used. And the same text gives the same
bits in any batch: every text is padded to a length that depends on it alone, texts are grouped
only with texts of that padded length, and `batch_invariant` checks at load that this processor's
matrix multiplication then treats each row alike (where it does not, texts are read one at a time).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

# Fewer rows than this take another kernel with another order of summation in fp32, so small inputs
# are filled up.
SMALLEST_ROWS = 16


DistanceBias = Callable[[int], torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """The sizes of an encoder, read from its config."""

    layers: int
    heads: int
    hidden: int
    positions: int
    layer_norm_epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """Word pieces of one text or pair: ids, segment of each piece, and where the claim's pieces
    begin and end."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    premise: tuple[int, int] = (0, 0)
    claim: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer's weights: query, key and value in one matrix, the query already scaled."""

    qkv: tuple[torch.Tensor, torch.Tensor]
    out: tuple[torch.Tensor, torch.Tensor]
    up: tuple[torch.Tensor, torch.Tensor]
    down: tuple[torch.Tensor, torch.Tensor]
    norm_attention: tuple[torch.Tensor, torch.Tensor]
    norm_output: tuple[torch.Tensor, torch.Tensor]


class BertEncoder:
    """The encoder of a BERT checkpoint; matrix products in `dtype`, everything else in fp32.

    ``distances`` gives what an encoder with relative positions adds to its attention scores, shape
    (1, heads, padded, padded).
    """

    def __init__(
        self,
        weights: Mapping[str, torch.Tensor],
        shape: BertShape,
        dtype: torch.dtype,
        distances: DistanceBias | None = None,
    ) -> None:
        self.shape, self.dtype, self.distances = shape, dtype, distances
        full = {name: value.float() for name, value in weights.items()}
        self.words = full["embeddings.word_embeddings.weight"]
        self.positions = full["embeddings.position_embeddings.weight"]
        self.types = full["embeddings.token_type_embeddings.weight"]
        self.norm = _both(full, "embeddings.LayerNorm")
        self.layers = [self._layer(full, f"encoder.layer.{i}") for i in range(shape.layers)]

    def _layer(self, full: Mapping[str, torch.Tensor], prefix: str) -> Layer:
        scale = (self.shape.hidden // self.shape.heads) ** -0.5
        parts = [
            _both(full, f"{prefix}.attention.self.{name}") for name in ("query", "key", "value")
        ]
        factors = (scale, 1.0, 1.0)
        weight = torch.cat([part[0] * factor for part, factor in zip(parts, factors, strict=True)])
        bias = torch.cat([part[1] * factor for part, factor in zip(parts, factors, strict=True)])

        def cast(pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
            return pair[0].to(self.dtype).contiguous(), pair[1].to(self.dtype)

        return Layer(
            qkv=cast((weight, bias)),
            out=cast(_both(full, f"{prefix}.attention.output.dense")),
            up=cast(_both(full, f"{prefix}.intermediate.dense")),
            down=cast(_both(full, f"{prefix}.output.dense")),
            norm_attention=_both(full, f"{prefix}.attention.output.LayerNorm"),
            norm_output=_both(full, f"{prefix}.output.LayerNorm"),
        )

    def hidden_states(self, texts: Sequence[Encoded], padded: int) -> torch.Tensor:
        """Return the last layer's states, shape (texts, padded, hidden)."""
        states, mask = self._embed(texts, padded)
        for layer in self.layers:
            probabilities, values = self._attend(states, mask, layer)
            states = self._finish(states, self._merge(probabilities, values), layer)
        return states

    def first_state_and_attention(
        self, texts: Sequence[Encoded], padded: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last state of [CLS], (texts, hidden), and attention averaged over layers and
        heads (III.4)."""
        states, mask = self._embed(texts, padded)
        attention = torch.zeros(len(texts), padded, padded)
        for layer in self.layers[:-1]:
            probabilities, values = self._attend(states, mask, layer)
            attention += probabilities.sum(1)
            states = self._finish(states, self._merge(probabilities, values), layer)
        probabilities, values = self._attend(states, mask, self.layers[-1])
        attention += probabilities.sum(1)
        first = self._merge(probabilities[:, :, :SMALLEST_ROWS], values)
        states = self._finish(states[:, :SMALLEST_ROWS], first, self.layers[-1])
        return states[:, 0], attention / (self.shape.layers * self.shape.heads)

    def _embed(self, texts: Sequence[Encoded], padded: int) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.zeros(len(texts), padded, dtype=torch.long)
        types = torch.zeros_like(ids)
        mask = torch.full((len(texts), 1, 1, padded), float("-inf"))
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = torch.tensor(text.ids)
            types[row, : len(text.ids)] = torch.tensor(text.types)
            mask[row, ..., : len(text.ids)] = 0.0
        states = self.words[ids] + self.types[types] + self.positions[:padded]
        if self.distances is not None:
            mask = mask + self.distances(padded)
        return self._normalise(states, self.norm), mask

    def _attend(
        self, states: torch.Tensor, mask: torch.Tensor, layer: Layer
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return attention probabilities (texts, heads, padded, padded) in fp32 and the value
        vectors."""
        rows, padded, hidden = states.shape
        qkv = functional.linear(states.to(self.dtype), *layer.qkv)
        query, key, values = qkv.view(rows, padded, 3, self.shape.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(query, key.transpose(-1, -2)).float()
        return torch.softmax(scores.add_(mask), dim=-1), values

    def _merge(self, probabilities: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        context = torch.matmul(probabilities.to(self.dtype), values)
        return context.transpose(1, 2).flatten(2)

    def _finish(self, states: torch.Tensor, context: torch.Tensor, layer: Layer) -> torch.Tensor:
        attended = functional.linear(context, *layer.out).float()
        states = self._normalise(attended.add_(states), layer.norm_attention)
        inner = functional.gelu(functional.linear(states.to(self.dtype), *layer.up))
        output = functional.linear(inner, *layer.down).float()
        return self._normalise(output.add_(states), layer.norm_output)

    def _normalise(
        self, states: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        return functional.layer_norm(
            states, (self.shape.hidden,), *norm, self.shape.layer_norm_epsilon
        )


def _both(full: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
    return full[f"{name}.weight"], full[f"{name}.bias"]


def linear_rows(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return a linear map of rows (n, hidden), the same for a row whatever n is."""
    rows = states.shape[0]
    filled = -(-rows // SMALLEST_ROWS) * SMALLEST_ROWS
    return functional.linear(functional.pad(states, (0, 0, 0, filled - rows)), weight, bias)[:rows]


def padded_length(pieces: int, positions: int) -> int:
    """Return the length that a text of so many pieces is padded to: it depends on nothing else."""
    step = 16 if pieces <= 192 else 32 if pieces <= 384 else 64
    return min(max(2 * SMALLEST_ROWS, -(-pieces // step) * step), positions)


def groups(lengths: Sequence[int], tokens: int) -> Iterator[tuple[int, list[int]]]:
    """Yield (padded length, indices) of texts that share it, about `tokens` pieces in each group,
    longest first."""
    by_length: dict[int, list[int]] = {}
    for index, length in enumerate(lengths):
        by_length.setdefault(length, []).append(index)
    for length in sorted(by_length, reverse=True):
        indices = by_length[length]
        size = max(1, tokens // length)
        for start in range(0, len(indices), size):
            yield length, indices[start : start + size]


def batch_invariant(encoder: BertEncoder) -> bool:
    """Whether a text gives the same bits alone, first of several, and last of several, at two
    padded lengths."""
    for padded in (2 * SMALLEST_ROWS, 8 * SMALLEST_ROWS):
        filler = [
            Encoded(
                ids=tuple(1000 + (37 * row + 11 * i) % 20_000 for i in range(padded - row)),
                types=tuple([0] * (padded - row)),
            )
            for row in range(5)
        ]
        alone = encoder.hidden_states(filler[:1], padded)[0]
        first = encoder.hidden_states(filler, padded)[0]
        last = encoder.hidden_states(filler[::-1], padded)[4]
        if not (torch.equal(alone, first) and torch.equal(alone, last)):
            return False
    return True
