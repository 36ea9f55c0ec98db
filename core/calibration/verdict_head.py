"""Fitted variants of the claim decision (Table 12): raw verdict head, blend and score ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from core.calibration.fit import (
    ForestSettings,
    fit_calibrator,
    fit_encoding,
)
from core.calibration.rows import TrainingRow
from core.calibration.threshold import GRID, Choice, by_block_f1, by_block_recall, sweep
from core.models.forest import encode
from core.models.forest_card import Encoding
from core.records import Features

Array = NDArray[np.float64]
Scorer = Callable[[Sequence[Features]], Array]

HIGH_RECALL = 0.99
BLEND_STEPS = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A support score with its threshold, and whether other checks still block (III.7)."""

    name: str
    objective: str
    scores: Scorer
    threshold: float
    gated: bool


def fit_variants(
    train: Sequence[TrainingRow], validation: Sequence[TrainingRow]
) -> tuple[Variant, ...]:
    """Every fitted row of Table 12, on one training set and with thresholds from one validation set."""
    settings = ForestSettings()
    encoding = fit_encoding([row.features for row in train])
    columns = encode([row.features for row in train], encoding)
    target = np.array([row.supported_by_route for row in train])
    head = _scorer(encoding, LogisticRegression(max_iter=3_000, C=1.0).fit(columns, target))
    trees = ExtraTreesClassifier(
        n_estimators=settings.trees,
        max_depth=8,
        min_samples_leaf=settings.min_samples_leaf,
        class_weight="balanced",
        random_state=settings.seed,
        n_jobs=1,
    ).fit(columns, target)
    balanced = LogisticRegression(max_iter=3_000, class_weight="balanced").fit(columns, target)
    forest = fit_calibrator(train, validation, settings=settings).forest()
    blend = _best_mix([_scorer(encoding, trees), _scorer(encoding, balanced)], validation)
    ensemble = _best_mix([forest.probabilities, blend[0]], validation)
    return (
        Variant(
            name="raw verdict head",
            objective="Logistic head on the training split, no threshold chosen.",
            scores=head,
            threshold=0.5,
            gated=False,
        ),
        Variant(
            name="raw head + validation threshold",
            objective="Validation block F1 on the raw head's support probability.",
            scores=head,
            threshold=_choose(head, validation, by_block_f1, gated=False),
            gated=False,
        ),
        Variant(
            name="raw head + high-recall threshold",
            objective=f"Validation block recall of at least {HIGH_RECALL}.",
            scores=head,
            threshold=_choose(
                head, validation, lambda points: by_block_recall(points, HIGH_RECALL), gated=False
            ),
            gated=False,
        ),
        Variant(
            name="evidence-calibrated blend",
            objective="ExtraTrees and logistic regression, mixed on validation.",
            scores=blend[0],
            threshold=blend[1],
            gated=True,
        ),
        Variant(
            name="calibrated-score ensemble",
            objective="Forest and blend, mixed on validation.",
            scores=ensemble[0],
            threshold=ensemble[1],
            gated=True,
        ),
    )


def _scorer(encoding: Encoding, model: object) -> Scorer:
    def scores(rows: Sequence[Features]) -> Array:
        if not rows:
            return np.zeros(0)
        found = model.predict_proba(encode(rows, encoding))  # type: ignore[attr-defined]
        return np.round(np.asarray(found, dtype=np.float64)[:, 1], 4)

    return scores


def _best_mix(scorers: Sequence[Scorer], validation: Sequence[TrainingRow]) -> tuple[Scorer, float]:
    """The mix of two scorers, and its threshold, with the best block F1 on validation."""
    first, second = (scorer([row.features for row in validation]) for scorer in scorers)
    best: tuple[float, float, float] | None = None
    for share in np.linspace(0.0, 1.0, BLEND_STEPS):
        mix = share * first + (1 - share) * second
        choice = _chosen(mix, validation, by_block_f1, gated=True)
        key = choice.point.block_f1 or 0.0
        if best is None or key > best[0]:
            best = (key, float(share), choice.point.threshold)
    assert best is not None
    share, threshold = best[1], best[2]

    def mixed(rows: Sequence[Features]) -> Array:
        return np.asarray(share * scorers[0](rows) + (1 - share) * scorers[1](rows))

    return mixed, threshold


def _choose(
    scorer: Scorer,
    validation: Sequence[TrainingRow],
    rule: Callable[..., Choice],
    *,
    gated: bool,
) -> float:
    scores = scorer([row.features for row in validation])
    return _chosen(scores, validation, rule, gated).point.threshold


def _chosen(
    scores: Array, validation: Sequence[TrainingRow], rule: Callable[..., Choice], gated: bool
) -> Choice:
    bad = np.array([row.should_block for row in validation])
    forced = np.array([row.forced and gated for row in validation])
    return rule(sweep(scores, bad, forced, GRID))
