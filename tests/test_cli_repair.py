"""The repair command: what it refuses, said in words that help; what it does needs no option."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import app
from cli.output import BAD_INPUT, DONE
from cli.repair import report_of

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
