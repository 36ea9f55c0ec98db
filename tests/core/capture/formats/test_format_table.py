"""The table of what is read of each format, made from the fixtures and the cases, not from memory.

``python -m tests.core.capture.formats.test_format_table`` writes it into the reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from core.capture.files import FileRecord
from core.capture.reading import FORMATS, read_records_of, read_traces
from core.records import SourceStatus, Trace

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
PAGE = ROOT / "docs" / "reference" / "trace-formats.md"
COLUMNS = {
    "question": lambda t: bool(t.question),
    "answer": lambda t: t.answer is not None,
    "turns": lambda t: bool(t.earlier),
    "calls": lambda t: any(s.arguments for s in t.sources),
    "outputs": lambda t: any(s.is_evidence for s in t.sources),
    "errors": lambda t: any(s.status is SourceStatus.ERROR for s in t.sources),
    "citations": lambda t: bool(t.citations),
    "ids": lambda t: not t.trace_id.startswith("sha256:") and any(s.call_id for s in t.sources),
}
HEAD = """# Trace formats

What is read of each format, as the fixtures and cases of the tests show it; a dash means that none of
them holds it. *Turns* are texts that were shown before the answer, *ids* the trace's own and its calls'.
The messages in them may be of any dialect: chat completions, Responses, Anthropic, Gemini, Google ADK,
Pydantic AI, Bedrock Converse, LangChain, the AI SDK or GenAI parts. This page is generated.

"""


def table() -> str:
    """The page."""
    found = {name: dict.fromkeys(COLUMNS, False) for name in FORMATS}
    for trace in _traces():
        row = found[trace.origin.format if trace.origin else ""]
        for column, holds in COLUMNS.items():
            row[column] = row[column] or holds(trace)
    lines = ["| format | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name in sorted(found):
        marks = ("yes" if found[name][column] else "—" for column in COLUMNS)
        lines.append(f"| {name} | {' | '.join(marks)} |")
    return HEAD + "\n".join(lines) + "\n"


def _traces() -> Iterator[Trace]:
    files = [*sorted((HERE / "fixtures").rglob("*.json*")), ROOT / "sample_data" / "traces.jsonl"]
    for file in files:
        yield from (item for item in read_traces([file]) if isinstance(item, Trace))
    for line in (HERE / "cases.jsonl").read_text().splitlines():
        records = [
            FileRecord(one, at) for at, one in enumerate(json.loads(line).get("records", ()), 1)
        ]
        if not records:
            continue
        yield from (item for item in read_records_of(records) if isinstance(item, Trace))


def test_the_table_of_the_reference_is_what_the_fixtures_show():
    assert PAGE.read_text() == table()


if __name__ == "__main__":
    PAGE.write_text(table())
