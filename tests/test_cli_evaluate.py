"""The commands that measure: their reports, tables, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run
from typer.testing import Result

from core.evaluation.packets import read_packet
from core.evaluation.predictions import Cause, Prediction, prediction_to_json
from core.records import Decision, Relation, VerdictLabel

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

SAMPLE = Path(__file__).resolve().parent.parent / "sample_data" / "packet.jsonl"


@pytest.fixture(scope="module")
def packet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight claims of the sample packet, and a broken line."""
    path = tmp_path_factory.mktemp("packet") / "packet.jsonl"
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:8]
    path.write_text("\n".join([*lines, "{broken"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def evaluated(packet: Path) -> tuple[Result, Path]:
    out = packet.with_name("metrics.json")
    return run("evaluate", packet, "--json", out, "--table", "3", "--table", "16"), out


def test_evaluate_writes_the_published_keys_and_prints_the_tables(
    evaluated: tuple[Result, Path],
) -> None:
    result, out = evaluated

    assert result.exit_code == 0, result.output
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["claims"] == 8 and report["rows"] == 8
    assert set(report["block"]) >= {"precision", "recall", "f1", "ci95"}
    states = report["states"]
    assert sum(states["claims"]["good"].values()) + sum(states["claims"]["bad"].values()) == 8
    assert (
        states["good_stopped"] + states["claims"]["good"]["allow"] == 8 - report["claims_to_block"]
    )
    assert states["bad_passed"] == states["claims"]["bad"]["allow"]
    assert "needs review" in result.output and "faithful answers" in result.output
    assert [table["table"] for table in report["tables"]] == [3, 16]
    assert "**Table 3." in result.output and "| held-out test | paper |" in result.output
    assert "packet.jsonl:9" in result.output  # the broken line is named


def test_a_second_run_reads_nothing_again_and_gives_the_same_numbers(
    packet: Path, evaluated: tuple[Result, Path]
) -> None:
    _, out = evaluated
    kept = out.with_name(out.name + ".predictions.jsonl")
    lines = kept.read_text(encoding="utf-8")
    first = json.loads(out.read_text(encoding="utf-8"))

    again = run("evaluate", packet, "--json", out, "--table", "3", "--table", "16")

    assert again.exit_code == 0
    assert kept.read_text(encoding="utf-8") == lines
    second = json.loads(out.read_text(encoding="utf-8"))
    for report in (first, second):
        del report["seconds"], report["claims_per_second"]
    assert first == second


def test_sweep_offers_a_threshold_for_every_rule(packet: Path, tmp_path: Path) -> None:
    result = run(
        "sweep", packet, "--json", tmp_path / "sweep.json", "--claims-a-day", "100",
        "--reviews-a-day", "40",
    )  # fmt: skip

    assert result.exit_code == 0, result.output
    swept = json.loads((tmp_path / "sweep.json").read_text(encoding="utf-8"))
    assert set(swept["choices"]) == {"block_f1", "false_pass", "false_block", "budget"}
    assert len(swept["points"]) == 99


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("evaluate", "PACKET", "--ablation", "no such variant"), "nli-only"),
        (("evaluate", "PACKET", "--baseline", "no such baseline"), "SummaC-ZS"),
        (("evaluate", "PACKET", "--table", "2"), "expected one of 1, 3"),
        (("evaluate", "nowhere.jsonl"), "nowhere.jsonl"),
        (("sweep", "PACKET", "--claims-a-day", "5"), "--reviews-a-day"),
        (("probe", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(
    packet: Path, arguments: tuple[str, ...], named: str
) -> None:
    result = run(*(str(packet) if one == "PACKET" else one for one in arguments))

    assert result.exit_code == 2
    assert named in result.output and "Traceback" not in result.output


def test_another_systems_predictions_stand_in_table_13(packet: Path, tmp_path: Path) -> None:
    rows = read_packet(packet).rows
    other = tmp_path / "all-blocked.jsonl"
    with other.open("w", encoding="utf-8") as file:
        for row in rows:
            blocked = Prediction(
                claim_id=row.claim_id,
                decision=Decision.BLOCK,
                verdict=VerdictLabel.NOT_ENOUGH_EVIDENCE,
                cause=Cause.SUPPORT,
                forced=False,
                if_supported=VerdictLabel.SUPPORTED,
                if_unsupported=VerdictLabel.NOT_ENOUGH_EVIDENCE,
                reason="",
                threshold=0.5,
                relation=Relation.NEUTRAL,
            )
            file.write(json.dumps(prediction_to_json(blocked)) + "\n")
    out = tmp_path / "metrics.json"

    result = run("evaluate", packet, "--json", out, "--table", "13", "--beside", other)

    assert result.exit_code == 0, result.output
    (table,) = json.loads(out.read_text(encoding="utf-8"))["tables"]
    found = {row["System"]: row for row in table["rows"]}
    bad = sum(row.should_block for row in rows)
    assert found["all-blocked"]["Source acc."] == 0.0
    assert found["all-blocked"]["Block F1"] == pytest.approx(2 * bad / (bad + len(rows)), abs=1e-6)


@pytest.mark.stress
def test_predictions_of_another_packet_are_refused_by_name(packet: Path, tmp_path: Path) -> None:
    other = tmp_path / "empty.jsonl"
    other.write_text("", encoding="utf-8")

    result = run("evaluate", packet, "--table", "13", "--beside", other)

    assert result.exit_code == 2
    assert "empty.jsonl: 8 claims of the packet have no prediction" in result.output
