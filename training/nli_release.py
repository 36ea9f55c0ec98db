"""Measure a trained NLI model on validation pairs, fit its temperature, and make the folder that
ships.

python -m training.nli_release --model run/model --validation nli/validation --out FOLDER
python -m training.nli_release --model FOLDER --validation nli/validation        # measure
only
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.models.loading import load_nli_model
from core.models.nli_model import BertNliModel, has_bf16
from core.models.pieces import encode_pairs
from core.models.weight_files import ADAPTERS_FILE, CALIBRATION_FILE, write_manifest
from core.records import Relation
from training.data import read_pairs

logger = logging.getLogger(__name__)

ORDER = (Relation.ENTAILMENT, Relation.NEUTRAL, Relation.CONTRADICTION)
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
ECE_BINS = 15
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """What one validation set gives; the two ECE figures are of its odd rows, before and after the
    temperature."""

    name: str
    pairs: int
    accuracy: float
    macro_f1: float
    ece: float
    ece_scaled: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Figures of every set, the temperature fitted on the even rows of all, and bf16's label
    agreement with fp32."""

    sets: tuple[SetFigures, ...]
    temperature: float
    label_agreement: Mapping[str, float]
    precision: str
    rows: str
    seconds: float


def measure(
    folder: Path,
    validation: Path,
    *,
    names: Sequence[str] | None = None,
    limit: int | None = None,
    precisions: Sequence[str] = ("fp32", "bf16"),
) -> Measured:
    """Read every pair of the validation sets and return the figures of the first precision."""
    began = time.monotonic()
    paths = sorted(validation.glob("*.jsonl.gz"))
    wanted = [path for path in paths if names is None or path.name.split(".")[0] in names]
    usable = [name for name in precisions if name != "bf16" or has_bf16()]
    logits: dict[str, dict[str, Floats]] = {name: {} for name in usable}
    gold: dict[str, Labels] = {}
    for precision in usable:
        nli = load_nli_model(folder, precision=precision)
        assert isinstance(nli, BertNliModel)
        for path in wanted:
            name = path.name.split(".")[0]
            pairs = read_pairs(path, limit)
            logits[precision][name] = _logits(
                nli, [(pair.premise, pair.hypothesis) for pair in pairs]
            )
            gold[name] = np.array([ORDER.index(Relation(pair.label)) for pair in pairs])
            logger.info(
                "%s %s: accuracy %.4f",
                precision,
                name,
                _accuracy(logits[precision][name], gold[name]),
            )
    first = logits[usable[0]]
    temperature = fit_temperature(
        [first[name][::2] for name in gold], [gold[name][::2] for name in gold]
    )
    agreement = {}
    if {"fp32", "bf16"} <= set(usable):
        same = [logits["bf16"][key].argmax(1) == logits["fp32"][key].argmax(1) for key in gold]
        agreement["bf16"] = round(float(np.mean(np.concatenate(same))), 5)
    sets = tuple(_figures(name, first[name], gold[name], temperature) for name in gold)
    return Measured(
        sets=sets,
        temperature=temperature,
        label_agreement=agreement,
        precision=usable[0],
        rows="all" if limit is None else f"the first {limit}",
        seconds=time.monotonic() - began,
    )


def release(folder: Path, measured: Measured, out: Path, taught_close: bool) -> None:
    """Copy the model's files to `out` with its calibration and a manifest of digests; `taught_close`:
    whether pairs of `training.claim_pairs` were among its training."""
    out.mkdir(parents=True, exist_ok=True)
    adapted = (folder / ADAPTERS_FILE).is_file()
    for name in (ADAPTERS_FILE,) if adapted else MODEL_FILES:
        if (folder / name).resolve() != (out / name).resolve():
            shutil.copyfile(folder / name, out / name)
    stored = {
        "temperature": measured.temperature,
        "label_agreement": dict(measured.label_agreement),
        "taught_close": taught_close,
        "fitted_on": f"even rows of {measured.rows} of every nli/validation set, each weighing the same",
        "ece": {one.name: {"before": one.ece, "after": one.ece_scaled} for one in measured.sets},
    }
    (out / CALIBRATION_FILE).write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    write_manifest(out)


def fit_temperature(logits: Sequence[Floats], gold: Sequence[Labels]) -> float:
    """Return the temperature with the least mean negative log-likelihood, every set weighing the
    same (to 0.01)."""
    grid = np.arange(0.5, 4.001, 0.01)
    losses = [
        np.mean(
            [
                -np.mean(np.log(_softmax(part / t)[np.arange(len(truth)), truth]))
                for part, truth in zip(logits, gold, strict=True)
                if len(truth)
            ]
        )
        for t in grid
    ]
    return round(float(grid[int(np.argmin(losses))]), 2)


def expected_calibration_error(probabilities: Floats, gold: Labels) -> float:
    """Return the mean gap between confidence and accuracy over 15 equal bins of the top
    probability."""
    confidence = probabilities.max(1)
    correct = probabilities.argmax(1) == gold
    place = np.minimum((confidence * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = [
        abs(correct[place == b].mean() - confidence[place == b].mean()) * (place == b).mean()
        for b in range(ECE_BINS)
        if (place == b).any()
    ]
    return float(sum(gaps))


def macro_f1(gold: Labels, predicted: Labels) -> float:
    """Return the mean F1 over the labels that occur in either."""
    scores = []
    for label in range(len(ORDER)):
        size = int((gold == label).sum() + (predicted == label).sum())
        if size:
            scores.append(2 * int(((gold == label) & (predicted == label)).sum()) / size)
    return float(np.mean(scores))


def table(measured: Measured) -> str:
    """Return the figures as a Markdown table."""
    head = (
        "| set | pairs | accuracy | macro-F1 | ECE | ECE, scaled |\n|---|---:|---:|---:|---:|---:|"
    )
    rows = [
        f"| {s.name} | {s.pairs} | {s.accuracy:.4f} | {s.macro_f1:.4f} | {s.ece:.4f} | {s.ece_scaled:.4f} |"
        for s in measured.sets
    ]
    return "\n".join([head, *rows])


def _logits(nli: BertNliModel, pairs: Sequence[tuple[str, str]]) -> Floats:
    """Return logits in our own label order; a claim over the budget counts as neutral."""
    places = [nli.order.index(relation) for relation in ORDER]
    found = np.tile(np.array([0.0, 1.0, 0.0]), (len(pairs), 1))
    encoded = encode_pairs(pairs, nli.tokenizer, nli.max_tokens)
    kept = [i for i, pair in enumerate(encoded) if pair is not None]
    for i, raw in zip(
        kept, nli.read_raw([pair for pair in encoded if pair is not None]), strict=True
    ):
        found[i] = raw.logits[places]
    return found


def _figures(name: str, logits: Floats, gold: Labels, temperature: float) -> SetFigures:
    odd, truth = logits[1::2], gold[1::2]
    return SetFigures(
        name=name,
        pairs=len(gold),
        accuracy=round(_accuracy(logits, gold), 4),
        macro_f1=round(macro_f1(gold, logits.argmax(1)), 4),
        ece=round(expected_calibration_error(_softmax(odd), truth), 4),
        ece_scaled=round(expected_calibration_error(_softmax(odd / temperature), truth), 4),
    )


def _accuracy(logits: Floats, gold: Labels) -> float:
    return float((logits.argmax(1) == gold).mean())


def _softmax(logits: Floats) -> Floats:
    exponents: Floats = np.exp(logits - logits.max(1, keepdims=True))
    result: Floats = exponents / exponents.sum(1, keepdims=True)
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and with --out also release."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--validation", type=Path, required=True)
    parser.add_argument(
        "--out", type=Path, help="folder to release to; without it nothing is written"
    )
    parser.add_argument("--set", action="append", dest="names", help="only this set (repeatable)")
    parser.add_argument("--limit", type=int, help="at most so many pairs of each set")
    parser.add_argument(
        "--precision", action="append", help="fp32 or bf16; figures are of the first (default both)"
    )
    parser.add_argument(
        "--taught-close",
        action="store_true",
        help="pairs of training.claim_pairs were among its training: it reads a claim's focused premise",
    )
    given: Any = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    measured = measure(
        given.model,
        given.validation,
        names=given.names,
        limit=given.limit,
        precisions=given.precision or ("fp32", "bf16"),
    )
    logger.info(
        "temperature %.2f, label agreement %s, precision %s, %.0f seconds\n%s",
        measured.temperature,
        dict(measured.label_agreement),
        measured.precision,
        measured.seconds,
        table(measured),
    )
    if given.out:
        release(given.model, measured, given.out, given.taught_close)


if __name__ == "__main__":
    main()
