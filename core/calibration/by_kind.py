"""A threshold of its own for each kind of source that has the labels for one (III.5).

Each keeps its kind's bad-pass rate with the confidence of ``guarantee``; a kind without enough
labels has none and is decided by the one threshold. What that costs and saves is measured on folds
that chose no threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from core.attribution.families import load_families
from core.calibration.contradicted import contradicted_card
from core.calibration.guarantee import LabelledScores, operating_points
from core.calibration.rows import TrainingRow
from core.calibration.shown import shown_card
from core.calibration.whole import whole_card
from core.models.forest import BY_KIND, SHOWN, WHOLE
from core.models.heard import HEARD, heard_card

FOLDS, SEED = 10, 20260607


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
