"""The calibrated probability that a claim is contradicted, by what speaks against it.

Contradicted labels are few where a check shows one, and a model over many signals says more than they
know: a frequency for each cause, with its exact interval, is kept. ``reliability`` holds it against
a constant and a logistic regression, each on answers that it had not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.calibration.rows import TrainingRow
from core.decide import against
from core.records import SHOWN_WRONG, Against
from core.statistics import exact_binomial_interval

FOLDS, SEED = 10, 20260607
# What a check, a distortion or the reader holds against a claim.
SIGNALS = (
    "checks_vetoes",
    "checks_contradicts",
    "source_checks_contradicts",
    "contradiction",
    "contradiction_max",
    "contradiction_any",
    "distortions_n",
    "direction_opposed",
    "negation_differs",
)

Array = NDArray[np.float64]


def contradicted_card(
    rows: Sequence[TrainingRow], probability: Array | None = None
) -> dict[str, dict[str, object]]:
    """For each thing that speaks against a claim: how many of the labelled ones were contradicted.

    Rows of which it is not known whether they were contradicted do not count, nor do those whose
    ``probability``, shape (rows,), disputes what a check shows: of them nobody is told so.
    """
    if probability is not None:
        disputed = probability > SHOWN_WRONG
        rows = [
            row
            for row, carried in zip(rows, disputed, strict=True)
            if not (carried and against(row.features) is Against.SHOWN)
        ]
    found: dict[str, dict[str, object]] = {}
    for kind in Against:
        inside = [row for row in _known(rows) if against(row.features) is kind]
        right = sum(row.contradicted is True for row in inside)
        ends = exact_binomial_interval(right, len(inside))
        if ends is not None:
            found[kind.value] = {
                "contradicted": right,
                "claims": len(inside),
                "answers": len({row.trace_id for row in inside}),
                "low": round(ends[0], 4),
                "high": round(ends[1], 4),
            }
    return found


def reliability(rows: Sequence[TrainingRow], *, folds: int = FOLDS) -> dict[str, object]:
    """How well three ways of telling the probability hold on answers that they had not seen.

    Each has its Brier loss and, for what it said, how often that was so; grouped by answer.
    """
    known = _known(rows)
    truth = np.array([row.contradicted is True for row in known], dtype=np.float64)
    traces = np.array([row.trace_id for row in known])
    ways: dict[str, Callable[[Sequence[TrainingRow], Array, Sequence[TrainingRow]], Array]] = {
        "by cause": _by_cause,
        "logistic": _logistic,
        "constant": lambda seen, so, others: np.full(len(others), so.mean()),
    }
    said = {name: np.zeros(len(known)) for name in ways}
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=SEED)
    for train, test in splitter.split(truth, truth, traces):
        for name, fit in ways.items():
            said[name][test] = fit(
                [known[i] for i in train], truth[train], [known[i] for i in test]
            )
    return {
        "claims": len(known),
        "contradicted": int(truth.sum()),
        "ways": {
            name: {
                "brier": round(float(np.mean((found - truth) ** 2)), 5),
                "said_and_so": _said_and_so(found, truth),
            }
            for name, found in said.items()
        },
    }


def _known(rows: Sequence[TrainingRow]) -> list[TrainingRow]:
    return [row for row in rows if row.contradicted is not None]


def _by_cause(seen: Sequence[TrainingRow], so: Array, others: Sequence[TrainingRow]) -> Array:
    causes = np.array([against(row.features).value for row in seen])
    shares = {cause: float(so[causes == cause].mean()) for cause in set(causes.tolist())}
    overall = float(so.mean())
    return np.array([shares.get(against(row.features).value, overall) for row in others])


def _logistic(seen: Sequence[TrainingRow], so: Array, others: Sequence[TrainingRow]) -> Array:
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=3_000))
    told = model.fit(_columns(seen), so).predict_proba(_columns(others))
    return np.asarray(told[:, 1], dtype=np.float64)


def _columns(rows: Sequence[TrainingRow]) -> Array:
    return np.array([[row.features.numeric.get(name, 0.0) for name in SIGNALS] for row in rows])


def _said_and_so(said: Array, so: Array) -> list[dict[str, float | int]]:
    """Claims by what was said of them, in five bands: their mean probability and how many were so."""
    edges = (0.0, 0.1, 0.2, 0.4, 0.6, 1.01)
    bands = []
    for low, high in zip(edges, edges[1:], strict=False):
        inside = (said >= low) & (said < high)
        if inside.any():
            bands.append(
                {
                    "from": low,
                    "claims": int(inside.sum()),
                    "said": round(float(said[inside].mean()), 3),
                    "contradicted": int(so[inside].sum()),
                }
            )
    return bands
