"""The main thread of a session log, in work that grows with its lines."""

from __future__ import annotations

import json
from itertools import chain, repeat
from pathlib import Path

import pytest

from core.capture.files import FileRecord
from core.capture.reading import read_traces
from core.capture.sessions import main_thread
from core.records import Trace

FIXTURES = Path(__file__).parent / "formats/fixtures"


class Uncompared(dict[str, object]):
    """A line that no other line is compared with."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("lines are compared one with another: work grows with their square")


def test_a_long_session_is_read_line_by_line() -> None:
    lines = [
        Uncompared(
            uuid=f"u{number}",
            parentUuid=f"u{number - 1}" if number else None,
            sessionId="s",
            message={"role": "assistant", "content": "text", "id": f"m{number}"},
        )
        for number in range(5)
    ]

    thread = main_thread([FileRecord(value=line, line=n) for n, line in enumerate(lines)], [])

    assert len(thread.records) == 5 and not thread.notices


@pytest.mark.parametrize(
    ("log", "extra", "told"),
    [
        ("anthropic/session.jsonl", {}, None),
        ("anthropic/session.jsonl", {"queue-operation": {"operation": "enqueue"}}, None),
        (
            "anthropic/session.jsonl",
            {"hook": {"out": "x"}, "goal": {"uuid": "n"}},
            "hook (3), goal (3)",
        ),
        ("anthropic/session.jsonl", {"hook": {"message": {"text": "x"}}}, "hook (3)"),
        ("codex/bookkeeping.jsonl", {}, None),
        ("codex/bookkeeping.jsonl", {"hook": {"payload": {}}, "goal": {}}, "hook (3), goal (3)"),
    ],
)
def test_lines_of_unknown_types_are_counted_in_one_notice(tmp_path, log, extra, told) -> None:
    lines = (FIXTURES / log).read_text("utf-8").splitlines()
    new = [{"type": kind, "sessionId": "s-77", **fields} for kind, fields in extra.items()]
    lines[2:2] = map(json.dumps, chain.from_iterable(repeat(new, 3)))
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")

    (trace,) = read_traces([path])

    assert isinstance(trace, Trace) and trace.answer and trace.sources
    notices = [notice for notice in trace.notices if "not understood" in notice]
    assert [notice.partition("passed over: ")[2] for notice in notices] == ([told] if told else [])
