"""Fitting the support calibrator: Table 1's forest, its threshold, and its card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.calibration.label_card import judging_card, labels_card
from core.calibration.rows import TrainingRow
from core.calibration.threshold import (
    DEFAULT_MAX_FALSE_PASS,
    Choice,
    OperatingPoint,
    block_below,
    by_block_f1,
    by_false_pass,
    by_risk,
    sweep,
)
from core.errors import InputError
from core.evaluation.splits import shared_traces
from core.identity import rules_digest
from core.models.calibration_map import CALIBRATION, CalibrationMap
from core.models.forest import ADJUSTED, Forest, Trees, encode, write_artifact
from core.models.forest_card import Encoding
from core.models.heard import log_odds
from core.records import SHOWN_FEATURE, VETOES_FEATURE, Features

INTERCEPT_SPREAD = 0.5  # of the log-odds: some sixteen labels move them half as far as they say


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestSettings:
    """Table 1: what the forest is grown with."""

    trees: int = 400
    max_depth: int = 5
    min_samples_leaf: int = 8
    class_weight: str = "balanced"
    criterion: str = "gini"
    seed: int = 20260607
    max_false_pass: float = DEFAULT_MAX_FALSE_PASS
    # The guaranteed bound on the share of bad claims that pass; None: ``max_false_pass`` as counted.
    risk: float | None = None
    permutations: int = 5
    # The features that are used, and by sign whether more of one may only raise (1) or only lower
    # (-1) the support; empty: all that the rows have, in any direction, as in the paper.
    directions: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Claims whose probability falls in ``[low, high)``: what was said and what was so."""

    low: float
    high: float
    claims: int
    mean_probability: float | None
    share_supported: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """How much a feature matters: Brier loss added by shuffling it, and the impurity it removes."""

    feature: str
    permutation_mean: float
    permutation_sd: float
    impurity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCalibrator:
    """A forest with its threshold and its card; ``save`` makes it an artifact folder."""

    encoding: Encoding
    trees: Trees
    choice: Choice
    points: tuple[OperatingPoint, ...]
    reliability: tuple[ReliabilityBin, ...]
    importances: tuple[Importance, ...]
    card: dict[str, object]

    def forest(self) -> Forest:
        """The calibrator, ready to use."""
        return Forest(self.encoding, self.trees, self.choice.point.threshold, self.card)

    def save(self, folder: Path) -> str:
        """Write the artifact folder; returns the calibrator's name."""
        return write_artifact(folder, self.encoding, self.trees, self.card)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedCalibrator:
    """A forest as it was, with another calibration; ``save`` makes it an artifact folder."""

    base: Forest
    card: dict[str, object]

    def forest(self) -> Forest:
        """The calibrator, ready to use."""
        return Forest(self.base.encoding, self.base.trees, self.base.threshold, self.card)

    def save(self, folder: Path) -> str:
        """Write the artifact folder; returns the calibrator's name."""
        return write_artifact(folder, self.base.encoding, self.base.trees, self.card)


def fit_calibrator(
    train: Sequence[TrainingRow],
    validation: Sequence[TrainingRow],
    *,
    settings: ForestSettings | None = None,
    made_with: dict[str, str] | None = None,
    weights: Sequence[float] | None = None,
) -> FittedCalibrator:
    """The forest of Table 1, grown on ``train`` with its threshold chosen on ``validation``.

    Raises InputError on held-out rows, on traces that stand on both sides, and on a training set
    with only one kind of target. ``made_with`` names what made the features (models, config);
    ``weights`` is what each training row counts, 1 without.
    """
    settings = settings or ForestSettings()
    _refuse_unsound(train, validation)
    encoding, grown = grow(train, settings, weights)
    judging = judging_card(train)
    forest = Forest(encoding, flatten(grown), 0.5, judging)
    found = fit_calibration(validation, forest.probabilities([row.features for row in validation]))
    judging = {**judging, CALIBRATION: asdict(found)}
    forest = Forest(encoding, forest.trees, 0.5, judging)
    probability = forest.probabilities([row.features for row in validation])
    bad, forced = _decided(validation)
    risk = settings.risk
    bounded = None if risk is None else by_risk(probability, bad, forced, risk=risk)
    choice = (
        bounded
        if bounded is not None and bounded.met
        else by_false_pass(sweep(probability, bad, forced), settings.max_false_pass)
    )
    data = {"train": data_card(train), "validation": data_card(validation)}
    counted = [*train, *validation]
    of_counted = forest.probabilities([row.features for row in counted])
    return assemble(
        forest,
        grown,
        validation,
        probability,
        choice,
        settings,
        data,
        made_with,
        {
            **labels_card(validation, probability, counted, of_counted),
            **judging,
            # A middle only where the guarantee says what lies above it.
            **(
                {
                    "review_from": min(
                        block_below(probability, bad, risk=risk), choice.point.threshold
                    )
                }
                if risk is not None and choice is bounded
                else {}
            ),
        },
    )


def settings_of(card: Mapping[str, object]) -> ForestSettings:
    """The settings that a card names, to fit another calibrator as this one was; unknown ones are left."""
    told = card.get("settings")
    known = {field.name for field in fields(ForestSettings)}
    values = {k: v for k, v in told.items() if k in known} if isinstance(told, Mapping) else {}
    directions = tuple((str(name), int(sign)) for name, sign in values.pop("directions", ()))
    return ForestSettings(**values, directions=directions)


def adjusted(
    forest: Forest, rows: Sequence[TrainingRow], made_with: Mapping[str, str]
) -> AdjustedCalibrator:
    """The same forest and thresholds with its calibration moved towards the labels of a few rows.

    One number is fitted, the intercept, and held near 0 by a normal prior of ``INTERCEPT_SPREAD``: with
    no rows nothing moves, and labels that call more claims right than was said only ever raise what is
    said. Nothing else can be learned from a handful of labels without doing harm.
    """
    now = forest.calibration or CalibrationMap(slope=1.0, intercept=0.0, base=0.5, claims=0)
    # From where it stood before the first adjustment: the same labels must not count twice.
    earlier = forest.card.get(ADJUSTED)
    start: dict[str, Any] = {"from": forest.name, "shift": 0.0, "claims": now.claims}
    start |= earlier if isinstance(earlier, Mapping) else {}
    gone = float(start["shift"])
    free = [row for row, kept in zip(rows, scored_freely(rows), strict=True) if kept]
    said = log_odds(forest.probabilities([row.features for row in free])) - gone
    target = np.array([row.supported_by_route for row in free], dtype=np.float64)
    moved = minimize_scalar(
        lambda shift: (
            float(np.logaddexp(0.0, said + shift).sum() - (target * (said + shift)).sum())
            + shift**2 / (2 * INTERCEPT_SPREAD**2)
        ),
        bounds=(-5.0, 5.0),
        method="bounded",
    )
    shift = _rounded(float(moved.x))
    after = replace(
        now, intercept=now.intercept - gone + shift, claims=int(start["claims"]) + len(free)
    )
    told = ("format", "format_version", "categorical", "numeric", "name")
    card = {name: value for name, value in forest.card.items() if name not in told}
    made_by = card.get("made_by")
    card["made_by"] = {**(made_by if isinstance(made_by, Mapping) else {}), **made_with}
    card[CALIBRATION] = asdict(after)
    card[ADJUSTED] = {**start, "labels": len(rows), "shift": shift}
    return AdjustedCalibrator(base=forest, card=card)


def grow(
    rows: Sequence[TrainingRow], settings: ForestSettings, weights: Sequence[float] | None = None
) -> tuple[Encoding, RandomForestClassifier]:
    """The forest of Table 1 on these rows, over the features that the settings name."""
    encoding = fit_encoding([row.features for row in rows], settings.directions)
    columns = encode([row.features for row in rows], encoding)
    signs = dict(settings.directions)
    grown = RandomForestClassifier(
        n_estimators=settings.trees,
        max_depth=settings.max_depth,
        min_samples_leaf=settings.min_samples_leaf,
        class_weight=settings.class_weight,
        criterion=settings.criterion,
        bootstrap=True,
        random_state=settings.seed,
        n_jobs=1,
        monotonic_cst=[signs.get(name, 0) for name in encoding.columns] if signs else None,
    )
    target = np.array([row.supported_by_route for row in rows])
    return encoding, grown.fit(columns, target, None if weights is None else np.array(weights))


def fit_calibration(rows: Sequence[TrainingRow], score: NDArray[np.float64]) -> CalibrationMap:
    """Platt's map (1999) from the forest's scores to probabilities, on rows that the forest had not seen.

    Of rows whose score a count of labels sets (a veto, a claim that an entry states whole) nothing is
    learned. Raises InputError where all the others have one target, or where scores rank them backwards.
    """
    free = scored_freely(rows)
    target = np.array([row.supported_by_route for row in rows])[free]
    if len(set(target.tolist())) < 2:
        raise InputError("every claim to calibrate on has the same target")
    fitted = LogisticRegression(C=1e6).fit(log_odds(score[free])[:, None], target)
    slope = float(fitted.coef_[0, 0])
    if slope <= 0.0:
        raise InputError("the scores rank the claims backwards: they cannot be calibrated")
    return CalibrationMap(
        slope=slope,
        intercept=float(fitted.intercept_[0]),
        base=float(target.mean()),
        claims=int(free.sum()),
    )


def scored_freely(rows: Sequence[TrainingRow]) -> NDArray[np.bool_]:
    """Which rows' scores are the forest's own, neither held down by a veto nor raised by a count."""
    counted = (VETOES_FEATURE, SHOWN_FEATURE)
    return np.array(
        [max(row.features.numeric.get(name, 0.0) for name in counted) < 1.0 for row in rows],
        dtype=np.bool_,
    )


def assemble(
    forest: Forest,
    grown: RandomForestClassifier,
    rows: Sequence[TrainingRow],
    probability: NDArray[np.float64],
    choice: Choice,
    settings: ForestSettings,
    data: Mapping[str, object],
    made_with: Mapping[str, str] | None,
    more: Mapping[str, object],
) -> FittedCalibrator:
    """A grown forest with its card; ``probability`` is of ``rows`` by trees that did not see them.

    ``more`` is what else the card says that decides or is shown with a verdict.
    """
    truth = np.array([row.supported_by_route for row in rows])
    points = sweep(probability, *_decided(rows))
    paper_choice = by_block_f1(points)
    reliability = reliability_curve(probability, truth)
    importances = _importances(forest, rows, truth, grown, settings)
    card: dict[str, object] = {
        "made_by": {
            "pipeline": rules_digest(),
            "scikit_learn": sklearn.__version__,
            "numpy": np.__version__,
            **(made_with or {}),
        },
        "settings": asdict(settings),
        "threshold": choice.point.threshold,
        "threshold_rule": choice.rule,
        "threshold_rule_met": choice.met,
        "paper_threshold": paper_choice.point.threshold,
        **more,
        "data": dict(data),
        "metrics": {
            "validation_at_threshold": point_to_json(choice.point),
            "validation_at_paper_threshold": point_to_json(paper_choice.point),
            **probability_metrics(probability, truth),
        },
        "reliability": [asdict(bin_) for bin_ in reliability],
        "importances": [asdict(importance) for importance in importances],
        "sweep": [point_to_json(point) for point in points],
    }
    return FittedCalibrator(
        encoding=forest.encoding,
        trees=forest.trees,
        choice=choice,
        points=points,
        reliability=reliability,
        importances=importances,
        card=card,
    )


def probability_metrics(
    probability: NDArray[np.float64], truth: NDArray[np.bool_]
) -> dict[str, float]:
    """Brier loss, its skill over saying the share of true claims of each, ECE over ten bins, and AUROC.

    ECE alone is met by a constant: its skill is 0 and its AUROC 0.5. The skill of rows of one kind is 0.
    """
    brier = float(np.mean((probability - truth) ** 2))
    constant = float(truth.mean() * (1.0 - truth.mean()))
    mixed = 0.0 < truth.mean() < 1.0
    return {
        "validation_brier": _rounded(brier),
        "validation_brier_skill": _rounded(1.0 - brier / constant if mixed else 0.0),
        "validation_ece": _rounded(
            _expected_error(reliability_curve(probability, truth), len(truth))
        ),
        "validation_auroc": _rounded(float(roc_auc_score(truth, probability)) if mixed else 0.5),
    }


def _decided(rows: Sequence[TrainingRow]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows should be blocked, and which something else than the probability blocks."""
    return np.array([row.should_block for row in rows]), np.array([row.forced for row in rows])


def fit_encoding(rows: Sequence[Features], directions: Sequence[tuple[str, int]] = ()) -> Encoding:
    """One-hot categories in sorted order and the mean and spread of each number, over ``rows``.

    With ``directions`` only the features that it names are taken.
    """
    if not rows:
        raise InputError("there are no rows to fit a calibrator on")
    first = rows[0]
    for row in rows:
        if set(row.categorical) != set(first.categorical) or set(row.numeric) != set(first.numeric):
            raise InputError("the rows do not all have the same features")
    named = dict(directions)
    numeric = [name for name in first.numeric if not named or name in named]
    numbers = np.array([[row.numeric[name] for name in numeric] for row in rows], dtype=float)
    if not np.isfinite(numbers).all():
        raise InputError("a numeric feature is not a finite number")
    spread = numbers.std(axis=0)
    return Encoding(
        categories=tuple(
            (name, tuple(sorted({row.categorical[name] for row in rows})))
            for name in first.categorical
            if not named or name in named
        ),
        numeric=tuple(numeric),
        means=tuple(float(value) for value in numbers.mean(axis=0)),
        # A feature that never varies keeps its unit, as scikit-learn's scaler does.
        scales=tuple(float(value) if value > 1e-12 else 1.0 for value in spread),
    )


def flatten(grown: RandomForestClassifier) -> Trees:
    """The trees of a fitted two-class forest end to end, with P(class 1) at every node."""
    roots, features, thresholds, lefts, rights, values = [], [], [], [], [], []
    start = 0
    for estimator in grown.estimators_:
        tree = estimator.tree_
        inner = tree.children_left >= 0
        share = tree.value[:, 0, :]
        roots.append(start)
        features.append(np.where(inner, tree.feature, -1))
        thresholds.append(np.where(inner, tree.threshold, 0.0))
        lefts.append(np.where(inner, tree.children_left + start, 0))
        rights.append(np.where(inner, tree.children_right + start, 0))
        values.append(share[:, 1] / share.sum(axis=1))
        start += tree.node_count
    return Trees(
        roots=np.array(roots, dtype=np.int32),
        feature=np.concatenate(features).astype(np.int32),
        threshold=np.concatenate(thresholds).astype(np.float64),
        left=np.concatenate(lefts).astype(np.int32),
        right=np.concatenate(rights).astype(np.int32),
        value=np.concatenate(values).astype(np.float64),
    )


def reliability_curve(
    probability: NDArray[np.float64], truth: NDArray[np.bool_], bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Equal-width bins of the probability; an empty bin has no means."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    curve = []
    for index in range(bins):
        inside = place == index
        count = int(inside.sum())
        curve.append(
            ReliabilityBin(
                low=index / bins,
                high=(index + 1) / bins,
                claims=count,
                mean_probability=_rounded(float(probability[inside].mean())) if count else None,
                share_supported=_rounded(float(truth[inside].mean())) if count else None,
            )
        )
    return tuple(curve)


def point_to_json(point: OperatingPoint) -> dict[str, float | int | None]:
    """An operating point with its rates, rounded to 4 decimals."""
    rates = {
        name: getattr(point, name)
        for name in (
            "block_precision",
            "block_recall",
            "block_f1",
            "block_accuracy",
            "false_block_rate",
            "false_pass_rate",
            "blocked_share",
        )
    }
    return {
        **asdict(point),
        **{name: None if rate is None else _rounded(rate) for name, rate in rates.items()},
    }


def _refuse_unsound(train: Sequence[TrainingRow], validation: Sequence[TrainingRow]) -> None:
    held_out = [row.claim_id for row in (*train, *validation) if row.held_out]
    if held_out:
        raise InputError(
            f"{len(held_out)} rows are marked held-out and may not be fitted to, "
            f"{held_out[0]!r} first"
        )
    if not train or not validation:
        raise InputError("a calibrator needs rows to train on and others to choose a threshold on")
    shared = shared_traces(train, validation)
    if shared:
        raise InputError(
            f"{len(shared)} traces have claims in both training and validation, "
            f"{min(shared)!r} first: split by trace"
        )
    if len({row.supported_by_route for row in train}) < 2:
        raise InputError("every training claim has the same target: there is nothing to learn")
    if len({row.should_block for row in validation}) < 2:
        raise InputError("validation needs claims to block and claims to pass")


def _importances(
    forest: Forest,
    rows: Sequence[TrainingRow],
    truth: NDArray[np.bool_],
    grown: RandomForestClassifier,
    settings: ForestSettings,
) -> tuple[Importance, ...]:
    """Per feature, on validation: mean rise of the Brier loss when its columns are shuffled."""
    encoding = forest.encoding
    columns = encode([row.features for row in rows], encoding)
    base = float(np.mean((forest.exact_probabilities(columns) - truth) ** 2))
    rng = np.random.default_rng(settings.seed)
    blocks = _blocks(encoding)
    found = []
    for name, places in blocks:
        rises = []
        for _ in range(settings.permutations):
            shuffled = columns.copy()
            # All columns of one categorical feature move together, or rows would be impossible.
            shuffled[:, places] = columns[rng.permutation(len(rows))][:, places]
            loss = float(np.mean((forest.exact_probabilities(shuffled) - truth) ** 2))
            rises.append(loss - base)
        found.append(
            Importance(
                feature=name,
                permutation_mean=round(float(np.mean(rises)), 6),
                permutation_sd=round(float(np.std(rises)), 6),
                impurity=round(float(grown.feature_importances_[places].sum()), 6),
            )
        )
    return tuple(sorted(found, key=lambda item: -item.permutation_mean))


def _blocks(encoding: Encoding) -> list[tuple[str, list[int]]]:
    blocks: list[tuple[str, list[int]]] = []
    place = 0
    for name, values in encoding.categories:
        blocks.append((name, list(range(place, place + len(values)))))
        place += len(values)
    for name in encoding.numeric:
        blocks.append((name, [place]))
        place += 1
    return blocks


def data_card(rows: Sequence[TrainingRow]) -> dict[str, object]:
    """How many rows of which kind, and a digest of their features and targets."""
    digest = hashlib.sha256()
    for row in rows:
        line = [row.claim_id, row.supported_by_route, dict(row.features.categorical)]
        digest.update(json.dumps([*line, dict(row.features.numeric)], sort_keys=True).encode())
    return {
        "rows": len(rows),
        "traces": len({row.trace_id for row in rows}),
        "supported_by_route": sum(row.supported_by_route for row in rows),
        "should_block": sum(row.should_block for row in rows),
        "sha256": digest.hexdigest(),
    }


def _expected_error(curve: Sequence[ReliabilityBin], claims: int) -> float:
    return sum(
        bin_.claims / claims * abs(bin_.mean_probability - bin_.share_supported)
        for bin_ in curve
        if bin_.mean_probability is not None and bin_.share_supported is not None
    )


def _rounded(value: float) -> float:
    return round(value, 6)
