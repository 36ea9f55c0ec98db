"""Files into a store: what the report says, and that nothing is done twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.codec import content_hash
from core.config import Config
from core.records import Trace, Verification
from core.workflows.ingest import ingest, preview


@dataclass
class Count:
    new: int = 0
    changed: int = 0
    unchanged: int = 0


class Kept:
    """A store in memory that keeps every version of a trace."""

    def __init__(self) -> None:
        self.versions: dict[str, list[str]] = {}

    def files_of(self, trace_ids: Sequence[str]) -> dict[str, dict[str, str | None]]:
        return {}  # knows no files, so that nothing clashes

    def put_traces(self, traces: Iterable[Trace]) -> Count:
        count = Count()
        for trace in traces:
            known = self.versions.setdefault(trace.trace_id, [])
            digest = content_hash(trace)
            if digest in known:
                count.unchanged += 1
                continue
            count.changed += bool(known)
            count.new += not known
            known.append(digest)
        return count

    def traces_without_run(self, run_key: str) -> Iterator[Trace]:
        return iter(())

    def put_verdicts(self, run_key: str, verdicts: Iterable[Verification]) -> None:
        return None


def record(number: int, answer: str | None = "500 mg.") -> dict[str, object]:
    made = {"id": "c1", "function": {"name": "mcp__ehr__chart", "arguments": "{}"}}
    failed = {"id": "c2", "function": {"name": "search", "arguments": "{}"}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "Dose?"},
        {"role": "assistant", "tool_calls": [made, failed]},
        {"role": "tool", "tool_call_id": "c1", "content": "500 mg"},
        {"role": "tool", "tool_call_id": "c2", "content": "Tool call timed out."},
    ]
    if answer:
        messages.append({"role": "assistant", "content": answer})
    return {"task_id": f"t{number}", "messages": messages}


def write(path: Path, records: list[object]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in records))
    return path


def test_the_report_counts_traces_tools_and_what_was_skipped(tmp_path):
    path = write(tmp_path / "a.jsonl", [record(1), record(2, None), 7])

    report = ingest([path], Kept(), Config())

    assert (report.new, report.changed, report.unchanged) == (2, 0, 0)
    assert [(f.file, f.format, f.traces) for f in report.files] == [("a.jsonl", "chat", 2)]
    assert [(t.server, t.tool, t.calls, t.not_evidence) for t in report.tools] == [
        (None, "search", 2, 2),
        ("ehr", "chart", 2, 0),
    ]
    assert report.skipped == ("a.jsonl:3: messages: expected a list of messages, found a number",)
    assert report.without_answer == 1


def test_importing_a_file_twice_changes_nothing_and_a_changed_trace_is_a_new_version(tmp_path):
    store = Kept()
    ingest([write(tmp_path / "a.jsonl", [record(1), record(2)])], store, Config())

    again = ingest([tmp_path / "a.jsonl"], store, Config())
    moved = ingest(
        [write(tmp_path / "b.jsonl", [record(2), record(1, "250 mg.")])], store, Config()
    )

    assert (again.new, again.changed, again.unchanged) == (0, 0, 2)
    assert (moved.new, moved.changed, moved.unchanged) == (0, 1, 1)


def test_a_preview_keeps_nothing_and_says_the_same(tmp_path):
    path = write(tmp_path / "a.jsonl", [record(1), record(2)])

    assert preview([path], Config()) == ingest([path], Kept(), Config())


def test_progress_is_told_how_many_traces_are_done(tmp_path):
    path = write(tmp_path / "a.jsonl", [record(number) for number in range(150)])
    told: list[int] = []

    ingest([path], Kept(), Config(), progress=lambda done, total, what: told.append(done))

    assert told == [64, 128, 150]
