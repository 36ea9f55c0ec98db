"""Tiny NLI models for tests: real architectures with weights drawn at random, in real folders."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from core.models.loading import BUNDLED_NLI_MODEL

SIZES = {
    "vocab_size": 30_522,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 130,
}


def an_nli_model(
    folder: Path, labels: Sequence[str], *, kind: str = "Bert", seed: int = 7, **more: Any
) -> Path:
    """Write a reader of that architecture with those labels, in that order, to ``folder``."""
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(
        **{**SIZES, **more},
        id2label=dict(enumerate(labels)),
        label2id={name: number for number, name in enumerate(labels)},
        pad_token_id=0,
    )
    model = getattr(transformers, f"{kind}ForSequenceClassification")(config)
    for values in model.parameters():  # far enough from zero that readings differ
        values.data.mul_(8.0)
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(BUNDLED_NLI_MODEL / name, folder)
    return folder


def reordered(folder: Path, into: Path, order: Sequence[int]) -> Path:
    """The same BERT reader with its outputs, and their names, in another order."""
    kind: Any = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, local_files_only=True)
    names = [model.config.id2label[number] for number in order]
    with torch.no_grad():
        model.classifier.weight.copy_(model.classifier.weight[list(order)].clone())
        model.classifier.bias.copy_(model.classifier.bias[list(order)].clone())
    model.config.id2label = dict(enumerate(names))
    model.config.label2id = {name: number for number, name in enumerate(names)}
    model.save_pretrained(into)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / name, into)
    return into
