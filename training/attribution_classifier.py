"""Fit the model that tells whether a sentence credits the source it names (III.2).

    python -m training.attribution_classifier [SENTENCES.jsonl …] [--held-out FILE] [--out FILE]

Each line is {"text": …, "family": …}: the family that the sentence credits, or null where it names
a source and credits none. The sentences that ship are original. Figures are out of fold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from core.attribution.classifier import FORMAT, WEIGHTS_FILE, marks, read_weights
from core.attribution.cues import find_credit
from core.attribution.families import Families, load_families
from core.errors import InputError
from core.records import Span
from training.texts import text_folder

SENTENCES = text_folder() / "attribution_sentences.jsonl"
SEED = 20260607
FOLDS = 10
STRENGTH = 1.0  # inverse of the penalty
FALSE_SHARE = (
    0.035  # of names in sentences that credit nothing; a false credit may block a good claim
)
FEWEST = 2  # sentences that a mark must be seen in


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """An original sentence and the family that it credits, if any."""

    text: str
    family: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A source's name in a sentence, and whether the sentence credits that kind of source."""

    text: str
    name: Span
    credits: bool


def read_sentences(path: Path) -> list[Sentence]:
    """The sentences of a JSON Lines file; InputError names file and line."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            found.append(Sentence(text=row["text"], family=row["family"]))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}:{number}: expected text and family: {error}") from error
    return found


def named_in(sentences: Iterable[Sentence], families: Families) -> list[Named]:
    """The names to learn from: of a credit the first that fits its family, else every one."""
    found = []
    for sentence in sentences:
        names = [m for m in families.mentions(sentence.text) if not m.paraphrase]
        if sentence.family is not None:
            fitting = [m for m in names if families.compatible(m.family_id, sentence.family)]
            names = sorted(fitting, key=lambda m: m.span.start)[:1]
        found += [
            Named(text=sentence.text, name=m.span, credits=sentence.family is not None)
            for m in names
        ]
    return found


def _model() -> Pipeline:
    return make_pipeline(
        DictVectorizer(),
        LogisticRegression(C=STRENGTH, max_iter=5_000, class_weight="balanced"),
    )


def _seen(examples: Sequence[Named]) -> list[dict[str, float]]:
    """The marks of each example that are seen in enough of them."""
    every = [marks(example.text, example.name) for example in examples]
    counts: dict[str, int] = {}
    for found in every:
        for mark in found:
            counts[mark] = counts.get(mark, 0) + 1
    return [{m: 1.0 for m in found if counts[m] >= FEWEST} for found in every]


def threshold_for(probabilities: NDArray[np.float64], credits: NDArray[np.bool_]) -> float:
    """The lowest threshold that at most ``FALSE_SHARE`` of what credits nothing passes."""
    false = np.sort(probabilities[~credits])[::-1]
    allowed = int(FALSE_SHARE * len(false))
    return float(np.ceil(false[allowed] * 1_000 + 1) / 1_000)


def fit(examples: Sequence[Named]) -> tuple[dict[str, object], NDArray[np.float64]]:
    """The document of the weights file, and the out-of-fold probability of each example."""
    rows, target = _seen(examples), np.array([example.credits for example in examples])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    out_of_fold = cross_val_predict(_model(), rows, target, cv=folds, method="predict_proba")[:, 1]
    model = _model().fit(rows, target)
    names = model[0].get_feature_names_out()
    weights = {name: round(float(w), 3) for name, w in zip(names, model[1].coef_[0], strict=True)}
    document = {
        "format": FORMAT,
        "bias": round(float(model[1].intercept_[0]), 3),
        "threshold": threshold_for(out_of_fold, target),
        "examples": len(examples),
        "weights": {name: w for name, w in sorted(weights.items()) if w},
    }
    return document, out_of_fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What ``find_credit`` makes of labelled sentences."""

    credited: int
    right: int
    wrong: int
    silent: int
    false: int

    def __str__(self) -> str:
        return (
            f"{self.right} of {self.credited} credits found with the right family, {self.wrong} with "
            f"another; {self.false} found in {self.silent} sentences that credit nothing"
        )


def measure(sentences: Iterable[Sentence], families: Families) -> Found:
    """How many credits of the sentences are found, rightly and wrongly."""
    credited = right = wrong = silent = false = 0
    for sentence in sentences:
        credit = find_credit(sentence.text, families)
        found = () if credit is None else credit.families
        if sentence.family is None:
            silent, false = silent + 1, false + bool(found)
            continue
        credited += 1
        if len(found) == 1:
            fits = families.compatible(found[0], sentence.family)
            right, wrong = right + fits, wrong + (not fits)
    return Found(credited=credited, right=right, wrong=wrong, silent=silent, false=false)


def main() -> None:
    """Fit, say what was reached, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", nargs="*", type=Path, default=[SENTENCES])
    parser.add_argument("--held-out", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=Path("core/attribution") / WEIGHTS_FILE)
    options = parser.parse_args()
    families = load_families()
    sentences = [each for path in options.sentences for each in read_sentences(path)]
    examples = named_in(sentences, families)
    document, out_of_fold = fit(examples)
    credits = np.array([example.credits for example in examples])
    text = json.dumps(document, ensure_ascii=False, indent=0, allow_nan=False) + "\n"
    threshold = read_weights(text, str(options.out)).threshold
    options.out.write_text(text, encoding="utf-8")
    print(
        f"{len(sentences)} sentences, {len(examples)} names, out of fold: AUROC "
        f"{roc_auc_score(credits, out_of_fold):.3f}; at {threshold} "
        f"{(out_of_fold[credits] >= threshold).mean():.1%} of credits are found, "
        f"{(out_of_fold[~credits] >= threshold).mean():.1%} of the others"
    )
    if options.held_out is not None:
        print(f"{options.held_out.name}: {measure(read_sentences(options.held_out), families)}")


if __name__ == "__main__":
    main()
