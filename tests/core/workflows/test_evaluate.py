"""evaluate, sweep, recalibrate and comparisons on a small packet with real weights."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from real_models import uncalibrated_models

from core.calibration.fit import ForestSettings
from core.config import Config
from core.errors import ComponentUnavailable, ConfigError, InputError
from core.models.forest import load_forest
from core.pipeline import Models
from core.workflows.compare import (
    Options,
    ablate,
    ablation_names,
    check_options,
    evaluate_with,
    run_baseline,
)
from core.workflows.evaluate import Budget, evaluate, score_packet, sweep_packet
from core.workflows.recalibrate import recalibrate

DRUGS = ("metformin", "ramipril", "apixaban", "sertraline", "furosemide", "levothyroxine")
NAMES = ("Ines Prado", "Tomas Weil", "Asha Rao", "Owen Hart")


def packet_lines(prefix: str, count: int, seed: int) -> list[str]:
    """Claims about two charts: right, wrong dose, unknown drug."""
    rng = random.Random(seed)
    lines = []
    for index in range(count):
        name, other = rng.sample(NAMES, 2)
        drug, absent = rng.sample(DRUGS, 2)
        dose = rng.choice((5, 10, 20, 50))
        kind = index % 3
        claim = (
            f"{name} takes {drug} {dose} mg daily.",
            f"{name} takes {drug} {dose * 3} mg daily.",
            f"{name} takes {absent} daily.",
        )[kind]
        lines.append(
            json.dumps(
                {
                    "claim_id": f"{prefix}{index}",
                    "trace_id": f"{prefix}-t{index // 3}",
                    "claim": claim,
                    "sources": [
                        {
                            "source_id": "a",
                            "tool_name": "load_patient_history",
                            "text": f"Patient: {name}. Medication: {drug} {dose} mg once daily.",
                        },
                        {
                            "source_id": "b",
                            "tool_name": "load_patient_history",
                            "text": f"Patient: {other}. Medication: {drug} {dose} mg once daily.",
                        },
                    ],
                    "label": ("supported", "contradicted", "not_enough_evidence")[kind],
                    "relation": ("entailment", "contradiction", "neutral")[kind],
                    "gold_source_ids": ["a"] if kind < 2 else [],
                    "slices": ["two_patients"],
                }
            )
        )
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("evaluate")
    (place / "train.jsonl").write_text("\n".join(packet_lines("a", 36, 1)) + "\n")
    (place / "validation.jsonl").write_text("\n".join(packet_lines("b", 24, 2)) + "\n")
    (place / "test.jsonl").write_text("\n".join(packet_lines("c", 18, 3)) + "\n{broken\n")
    return place


@pytest.fixture(scope="module")
def fitted(folder: Path):
    settings = ForestSettings(trees=20, min_samples_leaf=3, permutations=1)
    return recalibrate(
        folder / "train.jsonl", folder / "validation.jsonl", folder / "calibrator",
        uncalibrated_models(), Config(), settings=settings, kept=folder / "kept.jsonl",
    )  # fmt: skip


@pytest.fixture(scope="module")
def models(folder: Path, fitted) -> Models:
    return replace(uncalibrated_models(), calibrator=load_forest(folder / "calibrator"))


@pytest.fixture(scope="module")
def evaluated(folder: Path, models: Models):
    return score_packet(folder / "test.jsonl", models, Config(), kept=folder / "kept.jsonl")


@pytest.mark.stress
def test_a_new_calibrator_is_the_same_whether_the_run_was_stopped_or_not(
    folder: Path, fitted, tmp_path: Path
) -> None:
    settings = ForestSettings(trees=20, min_samples_leaf=3, permutations=1)
    read: list[int] = []

    again = recalibrate(
        folder / "train.jsonl", folder / "validation.jsonl", tmp_path / "calibrator",
        uncalibrated_models(), Config(), settings=settings, kept=folder / "kept.jsonl",
        progress=lambda done, total, what: read.append(done),
    )  # fmt: skip

    assert (fitted.train_rows, fitted.validation_rows, fitted.left_out) == (36, 24, ())
    assert read == [60]  # everything was kept, nothing was read again
    assert again.name == fitted.name == load_forest(tmp_path / "calibrator").name


def test_the_artifact_names_what_it_was_made_with(folder: Path, fitted) -> None:
    card = json.loads((folder / "calibrator" / "calibrator.json").read_text())

    assert card["made_by"]["config_sha256"] == fitted.fitted.card["made_by"]["config_sha256"]
    assert len(card["made_by"]["train_file_sha256"]) == 64
    assert card["made_by"]["pair_reader"]


def test_one_claim_in_both_files_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in both files"):
        recalibrate(
            folder / "train.jsonl", folder / "train.jsonl", tmp_path, None, Config()  # type: ignore[arg-type]
        )  # fmt: skip


def test_the_report_counts_the_packet_and_tells_its_broken_line(evaluated) -> None:
    report = evaluate(evaluated, resamples=100)

    assert (report["claims"], report["source_eligible_claims"]) == (18, 12)
    assert report["problems"] and ":19:" in report["problems"][0]
    assert report["block"]["recall"] == 1.0  # wrong doses and unknown drugs do not pass
    assert report["versions"]["calibrator"].startswith("forest-")
    assert json.dumps(report, allow_nan=False)


def test_one_figure_of_one_run_is_one_number_in_the_list_and_in_the_table(evaluated) -> None:
    report = evaluate(evaluated, resamples=100)

    told = report["ranking"]["systems"]["verifier"]

    assert round(report["auroc"], 4) == told["auroc"]
    assert [round(end, 4) for end in report["auroc_ci95"]] == told["auroc_ci95"]


def test_the_same_packet_gives_the_same_numbers_twice(
    folder: Path, models: Models, evaluated
) -> None:
    again = score_packet(folder / "test.jsonl", models, Config())

    first, second = evaluate(evaluated, resamples=50), evaluate(again, resamples=50)
    for report in (first, second):
        del report["seconds"], report["claims_per_second"]
    assert first == second


def test_a_sweep_offers_every_rule_and_its_bands_hold_the_point(evaluated) -> None:
    swept = sweep_packet(evaluated, budget=Budget(claims_a_day=100, reviews_a_day=70), resamples=50)

    assert set(swept["choices"]) == {"block_f1", "false_pass", "false_block", "budget"}
    assert len(swept["points"]) == 99
    for point in swept["points"]:
        low, high = point["false_block_rate_ci95"]
        assert low <= point["false_block_rate"] <= high


def test_every_unfitted_ablation_decides_every_claim(models: Models, evaluated) -> None:
    for name in ("nli-only", "block-all", "centroid-router", "read-one"):
        found = ablate(name, evaluated, models, Config())
        assert [p.claim_id for p in found.predictions] == [r.claim_id for r in evaluated.rows]
    with pytest.raises(ComponentUnavailable, match="training and a validation packet"):
        ablate("raw verdict head", evaluated, models, Config())


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    for options in (
        Options(ablation="nli only"),
        Options(baselines=("GPT",)),
        Options(tables=(2,)),
        Options(train=Path("x")),
        Options(ablation="raw verdict head"),
    ):
        with pytest.raises(ConfigError):
            check_options(options)
    check_options(Options(ablation="nli-only", baselines=("SummaC-ZS",), tables=(3, 12)))
    assert len(set(ablation_names())) == len(ablation_names())


@pytest.mark.stress
def test_tables_baselines_and_fitted_variants_come_from_one_call(
    folder: Path, models: Models
) -> None:
    options = Options(
        baselines=("MiniCheck-style", "published:MiniCheck"),
        baseline_weights=str(folder / "no such weights"),
        tables=(3, 11, 12, 17),
        train=folder / "train.jsonl",
        validation=folder / "validation.jsonl",
        resamples=50,
    )

    report, tables = evaluate_with(
        folder / "test.jsonl", models, Config(), options, kept=folder / "kept.jsonl"
    )

    ours, published = report["baselines"]
    assert ours["available"] and 0.0 <= ours["block_f1"] <= 1.0
    assert not published["available"] and "no such weights" in published["reason"]
    assert [table.number for table in tables] == [3, 11, 12, 17]
    heads = [row for row in tables[2].rows if row[0] == "raw verdict head" and row[1] == "here"]
    assert heads[0][4] is not None


def test_a_baseline_that_cannot_be_loaded_has_no_predictions(evaluated, models: Models) -> None:
    system = run_baseline("published:RAGAS Faithfulness", evaluated, models.nli)

    assert system.predictions is None and "language model" in system.reason
