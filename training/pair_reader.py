"""Train the pair reader: a small three-class cross-encoder (entailment, neutral, contradiction)
for claims and evidence.

`train_reader(options)` fine-tunes a BERT encoder on a weighted stream of pairs
(training/data.py). It uses a GPU when there is one and bf16 where the processor has
it, saves a checkpoint every few minutes from which the same command goes on, and averages the
weights over the run's tail.

    python -m training.pair_reader --data nli/ --out reader/ --minutes 70 [--start FOLDER]
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from training.data import (
    CLINICAL_PAIRS_PER_PASS,
    LITERATURE_PAIRS_PER_PASS,
    MEANING_PAIRS_PER_PASS,
)
from training.reader_options import Progress, TrainingOptions, TrainingReport
from training.reader_run import TrainingRun

logger = logging.getLogger(__name__)


def train_reader(options: TrainingOptions, progress: Progress | None = None) -> TrainingReport:
    """Train, checkpoint and export the pair reader; a run that finds its own checkpoint in `out`
    goes on from it."""
    if (options.minutes is None) == (options.steps is None):
        raise ValueError("give either minutes or steps")
    torch.manual_seed(options.seed)
    run = TrainingRun(options, progress or _log_progress)
    return run.train()


def _log_progress(event: str, figures: Mapping[str, float]) -> None:
    logger.info("%s %s", event, {key: round(value, 4) for key, value in figures.items()})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a training from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with train/, binary/ and validation/"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--start",
        help="folder to continue from, or mpnet; default: the packaged encoder with a fresh head",
    )
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--clinical-pairs", type=int, default=CLINICAL_PAIRS_PER_PASS)
    parser.add_argument("--literature-pairs", type=int, default=LITERATURE_PAIRS_PER_PASS)
    parser.add_argument("--meaning-pairs", type=int, default=MEANING_PAIRS_PER_PASS)
    parser.add_argument(
        "--others-share",
        type=float,
        help="train on training/pairs/authored, with so many other pairs for each of them",
    )
    parser.add_argument("--authored-share", type=float, default=1.0, help="of them, in each pass")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--tokens-per-batch",
        type=int,
        default=TrainingOptions.__dataclass_fields__["tokens_per_batch"].default,
    )
    parser.add_argument(
        "--seed", type=int, default=TrainingOptions.__dataclass_fields__["seed"].default
    )
    parser.add_argument(
        "--dropout", type=float, default=TrainingOptions.__dataclass_fields__["dropout"].default
    )
    parser.add_argument(
        "--validate-minutes",
        type=float,
        default=TrainingOptions.__dataclass_fields__["validate_minutes"].default,
    )
    parser.add_argument(
        "--learning-rate",
        type=float,
        default=TrainingOptions.__dataclass_fields__["learning_rate"].default,
    )
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    report = train_reader(TrainingOptions(**vars(given)))
    logger.info("%s", report)


if __name__ == "__main__":
    main()
