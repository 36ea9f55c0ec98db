"""The calibrator's fit against scikit-learn's own pipeline, and what it refuses to be fitted to."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from core.calibration.fit import (
    ForestSettings,
    fit_calibrator,
    reliability_curve,
)
from core.calibration.rows import TrainingRow
from core.errors import InputError
from core.models.forest import load_forest
from core.records import Features

SMALL = ForestSettings(trees=40, permutations=2)
HOT = ("verifier_label", "pred_tool")
NUMBERS = ("route_score", "pred_score", "shuffled")


def rows(count: int, seed: int, prefix: str) -> list[TrainingRow]:
    rng = np.random.default_rng(seed)
    made = []
    for index in range(count):
        label = str(rng.choice(["entailment", "neutral", "contradiction"]))
        score = round(float(rng.uniform(0.3, 1.0)), 4)
        route = round(float(rng.uniform()), 4)
        says_so = (label == "entailment") * score + 0.3 * route + rng.normal(0, 0.2) > 0.8
        made.append(
            TrainingRow(
                claim_id=f"{prefix}-{index}",
                trace_id=f"{prefix}-{index // 3}",
                features=Features(
                    categorical={"verifier_label": label, "pred_tool": str(rng.choice(["a", "b"]))},
                    numeric={
                        "route_score": route,
                        "pred_score": score,
                        "shuffled": round(float(rng.uniform()), 4),
                    },
                ),
                supported_by_route=bool(says_so),
                should_block=not says_so,
                forced=bool(rng.uniform() < 0.05),
            )
        )
    return made


TRAIN, VALIDATION = rows(900, 1, "t"), rows(400, 2, "v")


@pytest.fixture(scope="module")
def fitted():
    return fit_calibrator(TRAIN, VALIDATION, settings=SMALL)


def test_the_fit_is_the_papers_pipeline_in_scikit_learn(fitted) -> None:
    def table(found: list[TrainingRow]) -> np.ndarray:
        return np.array(
            [
                [
                    *(r.features.categorical[n] for n in HOT),
                    *(r.features.numeric[n] for n in NUMBERS),
                ]
                for r in found
            ],
            dtype=object,
        )

    theirs = make_pipeline(
        ColumnTransformer(
            [
                ("hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [0, 1]),
                ("scaled", StandardScaler(), [2, 3, 4]),
            ]
        ),
        RandomForestClassifier(
            n_estimators=40, max_depth=5, min_samples_leaf=8, class_weight="balanced",
            criterion="gini", bootstrap=True, random_state=20260607,
        ),
    ).fit(table(TRAIN), [r.supported_by_route for r in TRAIN])  # fmt: skip

    ours = fitted.forest().probabilities([r.features for r in VALIDATION])

    vote = theirs.predict_proba(table(VALIDATION))[:, 1].round(4).clip(0.001, 0.999)
    odds = np.log(vote / (1 - vote))[:, None]
    platt = LogisticRegression(C=1e6).fit(odds, [r.supported_by_route for r in VALIDATION])
    assert np.allclose(ours, platt.predict_proba(odds)[:, 1], atol=6e-4)


def test_the_same_rows_give_the_same_artifact_bytes(fitted, tmp_path: Path) -> None:
    fitted.save(tmp_path / "a")
    fit_calibrator(TRAIN, VALIDATION, settings=SMALL).save(tmp_path / "b")

    for name in ("calibrator.json", "trees.npz", "manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_saved_calibrator_answers_as_the_fitted_one(fitted, tmp_path: Path) -> None:
    fitted.save(tmp_path)

    loaded = load_forest(tmp_path)

    features = [row.features for row in VALIDATION]
    assert np.array_equal(loaded.probabilities(features), fitted.forest().probabilities(features))
    assert loaded.threshold == fitted.choice.point.threshold


def test_the_card_says_where_the_calibrator_came_from(fitted, tmp_path: Path) -> None:
    fitted.save(tmp_path)

    card = json.loads((tmp_path / "calibrator.json").read_text())

    assert card["settings"]["seed"] == 20260607
    assert card["data"]["train"]["rows"] == 900 and len(card["data"]["train"]["sha256"]) == 64
    assert set(card["made_by"]) >= {"pipeline", "scikit_learn", "numpy"}
    assert len(card["sweep"]) == 99
    assert {item["feature"] for item in card["importances"]} == {*HOT, *NUMBERS}


def test_the_threshold_keeps_the_promised_false_pass_rate_on_validation(fitted) -> None:
    probability = fitted.forest().probabilities([row.features for row in VALIDATION])
    passed = np.array(
        [
            p >= fitted.choice.point.threshold and not row.forced
            for p, row in zip(probability, VALIDATION, strict=True)
        ]
    )
    bad = np.array([row.should_block for row in VALIDATION])

    assert fitted.choice.met
    assert (passed & bad).sum() / bad.sum() <= 0.025
    assert fitted.choice.point.passed_bad == (passed & bad).sum()


def test_a_feature_that_says_nothing_has_next_to_no_importance(fitted) -> None:
    gain = {item.feature: item.permutation_mean for item in fitted.importances}

    assert gain["verifier_label"] > 0.05
    assert abs(gain["shuffled"]) < 0.1 * gain["verifier_label"]


def test_brier_on_the_card_is_scikit_learns(fitted) -> None:
    probability = fitted.forest().probabilities([row.features for row in VALIDATION])
    truth = [row.supported_by_route for row in VALIDATION]

    metrics = fitted.card["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["validation_brier"] == pytest.approx(
        brier_score_loss(truth, probability), abs=1e-6
    )


def test_the_reliability_curve_counts_every_claim_once() -> None:
    rng = np.random.default_rng(0)
    probability = np.round(rng.uniform(size=500), 4)
    probability[:3] = [0.0, 1.0, 0.1]
    truth = rng.uniform(size=500) < probability

    curve = reliability_curve(probability, truth)

    assert sum(b.claims for b in curve) == 500
    for b in curve:
        top = 1.01 if b.high == 1.0 else b.high
        assert b.claims == ((probability >= b.low) & (probability < top)).sum()


def test_held_out_rows_are_never_fitted_to() -> None:
    held_out = dataclasses.replace(TRAIN[5], held_out=True)

    with pytest.raises(InputError, match="held-out.*'t-5'"):
        fit_calibrator([*TRAIN[:5], held_out, *TRAIN[6:]], VALIDATION, settings=SMALL)
    with pytest.raises(InputError, match="held-out"):
        fit_calibrator(TRAIN, [dataclasses.replace(VALIDATION[0], held_out=True)], settings=SMALL)


def test_a_trace_on_both_sides_is_refused() -> None:
    leaked = dataclasses.replace(VALIDATION[0], trace_id=TRAIN[0].trace_id)

    with pytest.raises(InputError, match="both training and validation"):
        fit_calibrator(TRAIN, [leaked, *VALIDATION[1:]], settings=SMALL)


@pytest.mark.parametrize(
    ("train", "validation", "named"),
    [
        ([], VALIDATION, "needs rows to train on"),
        (TRAIN, [], "needs rows to train on"),
        ([r for r in TRAIN if r.supported_by_route], VALIDATION, "the same target"),
        (TRAIN, [r for r in VALIDATION if r.should_block], "claims to block and claims to pass"),
    ],
)
def test_rows_that_teach_nothing_are_refused(train, validation, named: str) -> None:
    with pytest.raises(InputError, match=named):
        fit_calibrator(train, validation, settings=SMALL)


def test_rows_with_different_features_are_refused() -> None:
    odd = Features(categorical=TRAIN[0].features.categorical, numeric={"route_score": 1.0})

    with pytest.raises(InputError, match="same features"):
        fit_calibrator([dataclasses.replace(TRAIN[0], features=odd), *TRAIN[1:]], VALIDATION)
