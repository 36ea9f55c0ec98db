"""The repair command: what it refuses, said in words that help; what it does needs no option."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store
from lexical import verify_lexically
from reviewing import SUPPORTED, UNSUPPORTED, an_office
from typer.testing import CliRunner

from cli import app
from cli.output import BAD_INPUT, DONE
from cli.repair import report_of
from core.codec import content_hash
from core.records import RepairStatus

RUN = CliRunner()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["repair", "x.jsonl", "--iterations", "9"], "repair_iterations: expected 1 to 3"),
        (["repair", "x.jsonl", "--editor-url", "http://127.0.0.1:1/v1"], "--editor-model"),
        (
            ["repair", "x.jsonl", "--editor-model", "m", "--editor-url", "http://example.org/v1"],
            "is not this machine",
        ),
        (["repair", "x.jsonl", "--db", "y.db"], "leave out one of them"),
        (["repair", "missing.jsonl"], "no such file"),
        (["repair", "--out", "z.jsonl"], "the database keeps its own repairs"),
        (["repair", "x.jsonl", "--labels", "y.jsonl"], "--labels: give the traces, and --out"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], words: str, tmp_path: Path) -> None:
    found = RUN.invoke(app, arguments, env={"PROVENANCEGUARD_DB": str(tmp_path / "w.db")})

    assert found.exit_code == BAD_INPUT
    assert words in found.output


def test_choices_of_an_empty_database_are_an_empty_file(tmp_path: Path) -> None:
    out = tmp_path / "choices.jsonl"

    found = RUN.invoke(app, ["repair", "--choices", str(out), "--db", str(tmp_path / "w.db")])

    assert found.exit_code == DONE
    assert out.read_text() == ""


def test_the_database_is_repaired_by_what_people_settled(tmp_path: Path) -> None:
    heart = "Resting heart rate was 62 bpm."
    chart = a_source(heart, "chart", "load_patient_history")
    trace = a_trace(f"The moon is made of cheese. {heart}", chart, trace_id="settled")
    file = str(tmp_path / "w.db")
    office = an_office(a_store(file), verifications=[verify_lexically(trace)])
    while (item := office.desk("Ada").next_item()) is not None:
        office.decide("Ada", item, UNSUPPORTED if item.text == heart else SUPPORTED)

    found = RUN.invoke(app, ["repair", "--db", file])

    assert found.exit_code == DONE, found.output
    outcome = office.workspace.repairs.latest(content_hash(trace)).outcome
    assert outcome.status is RepairStatus.MARKED
    assert [action.reason for action in outcome.actions] == ["People found it wrong."]
    assert (outcome.revised_answer or "").startswith("The moon is made of cheese. Resting")


def test_figures_of_a_file_with_repairs_are_those_of_all_its_lines(tmp_path: Path) -> None:
    out = tmp_path / "repaired.jsonl"
    saved = {
        "supported_before": 2, "supported_kept": 2, "lost": [], "words_kept": 1.0,
        "wrong_attributions_before": 0, "wrong_attributions_left": 0,
    }  # fmt: skip
    line = {
        "repair": {
            "status": "not_needed", "actions": [], "revised_answer": None, "decision_after": "allow",
            "reasons_after": [], "rounds": 0, "removed": [], "saved": saved,
        }
    }  # fmt: skip
    out.write_text(json.dumps(line) + "\n" + json.dumps(line) + "\n")

    assert report_of(out).rows == 2
