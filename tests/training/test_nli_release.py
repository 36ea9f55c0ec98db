"""Measuring and releasing an NLI model: temperature, calibration error, and the folder that ships."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from core.models.loading import BUNDLED_NLI_MODEL, load_nli_model
from core.ports import taught_close
from training.nli_release import (
    expected_calibration_error,
    fit_temperature,
    macro_f1,
    measure,
    release,
    table,
)
from training.texts import synthetic_pairs


@pytest.fixture
def validation(tmp_path: Path) -> Path:
    folder = tmp_path / "validation"
    folder.mkdir()
    with gzip.open(folder / "records.jsonl.gz", "wt", encoding="utf-8") as out:
        for pair in synthetic_pairs("clinical", 40):
            row = {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.label}
            out.write(json.dumps(row) + "\n")
    return folder


@pytest.mark.stress
def test_a_release_loads_with_its_own_temperature(validation: Path, tmp_path: Path) -> None:
    measured = measure(BUNDLED_NLI_MODEL, validation)

    release(BUNDLED_NLI_MODEL, measured, tmp_path / "out", taught_close=True)
    nli = load_nli_model(tmp_path / "out")

    assert nli.calibration.temperature == measured.temperature
    assert taught_close(nli)
    assert measured.sets[0].pairs == 40
    assert "| records | 40 |" in table(measured)
    assert (tmp_path / "out" / "manifest.json").exists()


def test_the_temperature_of_overconfident_logits_is_above_one() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4_000, 3))
    odds = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    gold = np.array([rng.choice(3, p=row) for row in odds])

    assert abs(fit_temperature([logits], [gold]) - 1.0) < 0.1
    assert abs(fit_temperature([logits * 2], [gold]) - 2.0) < 0.2


def test_the_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    sure = np.tile([0.9, 0.05, 0.05], (100, 1))

    assert expected_calibration_error(sure, np.zeros(100, dtype=int)) == pytest.approx(0.1)
    assert expected_calibration_error(sure, np.ones(100, dtype=int)) == pytest.approx(0.9)


def test_macro_f1_is_the_mean_over_labels_that_occur() -> None:
    gold = np.array([0, 0, 1, 1])

    assert macro_f1(gold, gold) == 1.0
    assert macro_f1(gold, np.array([0, 0, 0, 0])) == pytest.approx((2 * 2 / 6 + 0) / 2)
