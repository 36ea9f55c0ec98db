"""The gate at the terminal: what could not be read fails it, and a full disk is no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli import app

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

GOOD = {
    "question_id": "case-1",
    "user_question": "Which dose?",
    "full_tool_outputs": [
        {
            "tool_name": "load_patient_history",
            "source_id": "chart",
            "text": "Patient 1. Takes metformin 100 mg twice daily.",
        }
    ],
    "assistant_answer": "The patient takes metformin 100 mg twice daily.",
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _file(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([json.dumps(GOOD), *lines]) + "\n", encoding="utf-8")
    return path


def test_an_unreadable_trace_fails_the_gate_unless_its_file_is_named(tmp_path: Path) -> None:
    file = _file(tmp_path / "t.jsonl", "{not json")

    assert run("verify", file).exit_code == 0
    refused = run("verify", file, "--fail-on", "block")
    assert refused.exit_code == 1
    assert "1 record could not be read" in refused.stderr
    other = run("verify", file, "--fail-on", "block", "--allow-skipped", "other.jsonl")
    assert other.exit_code == 1
    assert run("verify", file, "--fail-on", "block", "--allow-skipped", "t.jsonl").exit_code == 0


def test_a_full_disk_is_no_verdict_and_no_traceback(tmp_path: Path) -> None:
    file = _file(tmp_path / "t.jsonl")

    result = run("verify", file, "--out", "/dev/full", "--fail-on", "block")

    assert result.exit_code == 3
    assert "error: " in result.stderr and "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
