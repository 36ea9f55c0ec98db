"""Real services for tests: a process of the command line, and what is sent to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLI = [sys.executable, "-m", "cli"]
ANSWER = (
    "According to the chart, the patient takes metformin 500 mg twice daily. "
    "The chart says her eGFR is 91. "
    "A usual starting dose is 500 mg [7]."
)
OUTPUTS = [
    {
        "tool_name": "load_patient_history",
        "text": "Patient: Rosa Lindqvist. Medications: metformin 500 mg twice daily. eGFR 58.",
    },
    {
        "tool_name": "search_pubmed",
        "text": "Metformin: the usual starting dose is 500 mg once or twice daily with meals.",
    },
]
SENT = {"question": "Which dose?", "answer": ANSWER, "tool_outputs": OUTPUTS}


@contextmanager
def service(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of ``provenanceguard serve …`` and the address that it says it serves on."""
    process = subprocess.Popen(
        [*CLI, "serve", *map(str, arguments)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        said = ""
        for line in process.stderr:
            said += line
            if line.startswith("serving "):
                break
        else:
            raise AssertionError(said)
        yield process, line.split()[-1]
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()
