"""Evaluated packets on disk: kept once, found again, and never half written or led astray."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from evaluations import keep_evaluated, packet_records

from core.errors import BadRecord, DamagedArtifact, NotFound, UnreadableFile
from core.evaluation.columns import pair_columns
from core.evaluation.kept import (
    JobState,
    JobStatus,
    keep_packet,
    kept_packet,
    kept_packets,
    kept_runs,
    read_predictions,
    read_status,
    write_status,
)
from core.evaluation.metrics import Metric, measure
from core.evaluation.packets import read_packet
from core.evaluation.report import evaluation_report, read_metrics

LIMIT = 1 << 20


def lines(count: int = 8) -> str:
    return "".join(json.dumps(one) + "\n" for one in packet_records(count))


def test_a_packet_is_kept_once_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines() + "{broken\n")
    folder = tmp_path / "evaluations"

    first = keep_packet(folder, "a.jsonl", tmp_path / "a.jsonl", max_record_bytes=LIMIT)
    again = keep_packet(folder, "renamed.jsonl", tmp_path / "a.jsonl", max_record_bytes=LIMIT)

    assert first.sha256 == again.sha256
    assert [packet.name for packet in kept_packets(folder)] == ["renamed.jsonl"]
    assert (first.rows, first.labelled, len(first.problems)) == (8, 8, 1)
    assert kept_packet(folder, first.sha256) == again


def test_a_gzip_packet_stays_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines().encode()))

    kept = keep_packet(tmp_path / "e", "a", tmp_path / "a.jsonl.gz", max_record_bytes=LIMIT)

    assert kept.path.name == "packet.jsonl.gz"
    assert len(read_packet(kept.path).rows) == 8


def test_what_is_no_packet_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "wrong.jsonl").write_text('{"claim": 3}\n{"claim": 4}\n')

    with pytest.raises(UnreadableFile, match="empty"):
        keep_packet(tmp_path / "e", "x", tmp_path / "empty.jsonl", max_record_bytes=LIMIT)
    with pytest.raises(BadRecord, match="no claim could be read; first problem: wrong.jsonl:1"):
        keep_packet(tmp_path / "e", "x", tmp_path / "wrong.jsonl", max_record_bytes=LIMIT)

    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("name", ["..", "../../etc", "a" * 64, "A" * 64, "0" * 63, ""])
def test_a_name_from_an_address_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        kept_packet(tmp_path, name)


def test_runs_of_two_calibrators_stand_beside_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "evaluations"
    packet = keep_evaluated(folder, claims=24, calibrator="forest-a", threshold=0.4)
    keep_evaluated(folder, claims=24, calibrator="forest-b", threshold=0.6)
    keep_evaluated(folder, claims=24, calibrator="forest-b", threshold=0.6)

    runs = kept_runs(packet)

    assert [run.versions.calibrator for run in runs] == ["forest-b", "forest-a"]
    assert [run.report["threshold"] for run in runs] == [0.6, 0.4]
    found = read_predictions(runs[0].folder / "predictions.jsonl")
    assert [one.claim_id for one in found] == [r.claim_id for r in read_packet(packet.path).rows]


def test_a_run_that_was_cut_off_or_damaged_is_no_run(tmp_path: Path) -> None:
    packet = keep_evaluated(tmp_path / "e", claims=12)
    (run,) = kept_runs(packet)

    (run.folder / "report.json").write_text('{"versions": {')
    assert kept_runs(packet) == ()
    (run.folder / "report.json").unlink()
    assert kept_runs(packet) == ()
    (run.folder / "predictions.jsonl").write_text('{"claim_id": "c0000"}\n')
    with pytest.raises(DamagedArtifact, match="not kept predictions"):
        read_predictions(run.folder / "predictions.jsonl")


def test_a_status_is_read_back_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    packet = keep_evaluated(tmp_path / "e", claims=12)
    assert read_status(packet) is None
    status = JobStatus(
        state=JobState.RUNNING, what="claims", done=3, total=12, before=1, started=5.0, at=9.5
    )

    write_status(packet, status)
    assert read_status(packet) == status
    (packet.folder / "status.json").write_text("{")
    assert read_status(packet) is None


def test_the_metrics_of_a_written_report_are_those_that_were_measured(tmp_path: Path) -> None:
    packet = keep_evaluated(tmp_path / "e", claims=40)
    (run,) = kept_runs(packet)
    rows = read_packet(packet.path).rows
    columns = pair_columns(rows, read_predictions(run.folder / "predictions.jsonl"))

    for name, metric in measure(columns, resamples=60).items():
        read = read_metrics(run.report)[name]
        assert read.value == metric.value and read.reason == metric.reason
        ends = metric.interval and (metric.interval.low, metric.interval.high)
        assert (read.interval and (read.interval.low, read.interval.high)) == ends


def test_a_metric_with_nothing_to_count_is_read_as_its_reason() -> None:
    metrics = read_metrics(evaluation_report([], [], threshold=0.5))

    assert set(metrics) == {*measure(pair_columns([], []), resamples=0)}
    assert all(isinstance(one, Metric) and one.value is None for one in metrics.values())
    assert all(one.reason for one in metrics.values())
