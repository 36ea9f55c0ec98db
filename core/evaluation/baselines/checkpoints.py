"""The published baselines themselves, by folder or name, where their weights can be loaded here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ComponentUnavailable
from core.evaluation.baselines import Baseline, BlindClaim, pack, sentences
from core.evaluation.baselines.summac import SummacZS
from core.models.loading import load_nli_model

SUMMAC_NLI = "tals/albert-xlarge-vitaminc-mnli"
MINICHECK = "lytang/MiniCheck-DeBERTa-v3-Large"
MINICHECK_CHUNK_WORDS = 300
BATCH = 16


def load_published(name: str, where: str | None = None) -> Baseline:
    """A published baseline by its name; ComponentUnavailable saying why where it cannot be loaded.

    ``where`` is a folder or a model name; nothing is fetched: only what lies on this machine loads.
    """
    if name == "SummaC-ZS":
        return SummacZS(load_nli_model(where or SUMMAC_NLI), origin="checkpoint")
    if name == "MiniCheck":
        return _load_minicheck(where or MINICHECK)
    if name == "AlignScore":
        raise ComponentUnavailable(
            "AlignScore: its weights are published as a pickled checkpoint, which is not loaded here"
        )
    if name == "RAGAS Faithfulness":
        raise ComponentUnavailable("RAGAS Faithfulness: needs a language model as its judge")
    raise ComponentUnavailable(f"{name}: no published baseline of that name is known")


class MiniCheckCheckpoint:
    """MiniCheck's own classifier: P(supported) of the claim, best of any chunk."""

    name = "MiniCheck"
    origin = "checkpoint"
    natural_threshold = 0.5

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [0, 1]; NaN without evidence."""
        return np.array([self._score(claim) for claim in claims])

    def _score(self, claim: BlindClaim) -> float:
        import torch

        pooled = [sentence for text in claim.evidence for sentence in sentences(text)]
        chunks = pack(pooled, MINICHECK_CHUNK_WORDS)
        best = float("nan")
        for start in range(0, len(chunks), BATCH):
            premises = chunks[start : start + BATCH]
            encoded = self.tokenizer(
                premises,
                [claim.claim] * len(premises),
                truncation="only_first",
                max_length=512,
                padding=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                logits = self.model(**encoded).logits
            best = float(np.fmax(best, float(logits.softmax(dim=-1)[:, 1].max())))
        return best


def _load_minicheck(where: str) -> MiniCheckCheckpoint:
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(where, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(
            where, local_files_only=True, use_safetensors=True
        ).eval()
    except (OSError, ValueError, ImportError) as error:
        raise ComponentUnavailable(f"MiniCheck: {where} cannot be loaded: {error}") from error
    if model.config.num_labels != 2:
        raise ComponentUnavailable(f"MiniCheck: {where}: expected two labels")
    return MiniCheckCheckpoint(model, tokenizer)
