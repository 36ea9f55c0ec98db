"""A threshold of its own for each kind of source that has the labels for one (III.5).

Each keeps its kind's bad-pass rate with the confidence of ``guarantee``; a kind without enough
labels has none and is decided by the one threshold. What that costs and saves is measured on folds
that chose no threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.attribution.families import load_families
from core.calibration.guarantee import LabelledScores, operating_points
from core.calibration.rows import TrainingRow
from core.calibration.whole import whole_card
from core.models.forest import BY_KIND, SHOWN, WHOLE
from core.models.heard import HEARD, heard_card
from core.records import SHOWN_FEATURE, SHOWN_WRONG, Against
from core.statistics import exact_binomial_interval
from core.verification.decision import against

LEAST = 10  # labelled claims; of fewer a frequency says too little to raise a probability


def shown_card(rows: Sequence[TrainingRow]) -> dict[str, int] | None:
    """How many of the labelled claims that are shown whole people found supported; None for few."""
    shown = [row for row in rows if row.features.numeric.get(SHOWN_FEATURE, 0.0) >= 1.0]
    if len(shown) < LEAST:
        return None
    return {
        "supported": sum(row.supported_by_route for row in shown),
        "claims": len(shown),
        "answers": len({row.trace_id for row in shown}),
    }


FOLDS, SEED = 10, 20260607
# What a check, a distortion or the NLI model holds against a claim.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Both errors of some claims, by the one threshold and by the kinds' own."""

    good: int
    bad: int
    good_blocked: tuple[int, int]
    bad_passed: tuple[int, int]


def judging_card(counted: Sequence[TrainingRow]) -> dict[str, object]:
    """What of a card a forest judges by, beside its trees."""
    return {SHOWN: shown_card(counted), HEARD: heard_card()}


def labels_card(
    rows: Sequence[TrainingRow],
    probability: NDArray[np.float64],
    counted: Sequence[TrainingRow],
    of_counted: NDArray[np.float64],
    *,
    risk: float,
) -> dict[str, object]:
    """What a calibrator's card says of labels beside its threshold.

    The thresholds of kinds of source and of whole answers rest on ``rows``, with ``probability`` by
    trees that did not see them; how often a claim is contradicted rests on ``counted``, whose
    probabilities are ``of_counted``.
    """
    return {
        BY_KIND: kind_thresholds(rows, probability, risk=risk),
        "contradicted": contradicted_card(counted, of_counted),
        **judging_card(counted),
        WHOLE: whole_card(labelled(rows, probability)),
    }


def kind_thresholds(
    rows: Sequence[TrainingRow], probability: NDArray[np.float64], *, risk: float
) -> dict[str, dict[str, object]]:
    """The kinds that have a threshold of their own, each with the bound and the labels it rests on."""
    if not rows:
        return {}
    found = operating_points(labelled(rows, probability), risk=risk).families
    return {
        kind: {
            "threshold": point.threshold,
            "risk": risk,
            "confidence": point.confidence,
            "upper_bound": None if point.upper is None else round(point.upper, 4),
            "labels": point.labels,
            "bad_labels": point.bad,
            "bad_answers": point.bad_traces,
        }
        for kind, point in found.items()
        if point.threshold is not None
    }


def labelled(rows: Sequence[TrainingRow], probability: NDArray[np.float64]) -> LabelledScores:
    """The rows as labelled scores, each of the kind of source that its claim was routed to."""
    numbers = np.unique([row.trace_id for row in rows], return_inverse=True)[1]
    return LabelledScores(
        probability=probability,
        bad=np.array([row.should_block for row in rows], dtype=np.bool_),
        forced=np.array([row.forced for row in rows], dtype=np.bool_),
        trace=numbers.astype(np.int64),
        family=tuple(kind_of(row) for row in rows),
    )


def kind_of(row: TrainingRow) -> str:
    """The kind of source that a row's claim was routed to, by its tool's name."""
    return load_families().family_of_tool(row.features.categorical.get("pred_tool", ""))


def effects(
    labels: LabelledScores, place: Sequence[str], *, risk: float
) -> Mapping[tuple[str, str], Effect]:
    """What thresholds by kind change, by ``place`` (the packet) and kind, "all" the first of each.

    Thresholds are chosen ten times on nine tenths of the traces, and counted on the tenth left out.
    """
    deciding = np.where(labels.forced, -np.inf, labels.probability)
    passes = [np.zeros(len(deciding), dtype=np.bool_) for _ in range(2)]
    kinds = np.array(labels.family)
    folds = StratifiedGroupKFold(n_splits=FOLDS, shuffle=True, random_state=SEED)
    for chosen, counted in folds.split(labels.bad, labels.bad, labels.trace):
        kept = np.zeros(len(deciding), dtype=np.bool_)
        kept[chosen] = True
        points = operating_points(labels.where(kept), risk=risk)
        for which, own in enumerate((False, True)):
            by = np.array(
                [
                    (points.of(kind)[0] if own else points.pooled).threshold or np.inf
                    for kind in kinds[counted]
                ]
            )
            passes[which][counted] = deciding[counted] >= by
    places = np.array(place)
    found: dict[tuple[str, str], Effect] = {}
    for name in dict.fromkeys(place):
        for kind in ("all", *sorted(set(labels.family))):
            inside = (places == name) & ((kinds == kind) | (kind == "all"))
            if inside.any():
                found[(name, kind)] = _effect(labels.bad, passes, inside)
    return found


def _effect(
    bad: NDArray[np.bool_], passes: Sequence[NDArray[np.bool_]], inside: NDArray[np.bool_]
) -> Effect:
    one, own = passes
    good = inside & ~bad
    return Effect(
        good=int(good.sum()),
        bad=int((inside & bad).sum()),
        good_blocked=(int((good & ~one).sum()), int((good & ~own).sum())),
        bad_passed=(int((inside & bad & one).sum()), int((inside & bad & own).sum())),
    )
