"""Fit the model that tells remarks, advice, opinions and disclaimers from facts (III.2).

    python -m training.remark_classifier [--shared FOLDER] [--out FILE]

The sentences that ship are original; FOLDER adds statements of fact (hypotheses of inference data)
and the stretches of reference answers of the half "tune" that claim something, or nothing.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from core.decomposition.markdown import plain
from core.decomposition.remarks import FORMAT, WEIGHTS_FILE, marks, read_weights
from core.evaluation.set_aside import claimless
from core.records import ClaimType, Span
from training.texts import text_folder

SENTENCES = text_folder() / "remark_sentences.txt"
AUTHORS = text_folder() / "remark_authors"  # a file each, by authors who saw no rule
HELD_OUT = ("f",)  # of them: what was never fitted to
SEED = 20261122
FOLDS = 5
STRENGTH = 2.0  # inverse of the penalty
FALSE_SHARE = 0.009  # of facts, hard ones among them, that may be taken for remarks, out of fold
FEWEST = 2  # stretches that a mark must be seen in
PER_FILE = 350  # statements of fact from each file of inference data


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stretch of text and what it is; ``weight`` is what it counts for."""

    text: str
    kind: ClaimType
    weight: float = 1.0


def original_sentences() -> list[Stretch]:
    """The sentences written for this model."""
    authors = [path for path in sorted(AUTHORS.glob("*.txt")) if path.stem not in HELD_OUT]
    # Hard ones on purpose: counted for more than the natural ones, they unteach what is easy.
    return [*written(SENTENCES, weight=5.0), *(one for path in authors for one in written(path))]


def written(path: Path, weight: float = 1.0, *, bare: bool = True) -> list[Stretch]:
    """A file of sentences: a kind, a tab, a sentence; ``bare`` as the model meets it, without layout."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line and not line.startswith("#")]
    return [
        Stretch(
            text=plain(text).rstrip(": ") if bare else text, kind=ClaimType(kind), weight=weight
        )
        for kind, text in pairs
    ]


def shared_statements(folder: Path) -> Iterator[Stretch]:
    """Statements of fact from the hypotheses of inference data."""
    for path in sorted((folder / "nli" / "train").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = [
                json.loads(line)["hypothesis"] for line, _ in zip(lines, range(4_000), strict=False)
            ]
        random.Random(SEED).shuffle(texts)
        for text in texts[:PER_FILE]:
            if not text.rstrip().endswith("?"):
                yield Stretch(text=text[:1].upper() + text[1:], kind=ClaimType.FACTUAL)


def reference_stretches(folder: Path) -> Iterator[Stretch]:
    """What the reference answers of the half "tune" say, and the sentences that claim nothing."""
    path = folder / "decomposition" / "dev_claims.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        if hashlib.sha256(row["trace_id"].encode()).digest()[0] % 2 == 0:
            continue
        places = [Span(start=c["span"][0], end=c["span"][1]) for c in row["claims"]]
        for place in places:
            yield Stretch(text=plain(place.cut(row["answer"])), kind=ClaimType.FACTUAL)
        for place in claimless(row["answer"], row["labelled_until"], places):
            text = plain(place.cut(row["answer"]))
            verbless = text.rstrip().endswith((":", "?"))
            kind = ClaimType.META if verbless else ClaimType.ADVICE
            yield Stretch(text=text.rstrip(": "), kind=kind)


def _model() -> Pipeline:
    return make_pipeline(DictVectorizer(), LogisticRegression(C=STRENGTH, max_iter=200))


def _seen(stretches: Sequence[Stretch]) -> list[dict[str, float]]:
    every = [marks(stretch.text) for stretch in stretches]
    counts = Counter(mark for found in every for mark in found)
    for stretch, found in zip(stretches, every, strict=True):
        counts.update(mark for mark in found if mark.startswith("1 ") and stretch.weight > 1)
    return [{mark: 1.0 for mark in sorted(found) if counts[mark] >= FEWEST} for found in every]


def threshold_for(factual: NDArray[np.float64], remark: NDArray[np.bool_]) -> float:
    """The lowest P(remark) that at most ``FALSE_SHARE`` of the facts reach."""
    false = np.sort(1.0 - factual[~remark])[::-1]
    return float(np.ceil(false[int(FALSE_SHARE * len(false))] * 1_000 + 1) / 1_000)


def main() -> None:
    """Fit, say what was reached out of fold, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("core/decomposition") / WEIGHTS_FILE)
    options = parser.parse_args()
    stretches = original_sentences()
    if options.shared.exists():
        stretches += [*shared_statements(options.shared), *reference_stretches(options.shared)]
    rows, kinds = _seen(stretches), np.array([stretch.kind.value for stretch in stretches])
    weight = np.array([stretch.weight for stretch in stretches])
    remark = kinds != ClaimType.FACTUAL.value
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    name = "logisticregression__sample_weight"
    probabilities = cross_val_predict(
        _model(), rows, kinds, cv=folds, method="predict_proba", params={name: weight}
    )
    model = _model().fit(rows, kinds, **{name: weight})
    order = list(model[1].classes_)
    factual = probabilities[:, order.index(ClaimType.FACTUAL.value)]
    threshold = threshold_for(factual, remark)
    named = zip(model[0].get_feature_names_out(), model[1].coef_.T, strict=True)
    document = {
        "format": FORMAT,
        "kinds": order,
        "bias": [round(float(value), 2) for value in model[1].intercept_],
        "threshold": threshold,
        "examples": len(stretches),
        "weights": {
            mark: [round(float(value), 2) for value in row]
            for mark, row in named
            if np.abs(row).max() >= 0.05
        },
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
    read_weights(text, str(options.out))
    options.out.write_text(text.replace('],"', '],\n"'), encoding="utf-8")
    print(
        f"{len(stretches)} stretches, out of fold at {threshold}: "
        f"{(1 - factual[remark] >= threshold).mean():.1%} of {remark.sum()} remarks found, "
        f"{(1 - factual[~remark] >= threshold).sum()} of {(~remark).sum()} facts taken for one"
    )
    own = [i for i, s in enumerate(stretches) if s.weight > 1]
    for i in own:
        if bool(remark[i]) != bool(1 - factual[i] >= threshold):
            print(f"  {kinds[i]:12s} {1 - factual[i]:.3f} {stretches[i].text}")


if __name__ == "__main__":
    main()
