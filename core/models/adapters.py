"""Adapters: small files that change an NLI model's weights.

The accurate NLI model is one over the MPNet weights that come as packages. An adapter is two thin matrices
whose product is added to one of the encoder's (Hu et al., 2022, arXiv:2106.09685); biases, layer norms and
the head are stored whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.normalizers import Replace
from tokenizers.normalizers import Sequence as Normalizers

from core.errors import DamagedArtifact
from core.models.mpnet import Mpnet
from core.models.nli_model import ClassifierWeights, bert_shape

ATTENTION = "qkv"
# The adapted matrices of a layer, and the checkpoint's names of what stands in each, in order.
MATRICES: Mapping[str, tuple[str, ...]] = {
    ATTENTION: ("attention.attn.q", "attention.attn.k", "attention.attn.v"),
    "out": ("attention.attn.o",),
    "up": ("intermediate.dense",),
    "down": ("output.dense",),
}
BERT_NAMES: Mapping[str, tuple[str, ...]] = {
    ATTENTION: ("attention.self.query", "attention.self.key", "attention.self.value"),
    "out": ("attention.output.dense",),
    "up": ("intermediate.dense",),
    "down": ("output.dense",),
}
LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}
BUCKETS, FARTHEST = 32, 128
LINE_MARK = ";"


def adapted_mpnet(packaged: Mpnet, path: Path) -> ClassifierWeights:
    """Return the packaged MPNet with a file's adapters added.

    Raises DamagedArtifact where the adapters do not fit it.
    """
    try:
        return with_adapters(packaged, load_file(path))
    except (KeyError, RuntimeError, OSError, ValueError, SafetensorError) as error:
        raise DamagedArtifact(f"{path}: does not fit MPNet: {error}") from error


def marking_lines(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy of a tokenizer that reads every line break as a semicolon, and so keeps the fields
    of a record apart."""
    marked = Tokenizer.from_str(tokenizer.to_str())
    marked.normalizer = Normalizers([Replace("\n", LINE_MARK), marked.normalizer])
    return marked


def with_adapters(packaged: Mpnet, adapters: Mapping[str, torch.Tensor]) -> ClassifierWeights:
    """Return MPNet's weights with adapters added, by BERT's names; KeyError where one is missing,
    RuntimeError where one has another shape."""
    full = {name: value.float() for name, value in adapters.items()}
    body = _body(packaged.weights, full, packaged.config)
    # The first positions stand for padding.
    first = int(packaged.config.pad_token_id) + 1
    positions = packaged.weights["embeddings.position_embeddings.weight"][first:]
    body["embeddings.position_embeddings.weight"] = positions
    table = packaged.weights["encoder.relative_attention_bias.weight"].float()
    return ClassifierWeights(
        shape=replace(bert_shape(packaged.config), positions=len(positions)),
        body=body,
        classifier=(full["head.out.weight"], full["head.out.bias"]),
        labels=LABELS,
        distances=partial(relative_bias, table),
    )


def _body(
    weights: Mapping[str, torch.Tensor], adapters: Mapping[str, torch.Tensor], config: Any
) -> dict[str, torch.Tensor]:
    words = weights["embeddings.word_embeddings.weight"]
    body = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.token_type_embeddings.weight": torch.zeros(2, words.shape[1]),
    }
    renamed = {"embeddings.LayerNorm": "embeddings.norm", "pooler.dense": "head.dense"}
    for i in range(config.num_hidden_layers):
        prefix = f"encoder.layer.{i}"
        renamed[f"{prefix}.attention.output.LayerNorm"] = f"{i}.norm_attention"
        renamed[f"{prefix}.output.LayerNorm"] = f"{i}.norm_output"
        for name, matrix in frozen_matrices(weights, i).items():
            whole = matrix.float() + adapters[f"{i}.{name}.up"] @ adapters[f"{i}.{name}.down"]
            places = BERT_NAMES[name]
            parts = zip(
                places,
                whole.chunk(len(places)),
                adapters[f"{i}.{name}.bias"].chunk(len(places)),
                strict=True,
            )
            for place, weight, bias in parts:
                body[f"{prefix}.{place}.weight"] = weight
                body[f"{prefix}.{place}.bias"] = bias
    for theirs, ours in renamed.items():
        for part in ("weight", "bias"):
            body[f"{theirs}.{part}"] = adapters[f"{ours}.{part}"]
    return body


def frozen_matrices(weights: Mapping[str, torch.Tensor], layer: int) -> dict[str, torch.Tensor]:
    """Return the adapted matrices of one layer, as the checkpoint holds them."""
    return {
        name: torch.cat([weights[f"encoder.layer.{layer}.{place}.weight"] for place in places])
        for name, places in MATRICES.items()
    }


def relative_bias(table: torch.Tensor, length: int) -> torch.Tensor:
    """Return what MPNet adds to attention scores by distance, (1, heads, length, length).

    ``table`` has a row for each of 32 buckets: half for either side, of each half the first 8 for
    one distance each, the rest widening up to 128 and beyond (Raffel et al., 2020).
    """
    places = torch.arange(length, device=table.device)
    distance = places[:, None] - places[None, :]
    half, near = BUCKETS // 2, BUCKETS // 4
    far = distance.abs().clamp(min=1).float()
    widened = near + (torch.log(far / near) / math.log(FARTHEST / near) * (half - near)).to(
        torch.long
    )
    bucket = torch.where(distance.abs() < near, distance.abs(), widened.clamp(max=half - 1))
    bucket = bucket + half * (distance < 0)
    return table[bucket].permute(2, 0, 1)[None]
