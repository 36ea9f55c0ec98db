"""SummaC (Laban et al. 2022): an NLI score for every document sentence, then their maximum (ZS) or a
learned reading of their histogram (Conv)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import ComponentUnavailable, DamagedArtifact
from core.evaluation.baselines import BlindClaim, read_all, sentences
from core.ports import PairReader
from core.records import Probabilities

MAX_DOCUMENT_SENTENCES = 100  # the published default
BINS = 50
CONV_WEIGHTS = Path(__file__).parent / "summac_conv.json"


class SummacZS:
    """Mean over claim sentences of the best (entailment - contradiction) of any evidence sentence."""

    name = "SummaC-ZS"
    natural_threshold = 0.0

    def __init__(self, reader: PairReader, *, origin: str = "algorithm") -> None:
        self.reader, self.origin = reader, origin

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [-1, 1]; NaN without evidence sentences that could be read."""
        return np.array([_zero_shot(grid) for grid in _grids(self.reader, claims)])


class SummacConv:
    """A linear layer over the histogram of entailment scores, 50 bins, then a logistic."""

    name = "SummaC-Conv"
    natural_threshold = 0.5

    def __init__(self, reader: PairReader, weights: NDArray[np.float64], bias: float) -> None:
        self.reader, self.weights, self.bias, self.origin = reader, weights, bias, "algorithm"

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [0, 1]; NaN without evidence sentences that could be read."""
        histograms = conv_histograms(self.reader, claims)
        return np.asarray(1.0 / (1.0 + np.exp(-(histograms @ self.weights + self.bias))))


def conv_histograms(reader: PairReader, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
    """Entailment histograms averaged over claim sentences, shape (claims, 50); NaN rows unread."""
    rows = [_histogram(grid) for grid in _grids(reader, claims)]
    return np.stack(rows) if rows else np.zeros((0, BINS))


def load_summac_conv(reader: PairReader, path: Path = CONV_WEIGHTS) -> SummacConv:
    """SummaC-Conv with its fitted layer; ComponentUnavailable when none was fitted for the reader."""
    if not path.is_file():
        raise ComponentUnavailable(f"SummaC-Conv: no fitted layer at {path.name}")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        weights, bias = np.array(found["weights"], dtype=np.float64), float(found["bias"])
        fitted_for = str(found["pair_reader"])
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedArtifact(f"{path.name}: {error!r}") from error
    if weights.shape != (BINS,):
        raise DamagedArtifact(f"{path.name}: weights: expected {BINS}, found {weights.shape}")
    if fitted_for != reader.name:
        raise ComponentUnavailable(
            f"SummaC-Conv: its layer was fitted for {fitted_for}, the reader is {reader.name}"
        )
    return SummacConv(reader, weights, bias)


def fit_summac_conv(
    reader: PairReader, claims: Sequence[BlindClaim], supported: Sequence[bool]
) -> SummacConv:
    """Fit the layer on labelled claims (training packets only)."""
    from sklearn.linear_model import LogisticRegression

    histograms = conv_histograms(reader, claims)
    read = ~np.isnan(histograms).any(axis=1)
    layer = LogisticRegression(max_iter=2_000, class_weight="balanced")
    layer.fit(histograms[read], np.asarray(supported)[read])
    return SummacConv(reader, np.asarray(layer.coef_[0]), float(layer.intercept_[0]))


def save_summac_conv(layer: SummacConv, path: Path = CONV_WEIGHTS) -> None:
    """Write the fitted layer beside this module, for the reader that it was fitted with."""
    document = {
        "pair_reader": layer.reader.name,
        "weights": [round(float(weight), 6) for weight in layer.weights],
        "bias": round(layer.bias, 6),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


Grid = list[list[Probabilities | None]]  # claim sentences × evidence sentences


def _grids(reader: PairReader, claims: Sequence[BlindClaim]) -> list[Grid]:
    parts = [sentences(claim.claim) for claim in claims]
    evidence = [
        [s for text in claim.evidence for s in sentences(text) if s.strip()][
            :MAX_DOCUMENT_SENTENCES
        ]
        for claim in claims
    ]
    wanted = [
        [(premise, part) for part in own for premise in premises]
        for own, premises in zip(parts, evidence, strict=True)
    ]
    grids = []
    for readings, own, premises in zip(read_all(reader, wanted), parts, evidence, strict=True):
        width = len(premises)
        grids.append([readings[row * width : (row + 1) * width] for row in range(len(own))])
    return grids


def _zero_shot(grid: Grid) -> float:
    best = [
        max((p.entailment - p.contradiction for p in row if p is not None), default=np.nan)
        for row in grid
    ]
    return float(np.mean(best))


def _histogram(grid: Grid) -> NDArray[np.float64]:
    rows = []
    for row in grid:
        scores = [p.entailment for p in row if p is not None]
        if not scores:
            return np.full(BINS, np.nan)
        rows.append(np.histogram(scores, bins=BINS, range=(0.0, 1.0))[0])
    return np.asarray(np.mean(rows, axis=0), dtype=np.float64)
