"""Small calibrators for tests: real artifacts of one split, written and read by the real code."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.models.forest import Trees, write_artifact
from core.models.forest_card import Encoding


def a_calibrator(
    folder: Path,
    *,
    feature: str = "entailment",
    cut: float = 0.5,
    below: float = 0.1,
    above: float = 0.9,
    threshold: float = 0.6,
    nli: str | None = None,
) -> str:
    """Write a one-split calibrator to ``folder``: ``above`` where the feature exceeds ``cut``.

    ``nli`` is the name of the NLI model that it says it was fitted on.
    """
    encoding = Encoding(categories=(), numeric=(feature,), means=(0.0,), scales=(1.0,))
    trees = Trees(
        roots=np.array([0], dtype=np.int32),
        feature=np.array([0, -1, -1], dtype=np.int32),
        threshold=np.array([cut, 0.0, 0.0]),
        left=np.array([1, 0, 0], dtype=np.int32),
        right=np.array([2, 0, 0], dtype=np.int32),
        value=np.array([0.5, below, above]),
    )
    card: dict[str, object] = {"threshold": threshold}
    if nli is not None:
        card["made_by"] = {"pair_reader": nli}
    return write_artifact(folder, encoding, trees, card)
