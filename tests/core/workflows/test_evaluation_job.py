"""The evaluation as a process of its own, with real weights: kept, resumed, stopped, and told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from evaluations import packet_records
from real_models import real_models

from core.config import Config
from core.errors import ComponentUnavailable
from core.evaluation.ablations import apply_plain
from core.evaluation.columns import pair_columns
from core.evaluation.kept import (
    CENTROID_FILE,
    SCORED_FILE,
    JobState,
    KeptPacket,
    ask_to_stop,
    keep_packet,
    kept_runs,
    read_predictions,
    read_status,
)
from core.evaluation.metrics import measure
from core.evaluation.packets import read_packet
from core.pipeline import Models
from core.workflows.evaluation_job import Also, run_job

PROJECT = Path(__file__).resolve().parents[3]


def a_packet(folder: Path, count: int = 12) -> KeptPacket:
    file = folder / "packet.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(count)))
    return keep_packet(folder / "evaluations", "trial", file, max_record_bytes=1 << 20)


@pytest.fixture(scope="module")
def models() -> Models:
    return real_models()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, models: Models) -> KeptPacket:
    packet = a_packet(tmp_path_factory.mktemp("job"))
    state = run_job(packet, lambda config: models, Config(), also=Also(centroid=True), resamples=50)
    assert state is JobState.DONE
    return packet


def test_a_run_keeps_its_report_its_predictions_and_the_other_routers(
    evaluated: KeptPacket,
) -> None:
    (run,) = kept_runs(evaluated)
    rows = read_packet(evaluated.path).rows
    found = read_predictions(run.folder / "predictions.jsonl")
    centroid = read_predictions(run.folder / CENTROID_FILE)

    assert run.report["claims"] == 12
    assert [one.claim_id for one in found] == [row.claim_id for row in rows]
    assert [one.claim_id for one in centroid] == [row.claim_id for row in rows]
    everything, theirs = run.report["compared"]
    blocked = measure(pair_columns(rows, apply_plain("block-all", found)), resamples=0)
    assert (everything["name"], theirs["name"]) == ("block-all", "centroid-router")
    assert everything["block_f1"] == blocked["block_f1"].value
    assert "source_accuracy" not in everything and theirs["source_accuracy"] is not None


def test_the_status_ends_with_everything_done(evaluated: KeptPacket) -> None:
    status = read_status(evaluated)

    assert status is not None and status.state is JobState.DONE and not status.message


def test_a_second_run_reads_nothing_anew_and_gives_the_same(
    evaluated: KeptPacket, models: Models
) -> None:
    scored = (evaluated.folder / SCORED_FILE).read_bytes()
    (before,) = kept_runs(evaluated)

    run_job(evaluated, lambda config: models, Config(), resamples=50)

    (after,) = kept_runs(evaluated)
    assert (evaluated.folder / SCORED_FILE).read_bytes() == scored
    ours = [dict(run.report) for run in (before, after)]
    for report in ours:
        for varying in ("seconds", "claims_per_second", "latency_seconds", "compared"):
            report.pop(varying)
    assert ours[0] == ours[1]


def test_a_stopped_run_keeps_what_it_read_and_goes_on_from_there(
    tmp_path: Path, models: Models
) -> None:
    packet = a_packet(tmp_path)

    def stop_while_loading(config: Config) -> Models:
        ask_to_stop(packet)
        return models

    assert run_job(packet, stop_while_loading, Config(), resamples=20) is JobState.STOPPED
    assert kept_runs(packet) == ()
    assert run_job(packet, lambda config: models, Config(), resamples=20) is JobState.DONE
    assert len(kept_runs(packet)) == 1


def test_a_missing_model_ends_in_the_status_with_what_is_missing(tmp_path: Path) -> None:
    packet = a_packet(tmp_path)

    def load(config: Config) -> Models:
        raise ComponentUnavailable("no NLI model in this folder")

    assert run_job(packet, load, Config()) is JobState.FAILED
    status = read_status(packet)
    assert status is not None and status.message == "no NLI model in this folder"


def test_a_fault_names_its_kind_and_place_but_nothing_of_the_packet(tmp_path: Path) -> None:
    packet = a_packet(tmp_path)

    def load(config: Config) -> Models:
        raise ZeroDivisionError("Patient 5 takes apixaban")

    with pytest.raises(ZeroDivisionError):
        run_job(packet, load, Config())
    status = read_status(packet)
    assert status is not None and status.state is JobState.FAILED
    assert "ZeroDivisionError in test_evaluation_job.py" in status.message
    assert "Patient" not in (packet.folder / "status.json").read_text()


def test_the_process_says_by_its_exit_code_that_a_calibrator_is_missing(tmp_path: Path) -> None:
    packet = a_packet(tmp_path, 2)

    ended = subprocess.run(
        [
            sys.executable, "-m", "cli.evaluating",
            str(packet.folder.parent), packet.sha256, "--calibrator", str(tmp_path / "none"),
        ],
        cwd=PROJECT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
    )  # fmt: skip

    assert ended.returncode == 3 and ended.stdout == b""
    status = read_status(packet)
    assert status is not None and "none" in status.message
