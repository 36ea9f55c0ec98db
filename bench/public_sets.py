"""NLI models on public sets that none of ours was taught, documents read whole, on the same pairs.

    python -m bench public_sets NLI --nli-models bundled accurate [--pairs 200]

NLI is the folder of the public sets (not in this repository). Of each set so many pairs, half of them
entailed: how well entailment, and shared words alone, set these above the others (AUROC), and what
the last model gains on the first (95 % interval of the paired bootstrap).
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bench.nli import entailments, shared_words
from bench.report import Report
from core.bootstrap import interval
from core.models.loading import load_nli_model
from training.data import Pair, read_pairs
from training.texts import ENTAILMENT

MEAN_OF = (
    "attributionbench_dev",
    "qa_feedback_dev",
    "factcheckgpt_stance",
    "faceval_samsum",
    "bump",
    "snli_dev",
)
# Counted beside them: premises beyond a window. Of ConTRoL the training set is taught.
LONG = ("contractnli_dev", "control_val")
DRAWS = 2000
Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("data", type=Path, help="folder with train, more and validation")
    parser.add_argument("--nli-models", nargs="+", default=["bundled"])
    parser.add_argument("--pairs", type=int, default=200, help="of each set")


def balanced(path: Path, count: int) -> list[Pair]:
    """So many pairs of a set, half of them entailed, always the same."""
    rows = read_pairs(path)
    random.Random(path.name).shuffle(rows)
    sides = [[row for row in rows if (row.label == ENTAILMENT) is so] for so in (True, False)]
    return [row for side in sides for row in side[: count // 2]]


def run(options: argparse.Namespace) -> Report:
    """One line a set, and the mean of those that are counted together."""
    models = [load_nli_model(where) for where in options.nli_models]
    lines: list[tuple[str | int | float | None, ...]] = []
    for name in (*MEAN_OF, *LONG):
        (path,) = options.data.glob(f"*/{name}.jsonl.gz")
        pairs = balanced(path, options.pairs)
        asked = [(pair.premise, pair.hypothesis) for pair in pairs]
        true = np.array([pair.label == ENTAILMENT for pair in pairs])
        said = [np.array(entailments(model, asked)) for model in models]
        ranked = [float(roc_auc_score(true, one)) for one in said]
        gain = gained(true, said[0], said[-1]) if len(said) > 1 else None
        lines.append(
            (name, len(pairs), *ranked, float(roc_auc_score(true, shared_words(asked))), gain)
        )
    means = np.mean(
        [[float(cell or 0) for cell in line[2:-1]] for line in lines[: len(MEAN_OF)]], 0
    )
    lines.insert(len(MEAN_OF), ("mean of these", None, *map(float, means), None))
    columns = ("set", "pairs", *options.nli_models, "shared words", "gain")
    return Report().table("Public sets", columns, lines)


def gained(true: Flags, first: Scores, last: Scores, draws: int = DRAWS) -> str:
    """What the last model's AUROC has on the first's, in the middle 95 % of paired draws of pairs."""
    generator, found = np.random.default_rng(0), []
    for _ in range(draws):
        drawn = generator.integers(0, len(true), len(true))
        if 0 < true[drawn].sum() < len(true):
            pair = [float(roc_auc_score(true[drawn], one[drawn])) for one in (first, last)]
            found.append(pair[1] - pair[0])
    middle = interval(np.array(found))
    return f"{middle.low:+.2f} to {middle.high:+.2f}" if middle else "–"
