"""SummaC-ZS (Laban et al. 2022): an NLI score for every document sentence, then their maximum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.evaluation.baselines import BlindClaim, read_all, sentences
from core.ports import NliModel
from core.records import Probabilities

MAX_DOCUMENT_SENTENCES = 100  # the published default


class SummacZS:
    """Mean over claim sentences of the best (entailment - contradiction) of any evidence sentence."""

    name = "SummaC-ZS"
    natural_threshold = 0.0

    def __init__(self, nli: NliModel, *, origin: str = "algorithm") -> None:
        self.nli, self.origin = nli, origin

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [-1, 1]; NaN without evidence sentences that could be read."""
        return np.array([_zero_shot(grid) for grid in _grids(self.nli, claims)])


Grid = list[list[Probabilities | None]]  # claim sentences × evidence sentences


def _grids(nli: NliModel, claims: Sequence[BlindClaim]) -> list[Grid]:
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
    for nli_scores, own, premises in zip(read_all(nli, wanted), parts, evidence, strict=True):
        width = len(premises)
        grids.append([nli_scores[row * width : (row + 1) * width] for row in range(len(own))])
    return grids


def _zero_shot(grid: Grid) -> float:
    best = [
        max((p.entailment - p.contradiction for p in row if p is not None), default=np.nan)
        for row in grid
    ]
    return float(np.mean(best))
