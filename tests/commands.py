"""Commands run in this process, on tiny traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

from cli import app


def a_record(number: int, answer: str | None = None) -> dict[str, object]:
    return {
        "question_id": f"case-{number}",
        "user_question": "Which dose?",
        "category": "medication",
        "tool_calls": ["load_patient_history"],
        "full_tool_outputs": [
            {
                "tool_name": "load_patient_history",
                "source_id": "chart",
                "text": f"Patient {number}. Takes metformin {number}00 mg twice daily.",
            }
        ],
        "assistant_answer": answer or f"The patient takes metformin {number}00 mg twice daily.",
    }


def write_lines(path: Path, *records: Mapping[str, object] | str) -> Path:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])
