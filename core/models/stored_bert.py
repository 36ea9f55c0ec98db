"""A BERT folder read without transformers, whose import alone takes four seconds of each start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer

from core.errors import DamagedArtifact
from core.models.pieces import WordPieces


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBert:
    """What a folder holds: its config, its weights in fp32 by their stored names, its tokenizer."""

    config: Any
    weights: Mapping[str, torch.Tensor]
    tokenizer: WordPieces


def stored_bert(folder: Path) -> StoredBert:
    """Read `config.json`, `model.safetensors` and `tokenizer.json` as they stand.

    For folders that are known to hold BERT: nothing is converted, and nothing that a config leaves out
    is filled in. Raises DamagedArtifact where a file cannot be read.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except (OSError, ValueError, SafetensorError) as error:
        raise DamagedArtifact(f"{folder}: not readable: {error}") from error
    except Exception as error:  # tokenizers raises nothing more specific
        raise DamagedArtifact(f"{folder / 'tokenizer.json'}: not readable: {error}") from error
    return StoredBert(
        config=SimpleNamespace(**config),
        weights={name: values.float() for name, values in weights.items()},
        tokenizer=WordPieces(tokenizer),
    )
