"""The training forward pass of a BERT cross-encoder: the same function as transformers', with less
work.

Matrix products and what lies between them stay in bf16, query, key and value are one product, and
the last layer is computed for [CLS] alone, because nothing else reaches the classifier: a seventh
of all arithmetic less. Dropout, where asked for, falls where transformers' hidden dropout falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from training.adapted_mpnet import AdaptedMpnet

Drop = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Dropout:
    """Set a seeded `share` of the states, to the nearest 256th, to 0 and scale the rest so that
    their mean stays.

    With its own generator, because workers that drew from one stream would make a run that cannot
    be repeated. One byte is drawn for each state: a seventh of the time of `bernoulli_`.
    """

    share: float
    generator: torch.Generator

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        dropped = round(self.share * 256)
        eights = torch.randint(
            -(2**63),
            2**63 - 1,
            (-(-states.numel() // 8),),
            generator=self.generator,
            device=states.device,
        )
        drawn = eights.view(torch.uint8)[: states.numel()].view_as(states)
        return states * drawn.ge(dropped).to(states.dtype).mul_(256 / (256 - dropped))


def keep_all(states: torch.Tensor) -> torch.Tensor:
    """Drop nothing."""
    return states


def pair_logits(
    model: Any,
    input_ids: torch.Tensor,
    token_type_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    dtype: torch.dtype,
    drop: Drop = keep_all,
) -> torch.Tensor:
    """Return fp32 logits, shape (pairs, labels), of a BertForSequenceClassification or of an
    `AdaptedMpnet`, which knows neither segments nor dropout."""
    if isinstance(model, AdaptedMpnet):
        return model.logits(input_ids, attention_mask)
    pooled = pooled_states(model, input_ids, token_type_ids, attention_mask, dtype, drop)
    logits: torch.Tensor = model.classifier(model.dropout(pooled))
    return logits


def pooled_states(
    model: Any,
    input_ids: torch.Tensor,
    token_type_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    dtype: torch.dtype,
    drop: Drop = keep_all,
) -> torch.Tensor:
    """Return what the classifier sees of each pair: fp32, shape (pairs, hidden)."""
    bert, config = model.bert, model.config
    embeddings = bert.embeddings
    summed = (
        embeddings.word_embeddings.weight[input_ids]
        + embeddings.token_type_embeddings.weight[token_type_ids]
        + embeddings.position_embeddings.weight[: input_ids.shape[1]]
    )
    states = drop(_normalise(summed, embeddings.LayerNorm, torch.float32).to(dtype))
    mask = torch.zeros(attention_mask.shape, dtype=dtype, device=states.device)
    mask = mask.masked_fill_(attention_mask == 0, torch.finfo(dtype).min)[:, None, None]
    heads = config.num_attention_heads
    for layer in bert.encoder.layer[:-1]:
        states = _layer(layer, states, mask, heads, drop, first_only=False)
    states = _layer(bert.encoder.layer[-1], states, mask, heads, drop, first_only=True)
    pooled: torch.Tensor = torch.tanh(bert.pooler.dense(states[:, 0].float()))
    return pooled


def _layer(
    layer: Any,
    states: torch.Tensor,
    mask: torch.Tensor,
    heads: int,
    drop: Drop,
    *,
    first_only: bool,
) -> torch.Tensor:
    """Return one layer's output states, of the first position alone when `first_only`."""
    dtype = states.dtype
    rows, length, hidden = states.shape
    attention = layer.attention.self
    scale = (hidden // heads) ** -0.5
    weight = torch.cat(
        [attention.query.weight * scale, attention.key.weight, attention.value.weight]
    )
    bias = torch.cat([attention.query.bias * scale, attention.key.bias, attention.value.bias])
    kept = 1 if first_only else length
    if first_only:
        query = functional.linear(states[:, :1], weight[:hidden].to(dtype), bias[:hidden].to(dtype))
        query = query.view(rows, 1, heads, -1).transpose(1, 2)
        both = functional.linear(states, weight[hidden:].to(dtype), bias[hidden:].to(dtype))
        key, value = both.view(rows, length, 2, heads, -1).permute(2, 0, 3, 1, 4)
    else:
        whole = functional.linear(states, weight.to(dtype), bias.to(dtype))
        query, key, value = whole.view(rows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
    probabilities = torch.softmax(query @ key.transpose(-1, -2) + mask, dim=-1)
    context = (probabilities @ value).transpose(1, 2).reshape(rows, kept, hidden)
    output = layer.attention.output
    attended = _normalise(
        drop(_linear(context, output.dense)) + states[:, :kept], output.LayerNorm, dtype
    )
    inner = functional.gelu(_linear(attended, layer.intermediate.dense))
    said = drop(_linear(inner, layer.output.dense))
    return _normalise(said + attended, layer.output.LayerNorm, dtype)


def _linear(states: torch.Tensor, dense: Any) -> torch.Tensor:
    return functional.linear(states, dense.weight.to(states.dtype), dense.bias.to(states.dtype))


def _normalise(states: torch.Tensor, norm: Any, dtype: torch.dtype) -> torch.Tensor:
    return functional.layer_norm(
        states, norm.normalized_shape, norm.weight.to(dtype), norm.bias.to(dtype), norm.eps
    )
